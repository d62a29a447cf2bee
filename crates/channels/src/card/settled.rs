//! How a hold ended, in one line: `✅ approved by Ana, 14:02 UTC — 214 rows deleted`.

use domain::answer::Answer;
use domain::grant::ClearedBy;
use domain::hold::{Decision, Hold, HoldOutcome, HoldState, Vote};
use domain::person::Actor;

use super::draw::{Prompt, Tone};
use super::shown::{first_line, line};
use super::words::{Done, Words};
use crate::limits::{FACT_CHARACTERS_MAX, RESULT_CHARACTERS_MAX};

pub(super) fn told(hold: &Hold, prompt: &Prompt, words: Words) -> (Tone, String) {
    let moment = |at| prompt.zone.moment(at, hold.opened_at);
    let by = |vote: &Vote, done: Done| {
        let name = line(prompt.people.name_of(&vote.by), FACT_CHARACTERS_MAX);
        words.done_by(&done, &name, &moment(vote.at))
    };
    match &hold.state {
        HoldState::Pending => (Tone::Waiting, String::new()),
        HoldState::Approved(decision) => {
            let text = match decision {
                Decision::People { vote, .. } => {
                    let edited = matches!(vote.answer, Answer::Approve { arguments: Some(_), .. });
                    by(vote, if edited { Done::ApprovedEdited } else { Done::Approved })
                }
                Decision::Automatic { by: ClearedBy::Grant(_), at, .. } => {
                    words.done(&Done::ApprovedByGrant, &moment(*at))
                }
                Decision::Automatic { at, .. } => words.done(&Done::ApprovedByRule, &moment(*at)),
            };
            let (tone, what) = became(hold.outcome.as_ref(), words);
            let sign = if tone == Tone::Doubt { "❔" } else { "✅" };
            (tone, format!("{sign} {text}{what}"))
        }
        HoldState::Denied(decision) => {
            let (text, reason) = match decision {
                Decision::People { vote, .. } => (by(vote, Done::Denied), reason(&vote.answer)),
                Decision::Automatic { at, .. } => {
                    (words.done(&Done::DeniedByRule, &moment(*at)), None)
                }
            };
            (
                Tone::No,
                format!("❌ {text} — {}", reason.unwrap_or_else(|| words.nothing_ran().into())),
            )
        }
        HoldState::Answered(decision) => {
            let text = match decision {
                Decision::People { vote, .. } => by(vote, Done::Answered),
                Decision::Automatic { at, .. } => words.done(&Done::Answered, &moment(*at)),
            };
            (Tone::Yes, format!("✅ {text}{}", chosen(hold, decision)))
        }
        // Not a denial: nobody said no.
        HoldState::Expired { at } => {
            (Tone::Over, format!("⌛ {} {}", words.expired(), moment(*at)))
        }
        HoldState::Cancelled { by, reason, at } => {
            let text = match by {
                Actor::Person(id) => {
                    let name = line(prompt.people.name_of(id), FACT_CHARACTERS_MAX);
                    words.done_by(&Done::Cancelled, &name, &moment(*at))
                }
                Actor::Program { name, .. } => {
                    words.done_by(&Done::Cancelled, &line(name, FACT_CHARACTERS_MAX), &moment(*at))
                }
                Actor::Runtime => words.done(&Done::Cancelled, &moment(*at)),
            };
            let reason = reason.as_deref().map(|why| first_line(why, RESULT_CHARACTERS_MAX));
            (
                Tone::Over,
                format!("⚪ {text} — {}", reason.unwrap_or_else(|| words.nothing_ran().into())),
            )
        }
    }
}

fn became(outcome: Option<&HoldOutcome>, words: Words) -> (Tone, String) {
    match outcome {
        None => (Tone::Yes, String::new()),
        Some(HoldOutcome::Executing) => (Tone::Yes, format!(" — {}", words.running())),
        Some(HoldOutcome::Succeeded(result)) => {
            (Tone::Yes, format!(" — {}", first_line(&result.content, RESULT_CHARACTERS_MAX)))
        }
        Some(HoldOutcome::Failed(result)) => {
            (Tone::No, format!(" — ⚠ {}", first_line(&result.content, RESULT_CHARACTERS_MAX)))
        }
        Some(HoldOutcome::Unknown) => (Tone::Doubt, format!(" — {}", words.in_doubt())),
    }
}

fn reason(answer: &Answer) -> Option<String> {
    match answer {
        Answer::Deny { reason: Some(reason), .. } => {
            Some(first_line(reason, RESULT_CHARACTERS_MAX))
        }
        _ => None,
    }
}

/// Only what was chosen from our own list is repeated. What somebody typed may be for few eyes.
fn chosen(hold: &Hold, decision: &Decision) -> String {
    let (Some(vote), domain::hold::Question::Choose { options, .. }) =
        (decision.vote(), &hold.question)
    else {
        return String::new();
    };
    let Answer::Choose(chosen) = &vote.answer else { return String::new() };
    let label = |said: &String| {
        let option = options.iter().find(|option| option.id == *said || option.label == *said);
        option.map(|option| option.label.as_str())
    };
    let labels: Vec<&str> = chosen.iter().filter_map(label).collect();
    match labels.as_slice() {
        [] => String::new(),
        labels => format!(" — {}", first_line(&labels.join(", "), RESULT_CHARACTERS_MAX)),
    }
}
