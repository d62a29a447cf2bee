//! Tokens that `holdpoint login` keeps, one for each server, in a file that only its owner can read.
//!
//! A file that others can read is not used: a token in it may be anybody's by now.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use domain::visible::visible;
use reqwest::Url;
use serde_json::{Value, json};

/// The user's own tokens.
#[derive(Debug)]
pub struct TokenStore {
    file: PathBuf,
}

impl TokenStore {
    /// Beside other settings of the user; `None` where there is no home folder.
    pub fn of_user() -> Option<TokenStore> {
        let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
        let folder = config.filter(|path| path.is_absolute()).or(home)?;
        Some(TokenStore { file: folder.join("holdpoint/tokens.json") })
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    pub fn token(&self, server: &Url) -> anyhow::Result<Option<String>> {
        let kept = self.read()?;
        Ok(kept["servers"][key(server)]["token"].as_str().map(str::to_owned))
    }

    pub fn keep(&self, server: &Url, token: &str, owner: &str) -> anyhow::Result<()> {
        let mut kept = self.read()?;
        kept["servers"][key(server)] = json!({"token": token, "owner": owner});
        self.write(&kept)
    }

    /// Whether there was one.
    pub fn forget(&self, server: &Url) -> anyhow::Result<bool> {
        let mut kept = self.read()?;
        let servers = kept["servers"].as_object_mut();
        let forgotten = servers.is_some_and(|servers| servers.remove(&key(server)).is_some());
        if forgotten {
            self.write(&kept)?;
        }
        Ok(forgotten)
    }

    fn read(&self) -> anyhow::Result<Value> {
        let shown = visible(&self.file.display().to_string());
        let text = match fs::read_to_string(&self.file) {
            Ok(text) => text,
            Err(error) if is_absent(&error) => return Ok(json!({"servers": {}})),
            Err(error) => return Err(error).with_context(|| format!("{shown} cannot be read")),
        };
        let mode = fs::metadata(&self.file)?.permissions().mode();
        if mode & 0o077 != 0 {
            bail!("{shown} holds tokens, and others can read it\n  → chmod 600 {shown}");
        }
        let kept: Value = serde_json::from_str(&text).unwrap_or_default();
        if !kept["servers"].is_object() {
            bail!("{shown} is not what `holdpoint login` wrote\n  → remove it, and log in again");
        }
        Ok(kept)
    }

    fn write(&self, kept: &Value) -> anyhow::Result<()> {
        let folder = self.file.parent().unwrap_or_else(|| Path::new("."));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(|| {
            format!("{} cannot be made", visible(&folder.display().to_string()))
        })?;
        crate::serve::secure_file(&self.file, kept.to_string().as_bytes())
    }
}

/// Also where a folder on the way is none.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn key(server: &Url) -> String {
    server.as_str().trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_has_its_own_token_in_a_file_of_the_owner() {
        let folder = tempfile::tempdir().unwrap();
        let store = TokenStore { file: folder.path().join("holdpoint/tokens.json") };
        let [here, there] = ["http://127.0.0.1:7420", "https://holdpoint.example/team/"]
            .map(|url| Url::parse(url).unwrap());
        assert_eq!(store.token(&here).unwrap(), None);
        store.keep(&here, "hp_person_1", "ana").unwrap();
        store.keep(&there, "hp_person_2", "bob").unwrap();
        assert_eq!(store.token(&here).unwrap().as_deref(), Some("hp_person_1"));
        let without_slash = Url::parse("https://holdpoint.example/team").unwrap();
        assert_eq!(store.token(&without_slash).unwrap().as_deref(), Some("hp_person_2"));
        let mode = fs::metadata(&store.file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        assert!(store.forget(&here).unwrap());
        assert!(!store.forget(&here).unwrap());
        assert_eq!(store.token(&here).unwrap(), None);

        fs::set_permissions(&store.file, fs::Permissions::from_mode(0o644)).unwrap();
        let why = store.token(&there).unwrap_err().to_string();
        assert!(why.contains("others can read it") && why.contains("chmod 600"), "{why}");
        fs::set_permissions(&store.file, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&store.file, "[]").unwrap();
        assert!(store.token(&there).is_err());
    }
}
