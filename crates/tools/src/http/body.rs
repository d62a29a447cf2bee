//! Bodies: a JSON value or a form with arguments in it. They are put together as values and written
//! out once, so no argument can end its own string.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::request::BodyTemplate;
use super::template::{TemplateArguments, TextTemplate, percent_encode};

/// A body template that was read.
#[derive(Clone, Debug)]
pub(super) enum ParsedBody {
    Empty,
    Json(BodyNode),
    Form(Vec<(String, TextTemplate)>),
}

#[derive(Clone, Debug)]
pub(super) enum BodyNode {
    Fixed(Value),
    /// `"{argument}"` alone: the argument as it is, whatever its type.
    Argument(String),
    Text(TextTemplate),
    List(Vec<BodyNode>),
    Object(Vec<(String, BodyNode)>),
}

impl ParsedBody {
    pub(super) fn parse(template: &BodyTemplate) -> Result<ParsedBody, String> {
        match template {
            BodyTemplate::None => Ok(ParsedBody::Empty),
            BodyTemplate::Json(value) => BodyNode::parse(value).map(ParsedBody::Json),
            BodyTemplate::Form(fields) => fields
                .iter()
                .map(|(key, value)| Ok((key.clone(), TextTemplate::parse(value)?)))
                .collect::<Result<_, String>>()
                .map(ParsedBody::Form),
        }
    }

    pub(super) fn content_type(&self) -> Option<&'static str> {
        match self {
            ParsedBody::Empty => None,
            ParsedBody::Json(_) => Some("application/json"),
            ParsedBody::Form(_) => Some("application/x-www-form-urlencoded"),
        }
    }

    pub(super) fn argument_names(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        match self {
            ParsedBody::Empty => {}
            ParsedBody::Json(node) => node.collect_names(&mut names),
            ParsedBody::Form(fields) => {
                names.extend(fields.iter().flat_map(|(_, value)| value.argument_names()))
            }
        }
        names
    }

    pub(super) fn fill_body(
        &self,
        given: &TemplateArguments<'_>,
    ) -> Result<Option<String>, String> {
        match self {
            ParsedBody::Empty => Ok(None),
            ParsedBody::Json(node) => {
                Ok(Some(node.fill_node(given)?.unwrap_or(Value::Null).to_string()))
            }
            ParsedBody::Form(fields) => {
                let mut pairs = Vec::new();
                for (key, value) in fields {
                    if let Some(value) =
                        value.fill_text(given, |_, value| Ok(percent_encode(value)))?
                    {
                        pairs.push(format!("{}={value}", percent_encode(key)));
                    }
                }
                Ok(Some(pairs.join("&")))
            }
        }
    }
}

impl BodyNode {
    fn parse(value: &Value) -> Result<BodyNode, String> {
        Ok(match value {
            Value::String(text) => {
                let template = TextTemplate::parse(text)?;
                match template.only_argument() {
                    Some(name) => BodyNode::Argument(name.to_owned()),
                    None if template.argument_names().next().is_none() => {
                        BodyNode::Fixed(Value::from(text.replace("{{", "{").replace("}}", "}")))
                    }
                    None => BodyNode::Text(template),
                }
            }
            Value::Array(items) => {
                BodyNode::List(items.iter().map(BodyNode::parse).collect::<Result<_, _>>()?)
            }
            Value::Object(members) => BodyNode::Object(
                members
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), BodyNode::parse(value)?)))
                    .collect::<Result<_, String>>()?,
            ),
            fixed => BodyNode::Fixed(fixed.clone()),
        })
    }

    fn collect_names<'a>(&'a self, names: &mut BTreeSet<&'a str>) {
        match self {
            BodyNode::Fixed(_) => {}
            BodyNode::Argument(name) => {
                names.insert(name);
            }
            BodyNode::Text(template) => names.extend(template.argument_names()),
            BodyNode::List(items) => items.iter().for_each(|item| item.collect_names(names)),
            BodyNode::Object(members) => {
                members.iter().for_each(|(_, item)| item.collect_names(names))
            }
        }
    }

    /// `None` for what an argument that was left out takes along: itself, and the member or element
    /// that it is.
    fn fill_node(&self, given: &TemplateArguments<'_>) -> Result<Option<Value>, String> {
        Ok(match self {
            BodyNode::Fixed(value) => Some(value.clone()),
            BodyNode::Argument(name) => given.argument_value(name),
            BodyNode::Text(template) => {
                template.fill_text(given, |_, value| Ok(value.to_owned()))?.map(Value::from)
            }
            BodyNode::List(items) => {
                let items = items.iter().map(|item| item.fill_node(given));
                Some(Value::Array(items.filter_map(Result::transpose).collect::<Result<_, _>>()?))
            }
            BodyNode::Object(members) => {
                let mut object = Map::new();
                for (key, item) in members {
                    if let Some(value) = item.fill_node(given)? {
                        object.insert(key.clone(), value);
                    }
                }
                Some(Value::Object(object))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(template: BodyTemplate, arguments: Value) -> Result<Option<String>, String> {
        let none = BTreeSet::new();
        ParsedBody::parse(&template)?
            .fill_body(&TemplateArguments { arguments: &arguments, hidden: &none })
    }

    #[test]
    fn arguments_keep_their_types_and_end_no_string() {
        let template = json!({"title": "{title}", "text": "by {who}: {{ok}}", "fixed": 1, "list": ["{n}", "{gone}"],
                              "brace": "{{x}}", "deep": {"labels": "{labels}", "gone": "{gone}"}});
        let arguments = json!({"title": "a\",\"admin\":true,\"b\":\"", "who": "\"\\\n", "n": 1.50,
                               "labels": ["x", {"y": null}]});
        let body = filled(BodyTemplate::Json(template), arguments).unwrap().unwrap();
        let read: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(
            read,
            json!({"title": "a\",\"admin\":true,\"b\":\"", "text": "by \"\\\n: {ok}", "fixed": 1,
                   "list": [1.5], "brace": "{x}", "deep": {"labels": ["x", {"y": null}]}})
        );
        assert_eq!(
            body.lines().count(),
            1,
            "one line, so that nothing in it looks like one of ours"
        );
    }

    #[test]
    fn a_form_is_encoded() {
        let form =
            BodyTemplate::Form(vec![("q a".into(), "{q}".into()), ("n".into(), "{n}".into())]);
        let body = filled(form, json!({"q": "a&b=c d+é\r\n"})).unwrap();
        assert_eq!(body.as_deref(), Some("q%20a=a%26b%3Dc%20d%2B%C3%A9%0D%0A"));
        assert_eq!(filled(BodyTemplate::None, json!({})), Ok(None));
        assert!(filled(BodyTemplate::Json(json!("{x")), json!({})).is_err());
    }
}
