//! A commit made ready by its caller, and what many of them together change in the tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::event::{Event, SessionEvent};
use domain::grant::Grant;
use domain::hold::Hold;
use domain::id::{GrantId, HoldId, RunId, SessionId};
use domain::person::PersonId;
use ports::store::{Commit, HoldFacts, KeptReply, OutboxItem, SessionRow, StreamRows, WriteBefore};

use super::cells;
use super::sql::TypedSql;
use crate::record::{StoredActor, key_of, write_grant, write_hold, write_row};

/// A commit in the form of its rows: nothing is left to do but number and write it.
pub(super) struct PreparedCommit {
    pub(super) stream: Vec<u8>,
    pub(super) expected: u64,
    /// Named by commits that let calls start.
    pub(super) relies_on: Option<u64>,
    pub(super) count: u64,
    pub(super) at_ms: i64,
    pub(super) bytes: Vec<u8>,
    rows: StreamRows,
    runs: Vec<RunId>,
    pub(super) reply: Option<KeptReply>,
    pub(super) outbox: Vec<OutboxItem>,
    pub(super) write_before: Option<WriteBefore>,
}

impl PreparedCommit {
    pub(super) fn new(commit: Commit) -> PreparedCommit {
        let bytes = write_row(&commit.entry());
        PreparedCommit {
            stream: cells::stream(commit.stream()),
            expected: commit.expected,
            relies_on: commit.global_version,
            count: commit.events.len() as u64,
            at_ms: commit.at.as_ms(),
            bytes,
            runs: commit.events.iter().filter_map(run_of).collect(),
            rows: commit.rows,
            reply: commit.reply,
            outbox: commit.outbox,
            write_before: commit.write_before,
        }
    }

    /// Once it is, it stays so: the clock does not go backwards.
    pub(super) fn is_too_late(&self) -> bool {
        self.write_before.as_ref().is_some_and(WriteBefore::has_passed)
    }

    pub(super) fn reply_key(&self) -> Option<ReplyKey> {
        let reply = self.reply.as_ref()?;
        Some((cells::name(&reply.caller), cells::name(&reply.key)))
    }
}

pub(super) type ReplyKey = (Vec<u8>, Vec<u8>);

/// The run that an event is the first to tell of.
fn run_of(event: &Event) -> Option<RunId> {
    match event {
        Event::Session(
            SessionEvent::RunStarted { run } | SessionEvent::MessageQueued { run, .. },
        ) => Some(*run),
        _ => None,
    }
}

/// What commits change in the tables, each row as the last of them leaves it.
#[derive(Default)]
pub(super) struct TableChanges<'a> {
    sessions: BTreeMap<SessionId, &'a Arc<SessionRow>>,
    runs: BTreeMap<RunId, SessionId>,
    holds: BTreeMap<HoldId, (&'a Arc<Hold>, Option<String>)>,
    grants: BTreeMap<GrantId, &'a Arc<Grant>>,
    replies: Vec<&'a KeptReply>,
}

impl<'a> TableChanges<'a> {
    pub(super) fn add(&mut self, commit: &'a PreparedCommit) {
        match &commit.rows {
            StreamRows::Session { row, holds, grants } => {
                self.runs.extend(commit.runs.iter().map(|run| (*run, row.id)));
                self.sessions.insert(row.id, row);
                let creator = key_of(&row.creator);
                self.holds.extend(holds.iter().map(|hold| (hold.id, (hold, creator.clone()))));
                self.grants.extend(grants.iter().map(|grant| (grant.id, grant)));
            }
            StreamRows::ExternalHold(hold) => {
                self.holds.insert(hold.id, (hold, None));
            }
            StreamRows::Global => {}
        }
        self.replies.extend(&commit.reply);
    }

    pub(super) fn statements(&self) -> Vec<TypedSql> {
        let mut statements = Vec::new();
        if !self.sessions.is_empty() {
            statements.push(self.put_sessions());
        }
        if !self.runs.is_empty() {
            statements.push(self.put_runs());
        }
        if !self.holds.is_empty() {
            statements.push(self.put_holds());
            statements.extend(self.put_names());
        }
        if !self.grants.is_empty() {
            statements.push(self.put_grants());
        }
        if !self.replies.is_empty() {
            statements.push(self.keep_replies());
        }
        statements
    }

    fn sessions<T>(&self, cell: impl Fn(&SessionRow) -> T) -> Vec<T> {
        self.sessions.values().map(|row| cell(row)).collect()
    }

    fn put_sessions(&self) -> TypedSql {
        let record = |row: &SessionRow| {
            // Text and lists of it: nothing here can fail to become JSON.
            serde_json::to_vec(&StoredActor::from(&row.creator)).unwrap_or_default()
        };
        TypedSql::new(
            "INSERT INTO holdpoint.sessions (id, agent, creator, creator_record, title, run, \
                 run_status, opened_at, changed_at, owes, owner, door, place) \
             SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
             ON CONFLICT (id) DO UPDATE SET title = excluded.title, run = excluded.run, \
                 run_status = excluded.run_status, changed_at = excluded.changed_at, \
                 owes = excluded.owes, owner = excluded.owner",
        )
        .with(self.sessions(|row| cells::id(row.id.0)))
        .with(self.sessions(|row| cells::name(&row.agent)))
        .with(self.sessions(|row| key_of(&row.creator).map(String::into_bytes)))
        .with(self.sessions(record))
        .with(self.sessions(|row| row.title.as_deref().map(cells::name)))
        .with(self.sessions(|row| row.run.map(|(run, _)| cells::id(run.0))))
        .with(self.sessions(|row| row.run.map(|(_, status)| cells::status_code(status))))
        .with(self.sessions(|row| row.opened_at.as_ms()))
        .with(self.sessions(|row| row.changed_at.as_ms()))
        .with(self.sessions(|row| row.owes))
        .with(self.sessions(|row| cells::id(row.owner.0)))
        .with(self.sessions(|row| row.home.as_ref().map(|home| cells::name(&home.door))))
        .with(self.sessions(|row| row.home.as_ref().map(|home| cells::name(&home.place))))
    }

    fn put_runs(&self) -> TypedSql {
        TypedSql::new(
            "INSERT INTO holdpoint.runs (id, session) SELECT * FROM unnest($1, $2) \
             ON CONFLICT (id) DO NOTHING",
        )
        .with(Vec::from_iter(self.runs.keys().map(|run| cells::id(run.0))))
        .with(Vec::from_iter(self.runs.values().map(|session| cells::id(session.0))))
    }

    fn holds<T>(&self, cell: impl Fn(&Hold, &HoldFacts, Option<&str>) -> T) -> Vec<T> {
        let cell = |(hold, creator): &(&'a Arc<Hold>, Option<String>)| {
            cell(hold, &HoldFacts::of(hold), creator.as_deref())
        };
        self.holds.values().map(cell).collect()
    }

    fn put_holds(&self) -> TypedSql {
        let opener = |hold: &Hold| key_of(&hold.opener);
        let creator = |hold: &Hold, creator: Option<&str>| {
            let other = creator.filter(|creator| Some(*creator) != opener(hold).as_deref());
            other.map(cells::name)
        };
        let decided_by = |facts: &HoldFacts| {
            let names: Vec<&str> = facts.decided_by.iter().map(PersonId::as_str).collect();
            (!names.is_empty()).then(|| serde_json::to_vec(&names).unwrap_or_default())
        };
        TypedSql::new(
            "INSERT INTO holdpoint.holds (id, state, kind, risk, session, expires_at, agent, \
                 opener, creator, opened_at, tool, source, likeness, requester, answered_at, \
                 decided_at, decided_by, search, record) \
             SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, \
                 $15, $16, $17, $18, $19) \
             ON CONFLICT (id) DO UPDATE SET state = excluded.state, risk = excluded.risk, \
                 expires_at = excluded.expires_at, opened_at = excluded.opened_at, \
                 tool = excluded.tool, source = excluded.source, likeness = excluded.likeness, \
                 requester = excluded.requester, answered_at = excluded.answered_at, \
                 decided_at = excluded.decided_at, decided_by = excluded.decided_by, \
                 search = excluded.search, record = excluded.record",
        )
        .with(self.holds(|hold, _, _| cells::id(hold.id.0)))
        .with(self.holds(|hold, _, _| cells::state_code(hold.state.state_name())))
        .with(self.holds(|hold, _, _| cells::kind_code(hold.question.kind())))
        .with(self.holds(|hold, _, _| cells::risk_code(hold.risk)))
        .with(self.holds(|hold, _, _| hold.session().map(|session| cells::id(session.0))))
        .with(self.holds(|hold, _, _| hold.expires_at.map(|at| at.as_ms())))
        .with(self.holds(|hold, _, _| hold.agent().map(cells::name)))
        .with(self.holds(|hold, _, _| opener(hold).map(String::into_bytes)))
        .with(self.holds(|hold, _, by| creator(hold, by)))
        .with(self.holds(|_, facts, _| facts.opened_at.as_ms()))
        .with(self.holds(|_, facts, _| facts.tool.as_deref().map(cells::name)))
        .with(self.holds(|_, facts, _| facts.source.as_deref().map(cells::name)))
        .with(self.holds(|_, facts, _| facts.likeness))
        .with(self.holds(|hold, _, _| hold.requester.as_ref().map(|who| cells::name(who.as_str()))))
        .with(self.holds(|_, facts, _| facts.answered_at.map(|at| at.as_ms())))
        .with(self.holds(|_, facts, _| facts.decided_at.map(|at| at.as_ms())))
        .with(self.holds(|_, facts, _| decided_by(facts)))
        .with(self.holds(|hold, _, _| crate::search_text(hold).into_bytes()))
        .with(self.holds(|hold, _, _| write_hold(hold)))
    }

    fn put_names(&self) -> [TypedSql; 2] {
        let ids = Vec::from_iter(self.holds.keys().map(|id| cells::id(id.0)));
        let (mut holds, mut names, mut pending) = (Vec::new(), Vec::new(), Vec::new());
        for (hold, _) in self.holds.values() {
            for name in names_of(hold) {
                holds.push(cells::id(hold.id.0));
                names.push(name);
                pending.push(hold.is_pending());
            }
        }
        [
            TypedSql::new("DELETE FROM holdpoint.hold_names WHERE hold = ANY($1)").with(ids),
            TypedSql::new(
                "INSERT INTO holdpoint.hold_names (hold, name, pending) \
                 SELECT * FROM unnest($1, $2, $3) ON CONFLICT DO NOTHING",
            )
            .with(holds)
            .with(names)
            .with(pending),
        ]
    }

    fn put_grants(&self) -> TypedSql {
        let grants = || self.grants.values();
        TypedSql::new(
            "INSERT INTO holdpoint.grants (id, session, giver, record) \
             SELECT * FROM unnest($1, $2, $3, $4) \
             ON CONFLICT (id) DO UPDATE SET record = excluded.record",
        )
        .with(Vec::from_iter(grants().map(|grant| cells::id(grant.id.0))))
        .with(Vec::from_iter(grants().map(|grant| cells::id(grant.session.0))))
        .with(Vec::from_iter(grants().map(|grant| cells::name(grant.by.as_str()))))
        .with(Vec::from_iter(grants().map(|grant| write_grant(grant))))
    }

    fn keep_replies(&self) -> TypedSql {
        let replies = || self.replies.iter();
        TypedSql::new(
            "INSERT INTO holdpoint.replies (caller, key, request, status, at, body) \
             SELECT * FROM unnest($1, $2, $3, $4, $5, $6)",
        )
        .with(Vec::from_iter(replies().map(|reply| cells::name(&reply.caller))))
        .with(Vec::from_iter(replies().map(|reply| cells::name(&reply.key))))
        .with(Vec::from_iter(replies().map(|reply| reply.request.as_bytes().to_vec())))
        .with(Vec::from_iter(replies().map(|reply| i64::from(reply.status))))
        .with(Vec::from_iter(replies().map(|reply| reply.at.as_ms())))
        .with(Vec::from_iter(replies().map(|reply| reply.body.clone())))
    }
}

/// Whom a hold names, and as what.
fn names_of(hold: &Hold) -> Vec<Vec<u8>> {
    let people = hold.audience.people.iter().map(|person| word('p', person.as_str()));
    let roles = hold.audience.roles.iter().map(|role| word('r', role));
    let mut names: Vec<_> = people.chain(roles).collect();
    if hold.audience.exclude_requester {
        let left_out = hold.requester.iter().chain(&hold.audience.login_makers);
        names.extend(left_out.map(|person| word('x', person.as_str())));
    }
    // After the decision nobody may answer, and who did is of no concern here.
    if hold.is_pending() {
        names.extend(hold.votes.iter().map(|vote| word('v', vote.by.as_str())));
    }
    let deciders = ports::store::deciders(&hold.state);
    names.extend(deciders.iter().map(|person| word('d', person.as_str())));
    names
}

/// As it stands in `hold_names`.
pub(super) fn word(kind: char, name: &str) -> Vec<u8> {
    format!("{kind}:{name}").into_bytes()
}
