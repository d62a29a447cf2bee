//! Who asks, who may answer, how many are needed, and who voted.

use domain::answer::Answer;
use domain::hold::{Hold, Vote};
use domain::person::{Actor, People, PersonId};

use super::draw::CardContext;
use super::shown::line;
use super::words::{CardWords, Language};
use crate::limits::{FACT_CHARACTERS_MAX, NAMES_SHOWN_MAX};

/// The person for whom it is done, and the program and the agent that do it.
pub(super) fn asker(hold: &Hold, people: &People, words: CardWords) -> Option<String> {
    let person = hold.requester.as_ref().map(|id| people.name_of(id).to_owned());
    let program = match &hold.opener {
        Actor::Program { name, .. } => Some(words.program(name)),
        Actor::Person(_) | Actor::Runtime => None,
    };
    let agent = hold.agent().map(|agent| words.agent_named(agent));
    let known: Vec<String> = [person, program, agent].into_iter().flatten().collect();
    (!known.is_empty()).then(|| line(&known.join(" · "), FACT_CHARACTERS_MAX))
}

/// `Ana, Bob (role dba) · 2 must agree`
pub(super) fn audience(hold: &Hold, people: &People, words: CardWords) -> String {
    let audience = &hold.audience;
    let admitted = people.iter().filter(|person| hold.admits(&person.id, people));
    let names: Vec<&str> = admitted.map(|person| person.name.as_str()).collect();
    let roles: Vec<&str> = audience.roles.iter().map(String::as_str).collect();
    let mut text = match names.as_slice() {
        [] => words.nobody().to_owned(),
        names => list(names, words),
    };
    if !roles.is_empty() {
        text.push_str(&words.with_roles(&roles));
    }
    if audience.exclude_requester {
        let excluded = hold.requester.iter().chain(&audience.login_makers);
        let names: Vec<&str> = excluded.map(|id| people.name_of(id)).collect();
        if !names.is_empty() {
            text.push_str(&words.but_not(&list(&names, words)));
        }
    }
    if audience.quorum > 1 {
        text.push_str(&words.must_agree(audience.quorum));
    }
    line(&text, 2 * FACT_CHARACTERS_MAX)
}

/// `Ana approved 14:01, Bob approved 14:02`; `None` before anybody has.
pub(super) fn votes(hold: &Hold, prompt: &CardContext, words: CardWords) -> Option<String> {
    let told = |vote: &Vote| {
        let name = prompt.people.name_of(&vote.by);
        let at = prompt.zone.time(vote.at);
        words.voted(name, verdict(&vote.answer, words), &at)
    };
    let mut votes: Vec<String> = hold.votes.iter().map(|vote| told(vote)).collect();
    let more = votes.len().saturating_sub(NAMES_SHOWN_MAX);
    votes.truncate(NAMES_SHOWN_MAX);
    if more > 0 {
        votes.push(format!("+{more}"));
    }
    let separator = comma(words);
    (!votes.is_empty()).then(|| line(&votes.join(separator), 4 * FACT_CHARACTERS_MAX))
}

/// Everybody whose vote decided, the deciding one last.
pub(super) fn voters(
    vote: &Vote,
    voters: &[PersonId],
    people: &People,
    words: CardWords,
) -> String {
    let others = voters.iter().filter(|voter| **voter != vote.by);
    let names: Vec<&str> = others.chain([&vote.by]).map(|id| people.name_of(id)).collect();
    line(&list(&names, words), 2 * FACT_CHARACTERS_MAX)
}

fn verdict(answer: &Answer, words: CardWords) -> &'static str {
    match answer {
        Answer::Approve { arguments: Some(_), .. } => words.voted_edit(),
        Answer::Approve { .. } => words.voted_yes(),
        Answer::Deny { .. } => words.voted_no(),
        _ => words.voted_answer(),
    }
}

fn list(names: &[&str], words: CardWords) -> String {
    let more = names.len().saturating_sub(NAMES_SHOWN_MAX);
    let shown = &names[..names.len() - more];
    let mut text = shown.join(comma(words));
    if more > 0 {
        text.push_str(&format!(" +{more}"));
    }
    text
}

fn comma(words: CardWords) -> &'static str {
    match words.0 {
        Language::English => ", ",
        Language::Chinese => "、",
    }
}
