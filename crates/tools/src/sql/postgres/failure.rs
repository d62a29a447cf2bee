//! Classifies errors of the PostgreSQL server by their remedy.

use domain::phrase::{NoPreviewReason, PhraseCode};
use domain::visible::visible;
use ports::start_gate::NotBegun;
use tokio_postgres::Error;

use super::super::change::RowCount;
use super::super::connection::SqlErrorClass;

#[derive(Debug)]
pub(super) enum PgFailure {
    /// The statement can never work as it is.
    Refused(String),
    /// Nothing changed; another try may work.
    Database(Error),
    /// The server cannot be reached, or cannot be used as it is. Nothing changed.
    Away(NoPreviewReason),
    /// It would not do what the person saw. Nothing changed.
    Differs { seen: RowCount, now: RowCount },
    /// It would change more than is ever allowed. Nothing changed.
    TooMany { now: RowCount, max: u64 },
    /// Recovery gave this attempt up. Nothing changed.
    GivenUp,
    /// The gate refused it. Nothing changed, and nothing says that it began.
    NotBegun(NotBegun),
    /// The commit was sent, and whether it happened could not be found out.
    InDoubt(String),
}

impl From<Error> for PgFailure {
    fn from(error: Error) -> PgFailure {
        PgFailure::Database(error)
    }
}

impl From<NotBegun> for PgFailure {
    fn from(refused: NotBegun) -> PgFailure {
        PgFailure::NotBegun(refused)
    }
}

impl PgFailure {
    pub(super) fn describe(&self) -> String {
        self.reason().into()
    }

    /// The same, for a preview that it left without a look.
    pub(super) fn reason(&self) -> NoPreviewReason {
        let text = match self {
            PgFailure::Away(why) => return why.clone(),
            PgFailure::Refused(why) | PgFailure::InDoubt(why) => why.clone(),
            PgFailure::Database(error) => match classify_error(error) {
                SqlErrorClass::Busy => return NoPreviewReason::new(PhraseCode::RowsBusy, &[]),
                SqlErrorClass::Interrupted => {
                    return NoPreviewReason::new(PhraseCode::Interrupted, &[]);
                }
                SqlErrorClass::Statement | SqlErrorClass::File => describe_error(error),
            },
            PgFailure::Differs { seen, now } => format!(
                "it would change {} now, and {} when it was approved; propose it again",
                now.describe(),
                seen.describe()
            ),
            PgFailure::TooMany { now, max } => {
                format!("it would change {}, and no more than {max} are allowed", now.describe())
            }
            PgFailure::GivenUp => "this attempt was given up".into(),
            PgFailure::NotBegun(refused) => refused.to_string(),
        };
        text.into()
    }

    /// Whether the statement is at fault, and not the day.
    pub(super) fn is_the_statements(&self) -> bool {
        match self {
            PgFailure::Refused(_) | PgFailure::TooMany { .. } => true,
            PgFailure::Database(error) => classify_error(error) == SqlErrorClass::Statement,
            _ => false,
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        matches!(self, PgFailure::Database(error) if classify_error(error) == SqlErrorClass::Busy)
    }
}

pub(super) fn classify_error(error: &Error) -> SqlErrorClass {
    let Some(code) = error.code().map(|code| code.code()) else { return SqlErrorClass::File };
    match (code, code.get(..2)) {
        ("57014", _) => SqlErrorClass::Interrupted,
        ("55P03" | "40001" | "40P01", _) => SqlErrorClass::Busy,
        // Bad values, broken rules of the database, syntax and rights, what is not supported, what a
        // function raised, and what a read-only transaction may not do.
        (_, Some("22" | "23" | "42" | "0A" | "2F" | "38" | "P0" | "21" | "25" | "44")) => {
            SqlErrorClass::Statement
        }
        _ => SqlErrorClass::File,
    }
}

/// An error of the server in its own words. Those of the connection have no secrets in them either:
/// the address is never repeated.
pub(super) fn describe_error(error: &Error) -> String {
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
