//! A decision that a program brings, for somebody for whom it may speak. It names the hold and the digest
//! of what that person saw, as the API does; no prompt of ours is needed for it.

use std::sync::Arc;

use domain::refusal::Refusal;
use engine::{Answering, Error};
use ports::channel::{ReportedDecision, ReportedReply};

use crate::refuse::Tried;
use crate::{ChannelRuntime, ChatService};

impl ChatService {
    pub(crate) async fn take_reported_decision(
        &self,
        runtime: &Arc<ChannelRuntime>,
        decided: ReportedDecision,
    ) -> Result<ReportedReply, Error> {
        let ReportedDecision { event, operator, hold, digest, answer } = decided;
        let engine = &self.0.engine;
        let refused = async |why| {
            let tried = Tried { operator: Some(&operator), hold: Some(hold), event: &event, why };
            self.refuse(runtime, tried).await;
        };
        let Some(caller) = self.caller(runtime, &operator, &event) else {
            refused("nobody is linked to them").await;
            return Ok(ReportedReply::NotEntitled);
        };
        let answering = Answering { digest: Some(digest), answer };
        match engine.answer(&caller, hold, answering, None).await {
            Ok(hold) => Ok(ReportedReply::Taken(hold)),
            Err(Error::Refused(
                Refusal::AlreadyDecided { hold }
                | Refusal::AlreadyVoted { hold }
                | Refusal::Expired { hold },
            )) => Ok(ReportedReply::Already(Arc::new(*hold))),
            Err(Error::Refused(Refusal::VersionConflict { hold })) => {
                refused("it has changed since it was shown there").await;
                Ok(ReportedReply::Changed(Arc::new(*hold)))
            }
            Err(Error::Refused(Refusal::NotEntitled { .. } | Refusal::NotFound { .. })) => {
                refused("it is not for them").await;
                Ok(ReportedReply::NotEntitled)
            }
            Err(Error::Refused(refusal)) => Ok(ReportedReply::Invalid(refusal.to_string())),
            Err(error) => Err(error),
        }
    }
}
