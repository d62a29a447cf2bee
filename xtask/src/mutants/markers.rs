//! Where a mutant changes the code: at a comment that bears its name.
//!
//! `// mutant: no-fence` stands for the line below it. For several lines,
//! `// mutant: no-fence begins` stands above the first and `// mutant: no-fence ends` below the last.
//! A mutant that changes several places gives each a name: `// mutant: no-fence.reader`. Mutants of
//! the same lines share one comment: `// mutant: no-fence, late-fence`.
//!
//! The lines themselves are quoted nowhere, so they can move and change without the list.

use std::collections::BTreeMap;
use std::ops::Range;

use anyhow::{Context, Result, bail, ensure};

use super::list::{Change, Mutant};
use crate::tidy::Files;

const COMMENT: &str = "// mutant: ";

/// The marked lines of all files, by the name of their marker.
#[derive(Debug, Default)]
pub(crate) struct MarkerIndex<'a> {
    places: BTreeMap<&'a str, Vec<MarkedLines<'a>>>,
    /// Files whose markers cannot be read, each with a line and what is wrong there.
    broken: Vec<(&'a str, usize, String)>,
}

/// What one marker stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MarkedLines<'a> {
    pub(crate) path: &'a str,
    /// The line of the comment; the first is 1.
    pub(crate) comment: usize,
    /// From the first of the marked lines to after the last; the first of a file is 0.
    lines: Range<usize>,
}

impl<'a> MarkerIndex<'a> {
    pub(crate) fn read(files: &'a Files) -> Self {
        let mut index = MarkerIndex::default();
        for (path, text) in files.iter().filter(|(path, _)| bears_markers(path)) {
            match markers_of(path, text) {
                Ok(found) => {
                    for (name, place) in found {
                        index.places.entry(name).or_default().push(place);
                    }
                }
                Err((line, problem)) => index.broken.push((path, line, problem)),
            }
        }
        index
    }

    pub(crate) fn broken(&self) -> &[(&'a str, usize, String)] {
        &self.broken
    }

    /// Every marker with its places, in the order of their names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'a str, &MarkedLines<'a>)> {
        self.places.iter().flat_map(|(name, places)| places.iter().map(move |place| (*name, place)))
    }

    /// The files that the mutant changes, as they are with it.
    pub(crate) fn mutate(&self, files: &Files, mutant: &Mutant) -> Result<Files> {
        let mut by_file: BTreeMap<&str, Vec<(&MarkedLines<'_>, &Change)>> = BTreeMap::new();
        for change in &mutant.changes {
            let place = self.only_place(&change.marker(&mutant.name))?;
            by_file.entry(place.path).or_default().push((place, change));
        }
        let mut mutated = Files::new();
        for (path, mut changes) in by_file {
            changes.sort_by_key(|(place, _)| place.lines.start);
            for pair in changes.windows(2) {
                let apart = pair[0].0.lines.end <= pair[1].0.lines.start;
                ensure!(apart, "{path}:{}: changes the same line twice", pair[1].0.comment);
            }
            let mut lines: Vec<String> = files[path].lines().map(str::to_owned).collect();
            // From the end, so that the places before stay where they were found.
            for (place, change) in changes.iter().rev() {
                let new = replacement(&lines[place.lines.clone()], &change.instead)
                    .with_context(|| format!("{path}:{}", place.comment))?;
                lines.splice(place.lines.clone(), new);
            }
            mutated.insert(path.to_owned(), lines.join("\n") + "\n");
        }
        Ok(mutated)
    }

    fn only_place(&self, name: &str) -> Result<&MarkedLines<'a>> {
        match self.places.get(name).map(Vec::as_slice).unwrap_or_default() {
            [place] => Ok(place),
            [] => bail!("no line is marked `{COMMENT}{name}`"),
            several => {
                let places: Vec<String> = several
                    .iter()
                    .map(|place| format!("{}:{}", place.path, place.comment))
                    .collect();
                bail!("`{COMMENT}{name}` stands {} times: {}", several.len(), places.join(", "))
            }
        }
    }
}

/// Markers stand in what is built and shipped. This tool's own tests quote some.
fn bears_markers(path: &str) -> bool {
    let written = [".rs", ".ts", ".tsx", ".js", ".mjs"].iter().any(|end| path.ends_with(end));
    written && !path.starts_with("xtask/")
}

type Problem = (usize, String);

fn markers_of<'a>(
    path: &'a str,
    text: &'a str,
) -> Result<Vec<(&'a str, MarkedLines<'a>)>, Problem> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut begun: Vec<(&str, usize)> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some(words) = marker_in(line) else { continue };
        let comment = number + 1;
        let (names, extent) = extent_of(words);
        for name in names.split(", ") {
            if !is_marker_name(name) {
                return Err((comment, format!("`{name}` is no name of a mutant")));
            }
            let opened = begun.iter().position(|(open, _)| *open == name);
            let (comment, lines) = match (extent, opened) {
                (Extent::NextLine, _) => (comment, next_line(&lines, number)?),
                (Extent::Begins, None) => {
                    begun.push((name, number));
                    continue;
                }
                (Extent::Begins, Some(_)) => {
                    return Err((comment, format!("`{name}` begins twice")));
                }
                (Extent::Ends, None) => {
                    return Err((comment, format!("`{name}` ends and did not begin")));
                }
                (Extent::Ends, Some(opened)) => {
                    let (_, start) = begun.swap_remove(opened);
                    let inside = start + 1..number;
                    if lines[inside.clone()].iter().all(|line| marker_in(line).is_some()) {
                        return Err((comment, format!("`{name}` marks no line")));
                    }
                    (start + 1, inside)
                }
            };
            found.push((name, MarkedLines { path, comment, lines }));
        }
    }
    match begun.first() {
        Some((name, line)) => Err((line + 1, format!("`{name}` begins and does not end"))),
        None => Ok(found),
    }
}

fn marker_in(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix(COMMENT).map(str::trim_end)
}

#[derive(Clone, Copy)]
enum Extent {
    NextLine,
    Begins,
    Ends,
}

fn extent_of(words: &str) -> (&str, Extent) {
    if let Some(names) = words.strip_suffix(" begins") {
        (names, Extent::Begins)
    } else if let Some(names) = words.strip_suffix(" ends") {
        (names, Extent::Ends)
    } else {
        (words, Extent::NextLine)
    }
}

fn is_marker_name(name: &str) -> bool {
    !name.is_empty()
        && name.split('.').count() <= 2
        && name.split('.').all(|part| !part.is_empty() && part.chars().all(is_name_character))
}

pub(super) fn is_name_character(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'
}

/// The line of code below a marker. A comment or an empty line there means that something came
/// between the two, and that the mutant would change nothing.
fn next_line(lines: &[&str], marker: usize) -> Result<Range<usize>, Problem> {
    let below = (marker + 1..lines.len()).find(|at| marker_in(lines[*at]).is_none());
    match below.map(|at| (at, lines[at].trim())) {
        Some((at, line)) if !line.is_empty() && !line.starts_with("//") => Ok(at..at + 1),
        _ => Err((marker + 1, "a marker stands right above the line that it marks".to_owned())),
    }
}

/// What stands in place of these lines, indented as they are.
fn replacement(replaced: &[String], instead: &str) -> Result<Vec<String>> {
    let code: Vec<&str> =
        replaced.iter().map(String::as_str).filter(|line| marker_in(line).is_none()).collect();
    let indent = code
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or_default();
    let new: Vec<String> = instead
        .lines()
        .map(|line| if line.is_empty() { String::new() } else { " ".repeat(indent) + line })
        .collect();
    ensure!(new != code, "`instead` is what stands there anyway");
    ensure!(
        brackets(code.iter().copied()) == brackets(instead.lines()),
        "`instead` does not open and close the same brackets as the marked lines; \
         mark the whole of what it replaces, with `begins` and `ends`"
    );
    let marked_end = code.last().copied().unwrap_or_default().trim_end();
    ensure!(
        !instead.ends_with([';', ',']) || marked_end.ends_with([';', ',', '}']),
        "the marked lines end in the middle of a statement, `instead` with its end; \
         mark the whole of it, with `begins` and `ends`"
    );
    Ok(new)
}

/// How many more brackets of each kind are opened than closed. Those in strings count too: they
/// stand on both sides.
fn brackets<'a>(lines: impl Iterator<Item = &'a str>) -> [isize; 3] {
    let mut open = [0; 3];
    for c in lines.flat_map(str::chars) {
        if let Some(kind) = "([{".find(c) {
            open[kind] += 1;
        } else if let Some(kind) = ")]}".find(c) {
            open[kind] -= 1;
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(name: &str, changes: &[(&str, &str)]) -> Mutant {
        let changes = changes
            .iter()
            .map(|(part, instead)| Change { part: (*part).into(), instead: (*instead).into() })
            .collect();
        Mutant { name: name.into(), changes, ..Mutant::default() }
    }

    fn mutate(code: &str, name: &str, changes: &[(&str, &str)]) -> Result<String> {
        let files = Files::from([("a.rs".to_owned(), code.to_owned())]);
        let index = MarkerIndex::read(&files);
        if let Some((path, line, problem)) = index.broken().first() {
            bail!("{path}:{line}: {problem}");
        }
        Ok(index.mutate(&files, &mutant(name, changes))?["a.rs"].clone())
    }

    fn refused(code: &str, instead: &str) -> String {
        format!("{:#}", mutate(code, "a", &[("", instead)]).expect_err(code))
    }

    #[test]
    fn the_line_below_a_marker_is_replaced_with_its_indentation_kept() {
        let code = "fn f() {\n    // mutant: a\n    g(1);\n    h();\n}\n";
        let mutated = mutate(code, "a", &[("", "g(2);\ng(3);")]).expect("marked");
        assert_eq!(mutated, code.replace("g(1);", "g(2);\n    g(3);"));
    }

    #[test]
    fn nothing_instead_takes_the_lines_out() {
        let code = "    // mutant: a\n    g();\n    h();\n";
        assert_eq!(mutate(code, "a", &[("", "")]).expect("marked"), "    // mutant: a\n    h();\n");
    }

    #[test]
    fn a_pair_of_markers_stands_for_all_lines_between_them() {
        let code = "    // mutant: a begins\n    if x {\n        y();\n    }\n    // mutant: a ends\n    z();\n";
        let mutated = mutate(code, "a", &[("", "if x {\n    w();\n}")]).expect("marked");
        assert_eq!(mutated, code.replace("y()", "w()"));
    }

    #[test]
    fn markers_of_one_line_share_a_comment_or_stand_above_each_other() {
        for code in ["// mutant: a, b\ng(1);\n", "// mutant: a\n// mutant: b\ng(1);\n"] {
            for name in ["a", "b"] {
                let mutated = mutate(code, name, &[("", "g(2);")]).expect("marked");
                assert_eq!(mutated, code.replace('1', "2"));
            }
        }
    }

    #[test]
    fn marked_lines_may_lie_within_others() {
        let code = "// mutant: a begins\nf(1);\n// mutant: b\ng(1);\n// mutant: a ends\n";
        let inner = mutate(code, "b", &[("", "g(2);")]).expect("marked");
        assert_eq!(inner, code.replace("g(1)", "g(2)"));
        let outer = mutate(code, "a", &[("", "h();")]).expect("marked");
        assert_eq!(outer, "// mutant: a begins\nh();\n// mutant: a ends\n");
    }

    #[test]
    fn a_mutant_of_several_places_changes_them_all() {
        let code = "// mutant: a.one\nf(1);\ng();\n// mutant: a.two\nf(2);\n";
        let mutated = mutate(code, "a", &[("two", "f(4);"), ("one", "f(3);\nf(3);")]);
        let expected = "// mutant: a.one\nf(3);\nf(3);\ng();\n// mutant: a.two\nf(4);\n";
        assert_eq!(mutated.expect("marked"), expected);
        let twice = "// mutant: a.one, a.two\nf(1);\n";
        let refused = mutate(twice, "a", &[("one", "f(2);"), ("two", "f(3);")]);
        assert!(refused.expect_err("twice").to_string().contains("the same line twice"));
    }

    #[test]
    fn a_marker_that_is_missing_or_stands_twice_is_refused() {
        assert!(refused("g();\n", "h();").contains("no line is marked `// mutant: a`"));
        let twice = refused("// mutant: a\ng();\n// mutant: a\ng();\n", "h();");
        assert!(twice.contains("stands 2 times: a.rs:1, a.rs:3"), "{twice}");
    }

    #[test]
    fn markers_that_mark_nothing_are_refused() {
        for (code, problem) in [
            ("// mutant: a\n", "right above the line"),
            ("// mutant: a\n\ng();\n", "right above the line"),
            ("// mutant: a\n// because\ng();\n", "right above the line"),
            ("// mutant: a begins\n// mutant: a ends\n", "marks no line"),
            ("// mutant: a begins\ng();\n", "does not end"),
            ("g();\n// mutant: a ends\n", "did not begin"),
            ("// mutant: a begins\n// mutant: a begins\ng();\n", "begins twice"),
            ("// mutant: no fence\ng();\n", "is no name"),
            ("// mutant: a.b.c\ng();\n", "is no name"),
        ] {
            let refused = refused(code, "h();");
            assert!(refused.contains(problem), "{code}: {refused}");
        }
    }

    #[test]
    fn lines_that_no_longer_fit_what_stands_instead_are_refused() {
        for (code, instead, problem) in [
            ("g();", "g();", "stands there anyway"),
            ("g(", "g(1);", "the same brackets"),
            ("if x {", "h();", "the same brackets"),
            ("let x = g()", "let x = h();", "in the middle of a statement"),
        ] {
            let refused = refused(&format!("// mutant: a\n{code}\n"), instead);
            assert!(refused.contains(problem), "{code}: {refused}");
        }
    }

    #[test]
    fn only_code_outside_this_tool_bears_markers() {
        let text = "// mutant: a\ng();\n".to_owned();
        let paths = ["xtask/src/b.rs", "docs/a.md", "crates/domain/src/a.rs", "web/src/a.tsx"];
        let files: Files = paths.into_iter().map(|path| (path.to_owned(), text.clone())).collect();
        let index = MarkerIndex::read(&files);
        let found: Vec<&str> = index.iter().map(|(_, place)| place.path).collect();
        assert_eq!(found, ["crates/domain/src/a.rs", "web/src/a.tsx"]);
    }
}
