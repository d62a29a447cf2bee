//! Opens the connections of a node. Behind one address there may be another server than a moment ago: each
//! connection is to one that keeps what it acknowledges, and still has all of the journal that this node has seen.

use std::sync::Mutex;

use futures_util::future;
use ports::unpoisoned::Unpoisoned as _;
use tokio_postgres::{Client, Row};

use super::address::PgAddress;
use super::connection::{PgConnection, check_server, in_time};
use super::error::PgFailure;
use super::limits::CONNECT_WITHIN;
use super::node_end::{NodeEnd, PgNodeEnd};
use super::sql::TypedSql;

/// Where the journal ends, or ended, and with which hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JournalMark {
    pub(super) seq: u64,
    pub(super) hash: Vec<u8>,
}

pub(super) struct PgConnector {
    address: PgAddress,
    /// The furthest end of the journal that this node has seen on any connection.
    seen: Mutex<JournalMark>,
    end: NodeEnd,
}

impl PgConnector {
    pub(super) fn new(address: PgAddress, seen: JournalMark, end: NodeEnd) -> PgConnector {
        PgConnector { address, seen: Mutex::new(seen), end }
    }

    pub(super) async fn connect(&self) -> Result<PgConnection, PgFailure> {
        self.end.check()?;
        let connection = PgConnection::open(&self.address).await?;
        self.check(&connection.client).await?;
        Ok(connection)
    }

    pub(super) fn address(&self) -> &PgAddress {
        &self.address
    }

    /// A new connection is of use only after this.
    pub(super) async fn check(&self, client: &Client) -> Result<(), PgFailure> {
        let seen = self.seen();
        let entry = TypedSql::new("SELECT hash FROM holdpoint.journal WHERE seq = $1")
            .with(seen.seq as i64);
        let checking = async {
            // A server that cannot be trusted says nothing about the journal.
            let (fit, entry) = future::join(check_server(client), entry.row(client)).await;
            fit?;
            Ok(entry?)
        };
        let entry = in_time(CONNECT_WITHIN, checking).await?;
        let hash = entry.map(|row: Row| row.get::<_, Vec<u8>>(0));
        if seen.seq > 0 && hash.as_ref() != Some(&seen.hash) {
            return Err(self.lose(seen.seq));
        }
        Ok(())
    }

    /// Taken before the head is looked at, and compared with it afterwards: what was seen by then must be there.
    pub(super) fn seen(&self) -> JournalMark {
        self.seen.lock().unpoisoned().clone()
    }

    /// Whether a head that was read after `seen` can be of the same journal.
    pub(super) fn compare(&self, seen: &JournalMark, head: &JournalMark) -> Result<(), PgFailure> {
        let is_behind = head.seq < seen.seq;
        let is_another = head.seq == seen.seq && head.hash != seen.hash;
        match is_behind || is_another {
            true => Err(self.lose(seen.seq)),
            false => Ok(()),
        }
    }

    /// It is on the server, and what this node knows may rest on it.
    pub(super) fn note(&self, mark: JournalMark) {
        let mut seen = self.seen.lock().unpoisoned();
        if mark.seq > seen.seq {
            *seen = mark;
        }
    }

    pub(super) fn end(&self) -> &NodeEnd {
        &self.end
    }

    fn lose(&self, seq: u64) -> PgFailure {
        let end = PgNodeEnd::TailLost { seq };
        self.end.end(&end);
        end.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(seq: u64, hash: u8) -> JournalMark {
        JournalMark { seq, hash: vec![hash; 32] }
    }

    #[test]
    fn i10_a_head_that_is_behind_or_another_ends_the_node() {
        for (head, is_ours) in
            [(mark(7, 1), true), (mark(9, 2), true), (mark(6, 1), false), (mark(7, 2), false)]
        {
            let address = PgAddress::parse("postgres://hp@localhost/house", None).unwrap();
            let connector = PgConnector::new(address, mark(5, 9), NodeEnd::new());
            connector.note(mark(7, 1));
            connector.note(mark(6, 3));
            assert_eq!(connector.compare(&connector.seen(), &head).is_ok(), is_ours, "{head:?}");
            let end = PgNodeEnd::TailLost { seq: 7 };
            assert_eq!(connector.end().check(), if is_ours { Ok(()) } else { Err(end) });
        }
    }
}
