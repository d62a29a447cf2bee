//! Secrets on their way: taken out of what people answer, put into what tools get, and taken out of
//! what tools say. In between there are only references.

use std::sync::Arc;

use domain::answer::Answer;
use domain::call::Call;
use domain::hold::{Hold, Preview, Vote};
use domain::id::{SecretId, StreamId};
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::person::PersonId;
use domain::refusal::Refusal;
use domain::schema::visit_secrets;
use domain::scrub::Scrubber;
use domain::secret::{Sealed, SecretValue, reference, references, sealed};
use domain::session::Session;
use domain::warning::{SecretGiven, Warning, WarningKind};
use ports::durable::ClearedCall;
use ports::tool_host::Prepared;

use crate::secrets::api_keys::handed_over;
use crate::{Engine, Error};

/// An answer without its secrets, and those that have to be kept for it.
pub(crate) struct SealedAnswer {
    pub(crate) answer: Answer,
    pub(crate) new: Vec<Sealed>,
}

/// Where the secrets of a hold's answers may be used.
pub(crate) fn stream_of_secrets(hold: &Hold) -> StreamId {
    hold.stream()
}

impl Engine {
    /// Takes the secrets out of an answer. Whether they are what the form asks for is looked at now:
    /// from here on nobody sees them any more.
    pub(crate) async fn take_secrets(
        &self,
        hold: &Hold,
        by: &PersonId,
        answer: Answer,
    ) -> Result<SealedAnswer, Error> {
        let handed_over = handed_over(hold, &answer)?;
        let (value, pointers) = match &answer {
            Answer::Perform { .. } => match handed_over {
                Some(handed_over) => handed_over,
                None => return Ok(SealedAnswer { answer, new: Vec::new() }),
            },
            Answer::Fill(form) => (form.clone(), hold.question.secrets()),
            Answer::Approve { arguments: Some(arguments), .. } => {
                let secrets = hold.call().map(|call| call.secrets.clone());
                (arguments.value().clone(), secrets.unwrap_or_default())
            }
            _ => return Ok(SealedAnswer { answer, new: Vec::new() }),
        };
        if pointers.is_empty() && !matches!(answer, Answer::Perform { .. }) {
            return Ok(SealedAnswer { answer, new: Vec::new() });
        }
        // What cannot count is refused later, in its own words; nothing of it is kept.
        let could_count = hold.is_pending() && hold.admits(by, &self.0.people);
        if let (Answer::Fill(_), true) = (&answer, could_count) {
            hold.question.fits(&answer).map_err(|refused| Refusal::AnswerInvalid {
                field: refused.field,
                why: refused.why,
            })?;
        }
        let scope = stream_of_secrets(hold);
        let known = self.0.store.sealed(scope).await?;
        let voted = referred_by_votes(hold, &pointers);
        let mut new: Vec<Sealed> = Vec::new();
        let told = sealed(&value, &pointers, &mut |place, value| {
            // The same answer again is the same answer, and of several who must agree the second
            // agrees with the first: it refers to what is kept already. Only what an answer on disk
            // refers to is sure to stay.
            let same = |one: &&Sealed| {
                let stays = voted.contains(&one.id) || new.iter().any(|mine| mine.id == one.id);
                one.hold == hold.id && one.name == place && one.value == value && stays
            };
            if let Some(one) = known.iter().chain(&new).find(same) {
                return one.id;
            }
            let at = self.now();
            let id = SecretId::new(at.as_ms(), self.0.rng.bits());
            let name = place.to_owned();
            new.push(Sealed { id, scope, hold: hold.id, name, by: by.clone(), at, value });
            id
        });
        let answer = match answer {
            Answer::Approve { scope, note, .. } => {
                let arguments =
                    Arguments::from_value(told).map_err(|error| Refusal::AnswerInvalid {
                        field: "arguments".into(),
                        why: error.to_string().into(),
                    })?;
                Answer::Approve { scope, arguments: Some(arguments), note }
            }
            Answer::Perform { is_error, .. } => {
                Answer::Perform { content: told.to_string(), is_error }
            }
            _ => Answer::Fill(told),
        };
        let new = if could_count { new } else { Vec::new() };
        Ok(SealedAnswer { answer, new })
    }

    /// The secrets that a session was given; nothing is read where there can be none.
    pub(crate) async fn secrets_of(&self, session: &Session) -> Result<Vec<Sealed>, Error> {
        if !session.has_secrets() {
            return Ok(Vec::new());
        }
        Ok(self.0.store.sealed(StreamId::Session(session.id)).await?)
    }

    /// The call as its tool gets it, and what to keep out of whatever the tool says.
    pub(crate) async fn unsealed(
        &self,
        session: &Session,
        cleared: ClearedCall,
    ) -> Result<(ClearedCall, Scrubber), String> {
        let known = self.secrets_of(session).await.map_err(|error| error.to_string())?;
        let scrubber = scrubber(Some(cleared.call()), &known);
        let cleared = cleared.unsealed(&known).map_err(|error| error.to_string())?;
        Ok((cleared, scrubber))
    }

    /// What an approver should know of the secrets that a call would get: which, whose, since when.
    pub(crate) fn warn_of_secrets(&self, call: &Call, known: &[Sealed]) -> Vec<Warning> {
        let used = references(call.arguments.value(), &call.secrets);
        let told = used.into_iter().filter_map(|(place, id)| {
            let one = known.iter().find(|one| one.id == id)?;
            let given = SecretGiven {
                tool: call.tool.to_string(),
                secret: reference(id),
                place,
                by: self.0.people.name_of(&one.by).to_owned(),
                field: one.name.clone(),
                at: one.at,
            };
            Some(WarningKind::SecretGiven(Box::new(given)).into())
        });
        told.collect()
    }
}

/// The secrets that the votes of a hold refer to.
fn referred_by_votes(hold: &Hold, pointers: &[String]) -> Vec<SecretId> {
    let value = |vote: &Arc<Vote>| match &vote.answer {
        Answer::Fill(form) => Some(form.clone()),
        Answer::Approve { arguments: Some(arguments), .. } => Some(arguments.value().clone()),
        Answer::Perform { content, .. } => serde_json::from_str(content).ok(),
        _ => None,
    };
    let values = hold.votes.iter().filter_map(value);
    values.flat_map(|value| references(&value, pointers)).map(|(_, id)| id).collect()
}

/// Knows the secrets of a session, and those that stand in a call itself.
pub(crate) fn scrubber(call: Option<&Call>, known: &[Sealed]) -> Scrubber {
    let own = call.map(|call| secrets_written(&call.arguments, &call.secrets)).unwrap_or_default();
    let given = known.iter().map(|one| &one.value);
    Scrubber::new(own.iter().chain(given).map(SecretValue::expose))
}

/// Secrets that a model wrote into its call.
pub(crate) fn secrets_written(arguments: &Arguments, pointers: &[String]) -> Vec<SecretValue> {
    let mut found = Vec::new();
    if pointers.is_empty() {
        return found;
    }
    let mut value = arguments.value().clone();
    visit_secrets(&mut value, pointers, &mut |_, inner| {
        if domain::secret::referred(inner).is_none() {
            found.push(SecretValue::new(inner.clone()));
        }
    });
    found
}

pub(crate) fn scrubbed(outcome: Outcome, scrubber: &Scrubber) -> Outcome {
    if scrubber.is_idle() {
        return outcome;
    }
    let output = |output: Output| {
        let text = match &output.cut {
            Some(_) => scrubber.scrub_cut(&output.text),
            None => scrubber.scrub(&output.text),
        };
        Output { text, ..output }
    };
    match outcome {
        Outcome::Succeeded(said) => Outcome::Succeeded(output(said)),
        Outcome::Failed(said) => Outcome::Failed(output(said)),
        Outcome::Unknown { evidence } => {
            Outcome::Unknown { evidence: scrubber.scrub_cut(&evidence) }
        }
    }
}

/// What a host says about a call before anybody is asked.
pub(crate) fn scrubbed_preview(
    prepared: Prepared,
    scrubber: &Scrubber,
    of_context: &Scrubber,
) -> Prepared {
    if scrubber.is_idle() {
        return prepared;
    }
    let scrub = |text: String| scrubber.scrub(&text);
    let Preview { summary, rows, diff, warnings, codes_look_alikes } = prepared.preview;
    let mut context = prepared.context;
    context.detail = context.detail.scrubbed(of_context);
    Prepared {
        context,
        preview: Preview {
            summary: summary.map(|summary| summary.scrubbed(scrubber)),
            rows,
            diff: diff.map(scrub),
            warnings: warnings.into_iter().map(|one| one.scrubbed(scrubber)).collect(),
            codes_look_alikes,
        },
        title: prepared.title.map(|title| title.scrubbed(scrubber)),
        ask: prepared.ask.map(|ask| ports::tool_host::AskAnyway {
            summary: ask.summary.scrubbed(scrubber),
            ..ask
        }),
        shown: scrubber.scrub_value(&prepared.shown),
        ..prepared
    }
}
