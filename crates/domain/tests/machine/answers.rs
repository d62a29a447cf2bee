//! Answers, and people who may give them.

use holdpoint_domain::answer::{Answer, ApprovalScope, GrantTerms};
use holdpoint_domain::digest::Digest;
use holdpoint_domain::person::{AuthenticatedPerson, Credential, KeptLogin, People, PersonId};
use holdpoint_domain::time::Timestamp;

use crate::world::person;

pub(crate) fn approve() -> Answer {
    Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None }
}

pub(crate) fn approve_for_session() -> Answer {
    Answer::Approve {
        scope: ApprovalScope::Session(GrantTerms::default()),
        arguments: None,
        note: None,
    }
}

pub(crate) fn deny(reason: &str) -> Answer {
    Answer::Deny { reason: Some(reason.into()), stop: false }
}

pub(crate) fn perform(content: &str) -> Answer {
    Answer::Perform { content: content.into(), is_error: false }
}

/// Somebody who has shown the cookie of their login.
pub(crate) fn logged_in(who: &str) -> AuthenticatedPerson {
    let (secret, expires_at) = ("a cookie", Timestamp::from_ms(1));
    let (id, digest) = (PersonId::new(who), Digest::of(secret.as_bytes()));
    let kept = &KeptLogin { person: id, secret: digest, origin: None, expires_at };
    let known = People::new([person(who, &[])]);
    let shown = Credential::Cookie { kept, secret };
    shown.verify(&known, Timestamp::from_ms(0), "web").expect("the cookie is good")
}
