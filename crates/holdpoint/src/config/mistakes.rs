//! All mistakes of one file, and not only the first: its writer mends them in one go.
//!
//! A table with a mistake is left out of the checks of others, and its name stays known to them, so that
//! nothing is called wrong only because something else is. One table tells its first mistake.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, ConfigErrors, reworded};
use super::source::{ConfigSource, Result};

/// A file with more is not worth reading to the end.
const MISTAKES_MAX: usize = 50;

#[derive(Default)]
pub(super) struct Mistakes {
    found: Vec<ConfigError>,
    /// Names of tables with mistakes, by the section that they stand in; empty for those without one.
    broken: BTreeSet<(&'static str, String)>,
}

/// Sections whose tables have names that others refer to, and the key of that name.
const NAMED: [(&str, Option<&str>); 4] =
    [("tools", Some("name")), ("agents", Some("id")), ("people", Some("id")), ("models", None)];

impl Mistakes {
    pub(super) fn push(&mut self, mistake: ConfigError) {
        self.found.push(mistake);
    }

    /// What is sound goes on; what is not is told at the end.
    pub(super) fn note<T>(&mut self, checked: Result<T>) -> Option<T> {
        checked.map_err(|mistake| self.found.push(mistake)).ok()
    }

    /// The same for a table that others may refer to by its name.
    pub(super) fn note_named<T>(
        &mut self,
        section: &'static str,
        name: &str,
        checked: Result<T>,
    ) -> Option<T> {
        match checked {
            // It lacks what was taken out of it.
            Err(_) if self.is_broken(section, name) => None,
            Err(mistake) => {
                self.broken.insert((section, name.to_owned()));
                self.push(mistake);
                None
            }
            Ok(sound) => Some(sound),
        }
    }

    pub(super) fn is_broken(&self, section: &'static str, name: &str) -> bool {
        self.broken.contains(&(section, name.to_owned()))
    }

    /// The names in a section that belong to tables with mistakes.
    pub(super) fn broken_in(&self, section: &'static str) -> impl Iterator<Item = &str> {
        self.broken.iter().filter(move |(place, _)| *place == section).map(|(_, name)| &**name)
    }

    /// Whether there is a table whose name nobody knows.
    pub(super) fn lacks_names(&self, section: &'static str) -> bool {
        self.is_broken(section, "")
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub(super) fn into_errors(mut self) -> ConfigErrors {
        self.found.sort_by_key(|mistake| mistake.line);
        self.found.dedup();
        ConfigErrors(self.found)
    }

    /// Reads the file. An entry that cannot be read is told, taken out, and the rest is read again.
    pub(super) fn read<T: DeserializeOwned>(&mut self, source: &ConfigSource<'_>) -> Option<T> {
        let mut file = match DeTable::parse(source.text()) {
            Ok(file) => file,
            Err(error) => {
                // Beyond the first sign that is no TOML everything is guesswork.
                let span = error.span().unwrap_or_default();
                self.push(source.error(span, reworded(error.message())));
                return None;
            }
        };
        let mut taken: Vec<UnreadableEntry> = Vec::new();
        while taken.len() < MISTAKES_MAX {
            let error = match T::deserialize(toml::Deserializer::from(file.clone())) {
                Ok(read) => return Some(read),
                Err(error) => error,
            };
            let span = error.span().unwrap_or_default();
            let message = reworded(error.message());
            let Some(path) = place_of(file.get_ref(), &span) else {
                self.push(source.error(span, message));
                return None;
            };
            self.broken.extend(name_of(file.get_ref(), &path));
            take(file.get_mut(), &path);
            if !taken.iter().any(|before| before.explains(&path, &message)) {
                self.push(source.error(span, message.clone()));
            }
            taken.push(UnreadableEntry { path, message });
        }
        None
    }
}

/// An entry that could not be read.
struct UnreadableEntry {
    path: Vec<PathStep>,
    message: String,
}

impl UnreadableEntry {
    /// Whether a key is missing in `table` only because it was misspelt or had a wrong value, and so was
    /// taken out.
    fn explains(&self, table: &[PathStep], message: &str) -> bool {
        let Some((PathStep::Key(key), above)) = self.path.split_last() else { return false };
        above == table
            && (message == format!("`{key}` is missing")
                || message
                    .strip_suffix(" is missing")
                    .is_some_and(|key| self.message.ends_with(&format!("did you mean {key}?"))))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathStep {
    Key(String),
    Item(usize),
}

/// The way to the smallest entry that lies around a place in the file.
fn place_of(file: &DeTable<'_>, wanted: &Range<usize>) -> Option<Vec<PathStep>> {
    let mut best: Option<(usize, Vec<PathStep>)> = None;
    visit(file, &mut Vec::new(), &mut |span, path| {
        let around = span.start <= wanted.start && wanted.end <= span.end;
        // Of two that are as small, the inner one comes later.
        if around && best.as_ref().is_none_or(|(size, _)| span.len() <= *size) {
            best = Some((span.len(), path.to_vec()));
        }
    });
    best.map(|(_, path)| path)
}

fn visit(
    table: &DeTable<'_>,
    path: &mut Vec<PathStep>,
    tell: &mut dyn FnMut(Range<usize>, &[PathStep]),
) {
    for (key, value) in table {
        path.push(PathStep::Key(key.get_ref().to_string()));
        tell(key.span(), path);
        visit_value(value, path, tell);
        path.pop();
    }
}

fn visit_value(
    value: &Spanned<DeValue<'_>>,
    path: &mut Vec<PathStep>,
    tell: &mut dyn FnMut(Range<usize>, &[PathStep]),
) {
    tell(value.span(), path);
    match value.get_ref() {
        DeValue::Table(table) => visit(table, path, tell),
        DeValue::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                path.push(PathStep::Item(number));
                visit_value(item, path, tell);
                path.pop();
            }
        }
        _ => {}
    }
}

fn take(file: &mut DeTable<'_>, path: &[PathStep]) -> Option<()> {
    let (PathStep::Key(first), rest) = path.split_first()? else { return None };
    if rest.is_empty() {
        file.remove(first.as_str());
        return Some(());
    }
    let mut value = file.get_mut(first.as_str())?.get_mut();
    for (number, step) in rest.iter().enumerate() {
        let last = number + 1 == rest.len();
        value = match (value, step) {
            (DeValue::Table(table), PathStep::Key(key)) if last => {
                table.remove(key.as_str());
                return Some(());
            }
            (DeValue::Array(items), PathStep::Item(number)) if last => {
                let others = items.clone().into_iter().enumerate();
                *items = others.filter(|(at, _)| at != number).map(|(_, item)| item).collect();
                return Some(());
            }
            (DeValue::Table(table), PathStep::Key(key)) => table.get_mut(key.as_str())?.get_mut(),
            (DeValue::Array(items), PathStep::Item(number)) => items.get_mut(*number)?.get_mut(),
            _ => return None,
        };
    }
    None
}

/// The name of the table that an entry belongs to, for those who refer to it.
fn name_of(file: &DeTable<'_>, path: &[PathStep]) -> Option<(&'static str, String)> {
    let [PathStep::Key(section), table, ..] = path else { return None };
    let (section, key) = NAMED.into_iter().find(|(known, _)| known == section)?;
    let name = match (table, key) {
        (PathStep::Key(name), None) => name.clone(),
        (PathStep::Item(number), Some(key)) => {
            let (_, tables) = file.iter().find(|(known, _)| known.get_ref() == section)?;
            let table = tables.get_ref().as_array()?.get(*number)?.get_ref().as_table()?;
            let name = table.iter().find(|(known, _)| known.get_ref() == key);
            name.and_then(|(_, name)| name.get_ref().as_str()).unwrap_or_default().to_owned()
        }
        _ => return None,
    };
    Some((section, name))
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    #[track_caller]
    fn check(text: &str, wanted: &[&str]) {
        let told = Config::parse(text, "h.toml").expect_err("it has mistakes").to_string();
        assert_eq!(told.lines().collect::<Vec<_>>(), wanted, "{text}");
    }

    #[test]
    fn mistakes_in_different_sections_are_told_together() {
        check(
            "[server]\nlisten = \"nowhere\"\n[store]\npath = \"x\"\n\
             [[tools]]\nname = \"t\"\nkind = \"sequel\"\n\
             [[policy.rules]]\nname = \"a\"\nthen = \"ask\"\nask = { roles = [\"dbs\"] }\n\
             [[policy.rules]]\nname = \"b\"\nthen = \"perhaps\"\n",
            &[
                "h.toml:2: `nowhere` is not an address with a port; write it like `127.0.0.1:7420` or `[::1]:7420`",
                "h.toml:4: unknown key `path`; the keys here are `url`, `password_env`, `password_file`, `folder`, `sealing_key_env` and `sealing_key_file`",
                "h.toml:7: `kind` cannot be `sequel`; it is one of `command`, `shell_cmd`, `sql`, `http`, `client`, `mcp` and `human`",
                "h.toml:11: nobody has the role `dbs`; mend the rule, or add it under `[[people]]`",
                "h.toml:14: `then` cannot be `perhaps`; it is one of `allow`, `deny` and `ask`",
            ],
        );
    }

    #[test]
    fn what_refers_to_a_table_with_a_mistake_is_not_called_wrong() {
        // The tool, the model and the person are there, whatever is wrong with them.
        check(
            "[models.m]\nprovider = \"scripted\"\n\
             [[tools]]\nname = \"t\"\nkind = \"sql\"\n\
             [models.n]\nprovider = \"scripted\"\nscript = \"builtin:demo\"\n\
             [[agents]]\nid = \"a\"\nmodel = \"n\"\ntools = [\"t\", \"other\"]\n\
             [[agents]]\nid = \"b\"\nmodel = \"m\"\n\
             [[people]]\nid = \"ana\"\nroles = [\"admin\", \"dba\"]\nname = 1\n\
             [[policy.rules]]\nname = \"r\"\nthen = \"ask\"\nask = { people = [\"ana\", \"bob\"] }\n",
            &[
                "h.toml:1: `script` is missing: the file with what the model says, or `builtin:demo`",
                "h.toml:3: `database` is missing: a tool of kind `sql` needs a SQLite file, or `database_env` or `database_file` for PostgreSQL",
                "h.toml:12: there is no tool `other`; add it under `[[tools]]`",
                "h.toml:19: a string is expected here, and not integer `1`",
                "h.toml:23: there is no person `bob`; mend the rule, or add it under `[[people]]`",
            ],
        );
    }

    #[test]
    fn a_misspelt_key_is_told_once() {
        check(
            "[[agents]]\nid = \"a\"\nmodl = \"m\"\n[[tools]]\nname = 7\nkind = \"human\"\n",
            &[
                "h.toml:3: unknown key `modl`; did you mean `model`?",
                "h.toml:5: a string is expected here, and not integer `7`",
            ],
        );
        check("[[tools]]\nkind = \"human\"\n", &["h.toml:1: `name` is missing"]);
    }

    #[test]
    fn a_file_of_nonsense_is_told_within_bounds() {
        let many: String = (0..1000).map(|n| format!("key{n} = 1\n")).collect();
        let told = Config::parse(&many, "h.toml").expect_err("it has mistakes").to_string();
        assert_eq!(told.lines().count(), super::MISTAKES_MAX);
    }
}
