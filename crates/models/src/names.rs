//! Names that a provider takes, and back. The tools' own names may have dots and more, and calls may
//! bring ids from another provider; the APIs take letters, digits, `_` and `-`, and few of them.
//!
//! The table is made anew for each request, of every name in it. So it needs no memory, the same
//! request is the same to the byte, and no two names can fall together.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use domain::digest::Digest;
use ports::model::{AssistantPart, ModelMessage, ModelRequest};

/// What both vendors take.
const NAME_CHARS_MAX: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Names {
    tools: Table,
    ids: Table,
}

impl Names {
    pub(crate) fn of(request: &ModelRequest<'_>) -> Names {
        let mut tools: BTreeSet<&str> = request.tools.iter().map(|tool| &*tool.name).collect();
        let mut ids = BTreeSet::new();
        for message in &request.messages {
            match message {
                ModelMessage::User { .. } | ModelMessage::Image { .. } => {}
                ModelMessage::Assistant { parts } => {
                    for part in parts {
                        if let AssistantPart::Call(call) = part {
                            tools.insert(&call.tool);
                            ids.insert(&*call.tool_use_id);
                        }
                    }
                }
                ModelMessage::Results { results } => {
                    ids.extend(results.iter().map(|result| &*result.tool_use_id));
                }
            }
        }
        Names { tools: Table::of(tools), ids: Table::of(ids) }
    }

    pub(crate) fn tool<'a>(&'a self, name: &'a str) -> &'a str {
        self.tools.there(name)
    }

    pub(crate) fn id<'a>(&'a self, id: &'a str) -> &'a str {
        self.ids.there(id)
    }

    /// Our own name for a tool that the model called. One that it made up stays as it is.
    pub(crate) fn own<'a>(&'a self, name: &'a str) -> &'a str {
        self.tools.back.get(name).map_or(name, String::as_str)
    }
}

/// Only the names that differ.
#[derive(Debug, Default)]
struct Table {
    there: BTreeMap<String, String>,
    back: HashMap<String, String>,
}

impl Table {
    fn of(names: BTreeSet<&str>) -> Table {
        let mut taken: HashSet<String> =
            names.iter().filter(|name| is_legal(name)).map(|name| (*name).to_owned()).collect();
        let mut table = Table::default();
        // In the order of the names, so that which of two keeps the plain form is always the same.
        for name in names.into_iter().filter(|name| !is_legal(name)) {
            let chosen = candidates(name).find(|candidate| !taken.contains(candidate));
            let chosen = chosen.expect("there are more candidates than names");
            taken.insert(chosen.clone());
            table.back.insert(chosen.clone(), name.to_owned());
            table.there.insert(name.to_owned(), chosen);
        }
        table
    }

    fn there<'a>(&'a self, name: &'a str) -> &'a str {
        self.there.get(name).map_or(name, String::as_str)
    }
}

fn is_legal(name: &str) -> bool {
    (1..=NAME_CHARS_MAX).contains(&name.len()) && name.chars().all(is_legal_char)
}

fn is_legal_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// First what a model reads best; then the same with a mark of the whole name.
fn candidates(name: &str) -> impl Iterator<Item = String> {
    let plain: String =
        name.chars().map(|c| if is_legal_char(c) { c } else { '_' }).take(NAME_CHARS_MAX).collect();
    let plain = if plain.is_empty() { "unnamed".to_owned() } else { plain };
    let fits = (name.chars().count() <= NAME_CHARS_MAX).then(|| plain.clone());
    let hash = Digest::of(name.as_bytes()).as_bytes().map(|byte| format!("{byte:02x}")).concat();
    let marked = (0u64..).map(move |attempt| {
        let mark = match attempt {
            0 => format!("_{}", &hash[..8]),
            _ => format!("_{}_{attempt}", &hash[..8]),
        };
        let kept: String = plain.chars().take(NAME_CHARS_MAX - mark.len()).collect();
        format!("{kept}{mark}")
    });
    fits.into_iter().chain(marked)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(names: &[&str]) -> Table {
        Table::of(names.iter().copied().collect())
    }

    #[test]
    fn plain_names_stay_and_others_read_well() {
        let names = table(&["shell", "human_intervention.request", "git.log", "ünïcode tool"]);
        assert_eq!(names.there("shell"), "shell");
        assert_eq!(names.there("human_intervention.request"), "human_intervention_request");
        assert_eq!(names.there("git.log"), "git_log");
        assert_eq!(names.there("ünïcode tool"), "_n_code_tool");
        assert_eq!(names.back["git_log"], "git.log");
    }

    #[test]
    fn names_that_look_alike_are_told_apart() {
        let long = "x".repeat(80);
        let longer = "x".repeat(81);
        let names = table(&["a.b", "a b", "a_b", "", "unnamed", &long, &longer]);
        let sent: HashSet<&str> =
            ["a.b", "a b", "a_b", "", "unnamed", &long, &longer].map(|n| names.there(n)).into();
        assert_eq!(sent.len(), 7, "{sent:?}");
        assert_eq!(names.there("a_b"), "a_b", "a name that can stay does");
    }

    #[test]
    fn a_name_that_sits_in_the_way_is_walked_around() {
        let marked = table(&["a.b", "a_b"]).there("a.b").to_owned();
        let names = table(&["a.b", "a_b", &marked]);
        assert_ne!(names.there("a.b"), marked);
        assert!(is_legal(names.there("a.b")));
    }

    proptest! {
        #[test]
        fn every_name_goes_there_and_back(
            names in proptest::collection::btree_set("[ab._é-]{0,3}|[a-z.]{60,70}", 0..40),
        ) {
            let table = Table::of(names.iter().map(String::as_str).collect());
            let mut sent = HashSet::new();
            for name in &names {
                let there = table.there(name);
                prop_assert!(is_legal(there), "{there}");
                prop_assert!(sent.insert(there.to_owned()), "{there} is sent twice");
                let back = table.back.get(there).map_or(there, String::as_str);
                prop_assert_eq!(back, name);
            }
        }
    }
}
