//! The schema of a tool's arguments, as TOML or as JSON in quotes.

use std::ops::Range;

use domain::schema::Validator;
use serde_json::Value;
use toml::Spanned;

use super::super::json::json;
use super::super::source::{ConfigSource, Result};
use super::ToolTable;

impl ToolTable {
    pub(super) fn schema(&self, span: &Range<usize>, source: &ConfigSource<'_>) -> Result<Value> {
        let given = self.required("input_schema", &self.input_schema, span, source)?;
        let bad = |why: String| source.error(given.span(), why);
        let schema = match given.get_ref() {
            toml::Value::String(text) => serde_json::from_str(text)
                .map_err(|why| bad(format!("`input_schema` is not JSON: {why}")))?,
            other => json(other.clone()),
        };
        if !crate::checks::takes_an_object(&schema) {
            return Err(bad(
                "`input_schema` describes the arguments, which are an object: it needs `type = \"object\"`".into(),
            ));
        }
        Validator::new(&schema).map_err(bad)?;
        Ok(schema)
    }
}

/// `{argument}` must be one that the tool has, or the sentence could never be said.
pub(super) fn check_placeholders(
    text: &Spanned<String>,
    schema: Option<&Value>,
    source: &ConfigSource<'_>,
) -> Result<()> {
    let mut rest = text.get_ref().as_str();
    while let Some(at) = rest.find(['{', '}']) {
        let name = rest[at..].strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let Some((name, after)) = name else {
            let message =
                "the braces in this sentence do not match; `{argument}` stands for an argument";
            return Err(source.error(text.span(), message));
        };
        let pointer = format!("/properties/{}", name.replace('~', "~0").replace('/', "~1"));
        if schema.is_some_and(|schema| schema.pointer(&pointer).is_none()) {
            let shown = domain::visible::visible(name);
            let message = format!("the tool has no argument `{shown}` to put into this sentence");
            return Err(source.error(text.span(), message));
        }
        rest = after;
    }
    Ok(())
}
