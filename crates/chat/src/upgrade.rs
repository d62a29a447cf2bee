//! What an earlier version of the program had to send. It kept its queue in notes: each record said when it was
//! due, and lanes were shelves whose keys sorted as the messages were to leave. The records say all that an
//! item of the outbox says, so they are read once and put there.

use domain::time::Timestamp;
use engine::Error;
use ports::store::{Note, OutboxChange, OutboxItem, OutboxKind, OutboxWrite, PutNote};

use crate::item::{Outgoing, make};
use crate::limits::{PAGE, SAID_MS};
use crate::notes::{self, NoteShelves};
use crate::prompt_record::PromptRecord;
use crate::saying::TextRecord;
use crate::{ChannelRuntime, ChatService};

impl ChatService {
    /// Before anything is planned or sent: words whose mark is not known yet would be said twice. `false` if
    /// it is time to stop.
    pub(crate) async fn upgraded(&self, runtime: &ChannelRuntime) -> bool {
        while let Err(error) = runtime.upgraded.get_or_try_init(|| self.upgrade(runtime)).await {
            tracing::warn!(channel = %runtime.name, %error, "the chats wait for the store");
            if self.sleep_or_stop().await {
                return false;
            }
        }
        true
    }

    async fn upgrade(&self, runtime: &ChannelRuntime) -> Result<(), Error> {
        let (records, shelves) = (&self.0.records, &runtime.shelves);
        let whenever = Timestamp::from_ms(i64::MAX);
        // Whatever was dealt with is not found any more. Another node may be first; then it is read again.
        loop {
            let due = records.due_notes(&shelves.out, whenever, PAGE).await?;
            for note in &due {
                let now = self.0.clock.now();
                records.write_outbox(moved(shelves, note, now), now).await?;
            }
            if due.is_empty() {
                break;
            }
        }
        loop {
            let said = records.notes(&shelves.out, "s/", None, PAGE).await?;
            for note in &said {
                let now = self.0.clock.now();
                records.write_outbox(marked(shelves, note, now).into(), now).await?;
            }
            if said.is_empty() {
                break;
            }
        }
        for kind in ["news", "paints"] {
            let lanes = format!("{}.{kind}", shelves.queue);
            while self.remove_lanes(&lanes).await? {}
        }
        Ok(())
    }

    /// Whether there may be more.
    async fn remove_lanes(&self, lanes: &str) -> Result<bool, Error> {
        let found = self.0.records.notes(lanes, "", None, PAGE).await?;
        for lane in &found {
            let shelf = format!("{lanes}.{}", lane.key);
            loop {
                let entries = self.0.records.notes(&shelf, "", None, PAGE).await?;
                let gone = entries.iter().map(|entry| notes::remove(&shelf, &entry.key));
                self.0.records.put_notes(gone.collect()).await?;
                if entries.len() < PAGE {
                    break;
                }
            }
            self.0.records.put_notes(vec![notes::remove(lanes, &lane.key)]).await?;
        }
        Ok(!found.is_empty())
    }
}

/// A record that was to be sent, as a record and its item.
fn moved(shelves: &NoteShelves, note: &Note, now: Timestamp) -> OutboxWrite {
    let is_text = note.key.starts_with("s/");
    let item = match is_text {
        true => item_of_note::<TextRecord>(shelves, note, OutboxKind::Text),
        false => item_of_note::<PromptRecord>(shelves, note, OutboxKind::Repaint),
    };
    let notes = match is_text {
        true => marked(shelves, note, now),
        false => vec![PutNote {
            shelf: note.shelf.clone(),
            key: note.key.clone(),
            value: Some(note.value.clone()),
            expected: Some(note.version),
            due_at: None,
            forget_at: note.forget_at,
        }],
    };
    let change = OutboxChange { expected: None, ..OutboxChange::add(item) };
    OutboxWrite { changes: vec![change], notes, ..OutboxWrite::default() }
}

/// What cannot be read by this version waits for one that can, and nothing waits for it.
fn item_of_note<T: Outgoing>(shelves: &NoteShelves, note: &Note, kind: OutboxKind) -> OutboxItem {
    let due_at = note.due_at.unwrap_or(Timestamp::from_ms(0));
    match notes::parse_value::<T>(&note.shelf, &note.key, &note.value) {
        Some(record) => make(shelves, &note.key, &record, due_at),
        None => OutboxItem {
            payload: if T::IS_NOTE { Vec::new() } else { note.value.clone() },
            ..OutboxItem::new(&shelves.queue, &note.key, kind, due_at)
        },
    }
}

/// Words leave a mark, so that they are not said again.
fn marked(shelves: &NoteShelves, note: &Note, now: Timestamp) -> Vec<PutNote> {
    let gone = PutNote { expected: Some(note.version), ..notes::remove(&note.shelf, &note.key) };
    let mark = notes::put(&shelves.said, &note.key, &());
    let forget_at = note.forget_at.unwrap_or_else(|| now.plus_ms(SAID_MS));
    vec![gone, PutNote { forget_at: Some(forget_at), ..mark }]
}
