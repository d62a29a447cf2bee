//! What an error of the server means for whoever has to act on it.

use domain::visible::visible;
use ports::start_gate::NotBegun;
use tokio_postgres::Error;

use super::super::change::Count;
use super::super::connection::Trouble;

#[derive(Debug)]
pub(super) enum Failure {
    /// The statement can never work as it is.
    Refused(String),
    /// Nothing changed; another try may work.
    Database(Error),
    /// The server cannot be reached, or cannot be used as it is. Nothing changed.
    Away(String),
    /// It would not do what the person saw. Nothing changed.
    Differs { seen: Count, now: Count },
    /// It would change more than is ever allowed. Nothing changed.
    TooMany { now: Count, max: u64 },
    /// Recovery gave this attempt up. Nothing changed.
    GivenUp,
    /// The gate refused it. Nothing changed, and nothing says that it began.
    NotBegun(NotBegun),
    /// The commit was sent, and whether it happened could not be found out.
    InDoubt(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Database(error)
    }
}

impl From<NotBegun> for Failure {
    fn from(refused: NotBegun) -> Failure {
        Failure::NotBegun(refused)
    }
}

impl Failure {
    pub(super) fn text(&self) -> String {
        match self {
            Failure::Refused(why) | Failure::Away(why) | Failure::InDoubt(why) => why.clone(),
            Failure::Database(error) => match trouble(error) {
                Trouble::Busy => "another program holds these rows; try again later".into(),
                Trouble::Interrupted => "it was stopped, or ran into its time limit".into(),
                Trouble::Statement | Trouble::File => told(error),
            },
            Failure::Differs { seen, now } => format!(
                "it would change {} now, and {} when it was approved; propose it again",
                now.text(),
                seen.text()
            ),
            Failure::TooMany { now, max } => {
                format!("it would change {}, and no more than {max} are allowed", now.text())
            }
            Failure::GivenUp => "this attempt was given up".into(),
            Failure::NotBegun(refused) => refused.to_string(),
        }
    }

    /// Whether the statement is at fault, and not the day.
    pub(super) fn is_the_statements(&self) -> bool {
        match self {
            Failure::Refused(_) | Failure::TooMany { .. } => true,
            Failure::Database(error) => trouble(error) == Trouble::Statement,
            _ => false,
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        matches!(self, Failure::Database(error) if trouble(error) == Trouble::Busy)
    }
}

pub(super) fn trouble(error: &Error) -> Trouble {
    let Some(code) = error.code().map(|code| code.code()) else { return Trouble::File };
    match (code, code.get(..2)) {
        ("57014", _) => Trouble::Interrupted,
        ("55P03" | "40001" | "40P01", _) => Trouble::Busy,
        // Bad values, broken rules of the database, syntax and rights, what is not supported, what a
        // function raised, and what a read-only transaction may not do.
        (_, Some("22" | "23" | "42" | "0A" | "2F" | "38" | "P0" | "21" | "25" | "44")) => {
            Trouble::Statement
        }
        _ => Trouble::File,
    }
}

/// An error of the server in its own words. Those of the connection have no secrets in them either:
/// the address is never repeated.
pub(super) fn told(error: &Error) -> String {
    match error.as_db_error() {
        Some(db) => {
            let mut text = format!("{} ({})", db.message(), db.code().code());
            if let Some(hint) = db.hint() {
                text.push_str(&format!("; hint: {hint}"));
            }
            visible(&text)
        }
        None => {
            let causes =
                std::iter::successors(Some(error as &dyn std::error::Error), |&e| e.source());
            let causes: Vec<String> = causes.map(ToString::to_string).collect();
            visible(&causes.join(": "))
        }
    }
}
