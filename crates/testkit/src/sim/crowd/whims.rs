//! What somebody may want to do next, sensible or not.

use std::sync::Arc;

use domain::answer::Answer;
use domain::context::WhilePending;
use domain::digest::Digest;
use domain::hold::{Hold, HoldState};
use domain::id::SessionId;
use domain::session::RunStatus;
use ports::store::{HoldQuery, SessionQuery, SessionRow, Store as _, Viewer};

use super::answers::{deny, entitled, fitting};
use super::{Errand, Request, Through};
use crate::sim::mark::Mark;
use crate::sim::settings::{AGENTS, PEOPLE};
use crate::sim::world::{Inside, World, at_once};

/// More would only make a story longer.
const SESSIONS_MAX: usize = 3;
const MESSAGES_MAX: usize = 7;
const OUTSIDE_MAX: usize = 2;

/// Requests to make now; several of them at once, if people contradict one another. So many servers
/// are there to take them.
pub(in crate::sim) fn whim(world: &World, keyed: &[Errand], servers: usize) -> Vec<Request> {
    let sessions = sessions(world);
    let holds = holds(world);
    let mut inside = world.inside();
    let inside = &mut *inside;
    let freeze = inside.weather.freeze;
    if inside.rng.below(1_000) < 3 * freeze {
        let errand = if inside.rng.percent(35) { Errand::Freeze } else { Errand::Thaw };
        return vec![errand.into()];
    }
    let errand = match inside.rng.below(100) {
        0..=3 if !keyed.is_empty() => Some(inside.rng.pick(keyed).clone()),
        0..=24 => talk(inside, &sessions, keyed),
        25..=28 => steer(inside, &sessions),
        29..=33 => Some(ask_from_outside(inside, &holds)),
        34..=38 => meddle(world, inside, &holds),
        _ => return answer(inside, &holds, keyed, servers),
    };
    errand.map(Request::from).into_iter().collect()
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

fn talk(inside: &mut Inside, sessions: &[SessionRow], keyed: &[Errand]) -> Option<Errand> {
    let opened = keyed.iter().filter(|errand| matches!(errand, Errand::Open { .. })).count();
    if opened < SESSIONS_MAX && (sessions.is_empty() || inside.rng.percent(30)) {
        let key = format!("session {}", inside.next_serial());
        let who = *inside.rng.pick(&["ana", "ana", "eve", "bot"]);
        return Some(Errand::Open { who, agent: inside.rng.pick::<&str>(&AGENTS), key });
    }
    if sessions.is_empty() || keyed.len() >= MESSAGES_MAX {
        return None;
    }
    let session = inside.rng.pick(sessions);
    Some(say(inside, session.id, session.creator.to_string()))
}

fn say(inside: &mut Inside, session: SessionId, who: String) -> Errand {
    let text = format!("message {}", inside.next_serial());
    let while_pending = *inside.rng.pick(&[
        None,
        None,
        Some(WhilePending::Queue),
        Some(WhilePending::Supersede),
        Some(WhilePending::Refuse),
        Some(WhilePending::Deliver),
    ]);
    Errand::Say { who, session, text, while_pending }
}

fn steer(inside: &mut Inside, sessions: &[SessionRow]) -> Option<Errand> {
    if sessions.is_empty() {
        return None;
    }
    let row = inside.rng.pick(sessions);
    let (run, status) = row.run?;
    let who = row.creator.to_string();
    match status {
        RunStatus::Failed => Some(Errand::RetryRun { who, run }),
        _ => inside.rng.percent(60).then_some(Errand::CancelRun { who, run }),
    }
}

fn ask_from_outside(inside: &mut Inside, holds: &[Arc<Hold>]) -> Errand {
    let ours: Vec<&Arc<Hold>> = holds.iter().filter(|hold| hold.session().is_none()).collect();
    if ours.len() < OUTSIDE_MAX {
        let key = format!("question {}", inside.next_serial());
        return Errand::Ask { tool: inside.rng.pick::<&str>(&["wipe", "nuke", "look"]), key };
    }
    let hold = inside.rng.pick(&ours);
    if hold.outcome().is_none() && inside.rng.percent(60) {
        return Errand::Begin { hold: hold.id };
    }
    Errand::Report { hold: hold.id, succeeded: inside.rng.percent(70) }
}

/// Cancels, claims and revocations.
fn meddle(world: &World, inside: &mut Inside, holds: &[Arc<Hold>]) -> Option<Errand> {
    let grants = at_once(world.disk.grants(Viewer::Everything)).expect("the disk is there");
    if !grants.is_empty() && inside.rng.percent(60) {
        return Some(Errand::RevokeGrant { grant: inside.rng.pick(&grants).id });
    }
    if holds.is_empty() {
        return None;
    }
    // An approval can be taken back until its call starts, which is not long.
    let unused = |hold: &&Arc<Hold>| {
        matches!(hold.state, HoldState::Approved(_))
            && hold.call().is_some()
            && hold.outcome().is_none()
    };
    let unused: Vec<&Arc<Hold>> =
        holds.iter().filter(|hold| hold.session().is_some()).filter(unused).collect();
    if !unused.is_empty() && inside.rng.percent(50) {
        let hold = inside.rng.pick(&unused).id;
        return Some(Errand::CancelHold { who: "root".into(), hold });
    }
    let hold = inside.rng.pick(holds);
    if inside.rng.percent(50) {
        let who = if inside.rng.percent(50) { "root".into() } else { hold.opener.to_string() };
        return Some(Errand::CancelHold { who, hold: hold.id });
    }
    let (who, _) = *inside.rng.pick(&PEOPLE);
    Some(Errand::Claim { who, hold: hold.id, on: inside.rng.percent(70) })
}

fn answer(
    inside: &mut Inside,
    holds: &[Arc<Hold>],
    keyed: &[Errand],
    servers: usize,
) -> Vec<Request> {
    let open: Vec<&Arc<Hold>> = holds.iter().filter(|hold| hold.is_pending()).collect();
    let closed: Vec<&Arc<Hold>> = holds.iter().filter(|hold| !hold.is_pending()).collect();
    if !closed.is_empty() && inside.rng.percent(if open.is_empty() { 15 } else { 5 }) {
        return too_late(inside, &closed).into_iter().collect();
    }
    if open.is_empty() {
        return Vec::new();
    }
    let hold = *inside.rng.pick(&open);
    let admitted = entitled(hold);
    let mut who = *inside.rng.pick(&admitted);
    let mut digest = Some(hold.digest());
    let mut marks = Vec::new();
    match inside.rng.below(100) {
        0..=5 => {
            marks.push(Mark::one("answer: wrong digest"));
            digest = Some(Digest::of(b"something else"));
        }
        6..=10 if !admitted.contains(&"eve") => {
            marks.push(Mark::one("answer: not entitled"));
            who = "eve";
        }
        _ => {}
    }
    let said = fitting(inside, hold);
    let answer = |who: &'static str, answer: &Answer, marks: Vec<Mark>| {
        let errand = Errand::Answer { who, hold: hold.id, digest, answer: answer.clone() };
        Request { marks, ..Request::from(errand) }.with_edit()
    };
    let mut first = answer(who, &said, marks);
    match inside.rng.below(100) {
        0..=7 => {
            first.marks.push(Mark::both("answer: repeated"));
            vec![first.clone(), first]
        }
        8..=22 => {
            let other = otherwise(inside, hold, &said);
            if other.name() == said.name() {
                return vec![first];
            }
            let (through, kind) = match servers > 1 && inside.rng.percent(80) {
                true => (Through::Another, "answer: conflicting, through another node"),
                false => (Through::Same, "answer: conflicting, through the same node"),
            };
            let mark = Mark::both(kind);
            first.marks.push(mark.clone());
            let second = answer(inside.rng.pick::<&str>(&admitted), &other, vec![mark]);
            vec![first, Request { through, ..second }]
        }
        // Sent first and there last: they have changed their mind meanwhile, or went on talking.
        23..=32 => {
            let other = otherwise(inside, hold, &said);
            if other.name() == said.name() {
                return vec![first];
            }
            let [late, early] = Mark::overtaken("answer: overtaken by a later one");
            first.marks.push(late);
            let late_ms = 200 + inside.rng.below(2_000);
            let second = answer(who, &other, vec![early]);
            vec![Request { late_ms, ..first }, Request { through: Through::Same, ..second }]
        }
        33..=40 if keyed.len() < MESSAGES_MAX => {
            let Some(session) = hold.session() else { return vec![first] };
            let [late, early] = Mark::overtaken("answer: overtaken by a message");
            first.marks.push(late);
            let late_ms = 200 + inside.rng.below(2_000);
            let errand = say(inside, session, hold.opener.to_string());
            let second = Request { marks: vec![early], ..Request::from(errand) };
            vec![Request { late_ms, ..first }, Request { through: Through::Same, ..second }]
        }
        _ => vec![first],
    }
}

/// What somebody says who is of another opinion, as far as there is one.
fn otherwise(inside: &mut Inside, hold: &Hold, answer: &Answer) -> Answer {
    match answer {
        Answer::Deny { .. } => fitting(inside, hold),
        _ => deny(inside),
    }
}

impl Request {
    fn with_edit(mut self) -> Request {
        if let Errand::Answer { answer: Answer::Approve { arguments: Some(_), .. }, .. } =
            &self.errand
        {
            self.marks.push(Mark::one("answer: edited"));
        }
        self
    }
}

/// To a hold that is decided: the same again, or the contrary.
fn too_late(inside: &mut Inside, closed: &[&Arc<Hold>]) -> Option<Request> {
    let hold = *inside.rng.pick(closed);
    let again = hold.votes.last().filter(|_| inside.rng.percent(40));
    let named = |id: &str| PEOPLE.map(|(known, _)| known).into_iter().find(|known| *known == id);
    let (errand, mark) = match again.and_then(|vote| Some((named(vote.by.as_str())?, vote))) {
        Some((who, vote)) => {
            let (answer, digest) = (vote.answer.clone(), Some(vote.digest));
            (Errand::Answer { who, hold: hold.id, digest, answer }, "answer: repeated")
        }
        None => {
            let who = entitled(hold).first().copied()?;
            let (answer, digest) = (fitting(inside, hold), Some(hold.digest()));
            (Errand::Answer { who, hold: hold.id, digest, answer }, "answer: late")
        }
    };
    Some(Request { marks: vec![Mark::one(mark)], ..Request::from(errand) })
}
