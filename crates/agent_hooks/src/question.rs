//! The hold that is opened for a call, in the words of `POST /v1/holds`.

use domain::digest::Framed;
use serde::Serialize;

use crate::files::AgentFiles;
use crate::proposal::{CallArguments, HookContext, HookProposal};

#[derive(Debug, Serialize)]
pub struct HookQuestion<'a> {
    kind: &'static str,
    title: String,
    call: AskedCall<'a>,
    context: HookContext<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preview: Option<HookPreview>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_in_s: Option<u64>,
}

#[derive(Debug, Serialize)]
struct AskedCall<'a> {
    tool: &'a str,
    arguments: CallArguments<'a>,
}

#[derive(Debug, Serialize)]
struct HookPreview {
    diff: String,
}

impl<'a> HookQuestion<'a> {
    /// Without `expires_in_s` the question lives for as long as the policy lets it.
    pub fn new(
        proposal: &'a HookProposal,
        files: &dyn AgentFiles,
        expires_in_s: Option<u64>,
    ) -> HookQuestion<'a> {
        HookQuestion {
            kind: "approve",
            title: proposal.title(files),
            call: AskedCall {
                tool: &proposal.tool,
                arguments: proposal.arguments(files, &proposal.input),
            },
            context: proposal.context(files),
            preview: proposal.diff(files, &proposal.input).map(|diff| HookPreview { diff }),
            expires_in_s,
        }
    }

    #[must_use]
    pub fn titled(self, title: &str) -> HookQuestion<'a> {
        HookQuestion { title: title.to_owned(), ..self }
    }

    pub(crate) fn diff(&self) -> Option<&str> {
        self.preview.as_ref().map(|preview| preview.diff.as_str())
    }

    /// The same call of the same session is one question, also when the hook runs again after `--resume`.
    /// Other arguments, or a file that changed meanwhile, make it another. Without an id of the agent's for
    /// the call, each is a question of its own.
    pub fn key(&self, proposal: &HookProposal) -> Option<String> {
        let use_id = proposal.use_id.as_deref()?;
        // Plain data with text keys: it can be JSON.
        let body = serde_json::to_vec(self).ok()?;
        let digest = Framed::new("holdpoint.hook.v1")
            .field("host", proposal.host.name().as_bytes())
            .field("session", proposal.session.as_bytes())
            .field("tool_use_id", use_id.as_bytes())
            .field("body", &body)
            .finish();
        Some(format!("hook-{}", digest.digits(&mut [0; 64])))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::files::UnseenFiles;
    use crate::host::AgentHost;
    use crate::proposal::sample;

    #[test]
    fn one_call_is_one_question_and_another_call_another() {
        let one = sample("Bash", json!({"command": "ls"}));
        let key = |proposal: &HookProposal, expires| {
            HookQuestion::new(proposal, &UnseenFiles, expires).key(proposal)
        };
        assert!(key(&one, None).is_some());
        assert_eq!(key(&one, None), key(&one.clone(), None));
        for other in [
            HookProposal { host: AgentHost::Codex, ..one.clone() },
            HookProposal { use_id: Some("toolu_2".into()), ..one.clone() },
            HookProposal { use_id: None, ..one.clone() },
            HookProposal { session: "z".into(), ..one.clone() },
            HookProposal { input: json!({"command": "ls -a"}), ..one.clone() },
            HookProposal { directory: "/other".into(), ..one.clone() },
        ] {
            assert_ne!(key(&one, None), key(&other, None), "{other:?}");
        }
        assert_ne!(key(&one, None), key(&one, Some(5)));
    }
}
