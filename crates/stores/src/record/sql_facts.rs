//! What an SQL tool knew about the statement of a call.

use std::borrow::Cow;

use domain::sql_facts::{SqlFacts, SqlKind, SqlTables};
use serde::{Deserialize, Serialize};

use super::{Broken, damaged, is_false};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredSqlFacts<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    tables: Vec<Cow<'a, str>>,
    /// There are no other tables.
    #[serde(default, skip_serializing_if = "is_false")]
    complete: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    has_where: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
}

impl<'a> From<&'a SqlFacts> for StoredSqlFacts<'a> {
    fn from(facts: &'a SqlFacts) -> StoredSqlFacts<'a> {
        StoredSqlFacts {
            kind: facts.kind.name().into(),
            tables: facts.tables.names.iter().map(Cow::from).collect(),
            complete: facts.tables.complete,
            has_where: facts.has_where,
            rows: facts.rows,
        }
    }
}

impl StoredSqlFacts<'_> {
    pub(super) fn facts(self) -> Result<SqlFacts, Broken> {
        let Some(kind) = SqlKind::parse(&self.kind) else {
            return damaged("a statement has an unknown kind");
        };
        let names = self.tables.into_iter().map(Cow::into_owned).collect();
        Ok(SqlFacts {
            kind,
            tables: SqlTables { names, complete: self.complete },
            has_where: self.has_where,
            rows: self.rows,
        })
    }
}
