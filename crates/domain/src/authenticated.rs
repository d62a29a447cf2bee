//! People who proved who they are, and the one way to do that: to show a credential that is checked here
//! against what is kept about it.
//!
//! What is kept comes from the caller: tokens from the journal, logins from the store, accounts from the
//! configuration. A program that makes all of that up has a person in its own hands alone: an engine takes an
//! `engine::Caller`, which only the engine's own checks make.

use crate::credential::{LinkOrigin, Proof};
use crate::digest::Digest;
use crate::event::{Token, TokenOwner};
use crate::person::{People, Person, PersonId};
use crate::time::Timestamp;

/// A person who proved who they are. Answers take this and nothing else: there is no way to make
/// one from what a model or a tool wrote. Only [`Credential::verify`] makes one.
///
/// ```compile_fail,E0451
/// use holdpoint_domain::person::{AuthenticatedPerson, PersonId, Proof};
///
/// fn forge(id: PersonId) -> AuthenticatedPerson {
///     AuthenticatedPerson { id, proof: Proof::Login, via: "web".to_owned() }
/// }
/// ```
///
/// ```compile_fail,E0599
/// use holdpoint_domain::person::{AuthenticatedPerson, PersonId, Proof};
///
/// fn forge(id: PersonId) -> AuthenticatedPerson {
///     AuthenticatedPerson::vouched(id, Proof::Login, "web")
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthenticatedPerson {
    id: PersonId,
    proof: Proof,
    /// The surface: `web`, `cli`, `api`, `feishu`, …
    via: String,
}

impl AuthenticatedPerson {
    /// The person as the configuration names them.
    pub fn id(&self) -> &PersonId {
        &self.id
    }

    /// The credential that was good, as it is kept with every vote.
    pub fn proof(&self) -> &Proof {
        &self.proof
    }

    /// The surface that they came in by: `web`, `cli`, the name of a channel. It proves nothing.
    pub fn via(&self) -> &str {
        &self.via
    }

    /// The same person by another surface. For the record only.
    #[must_use]
    pub fn over(self, via: &str) -> AuthenticatedPerson {
        AuthenticatedPerson { via: via.to_owned(), ..self }
    }
}

/// A browser's login as it is kept: never its secret, only the secret's digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptLogin {
    /// Who is logged in.
    pub person: PersonId,
    /// Digest of the cookie's secret.
    pub secret: Digest,
    /// The link that was used; `None` for logins older than record version 4.
    pub origin: Option<LinkOrigin>,
    /// From this moment on the cookie is refused.
    pub expires_at: Timestamp,
}

/// What somebody shows to prove who they are, beside what is kept about it.
#[derive(Clone, Copy, Debug)]
pub enum Credential<'a> {
    /// A bearer token. Only one that a person owns makes a person of its bearer.
    Token {
        /// The record of the token that is claimed.
        kept: &'a Token,
        /// What the caller sent, which must have the kept digest.
        secret: &'a str,
    },
    /// The cookie of a login.
    Cookie {
        /// The record of the login that is claimed.
        kept: &'a KeptLogin,
        /// What the browser sent, which must have the kept digest.
        secret: &'a str,
    },
    /// An account that a chat platform vouched for, and the message that came from it.
    Account {
        /// The configured name of the channel.
        channel: &'a str,
        /// The platform of the channel: `slack`, `feishu`, …
        platform: &'a str,
        /// The sender's account there. The adapter has checked that the platform vouches for it.
        identity: &'a str,
        /// The platform's id of the message or press, for the record.
        message: &'a str,
    },
    /// None: a door acts in the name of the person whom its configuration names.
    Door {
        /// In whose name the door acts.
        person: &'a PersonId,
        /// The name of the door.
        door: &'a str,
    },
    /// The word of the program that embeds us. It is on record with every answer as just that.
    HostProgram {
        /// Of whom the host program says that it is they.
        person: &'a PersonId,
        /// How the host program knows them, in its words.
        how: &'a str,
    },
}

impl Credential<'_> {
    /// The person, if the credential is good now and the configuration knows them.
    pub fn verify(
        &self,
        people: &People,
        now: Timestamp,
        via: &str,
    ) -> Option<AuthenticatedPerson> {
        let (id, proof) = match *self {
            Credential::Token { kept, secret } => {
                let TokenOwner::Person(id) = &kept.owner else { return None };
                let is_good = kept.secret == Digest::of(secret.as_bytes())
                    && kept.expires_at.is_none_or(|at| at > now);
                let made_by = kept.made_by();
                is_good.then(|| (id.clone(), Proof::MintedToken { id: kept.id, made_by }))?
            }
            Credential::Cookie { kept, secret } => {
                let is_good = kept.secret == Digest::of(secret.as_bytes()) && kept.expires_at > now;
                // mutant: a-vote-without-the-maker-of-its-login
                let proof = kept.origin.clone().map_or(Proof::Login, Proof::Link);
                is_good.then(|| (kept.person.clone(), proof))?
            }
            Credential::Account { channel, platform, identity, message } => {
                let is_theirs =
                    |person: &&Person| person.identity_on(channel, platform) == Some(identity);
                let (name, message) = (channel.to_owned(), message.to_owned());
                let person = people.iter().find(is_theirs)?;
                (person.id.clone(), Proof::Channel { name, message })
            }
            Credential::Door { person, door } => (person.clone(), Proof::Door(door.to_owned())),
            Credential::HostProgram { person, how } => {
                (person.clone(), Proof::Vouched(how.to_owned()))
            }
        };
        people.get(&id)?;
        Some(AuthenticatedPerson { id, proof, via: via.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::TokenScope;
    use crate::id::TokenId;
    use crate::person::Actor;

    const NOW: Timestamp = Timestamp::from_ms(1_000);

    fn people() -> People {
        People::new([Person {
            id: PersonId::new("ana"),
            name: "Ana".into(),
            roles: Default::default(),
            identities: [("slack".to_owned(), "U1".to_owned())].into(),
        }])
    }

    fn token(owner: TokenOwner, expires_at: Option<Timestamp>) -> Token {
        Token {
            id: TokenId::new(1, 1),
            owner,
            scopes: TokenScope::ALL.to_vec(),
            secret: Digest::of(b"open sesame"),
            minted_by: Actor::Runtime,
            through: None,
            minted_at: Timestamp::from_ms(0),
            expires_at,
            note: None,
        }
    }

    fn is_good(credential: Credential<'_>) -> bool {
        credential.verify(&people(), NOW, "test").is_some()
    }

    #[test]
    fn i31_a_token_is_good_with_its_secret_for_its_person_until_it_expires() {
        let ana = || TokenOwner::Person(PersonId::new("ana"));
        let shows = |kept: &Token, secret| is_good(Credential::Token { kept, secret });
        assert!(shows(&token(ana(), None), "open sesame"));
        assert!(!shows(&token(ana(), None), "open says me"));
        assert!(!shows(&token(ana(), Some(NOW)), "open sesame"), "expired");
        assert!(!shows(&token(TokenOwner::Program("ana".into()), None), "open sesame"));
        let stranger = TokenOwner::Person(PersonId::new("eve"));
        assert!(!shows(&token(stranger, None), "open sesame"), "not in the configuration");
    }

    #[test]
    fn i31_a_cookie_is_good_with_its_secret_until_it_expires() {
        let login = |expires_at| KeptLogin {
            person: PersonId::new("ana"),
            secret: Digest::of(b"cookie"),
            origin: None,
            expires_at,
        };
        let shows = |kept: &KeptLogin, secret| is_good(Credential::Cookie { kept, secret });
        assert!(shows(&login(NOW.plus_ms(1)), "cookie"));
        assert!(!shows(&login(NOW.plus_ms(1)), "biscuit"));
        assert!(!shows(&login(NOW), "cookie"), "expired");
    }

    #[test]
    fn i31_an_account_is_good_for_the_person_whom_it_is_linked_to() {
        let writes = |platform, identity| {
            let credential =
                Credential::Account { channel: platform, platform, identity, message: "m1" };
            credential.verify(&people(), NOW, "test").map(|person| person.id().clone())
        };
        assert_eq!(writes("slack", "U1"), Some(PersonId::new("ana")));
        assert_eq!(writes("slack", "U2"), None);
        assert_eq!(writes("feishu", "U1"), None);
    }
}
