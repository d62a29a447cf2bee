//! Holds, as their rows have them or as the journal does.

use std::sync::Arc;

use domain::event::HoldEvent;
use domain::hold::Hold;
use domain::id::HoldId;
use rusqlite::Row;

use super::columns;
use super::error::Failure;
use crate::record::{Broken, read_hold, read_row, read_since};

/// To be selected from [`HOLDS`].
pub(super) const HOLD_COLUMNS: &str = "h.id, h.record, h.opened_in, j.bytes, h.since";

/// `INDEXED BY` goes between the two.
pub(super) const HOLDS: (&str, &str) =
    ("holds h", "LEFT JOIN journal j ON h.record IS NULL AND j.global = h.opened_in");

/// Reads holds one after the other, and a commit that opened many of them only once.
#[derive(Default)]
pub(super) struct Holds {
    opened_in: i64,
    opened: Vec<Arc<Hold>>,
}

impl Holds {
    pub(super) fn read(&mut self, row: &Row<'_>) -> Result<Arc<Hold>, Failure> {
        let id = HoldId(columns::bits(row.get_ref(0)?.as_blob()?)?);
        match (row.get_ref(1)?.as_blob_or_null()?, row.get_ref(4)?.as_blob_or_null()?) {
            (Some(record), None) => Ok(read_hold(record)?),
            (None, None) => self.opened(id, row).cloned(),
            (None, Some(since)) => Ok(read_since(since, self.opened(id, row)?)?),
            (Some(_), Some(_)) => {
                Err(Broken::Damaged(format!("{id} is written down in two ways")).into())
            }
        }
    }

    /// As the journal has it.
    fn opened(&mut self, id: HoldId, row: &Row<'_>) -> Result<&Arc<Hold>, Failure> {
        let missing = || Broken::Damaged(format!("{id} is not in the commit that opened it"));
        let opened_in = row.get(2)?;
        if self.opened_in != opened_in {
            let bytes = row.get_ref(3)?.as_blob_or_null()?.ok_or_else(missing)?;
            self.opened = read_row(bytes, opened_in as u64)?
                .events
                .iter()
                .filter_map(|event| match event.hold_event() {
                    Some(HoldEvent::Opened { hold }) => Some(hold.clone()),
                    _ => None,
                })
                .collect();
            self.opened_in = opened_in;
        }
        let found = self.opened.iter().find(|hold| hold.id == id);
        Ok(found.ok_or_else(missing)?)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use domain::answer::{Answer, ApprovalScope};
    use domain::event::SessionEvent;
    use domain::hold::{Decision, HoldChange, HoldOutcome, HoldState, Preview, Risk, Vote};
    use domain::outcome::ToolResult;
    use domain::person::{Actor, PersonId, Proof};
    use ports::store::{HoldQuery, Store, StoreError, Viewer};
    use rusqlite::Connection;

    use super::super::SqliteStore;
    use super::*;
    use crate::conformance::stage::{Stage, at, audience, call, hold_id, node, person, session_id};

    fn database(data: &Path) -> Connection {
        Connection::open(data.join("holdpoint.db")).unwrap()
    }

    fn opened(data: &Path) -> Arc<SqliteStore> {
        SqliteStore::open(data, node(1)).unwrap()
    }

    /// How many bytes a row's record has, and what it says of the time since.
    fn written(file: &Connection, id: HoldId) -> (Option<i64>, Option<i64>) {
        let sql = "SELECT length(record), length(since) FROM holds WHERE id = ?1";
        let sizes = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        file.query_row(sql, [columns::id(id.0)], sizes).unwrap()
    }

    fn everything() -> HoldQuery {
        HoldQuery::all(Viewer::Everything, 1_000)
    }

    /// Reads a list: then nothing is left in the write-behind.
    async fn listed(store: &SqliteStore) -> Vec<Arc<Hold>> {
        let mut listed = store.holds(everything()).await.unwrap();
        assert!(store.write_behind.is_empty());
        listed.reverse();
        listed
    }

    fn vote(hold: &Hold) -> Arc<Vote> {
        Arc::new(Vote {
            answer: Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None },
            by: PersonId::new("bob"),
            at: at(9),
            via: "web".into(),
            proof: Proof::Login,
            digest: hold.digest(),
            view: domain::digest::Digest::of(b"what he saw"),
        })
    }

    fn approved(stage: &Stage, hold: HoldId) -> SessionEvent {
        let vote = vote(&stage.session.holds[&hold]);
        let decision = Decision::People { voters: vec![vote.by.clone()], vote };
        SessionEvent::Hold(HoldEvent::Decided { hold, state: HoldState::Approved(decision) })
    }

    fn ended(hold: HoldId) -> SessionEvent {
        let outcome = HoldOutcome::Succeeded(ToolResult::output("214 rows"));
        SessionEvent::Hold(HoldEvent::Updated { hold, change: HoldChange::Outcome(outcome) })
    }

    fn revised(stage: &Stage, hold: HoldId) -> SessionEvent {
        let change = HoldChange::Revised {
            title: "Look at orders".into(),
            call: call(Some(stage.session.id), 1, r#"{"sql": "SELECT 1"}"#),
            audience: audience(&["ana"], &["dba"]).into(),
            rule: None,
            risk: Risk::Low,
            preview: Preview::default(),
            votes: Vec::new(),
        };
        SessionEvent::Hold(HoldEvent::Updated { hold, change })
    }

    #[tokio::test]
    async fn a_decided_hold_says_only_what_has_happened_since() {
        let data = tempfile::tempdir().unwrap();
        let store = opened(data.path());
        let mut stage = Stage::new(session_id(1), node(1));
        store.commit(stage.open(person("ana"))).await.unwrap();
        for number in 1..=3 {
            let asked = stage.ask(number, hold_id(number), audience(&["bob"], &[]));
            store.commit(asked).await.unwrap();
        }
        let decided = stage.commit(vec![approved(&stage, hold_id(1))], person("bob"));
        store.commit(decided).await.unwrap();
        let over = stage.commit(vec![ended(hold_id(1))], Actor::Runtime);
        store.commit(over).await.unwrap();
        let other = stage.commit(vec![revised(&stage, hold_id(2))], person("bob"));
        store.commit(other).await.unwrap();

        let folded = || stage.session.holds.values().cloned().collect::<Vec<_>>();
        assert_eq!(listed(&store).await, folded());
        let file = database(data.path());
        let (record, since) = written(&file, hold_id(1));
        let whole = crate::record::write_hold(&stage.session.holds[&hold_id(1)]).len() as i64;
        assert!(record.is_none() && since.unwrap() < whole / 2, "{since:?} of {whole}");
        let (record, since) = written(&file, hold_id(2));
        assert!(record.is_some() && since.is_none(), "another question is written down whole");
        assert_eq!(written(&file, hold_id(3)), (None, None), "it is as it was opened");

        // What has left the write-behind is not known as it was opened, and what is whole stays whole.
        let events =
            vec![approved(&stage, hold_id(2)), approved(&stage, hold_id(3)), ended(hold_id(1))];
        let later = stage.commit(events, person("bob"));
        store.commit(later).await.unwrap();
        let folded: Vec<_> = stage.session.holds.values().cloned().collect();
        assert_eq!(listed(&store).await, folded);
        for number in 1..=3 {
            let (record, since) = written(&file, hold_id(number));
            assert!(record.is_some() && since.is_none(), "{number}");
            let found = store.hold(hold_id(number)).await.unwrap();
            assert_eq!(found.as_ref(), Some(&stage.session.holds[&hold_id(number)]));
        }
    }

    #[tokio::test]
    async fn what_a_hold_was_opened_as_is_kept_in_mind_while_it_is_written_away() {
        use super::super::commit_index::CommitPosition;
        use super::super::rows::{Changes, Rows};
        use super::super::write_behind::{FlushAmount, WriteBehind};
        use domain::id::StreamId;
        let mut stage = Stage::new(session_id(1), node(1));
        let stream = StreamId::Session(session_id(1));
        let mut position = CommitPosition { first: 1, global: 1 };
        let mut put = |rows: &mut Rows, commit: ports::store::Commit| {
            let (changes, _) = Changes::of(&commit.events, commit.rows);
            rows.add(changes, stream, Some(position));
            position = CommitPosition { first: position.first + 9, global: position.global + 9 };
        };
        let write_behind = WriteBehind::default();
        write_behind.put(9, |rows| put(rows, stage.open(person("ana"))));
        write_behind.put(18, |rows| put(rows, stage.ask(1, hold_id(1), audience(&["bob"], &[]))));
        // So far behind that a part is written away; and then something happens.
        let part = write_behind.part(1, 1 << 20);
        assert!(matches!(part, FlushAmount::Some(_)));
        let decided = stage.commit(vec![approved(&stage, hold_id(1))], person("bob"));
        write_behind.put(27, |rows| put(rows, decided));
        assert!(write_behind.holds()[0].opened.is_none());
        write_behind.written(part, 1 << 20);
        let opened = write_behind.holds().remove(0).opened.unwrap();
        assert_eq!((opened.global, opened.hold.is_pending()), (10, true));
    }

    #[tokio::test]
    async fn a_damaged_row_is_an_error_and_harms_no_other() {
        let data = tempfile::tempdir().unwrap();
        let store = opened(data.path());
        let mut stage = Stage::new(session_id(1), node(1));
        store.commit(stage.open(person("ana"))).await.unwrap();
        for number in 1..=4 {
            let asked = stage.ask(number, hold_id(number), audience(&["bob"], &[]));
            store.commit(asked).await.unwrap();
            let decided = stage.commit(vec![approved(&stage, hold_id(number))], person("bob"));
            store.commit(decided).await.unwrap();
        }
        assert_eq!(listed(&store).await.len(), 4);
        let file = database(data.path());
        let damage = |number, sql: &str| {
            let sql = format!("UPDATE holds SET {sql} WHERE id = ?1");
            assert_eq!(file.execute(&sql, [columns::id(hold_id(number).0)]).unwrap(), 1);
        };
        damage(1, "since = CAST(replace(since, '\"v\":1', '\"v\":9') AS BLOB)");
        damage(2, "record = since");
        damage(3, "opened_in = 1");
        for (number, why) in [(1, "newer version"), (2, "in two ways"), (3, "not in the commit")] {
            let error = store.hold(hold_id(number)).await.unwrap_err();
            let StoreError::Unreadable(said) = error else { panic!("{error}") };
            assert!(said.contains(why), "{said}");
        }
        let good = store.hold(hold_id(4)).await.unwrap();
        assert_eq!(good.as_ref(), Some(&stage.session.holds[&hold_id(4)]));
    }

    #[tokio::test]
    async fn after_a_crash_the_rows_say_the_same() {
        let data = tempfile::tempdir().unwrap();
        let store = opened(data.path());
        let mut stage = Stage::new(session_id(1), node(1));
        store.commit(stage.open(person("ana"))).await.unwrap();
        store.commit(stage.ask(1, hold_id(1), audience(&["bob"], &[]))).await.unwrap();
        let decided = stage.commit(vec![approved(&stage, hold_id(1))], person("bob"));
        store.commit(decided).await.unwrap();
        listed(&store).await;
        let before = written(&database(data.path()), hold_id(1));
        drop(store);
        // As a program of before wrote it: whole, and the tables are behind the journal.
        let whole = crate::record::write_hold(&stage.session.holds[&hold_id(1)]);
        let file = database(data.path());
        file.execute("UPDATE holds SET since = NULL, record = ?1", [whole]).unwrap();
        let store = opened(data.path());
        let folded: Vec<_> = stage.session.holds.values().cloned().collect();
        assert_eq!(listed(&store).await, folded, "what was written whole is read");
        drop(store);
        file.execute("UPDATE meta SET value = 0 WHERE key = 'tables_at'", []).unwrap();
        let store = opened(data.path());
        assert_eq!(listed(&store).await, folded);
        assert_eq!(written(&file, hold_id(1)), before);
    }
}
