//! `docs/embedding.md` shows code that is compiled and run elsewhere, and nothing else.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Lines without their indentation; empty ones do not count.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// The blocks of one language, each as its pieces: `// …` stands for what is left out.
fn pieces(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let blocks = page.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap_or(rest));
    blocks.flat_map(|block| block.split("// …\n")).map(str::to_owned).collect()
}

fn stands_in(piece: &str, file: &str) -> bool {
    let (piece, file) = (lines(piece), lines(file));
    !piece.is_empty() && file.windows(piece.len()).any(|window| window == piece)
}

#[test]
fn every_piece_of_code_of_the_guide_is_run_somewhere() {
    let page = fs::read_to_string(root().join("docs/embedding.md")).expect("the guide");
    let mut sources = Vec::new();
    for folder in ["examples", "tests/embedding"] {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in fs::read_dir(here).expect("a folder") {
            let path = entry.expect("a file").path();
            sources.push(fs::read_to_string(path).expect("text"));
        }
    }
    let pieces = pieces(&page, "rust");
    assert!(pieces.len() > 10, "the guide shows code: {}", pieces.len());
    for piece in pieces {
        let found = sources.iter().any(|source| stands_in(&piece, source));
        assert!(found, "this stands in no example and in no test:\n{piece}");
    }
}

#[test]
fn a_line_more_or_less_is_noticed() {
    assert!(stands_in("  a\n\n  b\n", "x\na\n    b\ny"));
    assert!(!stands_in("a\nb\n", "a\nx\nb"));
    assert!(!stands_in("a\nb\n", "a\n"));
    assert!(!stands_in("", "a\n"));
    assert_eq!(pieces("```rust\na\n// …\nb\n```\ntext\n```toml\nc\n```", "rust"), ["a\n", "b\n"]);
}
