//! The title of a call whose tool gives none: what runs, and on what, in one line.

use domain::call::Call;
use domain::caption::{Caption, CaptionKind};
use domain::limits::TITLE_BYTES_MAX;
use domain::schema::redacted;
use domain::visible::visible;
use serde_json::Value;

/// `Run ops: rm -rf build`, `Run deploy: tag = "1.4", count = 2`. The call is always shown whole beside it.
pub(crate) fn call_title(call: &Call) -> Caption {
    let shown = redacted(call.arguments.value(), &call.secrets);
    let named = |(name, value): (&String, &Value)| format!("{name} = {value}");
    let arguments = match shown.as_ref() {
        Value::Object(map) => match map.iter().collect::<Vec<_>>().as_slice() {
            [] => None,
            [(_, Value::String(only))] => Some(only.clone()),
            _ => Some(map.iter().map(named).collect::<Vec<_>>().join(", ")),
        },
        _ => None,
    };
    let kind = CaptionKind::RunTool { tool: call.tool.to_string(), arguments };
    Caption::cut(clipped(&visible(&kind.to_string())), kind.map_values(&visible))
}

/// Cut with a visible sign, and not in the middle of a mark.
fn clipped(shown: &str) -> String {
    if shown.len() <= TITLE_BYTES_MAX {
        return shown.to_owned();
    }
    let cut = shown.floor_char_boundary(TITLE_BYTES_MAX - '…'.len_utf8());
    let cut = match shown[..cut].rfind('⟦') {
        Some(open) if !shown[open..cut].contains('⟧') => open,
        _ => cut,
    };
    format!("{}…", &shown[..cut])
}

#[cfg(test)]
mod tests {
    use domain::call::Proposal;
    use domain::digest::Digest;
    use domain::id::CallId;
    use domain::json::Arguments;
    use domain::tool::{Effects, Place, Tool};
    use serde_json::json;

    use super::*;

    fn title(schema: Value, arguments: Value) -> Caption {
        let tool = Tool::new("ops", "", schema, Effects::AtMostOnce, Place::Server, "t").unwrap();
        let proposal = Proposal {
            id: CallId::new(1, 7),
            tool_use_id: "t1".into(),
            agent: "ops".into(),
            session: None,
            arguments: Arguments::from_value(arguments).unwrap(),
            context: Default::default(),
            policy: Digest::of(b""),
        };
        call_title(&Call::propose(proposal, &tool))
    }

    #[test]
    fn a_title_names_what_runs() {
        assert_eq!(title(json!({}), json!({"command": "rm -rf build"})), "Run ops: rm -rf build");
        let several = json!({"count": 2, "tag": "1.4"});
        assert_eq!(title(json!({}), several), r#"Run ops: count = 2, tag = "1.4""#);
        assert_eq!(title(json!({}), json!({})), "Run ops");
    }

    #[test]
    fn i45_a_title_has_no_secret_and_a_bound() {
        let schema = json!({"properties": {"token": {"writeOnly": true}}});
        let shown = title(schema, json!({"token": "hunter2"}));
        assert!(!shown.contains("hunter2"), "{shown}");
        let long = title(json!({}), json!({"text": "\u{202e}".repeat(5_000)}));
        assert!(long.len() <= TITLE_BYTES_MAX && long.ends_with("⟧…"), "{long}");
    }
}
