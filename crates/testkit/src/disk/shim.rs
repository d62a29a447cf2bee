//! The disk that forgets: a library that is preloaded into the program, and what it keeps.
//!
//! It is C, and not a crate: it stands in for functions of libc, some of which take any number of
//! arguments, and nothing of Rust's own library may run inside of them.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::undo::{Loss, Lost, restore};
use crate::binary::{Binary, Server};
use crate::rng::Rng;

const SOURCES: [(&str, &str); 5] = [
    ("log.h", include_str!("lossy/log.h")),
    ("log.c", include_str!("lossy/log.c")),
    ("bytes.c", include_str!("lossy/bytes.c")),
    ("names.c", include_str!("lossy/names.c")),
    ("children.c", include_str!("lossy/children.c")),
];

/// Where each number stands in the shim's `struct control`.
const STEPS: u64 = 0;
const STOP_AT: u64 = 8;
const LIES: u64 = 16;
const SYNC_US: u64 = 24;
const FAILS: u64 = 32;

/// One such disk, for one folder.
#[derive(Debug)]
pub struct Lossy {
    home: TempDir,
    real: Binary,
    folder: PathBuf,
    control: File,
}

impl Lossy {
    /// Builds the library. Whoever can build the program has a C compiler: SQLite needs it, too.
    pub fn new(real: Binary) -> Lossy {
        let home = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| home.path().join(name);
        for (name, text) in SOURCES {
            fs::write(at(name), text).expect("a source file");
        }
        let words = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"];
        let built = Command::new("cc")
            .args(words)
            .arg(at("lossy.so"))
            .args(SOURCES.iter().filter(|(name, _)| name.ends_with(".c")).map(|(name, _)| at(name)))
            .arg("-ldl")
            .output()
            .expect("`cc` is needed, as it is to build SQLite");
        assert!(built.status.success(), "cc: {}", String::from_utf8_lossy(&built.stderr));
        for name in ["log", "lock"] {
            File::create(at(name)).expect("a file");
        }
        fs::create_dir(at("graves")).expect("a folder");
        fs::write(at("control"), [0; 40]).expect("a file");
        let control = OpenOptions::new().read(true).write(true).open(at("control"));
        Lossy { control: control.expect("our own file"), real, folder: PathBuf::new(), home }
    }

    /// From now on this folder forgets. It must be there, and hold nothing that may get lost.
    pub fn watch(&mut self, folder: &Path) {
        self.folder = folder.canonicalize().expect("a folder that is there");
        let script = format!(
            "#!/bin/sh\nexec env LD_PRELOAD='{library}' LOSSY_FOLDER='{folder}' LOSSY_STATE='{home}' '{real}' \"$@\"\n",
            library = self.at("lossy.so").display(),
            folder = self.folder.display(),
            home = self.home.path().display(),
            real = self.real.path().display(),
        );
        fs::write(self.at("holdpoint"), script).expect("a script");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.at("holdpoint"), mode).expect("our own script");
    }

    /// The program with this disk under it.
    pub fn binary(&self) -> Binary {
        Binary::at(self.at("holdpoint"))
    }

    /// Changes so far, syncs among them, since the last restore.
    pub fn steps(&self) -> u64 {
        self.get(STEPS)
    }

    /// After so many changes every other one waits for ever, in all processes; 0 is never.
    pub fn stop_at(&self, steps: u64) {
        self.set(STOP_AT, steps);
    }

    /// A disk that says `safe` and means nothing by it, as some do.
    pub fn lie(&self, lies: bool) {
        self.set(LIES, lies.into());
    }

    /// So many syncs of a database (`*.db*`) fail from now on, and what they were for is lost for
    /// good.
    pub fn fail(&self, syncs: u64) {
        self.set(FAILS, syncs);
    }

    /// Syncs that are still to fail.
    pub fn failing(&self) -> u64 {
        self.get(FAILS)
    }

    /// How long a sync takes.
    pub fn sync_takes(&self, time: std::time::Duration) {
        self.set(SYNC_US, time.as_micros() as u64);
    }

    /// Ends the server and all that it started, at one moment, and forgets.
    pub async fn cut(&self, server: Server, loss: Loss, rng: &mut Rng) -> Result<Lost, String> {
        super::power::off(server).await?;
        self.forget(loss, rng)
    }

    /// Makes the folder what it is after a cut. Nobody may be using it.
    pub fn forget(&self, loss: Loss, rng: &mut Rng) -> Result<Lost, String> {
        let lost = restore(self.home.path(), &self.folder, loss, rng)?;
        self.set(STEPS, 0);
        self.set(STOP_AT, 0);
        self.set(FAILS, 0);
        Ok(lost)
    }

    fn get(&self, at: u64) -> u64 {
        let mut number = [0; 8];
        self.control.read_exact_at(&mut number, at).expect("our own file");
        u64::from_ne_bytes(number)
    }

    fn set(&self, at: u64, number: u64) {
        self.control.write_all_at(&number.to_ne_bytes(), at).expect("our own file");
    }

    fn at(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }
}
