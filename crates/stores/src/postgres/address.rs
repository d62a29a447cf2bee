//! Which database, on which server, as whom. The password is in here and never comes out.

use std::fmt;
use std::net::IpAddr;

use domain::visible::visible;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use super::limits::{CONNECT_WITHIN, SILENCE};

#[derive(Clone)]
pub struct PgAddress {
    pub(super) config: Config,
    pub(super) tls: bool,
    /// The server, the database and the user.
    shown: String,
}

impl PgAddress {
    /// Whether the address itself has a password in it, which does not belong into a configuration file.
    pub fn has_password(url: &str) -> bool {
        url.parse::<Config>().is_ok_and(|config| config.get_password().is_some())
    }

    /// Reads `postgres://user:password@host:port/database`; several hosts with commas between are the servers of one
    /// cluster, of which the one that takes writes is used. The password may be given apart. What is wrong is
    /// told without repeating any of it.
    pub fn parse(url: &str, password: Option<&str>) -> Result<PgAddress, String> {
        let begins = url.starts_with("postgres://") || url.starts_with("postgresql://");
        let Some(mut config) = begins.then(|| url.parse::<Config>().ok()).flatten() else {
            return Err("this is not the address of a PostgreSQL database: one looks like \
                        postgres://user@host:5432/database"
                .into());
        };
        if let Some(password) = password {
            if config.get_password().is_some() {
                return Err("the password stands in the address and is given apart: keep one of \
                            the two"
                    .into());
            }
            config.password(password);
        }
        if config.get_hosts().is_empty() {
            return Err("the address of the database must name a host".into());
        }
        let Some(user) = config.get_user().filter(|user| !user.is_empty()).map(str::to_owned)
        else {
            return Err("the address of the database must name a user".into());
        };
        let database = config.get_dbname().unwrap_or(&user).to_owned();
        let near = config.get_hosts().iter().all(is_near);
        // Without a word from the operator: in the clear on this machine only. "Prefer" would let
        // an attacker in between choose.
        let mode = match config.get_ssl_mode() {
            SslMode::Disable => SslMode::Disable,
            SslMode::Prefer if near => SslMode::Disable,
            _ => SslMode::Require,
        };
        let shown = format!("{} at {} as {user}", database, places(&config));
        config
            .ssl_mode(mode)
            .dbname(&database)
            .connect_timeout(CONNECT_WITHIN)
            // A wire that went silent is found out, and does not hold a commit for hours.
            .keepalives_idle(SILENCE)
            .keepalives_interval(SILENCE)
            .keepalives_retries(3)
            .tcp_user_timeout(SILENCE * 3)
            .application_name("holdpoint");
        if config.get_hosts().len() > 1 {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        Ok(PgAddress { config, tls: mode == SslMode::Require, shown: visible(&shown) })
    }
}

fn is_near(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
            name == "localhost" || address.is_ok_and(|address| address.is_loopback())
        }
        Host::Unix(_) => true,
    }
}

fn places(config: &Config) -> String {
    let ports = config.get_ports();
    let place = |(index, host): (usize, &Host)| {
        let port = ports.get(index).or_else(|| ports.first()).copied().unwrap_or(5432);
        match host {
            Host::Tcp(name) => format!("{name}:{port}"),
            Host::Unix(path) => path.display().to_string(),
        }
    };
    Vec::from_iter(config.get_hosts().iter().enumerate().map(place)).join(", ")
}

/// Server, database and user: the credential's name, and never the credential.
impl fmt::Display for PgAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for PgAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i45_an_address_says_where_and_as_whom_and_nothing_else() {
        let address =
            PgAddress::parse("postgres://hp:hunter2@db.example:6000/house", None).unwrap();
        assert_eq!(address.to_string(), "house at db.example:6000 as hp");
        assert!(!format!("{address:?}").contains("hunter2"));
        let apart = PgAddress::parse("postgres://hp@db1,db2/house", Some("hunter2")).unwrap();
        assert_eq!(apart.to_string(), "house at db1:5432, db2:5432 as hp");
        assert_eq!(apart.config.get_password(), Some(&b"hunter2"[..]));
        assert_eq!(apart.config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        for url in [
            "hunter2",
            "mysql://a:hunter2@b/c",
            "postgres://:hunter2@b/d",
            "postgres://hunter2:x@[",
        ] {
            assert!(!PgAddress::parse(url, None).unwrap_err().contains("hunter2"), "{url}");
        }
        assert!(
            PgAddress::parse("postgres://a:x@b/c", Some("y"))
                .unwrap_err()
                .contains("one of the two")
        );
    }

    #[test]
    fn in_the_clear_only_on_this_machine() {
        for (url, tls) in [
            ("postgres://hp@127.0.0.1/house", false),
            ("postgres://hp@localhost,db.example/house", true),
            ("postgres://hp@localhost/house?sslmode=require", true),
            ("postgres://hp@db.example/house?sslmode=disable", false),
            ("postgres://hp@db.example/house?sslmode=prefer", true),
        ] {
            assert_eq!(PgAddress::parse(url, None).unwrap().tls, tls, "{url}");
        }
    }
}
