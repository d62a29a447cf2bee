//! Fields of a form that are answered with a file: those whose schema says `"format": "file"`, or the media type of their content.

use serde_json::Value;

/// The answers to such fields, and in which field each stands. What is no text is the schema's business.
///
/// ```
/// use holdpoint_domain::file::file_answers;
/// use serde_json::json;
/// let schema = json!({"properties": {"scan": {"type": "string", "format": "file"}, "note": {"type": "string"}}});
/// let answer = json!({"scan": "file_1", "note": "file_2"});
/// assert_eq!(file_answers(&schema, &answer), [("scan", "file_1")]);
/// ```
pub fn file_answers<'a>(schema: &'a Value, answer: &'a Value) -> Vec<(&'a str, &'a str)> {
    let mut found = Vec::new();
    look("", schema, answer, &mut found);
    found
}

fn look<'a>(
    name: &'a str,
    schema: &'a Value,
    answer: &'a Value,
    found: &mut Vec<(&'a str, &'a str)>,
) {
    match answer {
        Value::String(text) => {
            let is_file = schema["format"] == "file" || schema["contentMediaType"].is_string();
            found.extend(Some((name, text.as_str())).filter(|_| is_file));
        }
        Value::Array(items) => {
            items.iter().for_each(|item| look(name, &schema["items"], item, found));
        }
        Value::Object(members) => {
            for (name, member) in members {
                look(name, &schema["properties"][name.as_str()], member, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_fields_that_say_so_take_files_however_deep() {
        let file = json!({"type": "string", "format": "file"});
        let photo = json!({"type": "string", "contentMediaType": "image/png"});
        let schema = json!({"properties": {
            "pages": {"type": "array", "items": file},
            "more": {"type": "object", "properties": {"photo": photo, "word": {"type": "string"}}},
        }});
        let answer =
            json!({"pages": ["a", "b", 3], "more": {"photo": "c", "word": "d"}, "other": "e"});
        let found = file_answers(&schema, &answer);
        assert_eq!(found, [("pages", "a"), ("pages", "b"), ("photo", "c")]);
    }
}
