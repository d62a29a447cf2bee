//! Bodies: a JSON value or a form with arguments in it. They are put together as values and written
//! out once, so no argument can end its own string.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::request::BodyTemplate;
use super::template::{Given, Template, percent};

/// A body template that was read.
#[derive(Clone, Debug)]
pub(super) enum Body {
    Empty,
    Json(Node),
    Form(Vec<(String, Template)>),
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Fixed(Value),
    /// `"{argument}"` alone: the argument as it is, whatever its type.
    Argument(String),
    Text(Template),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Body {
    pub(super) fn read(template: &BodyTemplate) -> Result<Body, String> {
        match template {
            BodyTemplate::None => Ok(Body::Empty),
            BodyTemplate::Json(value) => Node::read(value).map(Body::Json),
            BodyTemplate::Form(fields) => fields
                .iter()
                .map(|(key, value)| Ok((key.clone(), Template::parse(value)?)))
                .collect::<Result<_, String>>()
                .map(Body::Form),
        }
    }

    pub(super) fn content_type(&self) -> Option<&'static str> {
        match self {
            Body::Empty => None,
            Body::Json(_) => Some("application/json"),
            Body::Form(_) => Some("application/x-www-form-urlencoded"),
        }
    }

    pub(super) fn names(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        match self {
            Body::Empty => {}
            Body::Json(node) => node.names(&mut names),
            Body::Form(fields) => names.extend(fields.iter().flat_map(|(_, value)| value.names())),
        }
        names
    }

    pub(super) fn filled(&self, given: &Given<'_>) -> Result<Option<String>, String> {
        match self {
            Body::Empty => Ok(None),
            Body::Json(node) => Ok(Some(node.filled(given)?.unwrap_or(Value::Null).to_string())),
            Body::Form(fields) => {
                let mut pairs = Vec::new();
                for (key, value) in fields {
                    if let Some(value) = value.filled(given, |_, value| Ok(percent(value)))? {
                        pairs.push(format!("{}={value}", percent(key)));
                    }
                }
                Ok(Some(pairs.join("&")))
            }
        }
    }
}

impl Node {
    fn read(value: &Value) -> Result<Node, String> {
        Ok(match value {
            Value::String(text) => {
                let template = Template::parse(text)?;
                match template.only_argument() {
                    Some(name) => Node::Argument(name.to_owned()),
                    None if template.names().next().is_none() => {
                        Node::Fixed(Value::from(text.replace("{{", "{").replace("}}", "}")))
                    }
                    None => Node::Text(template),
                }
            }
            Value::Array(items) => {
                Node::List(items.iter().map(Node::read).collect::<Result<_, _>>()?)
            }
            Value::Object(members) => Node::Object(
                members
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), Node::read(value)?)))
                    .collect::<Result<_, String>>()?,
            ),
            fixed => Node::Fixed(fixed.clone()),
        })
    }

    fn names<'a>(&'a self, names: &mut BTreeSet<&'a str>) {
        match self {
            Node::Fixed(_) => {}
            Node::Argument(name) => {
                names.insert(name);
            }
            Node::Text(template) => names.extend(template.names()),
            Node::List(items) => items.iter().for_each(|item| item.names(names)),
            Node::Object(members) => members.iter().for_each(|(_, item)| item.names(names)),
        }
    }

    /// `None` for what an argument that was left out takes along: itself, and the member or element
    /// that it is.
    fn filled(&self, given: &Given<'_>) -> Result<Option<Value>, String> {
        Ok(match self {
            Node::Fixed(value) => Some(value.clone()),
            Node::Argument(name) => given.value(name),
            Node::Text(template) => {
                template.filled(given, |_, value| Ok(value.to_owned()))?.map(Value::from)
            }
            Node::List(items) => {
                let items = items.iter().map(|item| item.filled(given));
                Some(Value::Array(items.filter_map(Result::transpose).collect::<Result<_, _>>()?))
            }
            Node::Object(members) => {
                let mut object = Map::new();
                for (key, item) in members {
                    if let Some(value) = item.filled(given)? {
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
        Body::read(&template)?.filled(&Given { arguments: &arguments, hidden: &none })
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
