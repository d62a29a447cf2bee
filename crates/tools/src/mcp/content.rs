//! From what a server returned to what the model gets: text as it is, everything else described.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::digest::Digest;
use domain::outcome::{Cut, Outcome, Output};
use domain::schema;
use domain::visible::visible;
use serde_json::Value;

use super::catalog::McpDefinition;
use crate::limits::OUTPUT_BYTES_KEPT;

/// What a finished call came to. `isError` is the server's own word.
pub(crate) fn call_outcome(result: &Value, definition: &McpDefinition) -> Outcome {
    let mut parts: Vec<String> = Vec::new();
    let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    for block in blocks {
        parts.push(describe_block(block));
    }
    let structured = result.get("structuredContent").filter(|value| !value.is_null());
    if let Some(structured) = structured {
        let text = structured.to_string();
        // Servers are asked to say the same once more as text; once is enough.
        let is_said = blocks.iter().any(|block| {
            let said = block["text"].as_str().and_then(|said| serde_json::from_str(said).ok());
            said.is_some_and(|said: Value| said == *structured)
        });
        if !is_said {
            parts.push(text);
        }
    }
    if let Some(note) =
        schema_mismatch(structured, definition).filter(|_| result["isError"] != true)
    {
        parts.push(note);
    }
    let output = bound_output(parts.join("\n"));
    match result["isError"].as_bool() {
        Some(true) => Outcome::Failed(output),
        _ => Outcome::Succeeded(output),
    }
}

/// A tool that says what it returns, and returns something else, is not taken at its word.
fn schema_mismatch(structured: Option<&Value>, definition: &McpDefinition) -> Option<String> {
    let declared = definition.whole.get("outputSchema").filter(|schema| schema.is_object())?;
    let Some(structured) = structured else {
        return Some("[the tool declares a structured result, and gave none]".into());
    };
    let errors = schema::check(declared, structured).err()?;
    Some(format!("[the result does not fit the tool's own schema: {errors}]"))
}

fn describe_block(block: &Value) -> String {
    let text = |key: &str| visible(block[key].as_str().unwrap_or_default());
    match block["type"].as_str().unwrap_or_default() {
        "text" => block["text"].as_str().unwrap_or_default().to_owned(),
        kind @ ("image" | "audio") => format!("[{kind} {}]", describe_data(block, "data")),
        "resource_link" => format!("[link to {} ({})]", text("uri"), text("name")),
        "resource" => {
            let resource = &block["resource"];
            let uri = visible(resource["uri"].as_str().unwrap_or_default());
            match resource["text"].as_str() {
                Some(text) => format!("[resource {uri}]\n{text}"),
                None => format!("[resource {uri}, {}]", describe_data(resource, "blob")),
            }
        }
        other => format!(
            "[content of the kind `{}`, {} bytes, not shown]",
            visible(&other.chars().take(40).collect::<String>()),
            block.to_string().len()
        ),
    }
}

/// Describes data that a model cannot be shown, so that its absence is visible.
fn describe_data(block: &Value, key: &str) -> String {
    let kind = visible(block["mimeType"].as_str().unwrap_or("of an unknown type"));
    match BASE64_STANDARD.decode(block[key].as_str().unwrap_or_default()) {
        Ok(bytes) => format!("{kind}, {} bytes, {}, not shown", bytes.len(), Digest::of(&bytes)),
        Err(_) => format!("{kind}, unreadable"),
    }
}

fn bound_output(text: String) -> Output {
    if text.len() <= OUTPUT_BYTES_KEPT {
        return Output::text(text);
    }
    let cut = Cut { total_bytes: text.len() as u64, digest: Digest::of(text.as_bytes()) };
    let kept = text[..text.floor_char_boundary(OUTPUT_BYTES_KEPT)].to_owned();
    Output { text: kept, cut: Some(cut) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(result: Value, output_schema: Value) -> (bool, Output) {
        let mut whole = json!({"name": "t", "inputSchema": {"type": "object"}});
        if !output_schema.is_null() {
            whole["outputSchema"] = output_schema;
        }
        match call_outcome(&result, &McpDefinition::parse(whole).unwrap()) {
            Outcome::Succeeded(output) => (true, output),
            Outcome::Failed(output) => (false, output),
            Outcome::Unknown { evidence } => panic!("{evidence}"),
        }
    }

    #[test]
    fn text_stays_and_the_rest_is_described() {
        let (good, output) = of(
            json!({"content": [
                {"type": "text", "text": "hello"},
                {"type": "image", "mimeType": "image/png", "data": "AAEC"},
                {"type": "resource_link", "uri": "file:///x", "name": "x"},
                {"type": "resource", "resource": {"uri": "a://b", "text": "inside"}},
                {"type": "hologram", "x": 1},
            ]}),
            Value::Null,
        );
        assert!(good);
        let digest = Digest::of(&[0, 1, 2]);
        assert_eq!(
            output.text,
            format!(
                "hello\n[image image/png, 3 bytes, {digest}, not shown]\n[link to file:///x (x)]\n\
                 [resource a://b]\ninside\n[content of the kind `hologram`, 25 bytes, not shown]"
            )
        );
    }

    #[test]
    fn an_error_is_one_and_a_lie_about_the_schema_is_said() {
        assert!(!of(json!({"isError": true, "content": []}), Value::Null).0);
        let schema = json!({"type": "object", "required": ["n"]});
        let (_, honest) = of(
            json!({"content": [{"type": "text", "text": "{\"n\":1}"}], "structuredContent": {"n": 1}}),
            schema.clone(),
        );
        assert_eq!(honest.text, "{\"n\":1}");
        let (_, lying) = of(json!({"content": [], "structuredContent": {"m": 1}}), schema.clone());
        assert!(lying.text.contains("does not fit the tool's own schema"), "{}", lying.text);
        let (_, silent) = of(json!({"content": []}), schema);
        assert!(silent.text.contains("gave none"), "{}", silent.text);
    }

    #[test]
    fn i20_what_is_too_long_is_cut_and_said_to_be() {
        let long = "é".repeat(OUTPUT_BYTES_KEPT);
        let (_, output) = of(json!({"content": [{"type": "text", "text": long}]}), Value::Null);
        assert_eq!(
            output.cut,
            Some(Cut { total_bytes: long.len() as u64, digest: Digest::of(long.as_bytes()) })
        );
        assert!(output.text.len() <= OUTPUT_BYTES_KEPT);
    }
}
