//! Who acts: a person whom the program vouches for, or a part of the program itself.

use domain::person::PersonId;
use engine::Caller;
#[cfg(feature = "server")]
use server::Vouched;

/// A person, on the word of the embedding program. Only [`crate::Holdpoint::vouch`] makes one, and only
/// a program calls that: no text of a model, a tool or a message can become one.
///
/// ```compile_fail
/// fn from_words(words: &str) -> holdpoint::Acting {
///     words.into()
/// }
/// ```
///
/// Vouch where your program has checked who somebody is (after a login, behind your single sign-on),
/// never with a name that came out of a conversation.
#[derive(Clone, Debug)]
pub struct Acting {
    pub(super) caller: Caller,
    pub(super) person: PersonId,
    /// How the program knows.
    #[cfg(feature = "server")]
    pub(super) how: String,
}

impl Acting {
    /// Who it is.
    pub fn id(&self) -> &PersonId {
        &self.person
    }

    /// The same word for one request to a mounted router: put it on the request as an extension. See
    /// `Holdpoint::mount`.
    #[cfg(feature = "server")]
    pub fn on_request(&self) -> Vouched {
        Vouched { person: self.person.clone(), how: self.how.clone() }
    }
}

/// A part of the program that opens sessions and asks questions, such as a nightly job. It never
/// answers: [`crate::Holdpoint::answer`] does not take one.
///
/// ```compile_fail
/// use holdpoint::prelude::*;
/// async fn cannot(holdpoint: &Holdpoint, job: &Program, hold: &Hold) {
///     let _ = holdpoint.answer(job, hold, Answer::approve()).await;
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) caller: Caller,
}

/// [`Acting`] or [`Program`].
pub trait Who: sealed::Sealed {}

impl Who for Acting {}
impl Who for Program {}

pub(super) mod sealed {
    use engine::Caller;

    pub trait Sealed: Send + Sync {
        fn caller(&self) -> &Caller;
    }

    impl Sealed for super::Acting {
        fn caller(&self) -> &Caller {
            &self.caller
        }
    }

    impl Sealed for super::Program {
        fn caller(&self) -> &Caller {
            &self.caller
        }
    }
}
