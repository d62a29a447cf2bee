//! SQL tools, on whichever database the configuration names.

use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use ports::tool_host::ToolHost;
use tools::sql::postgres::{PgModify, PgModifyConfig, PgQuery, PgQueryConfig, PgTarget};
use tools::sql::{ModifyConfig, QueryConfig, SqlDatabases, SqlModify, SqlQuery};

use super::secret;
use crate::config::{SqlAccess, SqlDatabase, SqlTool};

pub(super) fn host(name: &str, sql: &SqlTool) -> Result<Arc<dyn ToolHost>> {
    match &sql.database {
        SqlDatabase::Sqlite(path) => sqlite(name, sql, SqlDatabases::single(name, path.clone())?),
        SqlDatabase::Postgres(source) => {
            let (reference, url) = secret::read_secret(source)
                .with_context(|| format!("tool `{name}`: the database has no address"))?;
            let target = PgTarget::parse(&url)
                .map_err(|why| anyhow!("tool `{name}`: `{reference}` is no good: {why}"))?;
            postgres(name, sql, target)
        }
    }
}

fn sqlite(name: &str, sql: &SqlTool, databases: SqlDatabases) -> Result<Arc<dyn ToolHost>> {
    Ok(match sql.access {
        SqlAccess::Query => {
            let mut setup = QueryConfig::new(databases);
            setup.name = name.into();
            setup.tables = sql.tables.clone();
            setup.time_limit = sql.time_limit.unwrap_or(setup.time_limit);
            Arc::new(SqlQuery::new(setup)?)
        }
        SqlAccess::Modify { allow_ddl, always_ask, rows_max } => {
            let mut setup = ModifyConfig::new(databases);
            setup.name = name.into();
            setup.tables = sql.tables.clone();
            setup.time_limit = sql.time_limit.unwrap_or(setup.time_limit);
            setup.changes_max = rows_max;
            setup.allow_ddl = allow_ddl;
            setup.ask = always_ask;
            Arc::new(SqlModify::new(setup)?)
        }
    })
}

fn postgres(name: &str, sql: &SqlTool, target: PgTarget) -> Result<Arc<dyn ToolHost>> {
    Ok(match sql.access {
        SqlAccess::Query => {
            let mut setup = PgQueryConfig::new(target);
            setup.name = name.into();
            setup.tables = sql.tables.clone();
            setup.time_limit = sql.time_limit.unwrap_or(setup.time_limit);
            Arc::new(PgQuery::new(setup)?)
        }
        SqlAccess::Modify { allow_ddl, always_ask, rows_max } => {
            let mut setup = PgModifyConfig::new(target);
            setup.name = name.into();
            setup.tables = sql.tables.clone();
            setup.time_limit = sql.time_limit.unwrap_or(setup.time_limit);
            setup.rows_max = rows_max;
            setup.allow_ddl = allow_ddl;
            setup.ask = always_ask;
            Arc::new(PgModify::new(setup)?)
        }
    })
}
