//! Which kinds of tools there are, and which keys belong to which.

use toml::Spanned;

use super::super::error::listed;
use super::super::source::{Result, Source};
use super::ToolTable;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Command,
    ShellCmd,
    Sql,
    Client,
    Human,
}

impl Kind {
    const ALL: [(&str, Kind); 5] = [
        ("command", Kind::Command),
        ("shell_cmd", Kind::ShellCmd),
        ("sql", Kind::Sql),
        ("client", Kind::Client),
        ("human", Kind::Human),
    ];

    pub(super) fn parse(given: &Spanned<String>, source: &Source<'_>) -> Result<Kind> {
        match given.get_ref().as_str() {
            later @ ("http" | "mcp") => {
                let message = format!(
                    "tools of kind `{later}` come with a later version; until then a `command` can do it"
                );
                Err(source.error(given.span(), message))
            }
            _ => source.word("kind", given, &Kind::ALL),
        }
    }

    fn name(self) -> &'static str {
        Kind::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

impl ToolTable {
    pub(super) fn refuse_foreign_keys(&self, kind: Kind, source: &Source<'_>) -> Result<()> {
        use Kind::{Client, Command, Human, ShellCmd, Sql};
        fn at<T>(value: &Option<Spanned<T>>) -> Option<std::ops::Range<usize>> {
            value.as_ref().map(Spanned::span)
        }
        let keys: [(&str, _, &[Kind]); 21] = [
            ("description", at(&self.description), &[Command, Client]),
            ("input_schema", at(&self.input_schema), &[Command, Client]),
            ("effects", at(&self.effects), &[Command, Client]),
            ("confirm", at(&self.confirm), &[Command]),
            ("approve_text", at(&self.approve_text), &[Command, ShellCmd, Sql, Client]),
            ("deny_text", at(&self.deny_text), &[Command, ShellCmd, Sql, Client]),
            ("deny_values", at(&self.deny_values), &[Client]),
            ("run_as", at(&self.run_as), &[Command, ShellCmd]),
            ("argv", at(&self.argv), &[Command]),
            ("cwd", at(&self.cwd), &[Command]),
            ("env", at(&self.env), &[Command, ShellCmd]),
            ("set_env", at(&self.set_env), &[Command, ShellCmd]),
            ("time_limit", at(&self.time_limit), &[Command, ShellCmd]),
            ("time_limit_max", at(&self.time_limit_max), &[ShellCmd]),
            ("roots", at(&self.roots), &[ShellCmd]),
            ("allow_shell", at(&self.allow_shell), &[ShellCmd]),
            ("database", at(&self.database), &[Sql]),
            ("access", at(&self.access), &[Sql]),
            ("allow_ddl", at(&self.allow_ddl), &[Sql]),
            ("always_ask", at(&self.always_ask), &[Sql]),
            ("asks", at(&self.asks), &[Human]),
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
