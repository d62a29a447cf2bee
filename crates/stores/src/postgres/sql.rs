//! A statement with its values and their types beside it.
//!
//! Every statement is sent without a name, with the types of its values: nothing is prepared on a connection, so
//! that a pooler may stand between, and every plan is made for the values at hand.

use std::borrow::Cow;
use std::fmt::Write as _;

use futures_util::future;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row};

/// A value whose type PostgreSQL need not be asked for.
pub(super) trait Cell: ToSql + Send + Sync + 'static {
    fn kind() -> Type;
}

macro_rules! cells {
    ($($value:ty => $kind:ident),+ $(,)?) => {
        $(impl Cell for $value {
            fn kind() -> Type {
                Type::$kind
            }
        })+
    };
}

cells! {
    i64 => INT8,
    bool => BOOL,
    Vec<u8> => BYTEA,
    Vec<i64> => INT8_ARRAY,
    Vec<bool> => BOOL_ARRAY,
    Vec<Vec<u8>> => BYTEA_ARRAY,
    Vec<Option<i64>> => INT8_ARRAY,
    Vec<Option<Vec<u8>>> => BYTEA_ARRAY,
}

impl<T: Cell> Cell for Option<T> {
    fn kind() -> Type {
        T::kind()
    }
}

pub(super) struct TypedSql {
    text: Cow<'static, str>,
    values: Vec<(Box<dyn ToSql + Send + Sync>, Type)>,
}

impl TypedSql {
    pub(super) fn new(text: impl Into<Cow<'static, str>>) -> TypedSql {
        TypedSql { text: text.into(), values: Vec::new() }
    }

    /// The next value of a statement that is written down already.
    #[must_use]
    pub(super) fn with<T: Cell>(mut self, value: T) -> TypedSql {
        self.value(value);
        self
    }

    /// The next `$n` for this value.
    pub(super) fn value<T: Cell>(&mut self, value: T) -> String {
        self.values.push((Box::new(value), T::kind()));
        format!("${}", self.values.len())
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.to_mut().push_str(text);
    }

    pub(super) fn and(&mut self, condition: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.text.to_mut(), " AND {condition}");
    }

    pub(super) fn is<T: Cell>(&mut self, column: &str, value: T) {
        let place = self.value(value);
        self.and(&format!("{column} = {place}"));
    }

    /// All of it in brackets, to be counted.
    pub(super) fn counted(mut self, most: usize) -> TypedSql {
        let text = format!("SELECT count(*) FROM ({} LIMIT {most}) found", self.text);
        self.text = text.into();
        self
    }

    fn params(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.values
            .iter()
            .map(|(value, kind)| (&**value as &(dyn ToSql + Sync), kind.clone()))
            .collect()
    }

    pub(super) async fn rows(&self, client: &Client) -> Result<Vec<Row>, Error> {
        client.query_typed(&self.text, &self.params()).await
    }

    pub(super) async fn row(&self, client: &Client) -> Result<Option<Row>, Error> {
        Ok(self.rows(client).await?.into_iter().next())
    }

    /// How many rows it changed.
    pub(super) async fn run(&self, client: &Client) -> Result<u64, Error> {
        client.execute_typed(&self.text, &self.params()).await
    }
}

/// All of them after one another, sent at once. The first error is told: those after it have failed for it.
pub(super) async fn run_all(client: &Client, statements: &[TypedSql]) -> Result<(), Error> {
    // Polled in turn, and sent when they are polled first: they arrive in this order.
    let running = statements.iter().map(|statement| Box::pin(statement.run(client)));
    let ran = future::join_all(running).await;
    ran.into_iter().try_for_each(|ran| ran.map(drop))
}
