//! What clients of this wire send, turned into our own words or refused. Everything that is wrong is
//! found here, before a stream opens: the client hides errors that come inside one.

use domain::id::{Bits, FileId, SessionId};
use serde::Deserialize;
use serde_json::Value;

use crate::doors::unique_keys::UniqueKeys;
use crate::problem::Problem;

/// `POST /agent/run`, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunAsked {
    pub(super) texts: Vec<String>,
    /// Uploads that come with them.
    pub(super) files: Vec<FileId>,
    pub(super) agent_type: Option<String>,
    pub(super) agent_uuid: Option<String>,
}

/// `POST /agent/tool_results`, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResultsAsked {
    pub(super) agent_uuid: String,
    pub(super) agent_type: Option<String>,
    pub(super) results: Vec<PostedResult>,
}

/// What the client says about one prompt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(expecting = "struct Posted")]
pub(super) struct PostedResult {
    pub(super) tool_use_id: String,
    pub(super) content: String,
    #[serde(default)]
    pub(super) is_error: bool,
}

// Fields that we do not know are passed over, as the origin's server does.
#[derive(Deserialize)]
struct RunBody {
    user_prompt: UniqueKeys,
    agent_type: Option<String>,
    agent_uuid: Option<String>,
}

#[derive(Deserialize)]
struct ResultsBody {
    agent_uuid: String,
    tool_results: Vec<UniqueKeys>,
    agent_type: Option<String>,
}

impl RunAsked {
    pub(super) fn parse(bytes: &[u8]) -> Result<RunAsked, Problem> {
        let body: RunBody = read_json(bytes)?;
        let (mut texts, mut files) = (Vec::new(), Vec::new());
        for said in prompt(body.user_prompt.0)? {
            match said {
                PromptPart::Text(text) => texts.push(text),
                PromptPart::File(file) => files.push(file),
            }
        }
        RunAsked::new(texts, files, body.agent_type, body.agent_uuid)
    }

    pub(super) fn new(
        texts: Vec<String>,
        files: Vec<FileId>,
        agent_type: Option<String>,
        agent_uuid: Option<String>,
    ) -> Result<RunAsked, Problem> {
        if files.is_empty() && texts.iter().all(|text| text.trim().is_empty()) {
            return Err(Problem::invalid("user_prompt", "say something in `user_prompt`"));
        }
        Ok(RunAsked { texts, files, agent_type, agent_uuid })
    }

    pub(super) fn query(&self) -> String {
        self.texts.join("\n")
    }
}

impl ResultsAsked {
    pub(super) fn parse(bytes: &[u8]) -> Result<ResultsAsked, Problem> {
        let ResultsBody { agent_uuid, tool_results, agent_type } = read_json(bytes)?;
        if tool_results.is_empty() {
            let why = "send a result for each prompt that is open";
            return Err(Problem::invalid("tool_results", why));
        }
        let results = tool_results.into_iter().map(|UniqueKeys(result)| match result {
            Value::Object(_) => serde_json::from_value(result),
            // It would be read as the members of an object, in the order of our own source.
            _ => Err(serde::de::Error::custom("it must be an object")),
        });
        match results.collect::<Result<Vec<PostedResult>, _>>() {
            Ok(results) => Ok(ResultsAsked { agent_uuid, agent_type, results }),
            Err(error) => {
                let shape = crate::asked::shape(&error);
                Err(Problem::invalid(
                    "tool_results",
                    format!("a result has the wrong shape: {shape}"),
                ))
            }
        }
    }
}

fn read_json<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    // A list would be read as the members of an object, in the order of our own source.
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return Err(Problem::invalid("body", "the body must be a JSON object"));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let detail = match error.classify() {
            serde_json::error::Category::Data => {
                format!("the body has the wrong shape: {}", crate::asked::shape(&error))
            }
            _ => format!("the body is not JSON (line {}, column {})", error.line(), error.column()),
        };
        Problem::invalid("body", detail)
    })
}

/// A text, blocks of the Anthropic kind, or one such block or message.
fn prompt(value: Value) -> Result<Vec<PromptPart>, Problem> {
    match value {
        Value::String(text) => Ok(vec![PromptPart::Text(text)]),
        Value::Array(blocks) => blocks.into_iter().map(block).collect(),
        Value::Object(mut object) => match (object.remove("role"), object.remove("content")) {
            (Some(role), Some(content)) if role == "user" && !content.is_object() => {
                prompt(content)
            }
            (None, None) => Ok(vec![block(Value::Object(object))?]),
            _ => unfit("a message must have the role `user`, and a text or blocks as its content"),
        },
        _ => unfit("`user_prompt` is a text, a block, or a list of blocks"),
    }
}

enum PromptPart {
    Text(String),
    File(FileId),
}

fn block(block: Value) -> Result<PromptPart, Problem> {
    let kind = block.get("type").and_then(Value::as_str);
    match (kind, block.get("text").and_then(Value::as_str)) {
        (Some("text"), Some(text)) => Ok(PromptPart::Text(text.to_owned())),
        (Some("text"), None) => unfit("a `text` block has a `text`"),
        // The result of a call comes from a hold, never from what somebody writes into a prompt.
        (Some("tool_result"), _) => unfit("send tool results to /agent/tool_results"),
        (Some("image" | "document"), _) => {
            let source = &block["source"];
            let id = source["file_id"].as_str().filter(|_| source["type"] == "file");
            match id.and_then(|id| id.parse().ok()) {
                Some(file) => Ok(PromptPart::File(file)),
                None => unfit(
                    "send images and documents to /agent/upload, and here a `source` \
                     `{\"type\":\"file\",\"file_id\"}` with the id that came back",
                ),
            }
        }
        _ => unfit("this is no block that we know: send blocks of type `text`"),
    }
}

fn unfit<T>(why: &str) -> Result<T, Problem> {
    Err(Problem::invalid("user_prompt", why))
}

/// How a session is called on this wire.
pub(super) fn uuid(id: SessionId) -> String {
    let hex = format!("{:032x}", id.0.0);
    let part = |from: usize, to: usize| &hex[from..to];
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

/// The session that is meant, in either form. What names nothing can only be not found.
pub(super) fn session_id(text: &str) -> Option<SessionId> {
    if let Ok(id) = text.parse() {
        return Some(id);
    }
    let lengths = text.split('-').map(str::len);
    let sound = lengths.eq([8, 4, 4, 4, 12])
        && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let hex = sound.then(|| text.replace('-', ""))?;
    u128::from_str_radix(&hex, 16).ok().map(|bits| SessionId(Bits(bits)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(body: &str) -> Result<Vec<String>, String> {
        let told = |problem: Problem| serde_json::to_value(&problem).expect("json").to_string();
        RunAsked::parse(body.as_bytes()).map(|asked| asked.texts).map_err(told)
    }

    #[test]
    fn a_prompt_is_a_text_a_block_or_blocks() {
        for (body, expected) in [
            (r#"{"user_prompt":"hi"}"#, &["hi"][..]),
            (
                r#"{"user_prompt":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#,
                &["a", "b"],
            ),
            (r#"{"user_prompt":{"type":"text","text":"a"}}"#, &["a"]),
            (r#"{"user_prompt":{"role":"user","content":"a"}}"#, &["a"]),
            (r#"{"user_prompt":{"role":"user","content":[{"type":"text","text":"a"}]}}"#, &["a"]),
            (r#"{"user_prompt":"hi","agent_uuid":null,"agent_type":null,"more":1}"#, &["hi"]),
        ] {
            assert_eq!(
                texts(body).as_deref(),
                Ok(&expected.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()[..]),
                "{body}"
            );
        }
    }

    #[test]
    fn everything_else_is_422() {
        for body in [
            "",
            "{",
            "null",
            "[]",
            "[\"hi\"]",
            "\"hi\"",
            "{}",
            r#"{"user_prompt":null}"#,
            r#"{"user_prompt":1}"#,
            r#"{"user_prompt":""}"#,
            r#"{"user_prompt":" \n"}"#,
            r#"{"user_prompt":[]}"#,
            r#"{"user_prompt":["a"]}"#,
            r#"{"user_prompt":{}}"#,
            r#"{"user_prompt":[{"type":"image","source":{}}]}"#,
            r#"{"user_prompt":[{"type":"tool_result","tool_use_id":"x","content":"yes"}]}"#,
            r#"{"user_prompt":[{"type":"telepathy"}]}"#,
            r#"{"user_prompt":[{"text":"a"}]}"#,
            r#"{"user_prompt":{"role":"assistant","content":"a"}}"#,
            r#"{"user_prompt":{"role":"user","content":{"role":"user","content":"a"}}}"#,
            r#"{"user_prompt":"a","agent_uuid":1}"#,
            r#"{"user_prompt":"a","agent_type":[]}"#,
            r#"{"user_prompt":"a","user_prompt":"b"}"#,
        ] {
            let told = texts(body).expect_err(body);
            assert!(
                told.contains("\"answer_invalid\"") && told.contains("\"status\":422"),
                "{told}"
            );
        }
    }

    #[test]
    fn results_are_checked_and_their_values_not_repeated() {
        let parse = |body: &str| ResultsAsked::parse(body.as_bytes());
        let asked =
            parse(r#"{"agent_uuid":"u","tool_results":[{"tool_use_id":"a","content":"x"}]}"#);
        let posted = PostedResult { tool_use_id: "a".into(), content: "x".into(), is_error: false };
        assert_eq!(asked.expect("sound").results, [posted]);
        for body in [
            r#"{"agent_uuid":"u","tool_results":[]}"#,
            r#"{"agent_uuid":"u","tool_results":{}}"#,
            r#"{"agent_uuid":"u","tool_results":[{"tool_use_id":"a","content":"no","content":"yes"}]}"#,
            r#"{"agent_uuid":"u"}"#,
            r#"{"tool_results":[{"tool_use_id":"a","content":"x"}]}"#,
            r#"{"agent_uuid":"u","tool_results":[{"tool_use_id":"a","content":{}}]}"#,
            r#"{"agent_uuid":"u","tool_results":[{"tool_use_id":1,"content":"x"}]}"#,
            r#"{"agent_uuid":"u","tool_results":[{"content":"x"}]}"#,
            r#"{"agent_uuid":"u","tool_results":[{"tool_use_id":"a","content":"x","is_error":null}]}"#,
            r#"{"agent_uuid":"u","tool_results":[{"tool_use_id":"a","content":"x","is_error":"hunter2"}]}"#,
            r#"{"agent_uuid":"u","tool_results":[["a","x",false]]}"#,
        ] {
            let problem = parse(body).expect_err(body);
            let told = serde_json::to_value(&problem).expect("json").to_string();
            assert!(told.contains("\"answer_invalid\"") && !told.contains("hunter2"), "{told}");
        }
    }

    #[test]
    fn a_session_has_two_names() {
        let id = SessionId::new(1_763_000_000_000, 0x1234_5678_9abc_def0_1234);
        let name = uuid(id);
        assert_eq!(name.len(), 36);
        assert_eq!(session_id(&name), Some(id));
        assert_eq!(session_id(&name.to_uppercase()), Some(id));
        assert_eq!(session_id(&id.to_string()), Some(id));
        for other in [
            "",
            "x",
            "ses_",
            &name[1..],
            &name.replace('-', ""),
            "+1234567-1234-1234-1234-123456789012",
        ] {
            assert_eq!(session_id(other), None, "{other}");
        }
    }
}
