//! Every fuzz target for a moment: its seeds, changed copies of them, and random bytes. For more than
//! a moment there is `cargo xtask fuzz`.

use std::path::{Path, PathBuf};

use testkit::fuzz::{TARGETS, Target, mutate};
use testkit::rng::Rng;

/// Changed inputs for each target. The same ones every time: whoever wants others runs the fuzzer.
const ROUNDS: usize = 300;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn seeds(target: &Target) -> Vec<Vec<u8>> {
    let folder = format!("fuzz/seeds/{}", target.name);
    let mut files = Vec::new();
    for path in target.also.iter().copied().chain([folder.as_str()]) {
        add_files(root().join(path), &mut files);
    }
    files.sort();
    files.iter().map(|file| std::fs::read(file).unwrap_or_else(|_| panic!("{file:?}"))).collect()
}

fn add_files(path: PathBuf, files: &mut Vec<PathBuf>) {
    match std::fs::read_dir(&path) {
        Ok(entries) => entries.for_each(|entry| add_files(entry.expect("a file").path(), files)),
        Err(_) => files.push(path),
    }
}

/// The smallest input on which it fails, if there is one.
fn try_out(target: &Target) -> Option<String> {
    let seeds = seeds(target);
    assert!(!seeds.is_empty(), "{}: no seeds", target.name);
    let mut rng = Rng::new(target.name.bytes().map(u64::from).sum());
    let changed = (0..ROUNDS).map(|_| mutate::mutated(&seeds, &mut rng));
    // Nothing at all is what a fuzzer begins with.
    let inputs = [Vec::new()].into_iter().chain(seeds.iter().cloned()).chain(changed);
    for input in inputs.collect::<Vec<_>>() {
        if mutate::fails(target, &input) {
            // What is tried while it is made small would be told a hundred times.
            std::panic::set_hook(Box::new(|_| {}));
            let small = mutate::shrunk(target, input);
            drop(std::panic::take_hook());
            mutate::fails(target, &small);
            return Some(format!("`{}` fails on b\"{}\"", target.name, small.escape_ascii()));
        }
    }
    None
}

#[test]
fn every_target_holds_on_its_seeds_and_on_what_is_made_of_them() {
    let failed: Vec<String> = TARGETS.iter().filter_map(try_out).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_target_has_a_name_of_its_own_and_seeds_and_no_seeds_lack_a_target() {
    let mut names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    names.sort_unstable();
    let mut folders: Vec<String> = std::fs::read_dir(root().join("fuzz/seeds"))
        .expect("fuzz/seeds")
        .map(|entry| entry.expect("a folder").file_name().to_string_lossy().into_owned())
        .collect();
    folders.sort();
    assert_eq!(names, folders);
}

#[test]
fn a_failure_is_found_and_made_small() {
    let fussy = Target {
        name: "fussy",
        about: "dislikes two bytes",
        run: |bytes| assert!(!bytes.windows(2).any(|pair| pair == b"xy"), "there it is"),
        also: &[],
    };
    let input = b"a long text with xy in the middle of it".to_vec();
    assert!(mutate::fails(&fussy, &input) && !mutate::fails(&fussy, b"x y"));
    assert_eq!(mutate::shrunk(&fussy, input), b"xy");
}
