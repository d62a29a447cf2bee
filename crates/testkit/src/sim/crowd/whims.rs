//! What somebody may want to do next, sensible or not.

use std::sync::Arc;

use domain::context::WhilePending;
use domain::digest::Digest;
use domain::hold::Hold;
use domain::session::RunStatus;
use ports::store::{HoldQuery, SessionQuery, SessionRow, Store as _, Viewer};

use super::Errand;
use super::answers::{deny, entitled, fitting};
use crate::sim::house::{AGENTS, PEOPLE};
use crate::sim::world::{Inside, World, at_once};

/// More would only make a story longer.
const SESSIONS_MAX: usize = 3;
const MESSAGES_MAX: u64 = 7;
const OUTSIDE_MAX: usize = 2;

/// Requests to make now; several of them at once, if people contradict one another.
pub(in crate::sim) fn whim(world: &World, keyed: &[Errand]) -> Vec<Errand> {
    let sessions = sessions(world);
    let holds = holds(world);
    let mut inside = world.inside();
    let inside = &mut *inside;
    let freeze = inside.weather.freeze;
    if inside.chance.below(1_000) < 3 * freeze {
        let errand = if inside.chance.percent(35) { Errand::Freeze } else { Errand::Thaw };
        return vec![errand];
    }
    match inside.chance.below(100) {
        0..=3 if !keyed.is_empty() => {
            inside.fault("message repeated under its key");
            vec![inside.chance.pick(keyed).clone()]
        }
        0..=24 => talk(inside, &sessions, keyed),
        25..=28 => steer(inside, &sessions),
        29..=33 => ask_from_outside(inside, &holds),
        34..=38 => meddle(world, inside, &holds),
        _ => answer(inside, &holds),
    }
}

pub(super) fn sessions(world: &World) -> Vec<SessionRow> {
    let query = SessionQuery {
        viewer: Viewer::Everything,
        agent: None,
        home: None,
        after: None,
        limit: 100,
    };
    at_once(world.disk.sessions(query)).expect("the disk is there")
}

pub(super) fn holds(world: &World) -> Vec<Arc<Hold>> {
    let query = HoldQuery::all(Viewer::Everything, 1_000);
    at_once(world.disk.holds(query)).expect("the disk is there")
}

fn talk(inside: &mut Inside, sessions: &[SessionRow], keyed: &[Errand]) -> Vec<Errand> {
    let opened = keyed.iter().filter(|errand| matches!(errand, Errand::Open { .. })).count();
    if opened < SESSIONS_MAX && (sessions.is_empty() || inside.chance.percent(30)) {
        let key = format!("session {}", inside.next_serial());
        let who = *inside.chance.pick(&["ana", "ana", "eve", "bot"]);
        return vec![Errand::Open { who, agent: inside.chance.pick::<&str>(&AGENTS), key }];
    }
    let said = keyed.len() as u64;
    if sessions.is_empty() || said >= MESSAGES_MAX {
        return Vec::new();
    }
    let session = inside.chance.pick(sessions);
    let text = format!("message {}", inside.next_serial());
    let while_pending = *inside.chance.pick(&[
        None,
        None,
        Some(WhilePending::Queue),
        Some(WhilePending::Supersede),
        Some(WhilePending::Refuse),
        Some(WhilePending::Deliver),
    ]);
    vec![Errand::Say { who: session.creator.to_string(), session: session.id, text, while_pending }]
}

fn steer(inside: &mut Inside, sessions: &[SessionRow]) -> Vec<Errand> {
    if sessions.is_empty() {
        return Vec::new();
    }
    let row = inside.chance.pick(sessions);
    let Some((run, status)) = row.run else { return Vec::new() };
    let who = row.creator.to_string();
    match status {
        RunStatus::Failed => vec![Errand::RetryRun { who, run }],
        _ if inside.chance.percent(60) => vec![Errand::CancelRun { who, run }],
        _ => Vec::new(),
    }
}

fn ask_from_outside(inside: &mut Inside, holds: &[Arc<Hold>]) -> Vec<Errand> {
    let ours: Vec<&Arc<Hold>> = holds.iter().filter(|hold| hold.session.is_none()).collect();
    if ours.len() < OUTSIDE_MAX {
        let key = format!("question {}", inside.next_serial());
        return vec![Errand::Ask {
            tool: inside.chance.pick::<&str>(&["wipe", "nuke", "look"]),
            key,
        }];
    }
    let hold = inside.chance.pick(&ours);
    vec![Errand::Report { hold: hold.id, succeeded: inside.chance.percent(70) }]
}

/// Cancels, claims and revocations.
fn meddle(world: &World, inside: &mut Inside, holds: &[Arc<Hold>]) -> Vec<Errand> {
    let grants = at_once(world.disk.grants(Viewer::Everything)).expect("the disk is there");
    if !grants.is_empty() && inside.chance.percent(60) {
        return vec![Errand::RevokeGrant { grant: inside.chance.pick(&grants).id }];
    }
    if holds.is_empty() {
        return Vec::new();
    }
    let hold = inside.chance.pick(holds);
    if inside.chance.percent(50) {
        let who = if inside.chance.percent(50) { "root".into() } else { hold.opener.to_string() };
        return vec![Errand::CancelHold { who, hold: hold.id }];
    }
    let (who, _) = *inside.chance.pick(&PEOPLE);
    vec![Errand::Claim { who, hold: hold.id, on: inside.chance.percent(70) }]
}

fn answer(inside: &mut Inside, holds: &[Arc<Hold>]) -> Vec<Errand> {
    let open: Vec<&Arc<Hold>> = holds.iter().filter(|hold| hold.is_pending()).collect();
    let closed: Vec<&Arc<Hold>> = holds.iter().filter(|hold| !hold.is_pending()).collect();
    if !closed.is_empty() && inside.chance.percent(if open.is_empty() { 15 } else { 5 }) {
        return too_late(inside, &closed);
    }
    if open.is_empty() {
        return Vec::new();
    }
    let hold = *inside.chance.pick(&open);
    let mut who = *inside.chance.pick(&entitled(hold));
    let mut digest = Some(hold.digest());
    let answer = fitting(inside, hold);
    match inside.chance.below(100) {
        0..=5 => {
            inside.fault("answer: wrong digest");
            digest = Some(Digest::of(b"something else"));
        }
        6..=10 => {
            inside.fault("answer: not entitled");
            who = "eve";
        }
        _ => {}
    }
    let first = Errand::Answer { who, hold: hold.id, digest, answer: answer.clone() };
    match inside.chance.below(100) {
        0..=7 => {
            inside.fault("answer: repeated");
            vec![first.clone(), first]
        }
        8..=22 => {
            inside.fault("answer: conflicting, through another node");
            let who = *inside.chance.pick(&entitled(hold));
            let other = match answer {
                domain::answer::Answer::Deny { .. } => fitting(inside, hold),
                _ => deny(inside),
            };
            vec![first, Errand::Answer { who, hold: hold.id, digest, answer: other }]
        }
        _ => vec![first],
    }
}

/// To a hold that is decided: the same again, or the contrary.
fn too_late(inside: &mut Inside, closed: &[&Arc<Hold>]) -> Vec<Errand> {
    let hold = *inside.chance.pick(closed);
    let again = hold.votes.last().filter(|_| inside.chance.percent(40));
    let named = |id: &str| PEOPLE.map(|(known, _)| known).into_iter().find(|known| *known == id);
    if let Some((who, vote)) = again.and_then(|vote| Some((named(vote.by.as_str())?, vote))) {
        inside.fault("answer: repeated");
        let (answer, digest) = (vote.answer.clone(), Some(vote.digest));
        return vec![Errand::Answer { who, hold: hold.id, digest, answer }];
    }
    let Some(who) = entitled(hold).first().copied() else { return Vec::new() };
    inside.fault("answer: late");
    let (answer, digest) = (fitting(inside, hold), Some(hold.digest()));
    vec![Errand::Answer { who, hold: hold.id, digest, answer }]
}
