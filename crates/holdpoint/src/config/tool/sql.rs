//! `kind = "sql"`: statements on a SQLite file or a PostgreSQL database.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use toml::Spanned;

use super::super::secret::SecretSource;
use super::super::source::{ConfigSource, Result};
use super::ToolTable;

/// Statements on one database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlTool {
    pub database: SqlDatabase,
    pub access: SqlAccess,
    /// Tables that may be used; all, if nobody says.
    pub tables: Option<Vec<String>>,
    pub time_limit: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqlDatabase {
    Sqlite(PathBuf),
    /// Where the address is, which has a password in it.
    Postgres(SecretSource),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlAccess {
    Query,
    Modify {
        /// Tables, too, may be made, changed and dropped.
        allow_ddl: bool,
        /// People are asked even where the policy would allow the call.
        always_ask: bool,
        /// Rows that one statement may change.
        rows_max: Option<u64>,
    },
}

impl ToolTable {
    pub(super) fn sql(&self, span: &Range<usize>, source: &ConfigSource<'_>) -> Result<SqlTool> {
        let database = self.sql_database(span, source)?;
        let given = self.required("access", &self.access, span, source)?;
        let is_on = |flag: &Option<Spanned<bool>>, default| {
            flag.as_ref().map_or(default, |flag| *flag.get_ref())
        };
        let modify = SqlAccess::Modify {
            allow_ddl: is_on(&self.allow_ddl, false),
            always_ask: is_on(&self.always_ask, true),
            rows_max: self.rows_max.as_ref().map(|rows| *rows.get_ref()),
        };
        let known = [("query", SqlAccess::Query), ("modify", modify)];
        let access = source.word("access", given, &known)?;
        if access == SqlAccess::Query {
            fn at<T>(value: &Option<Spanned<T>>) -> Option<Range<usize>> {
                value.as_ref().map(Spanned::span)
            }
            let keys = [
                ("allow_ddl", at(&self.allow_ddl)),
                ("always_ask", at(&self.always_ask)),
                ("rows_max", at(&self.rows_max)),
            ];
            if let Some((key, Some(span))) = keys.into_iter().find(|(_, span)| span.is_some()) {
                let message =
                    format!("`{key}` goes with `access = \"modify\"`; a query changes nothing");
                return Err(source.error(span, message));
            }
        }
        let tables = match &self.tables {
            Some(tables) if tables.get_ref().is_empty() => {
                let message =
                    "`tables` is empty; name the tables that may be used, or take it out for all";
                return Err(source.error(tables.span(), message));
            }
            Some(tables) if is_on(&self.allow_ddl, false) => {
                let message = "a list of tables says nothing about new ones: take `tables` or `allow_ddl` out";
                return Err(source.error(tables.span(), message));
            }
            tables => tables.as_ref().map(|tables| tables.get_ref().clone()),
        };
        let time_limit = self.duration(&self.time_limit, source)?;
        Ok(SqlTool { database, access, tables, time_limit })
    }

    fn sql_database(&self, span: &Range<usize>, source: &ConfigSource<'_>) -> Result<SqlDatabase> {
        let by_reference = self.database_env.is_some() || self.database_file.is_some();
        match &self.database {
            Some(path) if path.get_ref().contains("://") => {
                // It may hold a password, so it is not repeated.
                let message = "the address of a database holds a password, which does not belong here: put it into a \
                               variable or a file, and name that with `database_env` or `database_file`";
                Err(source.error(path.span(), message))
            }
            Some(path) if by_reference => {
                let message = "give `database` (a SQLite file), or `database_env` or `database_file` (PostgreSQL), not both";
                Err(source.error(path.span(), message))
            }
            Some(path) => Ok(SqlDatabase::Sqlite(source.path(path.get_ref()))),
            None if by_reference => source
                .secret("database", span.clone(), &self.database_env, &self.database_file)
                .map(SqlDatabase::Postgres),
            None => {
                let message = "`database` is missing: a tool of kind `sql` needs a SQLite file, or `database_env` or \
                               `database_file` for PostgreSQL";
                Err(source.error(span.clone(), message))
            }
        }
    }
}
