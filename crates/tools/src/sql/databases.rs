//! The databases that a tool may use, by the names that the model uses.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use domain::phrase::{PhraseCode, RunDetail};
use serde_json::{Value, json};

use crate::bad_tool::BadTool;
use crate::limits::SQL_BYTES_MAX;

#[derive(Clone, Debug)]
pub struct SqlDatabases(BTreeMap<String, PathBuf>);

/// One of them, chosen by a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChosenDatabase {
    pub(super) name: String,
    pub(super) path: PathBuf,
}

impl ChosenDatabase {
    /// Which database, for an execution context.
    pub(super) fn place(&self) -> RunDetail {
        self.place_as(PhraseCode::Database)
    }

    pub(super) fn place_read_only(&self) -> RunDetail {
        self.place_as(PhraseCode::DatabaseReadOnly)
    }

    fn place_as(&self, code: PhraseCode) -> RunDetail {
        let mut place = RunDetail::default();
        place.push(code, &[&self.name, &self.path.display().to_string()]);
        place
    }
}

impl SqlDatabases {
    /// Files need not exist yet, but their folders must.
    pub fn new(tool: &str, files: BTreeMap<String, PathBuf>) -> Result<SqlDatabases, BadTool> {
        if files.is_empty() {
            return Err(BadTool::new(tool, "name at least one database file"));
        }
        files
            .into_iter()
            .map(|(name, path)| Ok((name, absolute_path(tool, &path)?)))
            .collect::<Result<_, _>>()
            .map(SqlDatabases)
    }

    pub fn single(tool: &str, path: impl Into<PathBuf>) -> Result<SqlDatabases, BadTool> {
        SqlDatabases::new(tool, [("main".to_owned(), path.into())].into())
    }

    pub(super) fn choose_database(&self, arguments: &Value) -> Result<ChosenDatabase, String> {
        let found = match (arguments.get("database"), self.0.len()) {
            (None, 1) => self.0.first_key_value(),
            (None, _) => {
                return Err(format!("`database` must be one of: {}", self.names().join(", ")));
            }
            (Some(name), _) => name.as_str().and_then(|name| self.0.get_key_value(name)),
        };
        let (name, path) = found
            .ok_or_else(|| format!("`database` must be one of: {}", self.names().join(", ")))?;
        Ok(ChosenDatabase { name: name.clone(), path: path.clone() })
    }

    fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    pub(super) fn tool_origin(&self) -> String {
        format!("{:?}", self.0)
    }

    pub(super) fn arguments_schema(&self, what: &str) -> Value {
        let mut required = json!(["sql"]);
        if self.0.len() > 1 {
            required = json!(["sql", "database"]);
        }
        json!({
            "type": "object",
            "properties": {
                "sql": {"type": "string", "minLength": 1, "maxLength": SQL_BYTES_MAX, "description": what},
                "database": {"type": "string", "enum": self.names(), "description": "which database"},
            },
            "required": required,
            "additionalProperties": false,
        })
    }
}

/// For the model: which tables there are for it.
pub(super) fn describe_allowlist(tables: &Option<Vec<String>>) -> String {
    match tables {
        None => String::new(),
        Some(tables) => format!(" (tables: {})", tables.join(", ")),
    }
}

pub(super) fn sql_of(arguments: &Value) -> Result<&str, String> {
    match arguments.get("sql").and_then(Value::as_str) {
        Some(sql) if sql.len() > SQL_BYTES_MAX => {
            Err(format!("`sql` is longer than {SQL_BYTES_MAX} bytes"))
        }
        Some(sql) => Ok(sql),
        None => Err("`sql` must be a text: one SQL statement".into()),
    }
}

fn absolute_path(tool: &str, path: &Path) -> Result<PathBuf, BadTool> {
    let bad =
        || BadTool::new(tool, format!("`{}` is not a file in an existing folder", path.display()));
    let name = path.file_name().ok_or_else(bad)?;
    let folder = match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => return Err(bad()),
    };
    Ok(folder.canonicalize().map_err(|_| bad())?.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_named_unless_there_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let one = SqlDatabases::single("sql_query", dir.path().join("a.db")).unwrap();
        assert_eq!(one.choose_database(&json!({})).unwrap().name, "main");
        let files = ["shop", "logs"].map(|name| (name.to_owned(), dir.path().join(name)));
        let two = SqlDatabases::new("sql_query", files.into()).unwrap();
        assert_eq!(two.choose_database(&json!({"database": "logs"})).unwrap().name, "logs");
        for arguments in [json!({}), json!({"database": "x"}), json!({"database": 1})] {
            assert_eq!(
                two.choose_database(&arguments).unwrap_err(),
                "`database` must be one of: logs, shop"
            );
        }
        assert_eq!(two.arguments_schema("")["required"], json!(["sql", "database"]));
    }

    #[test]
    fn a_path_that_cannot_be_is_refused_at_the_start() {
        assert!(SqlDatabases::single("sql_query", "/nonexistent/a.db").is_err());
        assert!(SqlDatabases::single("sql_query", "/").is_err());
        assert!(SqlDatabases::new("sql_query", BTreeMap::new()).is_err());
    }
}
