//! Comments: what people say to one another about a hold that they may see.

use std::sync::Arc;

use domain::event::TokenScope;
use domain::hold::{Hold, HoldCommand};
use domain::id::HoldId;

use crate::accounts::Caller;
use crate::lane::submit::Keep;
use crate::{Engine, Error};

impl Engine {
    /// Programs say nothing here, and no token that may not answer: colleagues take a comment for the word of the person
    /// whose name is on it.
    pub async fn comment(
        &self,
        caller: &Caller,
        id: HoldId,
        text: String,
        keep: Option<Keep<'_, Hold>>,
    ) -> Result<Arc<Hold>, Error> {
        let hold = self.hold(caller, id).await?;
        let by = caller.must_be_person()?.clone();
        caller.must_have(TokenScope::Answer)?;
        self.submit_to_hold(&caller.actor, &hold, HoldCommand::Comment { by, text }, keep).await
    }
}
