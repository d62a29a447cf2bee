//! What stands in an address: each word with its meaning and with what it may be.

use serde_json::{Value, json};

use crate::limits::PAGE_MAX;

/// One word of a query.
#[derive(Clone, Copy)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) says: &'static str,
    pub(crate) kind: ParameterKind,
    is_required: bool,
}

#[derive(Clone, Copy)]
pub(crate) enum ParameterKind {
    Text,
    /// `true` or `false`
    Flag,
    /// A whole number from the first to the second.
    Number(u64, u64),
    OneOf(&'static [&'static str]),
    /// An id with this prefix.
    Id(&'static str),
    /// RFC 3339.
    Moment,
}

impl Parameter {
    pub(crate) const fn new(
        name: &'static str,
        kind: ParameterKind,
        says: &'static str,
    ) -> Parameter {
        Parameter { name, says, kind, is_required: false }
    }

    /// Without it the request makes no sense.
    pub(crate) const fn required(self) -> Parameter {
        Parameter { is_required: true, ..self }
    }

    /// `?limit=`
    pub(crate) const LIMIT: Parameter = Parameter::new(
        "limit",
        ParameterKind::Number(1, PAGE_MAX as u64),
        "at most so many; 50 if not said",
    );

    /// `?cursor=`
    pub(crate) const fn cursor(kind: ParameterKind) -> Parameter {
        Parameter::new("cursor", kind, "the `next` of the page before")
    }

    pub(super) fn written(&self) -> Value {
        let schema = self.kind.schema();
        let mut written =
            json!({"name": self.name, "in": "query", "description": self.says, "schema": schema});
        if self.is_required {
            written["required"] = true.into();
        }
        written
    }
}

impl ParameterKind {
    pub(super) fn schema(self) -> Value {
        match self {
            ParameterKind::Text => json!({"type": "string"}),
            ParameterKind::Flag => json!({"type": "boolean"}),
            ParameterKind::Number(least, most) => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            ParameterKind::OneOf(words) => json!({"type": "string", "enum": words}),
            ParameterKind::Id(prefix) => id(prefix),
            ParameterKind::Moment => json!({"type": "string", "format": "date-time"}),
        }
    }
}

/// The digits are those of `domain::id`: 26 of 32, of which the first has only three bits.
pub(super) fn id(prefix: &str) -> Value {
    json!({"type": "string", "pattern": format!("^{prefix}[0-7][0-9a-hjkmnp-tv-z]{{25}}$")})
}

/// Which ids stand in a path is said by the noun before them.
pub(super) fn of_path(path: &str) -> Option<Value> {
    let noun = path.split("/{id}").next().filter(|_| path.contains("{id}"))?;
    let prefix = match noun.rsplit('/').next()? {
        "sessions" => "ses_",
        "runs" => "run_",
        "holds" => "hold_",
        "grants" => "grant_",
        "tokens" => "tok_",
        "files" => "file_",
        // A route for another noun says here what its ids look like.
        _ => "",
    };
    Some(json!({"name": "id", "in": "path", "required": true, "schema": id(prefix)}))
}

#[cfg(test)]
mod tests {
    use domain::id::{FileId, GrantId, HoldId, RunId, SessionId, TokenId};

    use super::*;
    use crate::routes::{Access, table};

    #[test]
    fn every_id_in_a_path_has_a_prefix_that_the_domain_knows() {
        let known = [
            SessionId::PREFIX,
            RunId::PREFIX,
            HoldId::PREFIX,
            GrantId::PREFIX,
            TokenId::PREFIX,
            FileId::PREFIX,
        ];
        for route in table().iter().filter(|route| route.access != Access::Page) {
            let Some(id) = of_path(route.path) else { continue };
            let pattern = id["schema"]["pattern"].as_str().unwrap_or_default();
            let fits = known.iter().any(|prefix| pattern.starts_with(&format!("^{prefix}[")));
            assert!(fits, "{}: {pattern}", route.path);
        }
    }
}
