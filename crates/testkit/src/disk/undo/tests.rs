use std::fs;
use std::path::Path;
use std::process::Command;

use super::*;
use crate::binary::Binary;
use crate::disk::Lossy;

/// A folder that forgets, and a shell that works in it.
struct Bench {
    folder: tempfile::TempDir,
    lossy: Lossy,
}

impl Bench {
    /// What is there from the start is safe.
    fn new(files: &[(&str, &str)]) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let mut lossy = Lossy::new(Binary::at("/bin/sh"));
        lossy.watch(folder.path());
        Bench { folder, lossy }
    }

    fn run(&self, script: &str) -> &Bench {
        let mut shell = Command::new(self.lossy.binary().path());
        let done = shell.args(["-ec", script]).current_dir(self.folder.path()).output().unwrap();
        assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
        self
    }

    fn cut(&self) -> String {
        self.lossy.forget(Loss::Everything, &mut Rng::new(1)).unwrap();
        self.shown()
    }

    /// Every file with its text, and every folder.
    fn shown(&self) -> String {
        let mut lines = Vec::new();
        show(self.folder.path(), "", &mut lines);
        lines.sort();
        lines.join(" ")
    }
}

fn show(folder: &Path, before: &str, lines: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{before}{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            lines.push(format!("{name}/"));
            show(&path, &format!("{name}/"), lines);
        } else {
            lines.push(format!("{name}={}", fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn what_was_synced_is_there_and_the_rest_is_not() {
    let bench = Bench::new(&[("old", "old")]);
    assert_eq!(bench.run("printf a > a; printf b > b; sync a; sync .").cut(), "a=a b= old=old");
    assert_eq!(bench.run("printf a > c; sync c").cut(), "a=a b= old=old", "its name was not");
    assert_eq!(bench.run("printf xx >> a; sync a; printf y >> a").cut(), "a=axx b= old=old");
    assert_eq!(bench.run("printf new > old").cut(), "a=axx b= old=old");
    assert_eq!(bench.run("printf new > old; sync old").cut(), "a=axx b= old=new");
}

#[test]
fn names_are_safe_with_their_folder() {
    let bench = Bench::new(&[("a", "1"), ("b", "2")]);
    assert_eq!(bench.run("mv a b").cut(), "a=1 b=2");
    assert_eq!(bench.run("ln a c; rm a; mkdir d; printf x > d/e; sync d d/e").cut(), "a=1 b=2");
    assert_eq!(bench.run("ln a c; rm a; mkdir d; sync .").cut(), "b=2 c=1 d/");
    assert_eq!(bench.run("printf x > d/e; sync d d/e; rm d/e; rmdir d").cut(), "b=2 c=1 d/ d/e=x");
    assert_eq!(bench.run("mv c b; sync .").cut(), "b=1 d/ d/e=x");
    assert_eq!(bench.run("rm d/e; rmdir d; sync .").cut(), "b=1", "a folder that is gone is empty");
}

#[test]
fn bytes_of_a_command_that_was_handed_a_file_are_forgotten_too() {
    let bench = Bench::new(&[]);
    // `env -i` is a program without the library, with an open file.
    let hand = "env -i printf more";
    assert_eq!(bench.run(&format!("{hand} > a; sync .")).cut(), "a=");
    assert_eq!(bench.run(&format!("{hand} > b; sync . b; {hand} >> b")).cut(), "a= b=more");
}

#[test]
fn a_part_of_what_was_not_synced_may_be_there() {
    let mut seen = std::collections::BTreeSet::new();
    let bench = Bench::new(&[("a", "1")]);
    for seed in 0..40 {
        bench.run("printf 1 > a; rm -f b; sync a .");
        bench.run("printf 2 > a; printf 3 > b; sync b");
        bench.lossy.forget(Loss::Some, &mut Rng::new(seed)).unwrap();
        seen.insert(bench.shown());
    }
    // The end of a cut file may also come without its bytes.
    for wanted in ["a=1", "a=1 b=3", "a=2", "a=2 b=3"] {
        assert!(seen.contains(wanted), "{wanted} was never left: {seen:?}");
    }
}

#[test]
fn a_sync_that_lies_makes_nothing_safe() {
    let bench = Bench::new(&[("a", "1")]);
    bench.lossy.lie(true);
    assert_eq!(bench.run("printf 2 > a; printf b > b; sync a b .").cut(), "a=1");
    bench.lossy.lie(false);
    assert_eq!(bench.run("printf 2 > a; printf b > b; sync a b .").cut(), "a=2 b=b");
}

#[test]
fn what_a_failed_sync_was_for_is_lost_unless_it_is_written_again() {
    let bench = Bench::new(&[("a.db", "1")]);
    bench.lossy.fail(1);
    let first =
        "printf 22 > a.db; ! sync a.db 2> said; grep -q error said; printf 3 >> a.db; sync a.db";
    // The later sync says that all is well, and there is a hole where the first bytes should be.
    assert_eq!(bench.run(first).cut(), "a.db=1\x003");
    bench.lossy.fail(1);
    assert_eq!(
        bench.run("printf 44 > a.db; ! sync a.db; printf 55 > a.db; sync a.db").cut(),
        "a.db=55"
    );
    assert_eq!(bench.lossy.failing(), 0);
}

#[test]
fn a_log_that_was_cut_short_is_told() {
    assert!(log::Log::read(&[]).is_ok_and(|log| log.records.is_empty()));
    assert!(log::Log::read(&[0; 56]).is_err());
    assert!(log::Log::read(&[1; 5]).is_err());
}
