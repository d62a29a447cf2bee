//! What an SQL tool knows about one statement: typed facts for the policy, so that no rule has to read
//! the text of a statement, and none made from texts for people.
//!
//! A tool states them when it prepares a call. They are part of the execution context, and so of the
//! digest that people approve. Whatever a tool did not find out is unknown.

use std::fmt;

use crate::digest::Framed;
use crate::visible::visible;

/// By default nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SqlFacts {
    /// What the statement does, as far as its text and the database say.
    pub kind: SqlKind,
    /// Which tables it touches.
    pub tables: SqlTables,
    /// Whether an update or delete has a WHERE clause; `None` for other statements, and if unknown.
    pub has_where: Option<bool>,
    /// Rows that the statement changes, with those that triggers and foreign keys change. Only what was
    /// measured: an estimate is unknown.
    pub rows: Option<u64>,
}

/// What a statement does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SqlKind {
    /// Reads only.
    Select,
    /// Adds rows, and touches no others.
    Insert,
    /// Changes rows.
    Update,
    /// Removes rows.
    Delete,
    /// May also overwrite or delete rows that are in its way: `REPLACE`, `OR REPLACE`, `ON CONFLICT DO UPDATE`.
    Upsert,
    /// Makes, changes or drops tables, indexes, views or triggers.
    Ddl,
    /// The statement could not be classified.
    #[default]
    Unknown,
}

/// Tables that a statement reads or changes, as the database spells them; `schema.table` on PostgreSQL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SqlTables {
    /// Each once.
    pub names: Vec<String>,
    /// There are no others: none behind a view, none that a trigger or a foreign key leads to.
    pub complete: bool,
}

impl SqlKind {
    /// All of them.
    pub const ALL: [SqlKind; 7] = [
        SqlKind::Select,
        SqlKind::Insert,
        SqlKind::Update,
        SqlKind::Delete,
        SqlKind::Upsert,
        SqlKind::Ddl,
        SqlKind::Unknown,
    ];

    /// The word by which rules and the API tell it.
    pub fn name(self) -> &'static str {
        match self {
            SqlKind::Select => "select",
            SqlKind::Insert => "insert",
            SqlKind::Update => "update",
            SqlKind::Delete => "delete",
            SqlKind::Upsert => "upsert",
            SqlKind::Ddl => "ddl",
            SqlKind::Unknown => "unknown",
        }
    }

    /// The kind of this name. `None`: there is none.
    pub fn parse(text: &str) -> Option<SqlKind> {
        SqlKind::ALL.into_iter().find(|kind| kind.name() == text)
    }
}

impl SqlFacts {
    pub(crate) fn frame(&self, framed: Framed) -> Framed {
        let has_where = self.has_where.map(|has| [u8::from(has)]);
        let rows = self.rows.map(u64::to_le_bytes);
        framed
            .field("sql_kind", self.kind.name().as_bytes())
            .list("sql_tables", &self.tables.names)
            .number("sql_tables_complete", u64::from(self.tables.complete))
            .optional("sql_has_where", has_where.as_ref().map(<[u8; 1]>::as_slice))
            .optional("sql_rows", rows.as_ref().map(<[u8; 8]>::as_slice))
    }
}

/// For people who write rules: `sql.kind = delete, sql.tables = orders, …`.
impl fmt::Display for SqlFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tables = self.tables.names.iter().map(|name| visible(name)).collect::<Vec<_>>();
        if !self.tables.complete {
            tables.push(if tables.is_empty() { "unknown" } else { "and perhaps others" }.into());
        }
        if tables.is_empty() {
            tables.push("none".into());
        }
        write!(f, "sql.kind = {}, sql.tables = {}", self.kind.name(), tables.join(", "))?;
        match (self.has_where, self.kind) {
            (Some(has), _) => write!(f, ", sql.has_where = {has}")?,
            (None, SqlKind::Update | SqlKind::Delete | SqlKind::Upsert | SqlKind::Unknown) => {
                f.write_str(", sql.has_where = unknown")?;
            }
            (None, _) => {}
        }
        match self.rows {
            Some(rows) => write!(f, ", sql.rows = {rows}"),
            None => f.write_str(", sql.rows = unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::digest::Digest;

    #[test]
    fn kinds_are_read_as_they_are_written() {
        for kind in SqlKind::ALL {
            assert_eq!(SqlKind::parse(kind.name()), Some(kind));
        }
        assert_eq!(SqlKind::parse("DELETE"), None);
    }

    #[test]
    fn i02_every_fact_is_part_of_what_is_approved() {
        let changes: [fn(&mut SqlFacts); 8] = [
            |_| {},
            |facts| facts.kind = SqlKind::Delete,
            |facts| facts.tables.names.push("orders".into()),
            |facts| facts.tables.complete = true,
            |facts| facts.has_where = Some(false),
            |facts| facts.has_where = Some(true),
            |facts| facts.rows = Some(0),
            |facts| facts.rows = Some(1),
        ];
        let digests: HashSet<Digest> = changes
            .iter()
            .map(|change| {
                let mut facts = SqlFacts::default();
                change(&mut facts);
                facts.frame(Framed::new("test")).finish()
            })
            .collect();
        assert_eq!(digests.len(), changes.len());
    }

    #[test]
    fn facts_are_shown_in_the_words_of_rules() {
        let unknown = "sql.kind = unknown, sql.tables = unknown, sql.has_where = unknown, \
                       sql.rows = unknown";
        assert_eq!(SqlFacts::default().to_string(), unknown);
        let facts = SqlFacts {
            kind: SqlKind::Delete,
            tables: SqlTables { names: vec!["a".into(), "b\u{202e}".into()], complete: true },
            has_where: Some(false),
            rows: Some(2),
        };
        let shown =
            "sql.kind = delete, sql.tables = a, b⟦U+202E⟧, sql.has_where = false, sql.rows = 2";
        assert_eq!(facts.to_string(), shown);
    }
}
