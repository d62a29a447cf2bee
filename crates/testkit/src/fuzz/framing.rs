//! Digests: two different things never have the same one, whatever stands in their fields.

use domain::call::{Call, CallParts, ExecutionContext};
use domain::digest::{Digest, Framed};
use domain::id::{CallId, SessionId};
use domain::json::Arguments;
use domain::sql_facts::SqlFacts;
use domain::tool::{Confirm, Effects, Place};

use super::Pieces;

/// What makes one field of a call another.
type Change = fn(&mut CallParts, &str);

pub(super) fn run(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let split = usize::from(pieces.byte() % 8);
    let mut lists: [Vec<(String, Vec<u8>)>; 2] = Default::default();
    for at in 0..16 {
        if pieces.is_empty() {
            break;
        }
        let field = (pieces.text(), pieces.piece().to_vec());
        lists[usize::from(at >= split)].push(field);
    }
    let [one, other] = &lists;
    assert_eq!(one == other, of(one) == of(other), "as different as what they are of");
    every_field_counts(one, other);
}

fn of(fields: &[(String, Vec<u8>)]) -> Digest {
    fields.iter().fold(Framed::new("fuzz"), |f, (name, value)| f.field(name, value)).finish()
}

/// Makes another call of a call, with some text.
/// A call whose parts come from the input, and everything that could be changed about it.
fn every_field_counts(one: &[(String, Vec<u8>)], other: &[(String, Vec<u8>)]) {
    let text = |at: usize| one.get(at).map(|field| field.0.clone()).unwrap_or_default();
    let more = other.first().map(|field| field.0.clone()).unwrap_or_else(|| "x".into());
    let more = if more.is_empty() { "x".to_owned() } else { more };
    let parts = CallParts {
        id: CallId::new(1, 1),
        tool_use_id: text(0),
        agent: text(1).into(),
        session: None,
        tool: text(2).into(),
        effects: Effects::AtMostOnce,
        place: Place::Server,
        confirm: Confirm::Held,
        definition: Digest::of(text(3).as_bytes()),
        arguments: Arguments::parse(b"{}").expect("sound"),
        secrets: Vec::new(),
        context: ExecutionContext {
            detail: text(4).into(),
            working_directory: Some(text(5)),
            sql: None,
        },
        policy: Digest::of(text(6).as_bytes()),
        revision: 1,
    };
    let digest = Call::fixed(parts.clone()).digest();
    let changes: [(&str, Change); 11] = [
        ("tool_use_id", |parts, more| parts.tool_use_id.push_str(more)),
        ("agent", |parts, more| parts.agent = format!("{}{more}", parts.agent).into()),
        ("session", |parts, _| parts.session = Some(SessionId::new(1, 1))),
        ("tool", |parts, more| parts.tool = format!("{}{more}", parts.tool).into()),
        ("definition", |parts, more| {
            parts.definition = Digest::of(format!("{} {more}", parts.definition).as_bytes());
        }),
        ("arguments", |parts, _| {
            parts.arguments = Arguments::parse(b"{ }").expect("sound");
        }),
        ("context", |parts, more| {
            parts.context.detail = format!("{}{more}", parts.context.detail).into();
        }),
        ("working_directory", |parts, more| {
            parts.context.working_directory.get_or_insert_default().push_str(more);
        }),
        ("sql", |parts, _| parts.context.sql = Some(SqlFacts::default())),
        ("policy", |parts, more| {
            parts.policy = Digest::of(format!("{} {more}", parts.policy).as_bytes());
        }),
        ("revision", |parts, _| parts.revision += 1),
    ];
    for (name, change) in changes {
        let mut changed = parts.clone();
        change(&mut changed, &more);
        assert_ne!(Call::fixed(changed).digest(), digest, "{name} is part of what is approved");
    }
    // Nor does it help to move text from one field to its neighbour.
    if !parts.agent.is_empty() {
        let mut moved = parts.clone();
        moved.tool_use_id.push_str(&parts.agent);
        moved.agent = "".into();
        assert_ne!(Call::fixed(moved).digest(), digest);
    }
}
