//! Running a command as another user, so that it can touch neither our files nor our processes.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

/// A user that this server may become. There is no other way to get one than to have tried it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunAs {
    name: String,
    uid: u32,
    gid: u32,
}

#[derive(Debug, thiserror::Error)]
pub enum NoSuchUser {
    #[error("there is no user `{0}` on this machine; create it, or name another")]
    Unknown(String),
    #[error("users cannot be looked up: {0}")]
    Lookup(#[source] nix::Error),
    #[error("`setpriv` (util-linux) is needed to run a tool as another user; install it")]
    NoSetpriv,
    #[error(
        "this server may not run tools as `{0}`: start it as root or with the capabilities SETUID, \
         SETGID and KILL, or leave `run_as` out"
    )]
    NotAllowed(String),
}

impl RunAs {
    /// Finds the user and tries to become it once, with a command that does nothing.
    pub(crate) fn try_once(name: &str, setpriv: Option<&Path>) -> Result<RunAs, NoSuchUser> {
        let user = nix::unistd::User::from_name(name)
            .map_err(NoSuchUser::Lookup)?
            .ok_or_else(|| NoSuchUser::Unknown(name.into()))?;
        let setpriv = setpriv.ok_or(NoSuchUser::NoSetpriv)?;
        let run_as = RunAs { name: name.into(), uid: user.uid.as_raw(), gid: user.gid.as_raw() };
        let worked = Command::new(setpriv)
            .args(run_as.setpriv_args())
            .args(["--", "/bin/sh", "-c", "exit 0"])
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if worked { Ok(run_as) } else { Err(NoSuchUser::NotAllowed(name.into())) }
    }

    pub fn user_name(&self) -> &str {
        &self.name
    }

    /// Without new privileges: the tool cannot become us again through a set-uid program.
    pub(crate) fn setpriv_args(&self) -> [String; 6] {
        [
            "--reuid".into(),
            self.uid.to_string(),
            "--regid".into(),
            self.gid.to_string(),
            "--init-groups".into(),
            "--no-new-privs".into(),
        ]
    }
}

/// util-linux's `setpriv`, if it is here and knows the death signal (busybox's does not).
pub(crate) fn find_setpriv() -> Option<std::path::PathBuf> {
    ["/usr/bin/setpriv", "/bin/setpriv", "/usr/local/bin/setpriv"].iter().map(Path::new).find_map(
        |file| {
            let knows = Command::new(file)
                .args(["--pdeathsig", "KILL", "--", "/bin/sh", "-c", "exit 0"])
                .env_clear()
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success());
            knows.then(|| file.to_owned())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impossible_user_is_refused_with_the_remedy() {
        let unknown = RunAs::try_once("no-such-user-here", find_setpriv().as_deref()).unwrap_err();
        assert!(
            unknown.to_string().starts_with("there is no user `no-such-user-here`"),
            "{unknown}"
        );
        let missing = RunAs::try_once("root", None).unwrap_err();
        assert!(missing.to_string().contains("install it"), "{missing}");
        // `false` fails whatever it is asked, as `setpriv` does without the privilege.
        let refused = RunAs::try_once("root", Some(Path::new("/bin/false"))).unwrap_err();
        assert!(matches!(refused, NoSuchUser::NotAllowed(_)), "{refused}");
    }
}
