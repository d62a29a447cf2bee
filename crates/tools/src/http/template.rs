//! Texts with `{argument}` in them.

use std::collections::BTreeSet;

use serde_json::Value;

/// A text, in pieces. `{{` and `}}` are braces that mean themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextTemplate(Vec<TemplatePiece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePiece {
    Literal(String),
    Argument(String),
}

impl TextTemplate {
    pub(super) fn parse(text: &str) -> Result<TextTemplate, String> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
                literal.push_str(&rest[..1]);
                rest = after;
                continue;
            }
            let name = rest.strip_prefix('{').and_then(|inside| inside.split_once('}'));
            let Some((name, after)) = name.filter(|(name, _)| is_name(name)) else {
                return Err(format!(
                    "the braces in `{text}` do not match; `{{argument}}` stands for an argument, and \
                     `{{{{` for a brace"
                ));
            };
            if !literal.is_empty() {
                pieces.push(TemplatePiece::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(TemplatePiece::Argument(name.to_owned()));
            rest = after;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(TemplatePiece::Literal(literal));
        }
        Ok(TextTemplate(pieces))
    }

    pub(super) fn argument_names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            TemplatePiece::Argument(name) => Some(name.as_str()),
            TemplatePiece::Literal(_) => None,
        })
    }

    /// The argument that this text consists of, with nothing around it.
    pub(super) fn only_argument(&self) -> Option<&str> {
        match self.0.as_slice() {
            [TemplatePiece::Argument(name)] => Some(name),
            _ => None,
        }
    }

    /// Puts the pieces together, with each argument's text passed through `encode`. `None` where an
    /// argument is not given.
    pub(super) fn fill_text(
        &self,
        given: &TemplateArguments<'_>,
        encode: impl Fn(&str, &str) -> Result<String, String>,
    ) -> Result<Option<String>, String> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                TemplatePiece::Literal(literal) => text.push_str(literal),
                TemplatePiece::Argument(name) => match given.argument_text(name)? {
                    None => return Ok(None),
                    Some(ArgumentText::Text(value)) => text.push_str(&encode(name, &value)?),
                    Some(ArgumentText::Hidden) => text.push_str(&secret_placeholder(name)),
                },
            }
        }
        Ok(Some(text))
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// What stands in place of a secret wherever people look.
pub(super) fn secret_placeholder(name: &str) -> String {
    format!("‹secret {name}›")
}

/// The arguments of one call: as they are sent, or as they are shown.
pub(super) struct TemplateArguments<'a> {
    pub(super) arguments: &'a Value,
    /// Arguments whose values are not to be seen; empty for what is sent.
    pub(super) hidden: &'a BTreeSet<String>,
}

pub(super) enum ArgumentText {
    Text(String),
    Hidden,
}

impl TemplateArguments<'_> {
    pub(super) fn argument_value(&self, name: &str) -> Option<Value> {
        let value = self.arguments.get(name)?;
        match self.hidden.contains(name) {
            true => Some(Value::from(secret_placeholder(name))),
            false => Some(value.clone()),
        }
    }

    /// An argument where only text can stand. Nothing is the same as null.
    fn argument_text(&self, name: &str) -> Result<Option<ArgumentText>, String> {
        let Some(value) = self.arguments.get(name) else { return Ok(None) };
        if self.hidden.contains(name) {
            return Ok(Some(ArgumentText::Hidden));
        }
        Ok(Some(ArgumentText::Text(match value {
            Value::Null => return Ok(None),
            Value::String(text) => text.clone(),
            Value::Bool(truth) => truth.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Array(_) | Value::Object(_) => {
                return Err(format!("`{name}` must be a text, a number or a truth value"));
            }
        })))
    }
}

/// Everything but what RFC 3986 calls unreserved.
pub(super) fn percent_encode(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn braces_are_read_and_meant() {
        let none = BTreeSet::new();
        let arguments = json!({"a": "x y", "n": 1.5, "t": true, "z": null, "o": {}});
        let given = TemplateArguments { arguments: &arguments, hidden: &none };
        for (template, filled) in [
            ("plain", Some("plain")),
            ("{a}", Some("x%20y")),
            ("{{{a}}}", Some("{x%20y}")),
            ("<{n}|{t}>", Some("<1.5|true>")),
            ("{z}", None),
            ("{missing}", None),
        ] {
            let template = TextTemplate::parse(template).unwrap();
            let told = template.fill_text(&given, |_, value| Ok(percent_encode(value))).unwrap();
            assert_eq!(told.as_deref(), filled, "{template:?}");
        }
        assert!(
            TextTemplate::parse("{o}").unwrap().fill_text(&given, |_, v| Ok(v.into())).is_err()
        );
        for wrong in ["{", "}", "{a", "a}", "{}", "{a b}", "{a/../b}", "{a{b}}"] {
            assert!(TextTemplate::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn i45_a_secret_is_never_encoded_only_named() {
        let secret = BTreeSet::from(["key".to_owned()]);
        let arguments = json!({"key": "hunter2"});
        let given = TemplateArguments { arguments: &arguments, hidden: &secret };
        let template = TextTemplate::parse("a={key}").unwrap();
        let told = template.fill_text(&given, |_, value| Ok(percent_encode(value))).unwrap();
        assert_eq!(told.as_deref(), Some("a=‹secret key›"));
        assert_eq!(given.argument_value("key"), Some(json!("‹secret key›")));
    }
}
