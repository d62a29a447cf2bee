//! Writes the figures into the documentation: JSON lines beside the page, and tables made of them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::machine;
use crate::report::number;

const BEGIN: &str = "<!-- figures: written by `cargo xtask bench --page` -->";
const END: &str = "<!-- end of figures -->";

/// A measure's name, and what its table is called.
const TABLES: [(&str, &str); 12] = [
    ("floor", "Floors"),
    ("cycle", "Cycles in process"),
    ("http", "Cycles over HTTP"),
    ("deltas", "Deltas"),
    ("doors", "Doors"),
    ("chats", "Chats"),
    ("policy", "Policy verdicts"),
    ("hooks", "Hooks of coding agents"),
    ("mcp", "MCP gate"),
    ("pending", "Pending holds"),
    ("growth", "Growth"),
    ("idle", "Idle"),
];

/// Puts new lines in the place of older ones about the same, so that measures can be taken one at a
/// time.
pub(crate) fn write(rows: Vec<Value>, scratch: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let (page, lines) =
        (PathBuf::from("docs/benchmarks.md"), PathBuf::from("docs/benchmarks.jsonl"));
    let text = std::fs::read_to_string(&page)
        .map_err(|error| format!("{}: {error}; run it in the checkout", page.display()))?;
    let old = std::fs::read_to_string(&lines).unwrap_or_default();
    let mut kept: Vec<Value> = old.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let (commit, date) = (machine::commit(), machine::today());
    let machine = machine::describe(scratch);
    let processor = machine["processor"].clone();
    for mut row in std::iter::once(machine).chain(rows) {
        row["commit"] = commit.clone().into();
        row["date"] = date.clone().into();
        row["processor"] = processor.clone();
        let same =
            |old: &&mut Value| old["measure"] == row["measure"] && old["what"] == row["what"];
        match kept.iter_mut().find(same) {
            Some(old) => *old = row,
            None => kept.push(row),
        }
    }
    let mut out = String::new();
    for row in &kept {
        writeln!(out, "{row}")?;
    }
    std::fs::write(&lines, out)?;
    std::fs::write(&page, replaced(&text, &tables(&kept)?)?)?;
    Ok(())
}

fn replaced(text: &str, tables: &str) -> Result<String, String> {
    let around =
        text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = around.ok_or("docs/benchmarks.md has no place for figures")?;
    Ok(format!("{before}{BEGIN}\n\n{tables}{END}{after}"))
}

fn tables(rows: &[Value]) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let word = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    if let Some(machine) = rows.iter().find(|row| row["measure"] == "machine") {
        writeln!(
            text,
            "Machine: {} cores of {}, {} of memory, {}, Linux {}.\n",
            machine["cores"],
            word(machine, "processor"),
            word(machine, "memory"),
            word(machine, "disk"),
            word(machine, "kernel"),
        )?;
    }
    for (measure, title) in TABLES {
        let rows: Vec<&Value> = rows.iter().filter(|row| row["measure"] == measure).collect();
        let Some(first) = rows.first() else { continue };
        let origin = |row: &Value| ["commit", "date", "processor"].map(|key| word(row, key));
        writeln!(text, "### {title}\n")?;
        writeln!(text, "Commit {}, {}.\n", word(first, "commit"), word(first, "date"))?;
        writeln!(text, "| | figure | must | aim | verdict |\n|---|--:|--:|--:|---|")?;
        for row in &rows {
            let figure = number(row["figure"].as_f64().unwrap_or(f64::NAN));
            let unit = word(row, "unit");
            let [mut what, must, aim, verdict] =
                ["what", "must", "aim", "verdict"].map(|key| word(row, key));
            // Measures can be taken one at a time: not all figures need to be of the same day.
            if origin(row) != origin(first) {
                let [commit, date, processor] = origin(row);
                write!(what, " (commit {commit}, {date}, {processor})")?;
            }
            writeln!(
                text,
                "| {what} | {} | {must} | {aim} | {verdict} |",
                format!("{figure} {unit}").trim_end()
            )?;
        }
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_go_between_the_marks_and_nowhere_else() {
        let page = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let row = json!({"measure": "idle", "what": "idle, CPU", "figure": 0.25, "unit": "%",
            "must": "≤ 0.5", "aim": null, "verdict": "met", "commit": "abc", "date": "2026-01-02"});
        let written = replaced(&page, &tables(&[row]).unwrap()).unwrap();
        assert!(written.starts_with("before\n") && written.ends_with("\nafter\n"), "{written}");
        assert!(written.contains("| idle, CPU | 0.250 % | ≤ 0.5 |  | met |"), "{written}");
        assert!(!written.contains("old"));
        assert!(replaced("no marks", "").is_err());
    }

    #[test]
    fn a_figure_of_another_day_says_so() {
        let row = |what: &str, commit: &str, date: &str| {
            json!({"measure": "idle", "what": what, "figure": 1.0, "unit": "%", "commit": commit,
                "date": date, "processor": "X"})
        };
        let rows = [row("a", "abc", "2026-01-02"), row("b", "abd", "2026-01-03")];
        let text = tables(&rows).unwrap();
        assert!(text.contains("Commit abc, 2026-01-02."), "{text}");
        assert!(text.contains("| a | 1.00 % |"), "{text}");
        assert!(text.contains("| b (commit abd, 2026-01-03, X) | 1.00 % |"), "{text}");
    }

    #[test]
    fn the_page_says_what_its_lines_say() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let read = |name: &str| std::fs::read_to_string(docs.join(name)).unwrap();
        let lines = read("benchmarks.jsonl");
        let rows: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let page = read("benchmarks.md");
        assert_eq!(replaced(&page, &tables(&rows).unwrap()).unwrap(), page);
    }
}
