//! `holdpoint init`: a set-up that works, to start from. It writes new files only.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use domain::visible::visible;
use serde_json::json;

use super::args::InitArgs;
use super::exit::{Exit, UsageError};
use super::json;
use super::output::Terminal;

/// The configuration and the policy.
pub const CONFIG: &str = include_str!("init/holdpoint.toml");
const CONFIG_FILE: &str = "holdpoint.toml";
/// The sample database that the configuration names.
const DATABASE_FILE: &str = "shop.db";

pub fn run(terminal: &Terminal, args: &InitArgs) -> anyhow::Result<Exit> {
    let (config, database) = write_files(&args.dir)?;
    let out = terminal.out();
    if args.json {
        out.print(&json::pretty(&json!({"config": config, "database": database})))?;
    } else {
        out.print(&next_steps(&args.dir))?;
    }
    Ok(Exit::Done)
}

fn write_files(folder: &Path) -> anyhow::Result<(PathBuf, PathBuf)> {
    let (config, database) = (folder.join(CONFIG_FILE), folder.join(DATABASE_FILE));
    for file in [&config, &database] {
        if file.symlink_metadata().is_ok() {
            return Err(UsageError(format!(
                "{} is there already, and is not overwritten; name another folder: `holdpoint init DIR`",
                path_text(file)
            ))
            .into());
        }
    }
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", path_text(folder)))?;
    tools::demo::create_database(&database)
        .with_context(|| format!("{} cannot be written", path_text(&database)))?;
    // Last, because a folder with a configuration looks finished.
    let written = OpenOptions::new().write(true).create_new(true).open(&config);
    written
        .and_then(|mut file| file.write_all(CONFIG.as_bytes()))
        .with_context(|| format!("{} cannot be written", path_text(&config)))?;
    Ok((config, database))
}

fn next_steps(folder: &Path) -> String {
    let here = folder.as_os_str().is_empty() || folder == Path::new(".");
    let enter = if here { String::new() } else { format!("  cd {}\n", quoted(folder)) };
    format!(
        "Wrote {}  the configuration; its policy is at the end
Wrote {}  a sample database of a shop with 500 orders

Next:
{enter}  holdpoint doctor   # looks whether everything is there
  holdpoint serve    # prints a login link: open it, and start a session

Then say to the agent: Delete the abandoned orders.
It stops, and you decide.
",
        path_text(&folder.join(CONFIG_FILE)),
        path_text(&folder.join(DATABASE_FILE)),
    )
}

fn path_text(path: &Path) -> String {
    visible(&path.display().to_string())
}

/// As it can be pasted into a shell.
fn quoted(path: &Path) -> String {
    let text = path_text(path);
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn what_is_written_is_sound_and_nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let shop = folder.path().join("my shop");
        let (config, database) = write_files(&shop).unwrap();
        let read = Config::load(&config).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!((read.tools.len(), read.warnings.len()), (3, 0));
        assert!(crate::wiring::rehearsal::absent_databases(&read).is_empty());

        fs::write(&config, "mine").unwrap();
        assert!(write_files(&shop).unwrap_err().to_string().contains("is not overwritten"));
        assert_eq!(fs::read_to_string(&config).unwrap(), "mine");
        fs::remove_file(&config).unwrap();
        assert!(write_files(&shop).is_err(), "the database is somebody's, too");
        assert!(!config.exists() && database.exists());
        assert!(next_steps(&shop).contains("my shop'\n"), "{}", next_steps(&shop));
        assert!(!next_steps(Path::new(".")).contains("cd "));
    }
}
