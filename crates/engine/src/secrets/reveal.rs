//! Secrets, shown to somebody who may answer for them and asked to see them. Every time is in the log
//! before anything is shown.

use domain::answer::Answer;
use domain::event::TokenScope;
use domain::hold::{Hold, HoldCommand};
use domain::id::HoldId;
use domain::schema::visit_secrets;
use domain::secret::{Sealed, SecretValue, referred};
use serde_json::Value;

use crate::accounts::Caller;
use crate::secrets::references::stream_of_secrets;
use crate::{Engine, Error};

/// One secret of a hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Revealed {
    /// `arguments` of the call, or the `answer` that was given.
    pub part: &'static str,
    /// JSON pointer into that part.
    pub at: String,
    pub value: SecretValue,
}

impl Engine {
    pub async fn reveal(&self, caller: &Caller, id: HoldId) -> Result<Vec<Revealed>, Error> {
        let hold = self.hold(caller, id).await?;
        let by = caller.must_be_person()?.clone();
        caller.must_have(TokenScope::Answer)?;
        let hold =
            self.submit_to_hold(&caller.actor, &hold, HoldCommand::Reveal { by }, None).await?;
        let known = self.0.store.sealed(stream_of_secrets(&hold)).await?;
        Ok(secrets(&hold, &known))
    }
}

fn secrets(hold: &Hold, known: &[Sealed]) -> Vec<Revealed> {
    let mut found = Vec::new();
    let mut look = |part: &'static str, value: &Value, pointers: &[String]| {
        let mut value = value.clone();
        visit_secrets(&mut value, pointers, &mut |at, inner| {
            let given = referred(inner).and_then(|id| known.iter().find(|one| one.id == id));
            let value =
                given.map_or_else(|| SecretValue::new(inner.clone()), |one| one.value.clone());
            found.push(Revealed { part, at: at.to_owned(), value });
        });
    };
    if let Some(call) = hold.call() {
        look("arguments", call.arguments.value(), &call.secrets);
    }
    let pointers = hold.question.secrets();
    for vote in &hold.votes {
        if let Answer::Fill(form) = &vote.answer {
            look("answer", form, &pointers);
        }
    }
    found
}
