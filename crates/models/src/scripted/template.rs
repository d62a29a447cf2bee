//! Text with places to fill: `{message}`, `{result}`, `{result.2}`, `{result.status}`, `{1}`.

use serde_json::{Map, Value};

use super::scene::Scene;

#[derive(Debug, PartialEq)]
pub(super) struct Template(Vec<ScriptPiece>);

#[derive(Debug, PartialEq)]
enum ScriptPiece {
    Plain(String),
    Message,
    /// All results, or the one with this number (from 1); and of a JSON object, one member.
    Result {
        number: Option<usize>,
        member: Option<String>,
    },
    /// What a group of the pattern found, counted from 1.
    Capture(usize),
}

impl Template {
    /// `groups`: how many captures the turn's patterns have.
    pub(super) fn parse(text: &str, groups: usize) -> Result<Template, String> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                plain.push_str(brace);
                rest = after;
                continue;
            }
            let end = if brace == "{" { rest.find('}') } else { None };
            let Some(end) = end else {
                return Err(format!(
                    "a single `{brace}` stands for nothing; write `{brace}{brace}` for the character"
                ));
            };
            if !plain.is_empty() {
                pieces.push(ScriptPiece::Plain(std::mem::take(&mut plain)));
            }
            pieces.push(placeholder(&rest[..end], groups)?);
            rest = &rest[end + 1..];
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(ScriptPiece::Plain(plain));
        }
        Ok(Template(pieces))
    }

    pub(super) fn fill(&self, scene: &Scene<'_>, captures: &[String]) -> String {
        let pieces = self.0.iter().map(|piece| match piece {
            ScriptPiece::Plain(text) => text.clone(),
            ScriptPiece::Message => scene.said.to_owned(),
            ScriptPiece::Result { number, member } => result(scene, *number, member.as_deref()),
            ScriptPiece::Capture(number) => captures.get(number - 1).cloned().unwrap_or_default(),
        });
        pieces.collect()
    }
}

fn placeholder(name: &str, groups: usize) -> Result<ScriptPiece, String> {
    if name == "message" {
        return Ok(ScriptPiece::Message);
    }
    if let Ok(number) = name.parse::<usize>() {
        return match number {
            0 => Err("captures are counted from `{1}`".into()),
            _ if number > groups => Err(format!(
                "there is no capture `{{{number}}}`: the patterns of this turn have {groups}"
            )),
            _ => Ok(ScriptPiece::Capture(number)),
        };
    }
    let unknown = || {
        format!(
            "`{{{name}}}` stands for nothing; there are `{{message}}`, `{{result}}`, `{{result.2}}`, \
             `{{result.status}}`, `{{1}}`, and `{{{{` for the character"
        )
    };
    let rest = name.strip_prefix("result").ok_or_else(unknown)?;
    let Some(rest) = rest.strip_prefix('.') else {
        return if rest.is_empty() {
            Ok(ScriptPiece::Result { number: None, member: None })
        } else {
            Err(unknown())
        };
    };
    let (first, member) = match rest.split_once('.') {
        Some((first, member)) => (first, Some(member)),
        None => (rest, None),
    };
    match (first.parse::<usize>(), member) {
        (Ok(0), _) => Err("results are counted from `{result.1}`".into()),
        (Ok(number), member) => {
            Ok(ScriptPiece::Result { number: Some(number), member: member.map(str::to_owned) })
        }
        (Err(_), None) if !first.is_empty() => {
            Ok(ScriptPiece::Result { number: None, member: Some(first.into()) })
        }
        (Err(_), _) => Err(unknown()),
    }
}

fn result(scene: &Scene<'_>, number: Option<usize>, member: Option<&str>) -> String {
    let contents: Vec<&str> = match number {
        Some(number) => {
            scene.results.get(number - 1).map(|result| &*result.content).into_iter().collect()
        }
        None => scene.results.iter().map(|result| &*result.content).collect(),
    };
    let Some(member) = member else { return contents.join("\n") };
    let found = contents.iter().find_map(|content| {
        let value: Value = serde_json::from_str(content).ok()?;
        value.get(member).cloned()
    });
    match found {
        Some(Value::String(text)) => text,
        Some(value) => value.to_string(),
        None => String::new(),
    }
}

/// A JSON value in which every text is a template.
#[derive(Debug)]
pub(super) enum JsonTemplate {
    Leaf(Value),
    Text(Template),
    Array(Vec<JsonTemplate>),
    Object(Vec<(String, JsonTemplate)>),
}

impl JsonTemplate {
    pub(super) fn parse(value: Value, groups: usize) -> Result<JsonTemplate, String> {
        Ok(match value {
            Value::String(text) => JsonTemplate::Text(Template::parse(&text, groups)?),
            Value::Array(items) => {
                let items = items.into_iter().map(|item| JsonTemplate::parse(item, groups));
                JsonTemplate::Array(items.collect::<Result<_, _>>()?)
            }
            Value::Object(members) => {
                let members = members.into_iter().map(|(key, value)| {
                    JsonTemplate::parse(value, groups).map(|value| (key, value))
                });
                JsonTemplate::Object(members.collect::<Result<_, _>>()?)
            }
            leaf => JsonTemplate::Leaf(leaf),
        })
    }

    pub(super) fn fill(&self, scene: &Scene<'_>, captures: &[String]) -> Value {
        match self {
            JsonTemplate::Leaf(value) => value.clone(),
            JsonTemplate::Text(text) => Value::String(text.fill(scene, captures)),
            JsonTemplate::Array(items) => {
                Value::Array(items.iter().map(|item| item.fill(scene, captures)).collect())
            }
            JsonTemplate::Object(members) => {
                let members = members.iter();
                let filled: Map<String, Value> = members
                    .map(|(key, value)| (key.clone(), value.fill(scene, captures)))
                    .collect();
                Value::Object(filled)
            }
        }
    }
}
