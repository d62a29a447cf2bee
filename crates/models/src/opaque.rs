//! What is kept beside a piece of thinking, so that it goes back exactly as it came: signatures,
//! encrypted contents, and where it stood. Only the provider that wrote it gets it back; another one
//! would refuse it.

use ports::model::AssistantPart;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Opaque {
    pub(crate) api: ApiKind,
    /// How many calls of the same turn came before it. Calls are kept apart from the rest of a turn.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) after_calls: usize,
    /// Anthropic: what proves that the text is the model's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) signature: Option<String>,
    /// Anthropic: thinking that nobody but the provider can read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) redacted: Option<String>,
    /// Chat: the name under which it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) field: Option<String>,
    /// Responses: the whole item, as JSON, and the model that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) item: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ApiKind {
    #[default]
    Anthropic,
    Chat,
    Responses,
}

impl Opaque {
    pub(crate) fn of(api: ApiKind) -> Opaque {
        Opaque { api, ..Opaque::default() }
    }

    pub(crate) fn write(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    /// What this provider wrote; anything else is not for it.
    pub(crate) fn read(text: Option<&str>, api: ApiKind) -> Option<Opaque> {
        let opaque: Opaque = serde_json::from_str(text?).ok()?;
        (opaque.api == api).then_some(opaque)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The parts of a turn with its calls where they were: each piece of thinking behind as many calls
/// as came before it, and text behind the thinking that led to it.
pub(crate) fn in_place<'a, 'b>(
    parts: &'a [AssistantPart<'b>],
    api: ApiKind,
) -> Vec<&'a AssistantPart<'b>> {
    let (calls, others): (Vec<_>, Vec<_>) =
        parts.iter().partition(|part| matches!(part, AssistantPart::Call(_)));
    let mut behind = 0;
    let mut placed: Vec<Vec<&AssistantPart<'_>>> = vec![Vec::new(); calls.len() + 1];
    for part in others {
        if let AssistantPart::Reasoning { opaque, .. } = part
            && let Some(opaque) = Opaque::read(opaque.as_deref(), api)
        {
            behind = opaque.after_calls.min(calls.len()).max(behind);
        }
        placed[behind].push(part);
    }
    let mut ordered = Vec::with_capacity(parts.len());
    let mut calls = calls.into_iter();
    for others in placed {
        ordered.extend(others);
        ordered.extend(calls.next());
    }
    ordered
}

#[cfg(test)]
mod tests {
    use ports::model::WrittenCall;

    use super::*;

    fn thought(text: &str, after_calls: usize) -> AssistantPart<'_> {
        let opaque = Opaque { after_calls, ..Opaque::of(ApiKind::Anthropic) }.write();
        AssistantPart::Reasoning { text: text.into(), opaque: opaque.map(Into::into) }
    }

    fn call(id: &str) -> AssistantPart<'_> {
        let call = WrittenCall { tool_use_id: id.into(), tool: "t".into(), input: "{}".into() };
        AssistantPart::Call(call)
    }

    #[test]
    fn everything_stands_where_it_stood() {
        let text = AssistantPart::Text("so".into());
        let parts = [thought("a", 0), thought("b", 1), text, call("1"), call("2")];
        let names: Vec<&str> = in_place(&parts, ApiKind::Anthropic)
            .into_iter()
            .map(|part| match part {
                AssistantPart::Text(text) | AssistantPart::Reasoning { text, .. } => &**text,
                AssistantPart::Call(call) => &call.tool_use_id,
            })
            .collect();
        assert_eq!(names, ["a", "1", "b", "so", "2"]);
        let far = [thought("z", 9), call("1")];
        assert!(matches!(in_place(&far, ApiKind::Anthropic)[0], AssistantPart::Call(_)));
    }

    #[test]
    fn only_its_own_provider_reads_it() {
        let written =
            Opaque { signature: Some("s".into()), ..Opaque::of(ApiKind::Anthropic) }.write();
        assert_eq!(written.as_deref(), Some(r#"{"api":"anthropic","signature":"s"}"#));
        assert!(Opaque::read(written.as_deref(), ApiKind::Anthropic).is_some());
        assert!(Opaque::read(written.as_deref(), ApiKind::Chat).is_none());
        assert!(Opaque::read(Some("c2ln"), ApiKind::Anthropic).is_none());
        assert!(Opaque::read(None, ApiKind::Anthropic).is_none());
    }
}
