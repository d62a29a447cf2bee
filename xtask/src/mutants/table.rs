//! What a trial of mutants came to, for people and for programs.

use std::fmt;

use super::list::Mutant;
use super::trial::Verdict;

#[derive(Default)]
pub(super) struct Table(Vec<(String, Verdict)>);

impl Table {
    pub(super) fn add(&mut self, mutant: &Mutant, verdict: Verdict) {
        self.0.push((mutant.name.clone(), verdict));
    }

    pub(super) fn rows(&self) -> &[(String, Verdict)] {
        &self.0
    }

    pub(super) fn all_caught(&self) -> bool {
        self.0.iter().all(|(_, verdict)| matches!(verdict, Verdict::Caught(_)))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        writeln!(f)?;
        for (name, verdict) in &self.0 {
            writeln!(f, "{name:width$}  {verdict}")?;
        }
        let caught =
            self.0.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Caught(_))).count();
        writeln!(f, "{caught} of {} mutants caught", self.0.len())
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Caught(by) => {
                let first = by.first().map(String::as_str).unwrap_or_default();
                write!(f, "caught by {first}")?;
                match by.len() {
                    0 | 1 => Ok(()),
                    more => write!(f, " and {} more", more - 1),
                }
            }
            Verdict::Survived => f.write_str("SURVIVED"),
            Verdict::DoesNotBuild => f.write_str("DOES NOT BUILD: the compiler is no test"),
            Verdict::NoSuchTest => f.write_str("NO SUCH TEST: mend `tests`"),
        }
    }
}

pub(super) fn listing(mutants: &[&Mutant]) -> String {
    let width = mutants.iter().map(|mutant| mutant.name.len()).max().unwrap_or_default();
    mutants.iter().map(|mutant| format!("{:width$}  {}\n", mutant.name, mutant.breaks)).collect()
}

/// One line of JSON for each mutant.
pub(super) fn json(mutant: &Mutant, verdict: &Verdict) -> String {
    let (word, by) = match verdict {
        Verdict::Caught(by) => ("caught", by.as_slice()),
        Verdict::Survived => ("survived", &[][..]),
        Verdict::DoesNotBuild => ("does_not_build", &[][..]),
        Verdict::NoSuchTest => ("no_such_test", &[][..]),
    };
    let by: Vec<String> = by.iter().map(|name| quoted(name)).collect();
    format!(
        "{{\"mutant\":{},\"breaks\":{},\"verdict\":\"{word}\",\"by\":[{}]}}",
        quoted(&mutant.name),
        quoted(&mutant.breaks),
        by.join(",")
    )
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(name: &str) -> Mutant {
        Mutant { name: name.into(), breaks: "I-1: \"nothing\" runs".into(), ..Mutant::default() }
    }

    #[test]
    fn only_a_failing_test_counts() {
        let mut table = Table::default();
        table.add(&mutant("a"), Verdict::Caught(vec!["x".into(), "y".into()]));
        assert!(table.all_caught());
        for verdict in [Verdict::Survived, Verdict::DoesNotBuild, Verdict::NoSuchTest] {
            let mut table = Table(vec![("a".into(), Verdict::Caught(vec!["x".into()]))]);
            table.add(&mutant("long-name"), verdict);
            assert!(!table.all_caught());
        }
        assert_eq!(table.to_string(), "\na  caught by x and 1 more\n1 of 1 mutants caught\n");
    }

    #[test]
    fn json_is_one_sound_line() {
        assert_eq!(
            json(&mutant("a"), &Verdict::Caught(vec!["m::t".into()])),
            r#"{"mutant":"a","breaks":"I-1: \"nothing\" runs","verdict":"caught","by":["m::t"]}"#
        );
    }
}
