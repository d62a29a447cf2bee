//! How a hold ended: a headline of ours, `✅ approved by Ana, Bob, 14:02 UTC`, and beside it what others
//! said about it: the result, a reason, what was chosen.

use domain::answer::Answer;
use domain::grant::ClearedBy;
use domain::hold::{CancelReason, Decision, Hold, HoldOutcome, HoldState, Question};
use domain::person::{Actor, PersonId};

use super::draw::{CardContext, Tone};
use super::people::voters;
use super::shown::{first_line, line};
use super::words::{CardWords, Done};
use crate::limits::{FACT_CHARACTERS_MAX, RESULT_CHARACTERS_MAX};

/// Foreign words about how it ended, under a label of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeLine {
    pub label: &'static str,
    pub line: String,
}

pub(super) struct SettledSummary {
    pub(super) tone: Tone,
    pub(super) headline: String,
    pub(super) outcome: Option<OutcomeLine>,
}

pub(super) fn settled_summary(
    hold: &Hold,
    prompt: &CardContext,
    words: CardWords,
) -> SettledSummary {
    let moment = |at| prompt.zone.moment(at, hold.opened_at);
    let by = |decision: &Decision, done: Done, automatic: Done| match decision {
        Decision::People { vote, voters: all } => {
            let names = voters(vote, all, prompt.people, words);
            words.done_by(&done, &names, &moment(vote.at))
        }
        Decision::Automatic { at, .. } => words.done(&automatic, &moment(*at)),
    };
    let nothing_ran = |text: String| format!("{text} — {}", words.nothing_ran());
    match &hold.state {
        HoldState::Pending => {
            SettledSummary { tone: Tone::Waiting, headline: String::new(), outcome: None }
        }
        HoldState::Approved(decision) => {
            let edited = decision.vote().is_some_and(|vote| {
                matches!(vote.answer, Answer::Approve { arguments: Some(_), .. })
            });
            let automatic = match decision {
                Decision::Automatic { by: ClearedBy::Grant(_), .. } => Done::ApprovedByGrant,
                _ => Done::ApprovedByRule,
            };
            let done = if edited { Done::ApprovedEdited } else { Done::Approved };
            became(hold.outcome(), by(decision, done, automatic), words)
        }
        HoldState::Denied(decision) => SettledSummary {
            tone: Tone::No,
            headline: format!("❌ {}", nothing_ran(by(decision, Done::Denied, Done::DeniedByRule))),
            outcome: decision.vote().and_then(|vote| reason(&vote.answer, words)),
        },
        HoldState::Answered(decision) => SettledSummary {
            tone: Tone::Yes,
            headline: format!("✅ {}", by(decision, Done::Answered, Done::Answered)),
            outcome: chosen(hold, decision, words),
        },
        // Not a denial: nobody said no.
        HoldState::Expired { at } => SettledSummary {
            tone: Tone::Over,
            headline: {
                let votes = !hold.votes.is_empty();
                let why = if votes { words.expired_short() } else { words.expired() };
                format!("⌛ {why} {}", moment(*at))
            },
            outcome: None,
        },
        HoldState::Cancelled { by, reason, at } => {
            let name = |name: &str| line(name, FACT_CHARACTERS_MAX);
            let person = |id: &PersonId| name(prompt.people.name_of(id));
            let text = match by {
                Actor::Person(id) => words.done_by(&Done::Cancelled, &person(id), &moment(*at)),
                Actor::Program { name: program, .. } => {
                    words.done_by(&Done::Cancelled, &name(program), &moment(*at))
                }
                Actor::Runtime => words.done(&Done::Cancelled, &moment(*at)),
            };
            let why = match reason {
                CancelReason::Superseded => Some(words.superseded()),
                reason => reason.text(),
            };
            let why = why.map(|why| outcome_line(words.reason(), why));
            SettledSummary {
                tone: Tone::Over,
                headline: format!("⚪ {}", nothing_ran(text)),
                outcome: why,
            }
        }
    }
}

fn became(outcome: Option<&HoldOutcome>, approved: String, words: CardWords) -> SettledSummary {
    let (tone, headline, outcome) = match outcome {
        None => (Tone::Yes, format!("✅ {approved}"), None),
        Some(HoldOutcome::Executing) => {
            (Tone::Yes, format!("✅ {approved} — {}", words.running()), None)
        }
        Some(HoldOutcome::Succeeded(result)) => (
            Tone::Yes,
            format!("✅ {approved}"),
            Some(outcome_line(words.result(), &result.content)),
        ),
        Some(HoldOutcome::Failed(result)) => {
            let headline = format!("⚠ {approved} — {}", words.failed());
            (Tone::No, headline, Some(outcome_line(words.result(), &result.content)))
        }
        Some(HoldOutcome::Unknown) => {
            (Tone::Doubt, format!("❔ {approved} — {}", words.in_doubt()), None)
        }
    };
    SettledSummary { tone, headline, outcome }
}

fn outcome_line(label: &'static str, text: &str) -> OutcomeLine {
    OutcomeLine { label, line: first_line(text, RESULT_CHARACTERS_MAX) }
}

fn reason(answer: &Answer, words: CardWords) -> Option<OutcomeLine> {
    match answer {
        Answer::Deny { reason: Some(reason), .. } => Some(outcome_line(words.reason(), reason)),
        _ => None,
    }
}

/// Only what was chosen from our own list is repeated. What somebody typed may be for few eyes.
fn chosen(hold: &Hold, decision: &Decision, words: CardWords) -> Option<OutcomeLine> {
    let (vote, Question::Choose { options, .. }) = (decision.vote()?, &hold.question) else {
        return None;
    };
    let Answer::Choose(chosen) = &vote.answer else { return None };
    let label = |said: &String| {
        let option = options.iter().find(|option| option.id == *said || option.label == *said);
        option.map(|option| match option.is_link_opened() {
            true => words.link_opened(),
            false => option.label.as_str(),
        })
    };
    let labels: Vec<&str> = chosen.iter().filter_map(label).collect();
    (!labels.is_empty()).then(|| outcome_line(words.chosen(), &labels.join(", ")))
}
