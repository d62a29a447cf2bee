//! Which database, on which server, as whom. The password is in here and never comes out.

use std::fmt;
use std::net::IpAddr;

use domain::phrase::{PhraseCode, RunDetail};
use domain::visible::visible;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::limits::SQL_CONNECT_LIMIT;

#[derive(Clone)]
pub struct PgTarget {
    pub(super) config: Config,
    pub(super) tls: bool,
    /// The database, the server and the user.
    place: [String; 3],
}

impl PgTarget {
    /// Reads `postgres://user:password@host:port/database`. What is wrong with it is told without
    /// repeating any of it.
    pub fn parse(url: &str) -> Result<PgTarget, String> {
        let begins = url.starts_with("postgres://") || url.starts_with("postgresql://");
        let Some(mut config) = begins.then(|| url.parse::<Config>().ok()).flatten() else {
            return Err("this is not the address of a PostgreSQL database: one looks like \
                        postgres://user:password@host:5432/database"
                .into());
        };
        let [host] = config.get_hosts() else {
            return Err("the address of the database must name one host".into());
        };
        let (near, host) = match host {
            Host::Tcp(name) => {
                let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
                let loopback = address.is_ok_and(|address| address.is_loopback());
                (loopback || name == "localhost", name.clone())
            }
            Host::Unix(path) => (true, path.display().to_string()),
        };
        let Some(user) = config.get_user().filter(|user| !user.is_empty()).map(str::to_owned)
        else {
            return Err("the address of the database must name a user".into());
        };
        let database = config.get_dbname().unwrap_or(&user).to_owned();
        let port = config.get_ports().first().copied().unwrap_or(5432);
        // Without a word from the operator: in the clear on this machine only. "Prefer" would let
        // an attacker in between choose.
        let mode = match config.get_ssl_mode() {
            SslMode::Disable => SslMode::Disable,
            SslMode::Prefer if near => SslMode::Disable,
            _ => SslMode::Require,
        };
        config.ssl_mode(mode).connect_timeout(SQL_CONNECT_LIMIT).dbname(&database);
        let place = [database, format!("{host}:{port}"), user].map(|part| visible(&part));
        Ok(PgTarget { config, tls: mode == SslMode::Require, place })
    }

    /// Server, database and user: the credential's name, and never the credential.
    pub(super) fn place(&self) -> RunDetail {
        self.place_as(PhraseCode::Postgres)
    }

    pub(super) fn place_read_only(&self) -> RunDetail {
        self.place_as(PhraseCode::PostgresReadOnly)
    }

    fn place_as(&self, code: PhraseCode) -> RunDetail {
        let mut place = RunDetail::default();
        place.push(code, &self.place.each_ref().map(String::as_str));
        place
    }

    pub(super) fn database_name(&self) -> &str {
        self.config.get_dbname().unwrap_or_default()
    }
}

impl fmt::Debug for PgTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_says_where_and_as_whom_and_nothing_else() {
        let target = PgTarget::parse("postgres://app:hunter2@db.example:6000/shop").unwrap();
        assert_eq!(target.place(), "database shop at db.example:6000 as app (PostgreSQL)");
        assert!(!format!("{target:?}").contains("hunter2"));
        assert!(target.tls, "in the clear only on this machine");
        for (url, tls) in [
            ("postgres://app@127.0.0.1/shop", false),
            ("postgres://app@localhost/shop", false),
            ("postgres://app@localhost/shop?sslmode=require", true),
            ("postgres://app@db.example/shop?sslmode=disable", false),
            ("postgres://app@db.example/shop?sslmode=prefer", true),
        ] {
            assert_eq!(PgTarget::parse(url).unwrap().tls, tls, "{url}");
        }
    }

    #[test]
    fn i45_what_is_no_address_is_not_repeated() {
        for url in [
            "hunter2",
            "postgres://hunter2:x@[",
            "mysql://a:hunter2@b/c",
            "postgres://a:hunter2@b,c/d",
            "postgres://:hunter2@b/d",
            "host=b password=hunter2",
        ] {
            assert!(!PgTarget::parse(url).unwrap_err().contains("hunter2"), "{url}");
        }
    }
}
