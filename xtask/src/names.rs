//! `cargo xtask names`: measures the names of the product's functions and types.
//!
//! Three figures, in percent: functions with a one-word name, types with a one-word name, and types
//! whose name is defined three times or more. A reader who searches for such a name finds several
//! things. The figures say where names want a subject; `tidy` keeps what was reached from being lost.
//!
//! It reads lines and does not parse Rust: one item is one line that begins with its keyword. Tests,
//! benches, examples and `testkit` are left out, and so are the methods of the standard traits.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result, bail, ensure};

use crate::checkout::Checkout;
use crate::tidy::{self, Files};

/// Names that a trait of the standard library or of serde dictates.
const TRAIT_METHODS: [&str; 27] = [
    "new",
    "from",
    "fmt",
    "default",
    "drop",
    "clone",
    "eq",
    "next",
    "deref",
    "hash",
    "cmp",
    "partial_cmp",
    "from_str",
    "try_from",
    "index",
    "poll",
    "serialize",
    "deserialize",
    "source",
    "into_iter",
    "as_ref",
    "len",
    "is_empty",
    "size_hint",
    "borrow",
    "deref_mut",
    "main",
];

/// Names that traits dictate for their associated types: repeated, and no mistake.
const ASSOCIATED_TYPES: [&str; 11] = [
    "Err",
    "Item",
    "Error",
    "Output",
    "Ok",
    "Value",
    "Target",
    "Rejection",
    "Future",
    "Response",
    "Service",
];

/// Folders of a crate that ship nothing.
const TEST_FOLDERS: [&str; 3] = ["tests", "benches", "examples"];

/// From this many definitions on, a type's name counts as repeated.
const REPEATED_FROM: usize = 3;

/// How many of the most repeated names are printed.
const MOST_FUNCTIONS: usize = 20;
const MOST_TYPES: usize = 30;

/// The kind of an item that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemKind {
    Function,
    Type,
    /// `type X` inside a trait or an impl: the trait chose the name.
    AssociatedType,
}

/// A place where a name is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Definition<'a> {
    pub(crate) kind: ItemKind,
    pub(crate) name: &'a str,
    pub(crate) path: &'a str,
    pub(crate) line: usize,
}

/// What was asked for on the command line.
#[derive(Debug, Default, PartialEq, Eq)]
struct NamesOptions {
    json: bool,
    /// Lowers the counts of the list of repeated type names to those that the code has.
    shrink: bool,
    /// Only these crates; none means all.
    crates: Vec<String>,
}

impl NamesOptions {
    fn parse(args: &[String]) -> Result<NamesOptions> {
        let mut options = NamesOptions::default();
        for word in args {
            match word.as_str() {
                "--json" => options.json = true,
                "--shrink" => options.shrink = true,
                other if other.starts_with('-') => {
                    bail!("`names` takes no `{other}`; see `cargo xtask names --help`")
                }
                name => options.crates.push(name.to_owned()),
            }
        }
        Ok(options)
    }
}

pub(crate) fn run(here: &Checkout, args: &[String]) -> Result<bool> {
    let options = NamesOptions::parse(args)?;
    let files = tidy::read(here)?;
    let known = tidy::crates(&files);
    for name in &options.crates {
        ensure!(known.contains(name.as_str()), "there is no crate `{name}`");
    }
    if options.shrink {
        let list = tidy::shrink_repeated_types(&files)?;
        fs::write(here.join(tidy::REPEATED_TYPES), list).context(tidy::REPEATED_TYPES)?;
    }
    let figures = NameFigures::measure(&files, &options.crates);
    print!("{}", if options.json { figures.to_json() } else { figures.to_text() });
    Ok(true)
}

/// All definitions in product code.
pub(crate) fn product_definitions(files: &Files) -> Vec<Definition<'_>> {
    let product = files.iter().filter(|(path, _)| is_product(path));
    product.flat_map(|(path, text)| definitions(path, text)).collect()
}

/// A source file of a crate that ships.
pub(crate) fn is_product(path: &str) -> bool {
    let Some(inside) = path.strip_prefix("crates/") else { return false };
    let mut folders: Vec<&str> = inside.split('/').collect();
    let file = folders.pop().unwrap_or_default();
    file.ends_with(".rs")
        && file != "tests.rs"
        && folders.first() != Some(&"testkit")
        && !folders.iter().any(|folder| TEST_FOLDERS.contains(folder))
}

/// The definitions of one file, without those of its tests at the end.
fn definitions<'a>(path: &'a str, text: &'a str) -> Vec<Definition<'a>> {
    let mut found = Vec::new();
    let mut before = "";
    for (line, number) in text.lines().zip(1..) {
        if before == "#[cfg(test)]"
            && (line.starts_with("mod tests {") || line.starts_with("mod test {"))
        {
            break;
        }
        before = line;
        if let Some((kind, name)) = definition(line) {
            found.push(Definition { kind, name, path, line: number });
        }
    }
    found
}

/// The item whose definition begins on this line.
fn definition(line: &str) -> Option<(ItemKind, &str)> {
    let indented = line.starts_with([' ', '\t']);
    let mut rest = without_visibility(line.trim_start());
    while let Some(after) =
        ["const ", "async ", "unsafe "].iter().find_map(|word| rest.strip_prefix(word))
    {
        rest = after.trim_start();
    }
    let (keyword, rest) = rest.split_once(' ')?;
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let name = &rest[..end];
    let is_type_name = name.starts_with(|c: char| c.is_ascii_uppercase());
    match keyword {
        "fn" if !name.is_empty() => Some((ItemKind::Function, name)),
        "type" if is_type_name && indented => Some((ItemKind::AssociatedType, name)),
        "struct" | "enum" | "trait" | "type" if is_type_name => Some((ItemKind::Type, name)),
        _ => None,
    }
}

fn without_visibility(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("pub") else { return line };
    let rest = match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(')').map_or("", |(_, rest)| rest),
        None => rest,
    };
    match rest.strip_prefix(' ') {
        Some(rest) => rest.trim_start(),
        None => line,
    }
}

/// A name and how often it is defined.
type NameCount<'a> = (&'a str, usize);

/// The figures of a tree, or of some of its crates.
#[derive(Debug, Default, PartialEq, Eq)]
struct NameFigures<'a> {
    functions: usize,
    one_word_functions: usize,
    types: usize,
    one_word_types: usize,
    repeated_types: usize,
    /// Most often first. Repetitions are counted over the whole tree, also where only some crates
    /// are measured: a reader searches all of it.
    most_functions: Vec<NameCount<'a>>,
    most_types: Vec<NameCount<'a>>,
}

impl<'a> NameFigures<'a> {
    fn measure(files: &'a Files, crates: &[String]) -> NameFigures<'a> {
        let definitions = product_definitions(files);
        let mut function_counts = BTreeMap::<&str, usize>::new();
        let mut type_counts = BTreeMap::<&str, usize>::new();
        for definition in &definitions {
            let counts = match definition.kind {
                ItemKind::Function => &mut function_counts,
                ItemKind::Type | ItemKind::AssociatedType => &mut type_counts,
            };
            *counts.entry(definition.name).or_default() += 1;
        }
        let mut figures = NameFigures::default();
        let mut functions = BTreeSet::new();
        let mut types = BTreeSet::new();
        for definition in definitions.iter().filter(|found| is_within(found.path, crates)) {
            let name = definition.name;
            match definition.kind {
                ItemKind::Function if TRAIT_METHODS.contains(&name) => {}
                ItemKind::Function => {
                    figures.functions += 1;
                    figures.one_word_functions += usize::from(!name.contains('_'));
                    functions.insert(name);
                }
                ItemKind::Type | ItemKind::AssociatedType => {
                    figures.types += 1;
                    let words = name.chars().filter(char::is_ascii_uppercase).count();
                    figures.one_word_types += usize::from(words == 1);
                    if type_counts[name] >= REPEATED_FROM && !ASSOCIATED_TYPES.contains(&name) {
                        figures.repeated_types += 1;
                        types.insert(name);
                    }
                }
            }
        }
        figures.most_functions = most_defined(&function_counts, &functions, MOST_FUNCTIONS);
        figures.most_types = most_defined(&type_counts, &types, MOST_TYPES);
        figures
    }

    fn to_text(&self) -> String {
        let list = |names: &[NameCount<'_>]| {
            let names: Vec<String> =
                names.iter().map(|(name, count)| format!("{name} {count}")).collect();
            names.join(", ")
        };
        format!(
            "functions {}, one word {:.0} %\n\
             types {}, one word {:.0} %, defined three times or more {:.0} %\n\
             most repeated functions: {}\n\
             most repeated types: {}\n",
            self.functions,
            percent(self.one_word_functions, self.functions),
            self.types,
            percent(self.one_word_types, self.types),
            percent(self.repeated_types, self.types),
            list(&self.most_functions),
            list(&self.most_types),
        )
    }

    /// One line. Names are identifiers, so nothing in them needs an escape.
    fn to_json(&self) -> String {
        let list = |names: &[NameCount<'_>]| {
            let names: Vec<String> = names
                .iter()
                .map(|(name, count)| format!("{{\"name\":\"{name}\",\"count\":{count}}}"))
                .collect();
            format!("[{}]", names.join(","))
        };
        let mut out = String::from("{");
        for (key, count) in [
            ("functions", self.functions),
            ("one_word_functions", self.one_word_functions),
            ("types", self.types),
            ("one_word_types", self.one_word_types),
            ("repeated_types", self.repeated_types),
        ] {
            let _ = write!(out, "\"{key}\":{count},");
        }
        for (key, part, whole) in [
            ("one_word_functions_percent", self.one_word_functions, self.functions),
            ("one_word_types_percent", self.one_word_types, self.types),
            ("repeated_types_percent", self.repeated_types, self.types),
        ] {
            let _ = write!(out, "\"{key}\":{:.1},", percent(part, whole));
        }
        let functions = list(&self.most_functions);
        let types = list(&self.most_types);
        let _ = writeln!(
            out,
            "\"most_repeated_functions\":{functions},\"most_repeated_types\":{types}}}"
        );
        out
    }
}

fn is_within(path: &str, crates: &[String]) -> bool {
    crates.is_empty() || crates.iter().any(|name| path.starts_with(&format!("crates/{name}/")))
}

fn most_defined<'a>(
    counts: &BTreeMap<&'a str, usize>,
    names: &BTreeSet<&'a str>,
    most: usize,
) -> Vec<NameCount<'a>> {
    let mut names: Vec<NameCount<'a>> = names.iter().map(|name| (*name, counts[name])).collect();
    // Stable, so that names with the same count stay in the order of the alphabet.
    names.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    names.truncate(most);
    names
}

#[expect(clippy::cast_precision_loss, reason = "no tree has 2^52 functions")]
fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Files {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    fn names(text: &str) -> Vec<(ItemKind, &str)> {
        definitions("a.rs", text).iter().map(|found| (found.kind, found.name)).collect()
    }

    #[test]
    fn an_item_is_found_by_its_keyword_in_every_form() {
        let text = "pub(crate) struct HoldId(u128);\nenum State {\n    Open,\n}\n\
                    pub(in crate::a) trait Store {\n    type Row;\n    fn commit(&self);\n}\n\
                    type Rows<T> = Vec<T>;\npub const fn limit() {}\npub async unsafe fn go() {}\n";
        let wanted = [
            (ItemKind::Type, "HoldId"),
            (ItemKind::Type, "State"),
            (ItemKind::Type, "Store"),
            (ItemKind::AssociatedType, "Row"),
            (ItemKind::Function, "commit"),
            (ItemKind::Type, "Rows"),
            (ItemKind::Function, "limit"),
            (ItemKind::Function, "go"),
        ];
        assert_eq!(names(text), wanted);
    }

    #[test]
    fn other_lines_define_nothing() {
        for line in [
            "// struct Gone;",
            "let structure = 1;",
            "use a::Type;",
            "publish fn x()",
            "const LINES_MAX: usize = 600;",
            "impl Store for Memory {",
            "type_name::<T>()",
            "struct lower;",
        ] {
            assert_eq!(names(line), [], "{line}");
        }
    }

    #[test]
    fn tests_at_the_end_of_a_file_are_left_out() {
        let text = "fn product() {}\n#[cfg(test)]\nfn helper() {}\n#[cfg(test)]\nmod tests {\n    \
                    struct Planted;\n}\n";
        assert_eq!(names(text), [(ItemKind::Function, "product"), (ItemKind::Function, "helper")]);
    }

    #[test]
    fn only_source_that_ships_is_product() {
        assert!(is_product("crates/tools/src/sql/mod.rs"));
        for path in [
            "crates/tools/src/sql/tests.rs",
            "crates/tools/src/mcp/tests/world.rs",
            "crates/stores/benches/commit.rs",
            "crates/testkit/src/lib.rs",
            "crates/tools/Cargo.toml",
            "xtask/src/main.rs",
        ] {
            assert!(!is_product(path), "{path}");
        }
    }

    fn measured() -> Files {
        tree(&[
            ("crates/a/src/lib.rs", "struct Kind;\nstruct HoldId;\nfn read() {}\nfn new() {}\n"),
            ("crates/b/src/lib.rs", "struct Kind;\n    type Error = E;\nfn read_row() {}\n"),
            ("crates/c/src/lib.rs", "struct Kind;\nfn read() {}\n    type Error = E;\n"),
            ("crates/d/src/lib.rs", "    type Error = E;\n"),
        ])
    }

    #[test]
    fn the_three_figures_and_the_most_repeated_names() {
        let files = measured();
        assert_eq!(
            NameFigures::measure(&files, &[]).to_text(),
            "functions 3, one word 67 %\n\
             types 7, one word 86 %, defined three times or more 43 %\n\
             most repeated functions: read 2, read_row 1\n\
             most repeated types: Kind 3\n"
        );
    }

    #[test]
    fn one_crate_is_measured_against_the_names_of_all() {
        let files = measured();
        assert_eq!(
            NameFigures::measure(&files, &["a".to_owned()]).to_json(),
            "{\"functions\":1,\"one_word_functions\":1,\"types\":2,\"one_word_types\":1,\
             \"repeated_types\":1,\"one_word_functions_percent\":100.0,\
             \"one_word_types_percent\":50.0,\"repeated_types_percent\":50.0,\
             \"most_repeated_functions\":[{\"name\":\"read\",\"count\":2}],\
             \"most_repeated_types\":[{\"name\":\"Kind\",\"count\":3}]}\n"
        );
    }

    #[test]
    fn an_empty_tree_has_figures_too() {
        assert!(NameFigures::measure(&Files::new(), &[]).to_text().starts_with("functions 0, one"));
    }

    #[test]
    fn an_unknown_option_is_an_error() {
        let words =
            |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let options = NamesOptions::parse(&words(&["--json", "tools"])).expect("sound");
        assert_eq!(
            options,
            NamesOptions { json: true, crates: words(&["tools"]), ..NamesOptions::default() }
        );
        assert!(NamesOptions::parse(&words(&["--jsno"])).is_err());
    }
}
