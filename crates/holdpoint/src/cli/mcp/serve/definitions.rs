//! What our MCP server says about itself and its tools.

use serde_json::{Value, json};
use tools::mcp::MODERN;

use mcp_gate::era::{ClientEra, HOLDPOINT, SERVER_INFO_KEY};
use mcp_gate::limits::LIST_TTL_MS;

pub(super) const ASK_PERSON: &str = "ask_person";
pub(super) const CHECK_ANSWER: &str = "check_answer";
/// Claude Code names it `mcp__holdpoint__ask`.
pub(super) const PERMISSION: &str = "ask";

const INSTRUCTIONS: &str = "Asks people through Holdpoint. `ask_person` opens a question and waits a little; if nobody has \
    answered by then, call `check_answer` later with the hold's id. Silence is never a yes.";

pub(super) fn handshake(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": HOLDPOINT,
        "instructions": INSTRUCTIONS,
    })
}

pub(super) fn discovery() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": [MODERN],
        "capabilities": {"tools": {}},
        "instructions": INSTRUCTIONS,
        "ttlMs": LIST_TTL_MS,
        "cacheScope": "private",
        "_meta": {SERVER_INFO_KEY: HOLDPOINT},
    })
}

pub(super) fn tool_list(era: ClientEra) -> Value {
    let tools = [ask_person(), check_answer(), permission()];
    match era {
        ClientEra::Legacy => json!({"tools": tools}),
        ClientEra::Modern => json!({
            "resultType": "complete",
            "tools": tools,
            "ttlMs": LIST_TTL_MS,
            "cacheScope": "private",
        }),
    }
}

fn ask_person() -> Value {
    let names = json!({"type": "array", "items": {"type": "string"}});
    json!({
        "name": ASK_PERSON,
        "title": "Ask a person",
        "description": "Puts a question to people and waits a little for their answer. `approve` asks for a yes or no, \
            `choose` for one of the options (several with `multiple`), `fill` for text or for a form. If the result's state is \
            `pending`, nobody has answered yet: call check_answer with its `hold`. `denied`, `expired` and `cancelled` mean no.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": ["approve", "choose", "fill"]},
                "question": {"type": "string", "description": "One clear question, at most 500 characters."},
                "options": {"type": "array", "items": {"type": "string"}, "description": "For `choose`."},
                "multiple": {"type": "boolean", "description": "For `choose`: several options may be taken."},
                "allow_other": {"type": "boolean", "description": "For `choose`: an answer of one's own is taken, too."},
                "form": {"type": "object", "description": "For `fill`: a JSON Schema of the form. Without it: free text."},
                "context": {"type": "object", "description": "What people should know to answer; shown with the question."},
                "roles": names,
                "people": names,
                "expires_in_s": {"type": "integer", "minimum": 1, "description": "After this nobody can answer any more."},
            },
            "required": ["kind", "question"],
            "additionalProperties": false,
        },
        "outputSchema": answer_schema(),
    })
}

fn check_answer() -> Value {
    json!({
        "name": CHECK_ANSWER,
        "title": "Look for an answer",
        "description": "Says whether people have answered a question of ask_person, and what. Waits a little if they have not.",
        "inputSchema": {
            "type": "object",
            "properties": {"hold": {"type": "string", "description": "The id that ask_person returned: hold_…"}},
            "required": ["hold"],
            "additionalProperties": false,
        },
        "outputSchema": answer_schema(),
        "annotations": {"readOnlyHint": true},
    })
}

fn answer_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "hold": {"type": "string"},
            "state": {"type": "string", "enum": ["pending", "approved", "denied", "answered", "expired", "cancelled"]},
            "answer": {"description": "The labels that were chosen, the form that was filled, or the text."},
            "by": {"type": "string"},
            "reason": {"type": "string"},
            "url": {"type": "string"},
        },
        "required": ["hold", "state", "url"],
    })
}

fn permission() -> Value {
    json!({
        "name": PERMISSION,
        "title": "Permission prompt",
        "description": "For Claude Code's --permission-prompt-tool; not for models.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "tool_name": {"type": "string"},
                "input": {"type": "object"},
                "tool_use_id": {"type": "string"},
            },
            "required": ["tool_name", "input"],
        },
    })
}
