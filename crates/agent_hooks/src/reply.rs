//! What the agent is told, in its own words.

use serde::Serialize;
use serde_json::Value;

use crate::host::AgentHost;

#[derive(Debug)]
pub enum HookReply {
    Allow(AllowedCall),
    Deny(String),
    /// End, and ask again when the session is resumed. Agents that cannot are told no.
    Defer(String),
}

/// A call that may run. Only [`crate::judge()`] makes one, of an approval that fits.
#[derive(Debug)]
pub struct AllowedCall {
    /// In place of the agent's own arguments.
    input: Option<Value>,
    reason: String,
}

impl AllowedCall {
    pub(crate) fn new(input: Option<Value>, reason: String) -> AllowedCall {
        AllowedCall { input, reason }
    }

    /// What to call the tool with in place of the agent's own arguments.
    pub fn input(&self) -> Option<&Value> {
        self.input.as_ref()
    }
}

/// Claude Code and Codex.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PreToolUseReply<'a> {
    hook_specific_output: PreToolUseDecision<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PreToolUseDecision<'a> {
    hook_event_name: &'static str,
    permission_decision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<&'a Value>,
}

#[derive(Serialize)]
struct GeminiReply<'a> {
    decision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(rename = "hookSpecificOutput", skip_serializing_if = "Option::is_none")]
    merged: Option<GeminiInput<'a>>,
}

#[derive(Serialize)]
struct GeminiInput<'a> {
    tool_input: &'a Value,
}

#[derive(Serialize)]
struct CursorReply<'a> {
    permission: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_message: Option<&'a str>,
}

impl HookReply {
    /// For the model and for the person who reads along.
    pub fn deny(why: &str) -> HookReply {
        HookReply::Deny(denial(why))
    }

    /// For agents that cannot take other arguments than their own.
    pub(crate) fn deny_naming(input: &Value) -> HookReply {
        HookReply::deny(&format!(
            "it was approved with other arguments, which this agent cannot be handed. Call the tool again with exactly these: {input}"
        ))
    }

    /// As JSON; `None` where saying nothing lets the call pass, and so an error must not become nothing.
    pub fn spell(&self, host: AgentHost) -> serde_json::Result<Option<String>> {
        match host {
            AgentHost::Claude => serde_json::to_string(&self.for_claude()).map(Some),
            AgentHost::Codex => {
                self.for_codex().map(|reply| serde_json::to_string(&reply)).transpose()
            }
            AgentHost::Gemini => serde_json::to_string(&self.for_gemini()).map(Some),
            AgentHost::Cursor => self.for_cursor().map(Some),
        }
    }

    fn for_claude(&self) -> PreToolUseReply<'_> {
        let (decision, reason, input) = match self {
            HookReply::Allow(call) => ("allow", &call.reason, call.input.as_ref()),
            HookReply::Deny(reason) => ("deny", reason, None),
            HookReply::Defer(reason) => ("defer", reason, None),
        };
        pre_tool_use(decision, Some(reason), input)
    }

    /// A bare `allow`, or one with a reason, would be a failed hook to Codex, and a failed hook lets calls run.
    fn for_codex(&self) -> Option<PreToolUseReply<'_>> {
        match self {
            HookReply::Allow(call) => {
                call.input.as_ref().map(|input| pre_tool_use("allow", None, Some(input)))
            }
            HookReply::Deny(reason) | HookReply::Defer(reason) => {
                Some(pre_tool_use("deny", Some(reason), None))
            }
        }
    }

    fn for_gemini(&self) -> GeminiReply<'_> {
        match self {
            HookReply::Allow(call) => {
                let merged = call.input.as_ref().map(|tool_input| GeminiInput { tool_input });
                GeminiReply { decision: "allow", reason: None, merged }
            }
            HookReply::Deny(reason) | HookReply::Defer(reason) => {
                GeminiReply { decision: "deny", reason: Some(reason), merged: None }
            }
        }
    }

    fn for_cursor(&self) -> serde_json::Result<String> {
        let reply = match self {
            HookReply::Allow(AllowedCall { input: None, .. }) => {
                CursorReply { permission: "allow", user_message: None, agent_message: None }
            }
            // The judge does not hand Cursor an edit; an allowed call with one is still no bare yes.
            HookReply::Allow(AllowedCall { input: Some(input), .. }) => {
                return HookReply::deny_naming(input).for_cursor();
            }
            HookReply::Deny(reason) | HookReply::Defer(reason) => CursorReply {
                permission: "deny",
                user_message: Some(reason),
                agent_message: Some(reason),
            },
        };
        serde_json::to_string(&reply)
    }
}

fn pre_tool_use<'a>(
    permission_decision: &'static str,
    reason: Option<&'a String>,
    updated_input: Option<&'a Value>,
) -> PreToolUseReply<'a> {
    PreToolUseReply {
        hook_specific_output: PreToolUseDecision {
            hook_event_name: "PreToolUse",
            permission_decision,
            permission_decision_reason: reason.map(String::as_str),
            updated_input,
        },
    }
}

pub(crate) fn denial(why: &str) -> String {
    format!("Holdpoint did not let this call pass: {why}\nNothing was run.")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn allowed(input: Option<Value>) -> HookReply {
        HookReply::Allow(AllowedCall::new(input, "x".into()))
    }

    fn spelled(host: AgentHost, reply: &HookReply) -> Value {
        serde_json::from_str(&reply.spell(host).unwrap().unwrap()).unwrap()
    }

    #[test]
    fn claude_is_told_the_decision_the_reason_and_the_edit() {
        let edited = allowed(Some(json!({"command": "pwd"})));
        let told = &spelled(AgentHost::Claude, &edited)["hookSpecificOutput"];
        assert_eq!(told["permissionDecision"], "allow");
        assert_eq!(told["updatedInput"], json!({"command": "pwd"}));
        let told = &spelled(AgentHost::Claude, &HookReply::deny("no"))["hookSpecificOutput"];
        assert_eq!(told["permissionDecision"], "deny");
        assert!(told["permissionDecisionReason"].as_str().unwrap().contains("no"));
        let told = &spelled(AgentHost::Claude, &HookReply::Defer("later".into()));
        assert_eq!(told["hookSpecificOutput"]["permissionDecision"], "defer");
    }

    #[test]
    fn codex_is_told_nothing_that_it_takes_for_a_failed_hook() {
        assert_eq!(allowed(None).spell(AgentHost::Codex).unwrap(), None);
        let edited = spelled(AgentHost::Codex, &allowed(Some(json!({"command": "pwd"}))));
        assert_eq!(edited["hookSpecificOutput"].as_object().unwrap().len(), 3);
        for reply in [HookReply::Deny("no".into()), HookReply::Defer("later".into())] {
            let told = spelled(AgentHost::Codex, &reply);
            assert_eq!(told["hookSpecificOutput"]["permissionDecision"], "deny");
        }
    }

    #[test]
    fn cursor_denies_an_edit_and_says_what_is_wanted() {
        let told = spelled(AgentHost::Cursor, &allowed(Some(json!({"command": "pwd"}))));
        assert_eq!(told["permission"], "deny");
        assert!(told["agent_message"].as_str().unwrap().contains(r#"{"command":"pwd"}"#));
        assert_eq!(spelled(AgentHost::Cursor, &allowed(None)), json!({"permission": "allow"}));
    }
}
