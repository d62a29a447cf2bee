//! Which kinds of tools there are, and which keys belong to which.

use toml::Spanned;

use super::super::error::listed;
use super::super::source::{ConfigSource, Result};
use super::ToolTable;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeclaredKind {
    Command,
    ShellCmd,
    Sql,
    Http,
    Client,
    Mcp,
    Human,
}

impl DeclaredKind {
    const ALL: [(&str, DeclaredKind); 7] = [
        ("command", DeclaredKind::Command),
        ("shell_cmd", DeclaredKind::ShellCmd),
        ("sql", DeclaredKind::Sql),
        ("http", DeclaredKind::Http),
        ("client", DeclaredKind::Client),
        ("mcp", DeclaredKind::Mcp),
        ("human", DeclaredKind::Human),
    ];

    pub(super) fn parse(
        given: &Spanned<String>,
        source: &ConfigSource<'_>,
    ) -> Result<DeclaredKind> {
        source.word("kind", given, &DeclaredKind::ALL)
    }

    fn name(self) -> &'static str {
        DeclaredKind::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

impl ToolTable {
    pub(super) fn refuse_foreign_keys(
        &self,
        kind: DeclaredKind,
        source: &ConfigSource<'_>,
    ) -> Result<()> {
        use DeclaredKind::{Client, Command, Http, Human, Mcp, ShellCmd, Sql};
        fn at<T>(value: &Option<Spanned<T>>) -> Option<std::ops::Range<usize>> {
            value.as_ref().map(Spanned::span)
        }
        let keys: [(&str, _, &[DeclaredKind]); 41] = [
            ("description", at(&self.description), &[Command, Http, Client]),
            ("input_schema", at(&self.input_schema), &[Command, Http, Client]),
            ("effects", at(&self.effects), &[Command, Http, Client, Mcp]),
            ("confirm", at(&self.confirm), &[Command, Http]),
            ("approve_text", at(&self.approve_text), &[Command, ShellCmd, Sql, Http, Client]),
            ("deny_text", at(&self.deny_text), &[Command, ShellCmd, Sql, Http, Client]),
            ("deny_values", at(&self.deny_values), &[Client]),
            ("run_as", at(&self.run_as), &[Command, ShellCmd, Mcp]),
            ("argv", at(&self.argv), &[Command, Mcp]),
            ("cwd", at(&self.cwd), &[Command, Mcp]),
            ("env", at(&self.env), &[Command, ShellCmd, Mcp]),
            ("set_env", at(&self.set_env), &[Command, ShellCmd, Mcp]),
            ("time_limit", at(&self.time_limit), &[Command, ShellCmd, Sql, Http, Mcp]),
            ("time_limit_max", at(&self.time_limit_max), &[ShellCmd]),
            ("roots", at(&self.roots), &[ShellCmd]),
            ("allow_shell", at(&self.allow_shell), &[ShellCmd]),
            ("database", at(&self.database), &[Sql]),
            ("access", at(&self.access), &[Sql]),
            ("allow_ddl", at(&self.allow_ddl), &[Sql]),
            ("always_ask", at(&self.always_ask), &[Sql]),
            ("asks", at(&self.asks), &[Human]),
            ("method", at(&self.method), &[Http]),
            ("url", at(&self.url), &[Http, Mcp]),
            ("hosts", at(&self.hosts), &[Http]),
            ("headers", at(&self.headers), &[Http]),
            ("headers_env", at(&self.headers_env), &[Http, Mcp]),
            ("headers_file", at(&self.headers_file), &[Http]),
            ("body", at(&self.body), &[Http]),
            ("form", at(&self.form), &[Http]),
            ("allow_private_addresses", at(&self.allow_private_addresses), &[Http, Mcp]),
            ("auth", at(&self.auth), &[Mcp]),
            ("client_id", at(&self.client_id), &[Mcp]),
            ("client_secret_env", at(&self.client_secret_env), &[Mcp]),
            ("client_secret_file", at(&self.client_secret_file), &[Mcp]),
            ("scopes", at(&self.scopes), &[Mcp]),
            ("only", at(&self.only), &[Mcp]),
            ("effects_of", at(&self.effects_of), &[Mcp]),
            ("database_env", at(&self.database_env), &[Sql]),
            ("database_file", at(&self.database_file), &[Sql]),
            ("tables", at(&self.tables), &[Sql]),
            ("rows_max", at(&self.rows_max), &[Sql]),
        ];
        for (key, given, kinds) in keys {
            let Some(span) = given.filter(|_| !kinds.contains(&kind)) else { continue };
            let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
            let (own, others) = (kind.name(), listed(&names));
            let message =
                format!("a tool of kind `{own}` has no `{key}`; it belongs to kind {others}");
            return Err(source.error(span, message));
        }
        Ok(())
    }
}
