//! Disks that are full or cannot be written to, for one child process and nobody else.
//!
//! Where the system lets us (as root, or in a user namespace of our own) the child gets a mount that
//! only it sees and that is gone with it. Elsewhere permissions and limits on file sizes stand in.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command as Std, Stdio};

use testkit::binary::Binary;
use tokio::process::Command;

/// How a child can be kept from writing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Namespace {
    /// With mounts of its own; `unshare` takes these words.
    Mounts(&'static [&'static str]),
    /// There is nothing but modes, and limits that a process has.
    None,
}

/// What a disk has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// For a server and a few sessions.
    Enough,
    /// The same, and what the server writes to standard error lies there, too.
    EnoughWithLog,
    /// Not even for a database without anything in it.
    TooSmall,
}

/// Mounts the folder over itself, read-only, and becomes the rest of the words.
const READ_ONLY: &str = r#"folder=$1; shift
mount --bind "$folder" "$folder" && mount -o remount,bind,ro "$folder" && exec "$@""#;

/// Mounts a small disk there and becomes the rest of the words.
const SMALL: &str = r#"folder=$1; size=$2; shift 2
mount -t tmpfs -o "size=$size" tmpfs "$folder" && exec "$@""#;

/// The same, with the log on that disk.
const SMALL_WITH_LOG: &str = r#"folder=$1; size=$2; shift 2
mount -t tmpfs -o "size=$size" tmpfs "$folder" && exec "$@" 2>>"$folder/log""#;

/// A process that is not ended when it writes too much, but told.
const TOLD: &str = r#"trap "" XFSZ; shift 2; exec "$@""#;

impl Namespace {
    /// The best that can be had here.
    pub(crate) fn here() -> Namespace {
        const WAYS: [&[&str]; 2] = [&["--mount"], &["--map-root-user", "--mount"]];
        let works = |way: &&&[&str]| {
            let tried = Std::new("unshare")
                .args(**way)
                .args(["sh", "-c", "mount -t tmpfs tmpfs /tmp"])
                .stderr(Stdio::null())
                .status();
            tried.is_ok_and(|status| status.success())
        };
        WAYS.iter().find(works).map_or(Namespace::None, |way| Namespace::Mounts(way))
    }

    /// A command that finds `folder` read-only.
    pub(crate) fn read_only(self, folder: &Path, binary: &Binary, words: &[&str]) -> Command {
        match self {
            Namespace::Mounts(way) => within(way, READ_ONLY, &[folder.as_os_str()], binary, words),
            Namespace::None if nix::unistd::geteuid().is_root() => {
                // Modes do not bind root, so somebody else tries.
                let mut command = like(binary, "setpriv");
                command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
                command.arg(binary.path()).args(words);
                command
            }
            Namespace::None => {
                set_mode(folder, 0o500);
                let mut command = binary.command();
                command.args(words);
                command
            }
        }
    }

    /// Undoes what `read_only` did to the folder itself.
    pub(crate) fn writable(self, folder: &Path) {
        if matches!(self, Namespace::None) {
            set_mode(folder, 0o700);
        }
    }

    /// A command for which `folder` is a disk that can be filled with [`Disk`].
    pub(crate) fn on_a_small_disk(
        self,
        folder: &Path,
        size: Size,
        binary: &Binary,
        words: &[&str],
    ) -> Command {
        let (script, size) = match size {
            Size::Enough => (SMALL, "8m"),
            Size::EnoughWithLog => (SMALL_WITH_LOG, "8m"),
            Size::TooSmall => (SMALL, "16k"),
        };
        let arguments = [folder.as_os_str(), size.as_ref()];
        match self {
            Namespace::Mounts(way) => within(way, script, &arguments, binary, words),
            Namespace::None => {
                let mut command = like(binary, "sh");
                command.args(["-c", TOLD, "sh"]).args(arguments).arg(binary.path()).args(words);
                command
            }
        }
    }
}

fn set_mode(folder: &Path, mode: u32) {
    fs::set_permissions(folder, Permissions::from_mode(mode)).expect("our own folder");
}

/// Another program, with the surroundings that ours gets.
fn like(binary: &Binary, program: &str) -> Command {
    let ours = binary.command();
    let mut command = Command::new(program);
    for (name, value) in ours.as_std().get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

fn within(
    way: &[&str],
    script: &str,
    arguments: &[&std::ffi::OsStr],
    binary: &Binary,
    words: &[&str],
) -> Command {
    let mut command = like(binary, "unshare");
    command.args(way).args(["sh", "-c", script, "sh"]).args(arguments);
    command.arg(binary.path()).args(words);
    command
}

/// The small disk of a process that runs.
pub(crate) struct Disk {
    way: Namespace,
    process: u32,
    /// As the process sees it.
    folder: std::path::PathBuf,
}

impl Disk {
    pub(crate) fn of(process: u32, folder: &Path) -> Disk {
        Disk { way: Namespace::here(), process, folder: folder.to_owned() }
    }

    /// Not one byte more can be written.
    pub(crate) fn fill(&self) {
        match self.way {
            Namespace::Mounts(_) => {
                let error = fs::write(self.filler(), vec![0; 64 << 20]).expect_err("a small disk");
                assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{error}");
            }
            Namespace::None => self.limit("0"),
        }
    }

    pub(crate) fn free(&self) {
        match self.way {
            Namespace::Mounts(_) => fs::remove_file(self.filler()).expect("the filler"),
            Namespace::None => self.limit("unlimited"),
        }
    }

    fn filler(&self) -> std::path::PathBuf {
        let folder = self.folder.strip_prefix("/").expect("a whole path");
        Path::new("/proc").join(self.process.to_string()).join("root").join(folder).join("filler")
    }

    fn limit(&self, size: &str) {
        let (process, size) = (self.process.to_string(), format!("--fsize={size}:"));
        let done = Std::new("prlimit").args(["--pid", &process, &size]).status();
        assert!(done.is_ok_and(|status| status.success()), "prlimit (util-linux) is needed here");
    }
}
