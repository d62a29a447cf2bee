//! What people say to holds.

use domain::answer::{Answer, ApprovalScope, GrantTerms, Settlement};
use domain::hold::{Hold, Question};
use domain::json::Arguments;
use domain::person::PersonId;
use serde_json::json;

use super::Errand;
use crate::sim::settings::{PEOPLE, people};
use crate::sim::world::Inside;

/// Those who may answer, by their own account.
pub(super) fn entitled(hold: &Hold) -> Vec<&'static str> {
    let people = people();
    let may = |who: &&str| hold.admits(&PersonId::new(who), &people);
    PEOPLE.map(|(id, _)| id).into_iter().filter(|who| may(who)).collect()
}

/// An answer that fits the question, whatever it is.
pub(super) fn fitting(inside: &mut Inside, hold: &Hold) -> Answer {
    match &hold.question {
        Question::Approve if hold.asks_to_go_on() => match inside.rng.percent(30) {
            true => deny(inside),
            false => Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None },
        },
        Question::Approve => about_a_call(inside, hold),
        Question::Choose { options, .. } => {
            if inside.rng.percent(10) {
                return deny(inside);
            }
            Answer::Choose(vec![inside.rng.pick(options).id.clone()])
        }
        Question::Fill { schema: None } => Answer::Fill(json!({"text": "as you like"})),
        Question::Fill { schema: Some(_) } => Answer::Fill(json!({"n": inside.rng.below(5)})),
        Question::Perform { .. } => {
            let content = *inside.rng.pick(&["ok", "ok", "cancelled"]);
            Answer::Perform { content: content.into(), is_error: inside.rng.percent(10) }
        }
        Question::Settle => truth(inside, hold),
    }
}

fn about_a_call(inside: &mut Inside, hold: &Hold) -> Answer {
    let may_grant = hold.audience.quorum == 1 && hold.session().is_some();
    match inside.rng.below(100) {
        0..=17 => deny(inside),
        18..=23 => Answer::Respond { content: "use the other one".into() },
        24..=33 => {
            let n = 5_000 + inside.next_serial();
            let arguments = Arguments::from_value(json!({ "n": n })).expect("sound arguments");
            Answer::Approve { scope: ApprovalScope::Once, arguments: Some(arguments), note: None }
        }
        34..=48 if may_grant => {
            let terms =
                GrantTerms { expires_in_ms: Some(120_000), uses: Some(2), conditions: None };
            Answer::Approve { scope: ApprovalScope::Session(terms), arguments: None, note: None }
        }
        _ => Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None },
    }
}

pub(super) fn deny(inside: &mut Inside) -> Answer {
    Answer::Deny { reason: Some("no".into()), stop: inside.rng.percent(15) }
}

/// Whoever settles has looked at the world itself.
fn truth(inside: &mut Inside, hold: &Hold) -> Answer {
    let key = hold.call().map(|call| call.idempotency_key()).unwrap_or_default();
    let how = match inside.effects_of(&key) {
        0 if inside.rng.percent(50) => Settlement::Retry,
        0 => Settlement::Failed,
        _ => Settlement::Succeeded,
    };
    Answer::Settle { how, content: None }
}

/// The next right answer that would bring this hold further.
pub(in crate::sim) fn answered_honestly(inside: &mut Inside, hold: &Hold) -> Option<Errand> {
    let voted = |who: &&str| hold.votes.iter().any(|vote| vote.by.as_str() == *who);
    let who = entitled(hold).into_iter().find(|who| !voted(who))?;
    // Where several must agree, later ones say what the first one said.
    let answer = match hold.votes.first() {
        Some(first) => match &first.answer {
            Answer::Approve { scope, note, .. } => {
                Answer::Approve { scope: scope.clone(), arguments: None, note: note.clone() }
            }
            other => other.clone(),
        },
        None => match (fitting(inside, hold), &hold.question) {
            // An edit would ask again and again.
            (Answer::Approve { .. }, _) => {
                Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None }
            }
            (answer, _) => answer,
        },
    };
    Some(Errand::Answer { who, hold: hold.id, digest: Some(hold.digest()), answer })
}
