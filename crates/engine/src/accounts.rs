//! Who is calling: tokens, login links, cookies, and what each may see.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::digest::Digest;
use domain::event::{GlobalEvent, Token, TokenOwner, TokenScope};
use domain::global_state::GlobalCommand;
use domain::hold::Hold;
use domain::id::{StreamId, TokenId};
use domain::person::{
    Actor, AuthenticatedPerson, Credential, CredentialMaker, KeptLogin, LinkOrigin, PersonId,
    Proof, Requester,
};
use domain::refusal::Refusal;
use domain::session::Session;
use domain::time::Timestamp;
use ports::store::{LoginSecret, SecretKind, Viewer};

use crate::{Engine, Error};

/// Somebody whose credentials were checked.
///
/// Only the checks of an [`Engine`] make one:
///
/// ```compile_fail,E0451
/// use domain::person::{Actor, AuthenticatedPerson, PersonId};
///
/// fn forge(person: AuthenticatedPerson) -> holdpoint_engine::Caller {
///     holdpoint_engine::Caller {
///         actor: Actor::Person(person.id().clone()),
///         scopes: Vec::new(),
///         person: Some(person),
///         roles: Vec::new(),
///         login_makers: Default::default(),
///         confined_to: None,
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Caller {
    pub(crate) actor: Actor,
    pub(crate) scopes: Vec<TokenScope>,
    /// Set for people only: a program never answers.
    pub(crate) person: Option<AuthenticatedPerson>,
    pub(crate) roles: Vec<String>,
    /// Who made the login or token by which they came, if that was another person than the one who
    /// answers for what they do.
    pub(crate) login_makers: BTreeSet<PersonId>,
    /// Set for a caller who showed no credentials, and whom a door lets act in somebody's name: they
    /// see and answer only what belongs to sessions that were opened on that door.
    pub(crate) confined_to: Option<Arc<str>>,
}

/// For tests: callers without any check.
#[cfg(feature = "test-support")]
impl Caller {
    pub fn assumed(
        actor: Actor,
        scopes: Vec<TokenScope>,
        person: Option<AuthenticatedPerson>,
        roles: Vec<String>,
    ) -> Caller {
        Caller { actor, scopes, person, roles, login_makers: BTreeSet::new(), confined_to: None }
    }
}

impl Caller {
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    pub fn scopes(&self) -> &[TokenScope] {
        &self.scopes
    }

    /// Set for people only: a program never answers.
    pub fn person(&self) -> Option<&AuthenticatedPerson> {
        self.person.as_ref()
    }

    pub fn roles(&self) -> &[String] {
        &self.roles
    }

    pub fn has(&self, scope: TokenScope) -> bool {
        self.scopes.contains(&scope)
    }

    /// Admin by token; a person must also hold the role.
    pub fn is_admin(&self) -> bool {
        let role =
            self.person.is_none() || self.roles.iter().any(|role| role == domain::person::ADMIN);
        role && self.has(TokenScope::Admin)
    }

    pub fn must_be_admin(&self) -> Result<(), Refusal> {
        self.must(self.is_admin(), "this needs the role and the scope `admin`")
    }

    pub fn must_have(&self, scope: TokenScope) -> Result<(), Refusal> {
        self.must(self.has(scope), &format!("this needs the scope `{}`", scope.name()))
    }

    fn must(&self, may: bool, why: &str) -> Result<(), Refusal> {
        if may { Ok(()) } else { Err(Refusal::NotEntitled { why: why.to_owned() }) }
    }

    /// The person behind the call, for what only people do.
    pub fn must_be_person(&self) -> Result<&AuthenticatedPerson, Refusal> {
        self.person.as_ref().ok_or_else(|| Refusal::NotEntitled {
            why: "a program's token never answers a hold".into(),
        })
    }

    /// A name that is the same for one caller over all logins and tokens of a person, and different for different callers. What is kept
    /// for a caller is kept under it: idempotency keys, who sent a file, limits of rate and of open streams, what a
    /// door showed and which conversations it knows, repeats of an agent's question, the tools of external holds.
    pub fn stable_name(&self) -> String {
        match &self.actor {
            Actor::Person(id) => format!("person:{id}"),
            Actor::Program { token, .. } => format!("program:{token}"),
            Actor::Runtime => "runtime".into(),
        }
    }

    /// The same caller, by another surface. For the record only.
    #[must_use]
    pub fn via(mut self, via: &str) -> Caller {
        self.person = self.person.map(|person| person.over(via));
        self
    }

    /// Whether a session is beyond the door that the caller is confined to.
    fn is_outside(&self, session: &Session) -> bool {
        let at = |door: &Arc<str>| session.home.as_ref().is_some_and(|home| home.door == *door);
        // mutant: door-not-confined
        self.confined_to.as_ref().is_some_and(|door| !at(door))
    }

    /// Whether this is somebody in the chat in which a session lives, by the word of its channel. There
    /// several people speak.
    pub(crate) fn is_in_chat_of(&self, session: &Session) -> bool {
        let proof = self.person.as_ref().map(AuthenticatedPerson::proof);
        match (proof, &session.home) {
            (Some(Proof::Channel { name, .. }), Some(home)) => **name == *home.door,
            _ => false,
        }
    }

    /// Who asks, when this caller does.
    pub(crate) fn requester(&self) -> Requester<'_> {
        Requester { person: self.actor.accountable(), login_makers: &self.login_makers }
    }

    pub(crate) fn viewer(&self) -> Viewer {
        if self.is_admin() {
            return Viewer::Everything;
        }
        let person = self.person.as_ref().map(|person| (person.id().clone(), self.roles.clone()));
        Viewer::Caller { actor: self.actor.clone(), person }
    }
}

#[derive(Clone, Debug)]
pub struct NewToken {
    pub owner: TokenOwner,
    pub scopes: Vec<TokenScope>,
    pub expires_at: Option<Timestamp>,
    pub note: Option<String>,
}

/// A fresh token. Its secret is shown once and kept nowhere.
pub struct MintedToken {
    pub token: Token,
    pub secret: String,
}

/// One-time links are for right now.
pub const LOGIN_MS: u64 = 15 * 60 * 1000;
/// However often it is used, a login ends after this: a browser that was lost is not one for ever.
const LOGIN_LIFE_MS: u64 = 180 * 24 * 60 * 60 * 1000;
/// A login is prolonged once in such a part of its length, and not with every request.
const PROLONGED_IN: u64 = 30;

impl Engine {
    /// Who holds this token, if anybody does now.
    pub fn caller_by_token(&self, secret: &str, via: &str) -> Option<Caller> {
        let digest = Digest::of(secret.as_bytes());
        let global = self.global_state();
        // Looked up by digest of 256 random bits: there is nothing to learn from how long it takes.
        let token = global.tokens.values().find(|token| token.secret == digest)?;
        if token.expires_at.is_some_and(|at| at <= self.now()) {
            return None;
        }
        match &token.owner {
            TokenOwner::Person(_) => {
                self.person_caller(Credential::Token { kept: token, secret }, via, &token.scopes)
            }
            TokenOwner::Program(name) => Some(program_caller(token, name)),
        }
    }

    /// A part of this process that sees everything in order to show or count it. It is nobody, and so
    /// it never answers.
    pub fn onlooker(&self) -> Caller {
        Caller {
            actor: Actor::Runtime,
            scopes: vec![TokenScope::Admin],
            person: None,
            roles: Vec::new(),
            login_makers: BTreeSet::new(),
            confined_to: None,
        }
    }

    /// A part of this very process that asks and runs, by a name that means the same one after a
    /// restart. Its token is there for the record: nobody ever knew its secret.
    pub async fn caller_for_program(&self, name: &str) -> Result<Caller, Error> {
        const NOTE: &str = "a part of this process";
        let owner = TokenOwner::Program(name.to_owned());
        let is_its = |token: &&Token| {
            token.owner == owner
                && token.minted_by == Actor::Runtime
                && token.note.as_deref() == Some(NOTE)
        };
        let known = self.global_state().tokens.values().find(is_its).cloned();
        let token = match known {
            Some(token) => token,
            None => {
                let scopes = vec![TokenScope::Ask, TokenScope::Run];
                let note = Some(NOTE.to_owned());
                let new = NewToken { owner, scopes, expires_at: None, note };
                self.mint(Actor::Runtime, new).await?.token
            }
        };
        Ok(program_caller(&token, name))
    }

    /// A person whom the program that embeds us has authenticated by its own means. Its word is taken
    /// for it, and `how` is kept with every answer.
    pub fn caller_vouched(&self, person: &PersonId, how: &str) -> Option<Caller> {
        self.person_caller(Credential::HostProgram { person, how }, "program", &TokenScope::ALL)
    }

    /// Somebody without credentials, in the name of the person whom the configuration of a door names.
    /// Never an admin, and confined to sessions that were opened on that door.
    pub fn caller_at_door(&self, person: &PersonId, door: &str, via: &str) -> Option<Caller> {
        let scopes = [TokenScope::Ask, TokenScope::Answer, TokenScope::Run];
        let caller = self.person_caller(Credential::Door { person, door }, via, &scopes)?;
        Some(Caller { confined_to: Some(door.into()), ..caller })
    }

    /// A person whom a chat platform vouched for, by the identity that is linked to them. `message` is what
    /// they pressed or wrote. They may answer and speak; in a chat nobody is an admin.
    pub fn caller_in_channel(
        &self,
        channel: &str,
        platform: &str,
        identity: &str,
        message: &str,
    ) -> Option<Caller> {
        let credential = Credential::Account { channel, platform, identity, message };
        self.person_caller(credential, channel, &[TokenScope::Answer, TokenScope::Run])
    }

    fn person_caller(
        &self,
        credential: Credential<'_>,
        via: &str,
        scopes: &[TokenScope],
    ) -> Option<Caller> {
        let person = credential.verify(&self.0.people, self.now(), via)?;
        let id = person.id();
        let made_by = person.proof().made_by();
        Some(Caller {
            actor: Actor::Person(id.clone()),
            login_makers: made_by.map(|maker| maker.others(Some(id))).unwrap_or_default(),
            scopes: scopes.to_vec(),
            roles: self.0.people.get(id)?.roles.iter().cloned().collect(),
            person: Some(person),
            confined_to: None,
        })
    }

    pub async fn caller_by_cookie(&self, secret: &str) -> Result<Option<Caller>, Error> {
        let digest = Digest::of(secret.as_bytes());
        let found = self.0.store.find_secret(SecretKind::Cookie, digest).await?;
        Ok(found.and_then(|cookie| {
            let LoginSecret { person, digest, origin, expires_at, .. } = cookie;
            let kept = &KeptLogin { person, secret: digest, origin, expires_at };
            self.person_caller(Credential::Cookie { kept, secret }, "web", &TokenScope::ALL)
        }))
    }

    /// A one-time login code for somebody, at the wish of an admin.
    pub async fn login_for(&self, by: &Caller, person: &PersonId) -> Result<String, Error> {
        by.must_be_admin()?;
        // Otherwise a program could log in, and be somebody who answers.
        // mutant: a-login-is-washed, a-program-logs-in begins
        let maker = by.must_be_person()?;
        let through = maker.proof().earlier_hand(maker.id());
        // mutant: a-login-is-washed, a-program-logs-in ends
        let made_by = CredentialMaker { by: by.actor.clone(), through };
        self.make_login_link(person, LinkOrigin { made_by, channel: None }).await
    }

    /// A one-time login code for a person, without asking who wants it: for the operator's own
    /// start-up, and for a program that embeds us.
    pub async fn new_login(&self, person: &PersonId) -> Result<String, Error> {
        let made_by = CredentialMaker::new(Actor::Runtime);
        self.make_login_link(person, LinkOrigin { made_by, channel: None }).await
    }

    /// A one-time login code that a person asked for, to be sent to their own account on that channel
    /// and nowhere else.
    pub async fn login_over_channel(
        &self,
        person: &PersonId,
        channel: &str,
    ) -> Result<String, Error> {
        let made_by = CredentialMaker::new(Actor::Person(person.clone()));
        let channel = Some(channel.to_owned());
        self.make_login_link(person, LinkOrigin { made_by, channel }).await
    }

    /// Its code is stored only as a digest. It is on the record before it works: there is no link that
    /// the log does not know.
    async fn make_login_link(
        &self,
        person: &PersonId,
        origin: LinkOrigin,
    ) -> Result<String, Error> {
        if self.0.people.get(person).is_none() {
            return Err(Refusal::NotFound { what: "person" }.into());
        }
        // Good once and for minutes: 128 bits, so that the link fits on one line of a terminal.
        let code = format!("{:032x}", self.0.rng.bits());
        let made_at = self.now();
        let expires_at = made_at.plus_ms(LOGIN_MS);
        let (to, by) = (person.clone(), origin.made_by.by.clone());
        let made = GlobalEvent::LoginLinkMade { person: to, origin: origin.clone(), expires_at };
        // mutant: a-link-is-made-in-silence
        self.change_global(&by, GlobalCommand::Record(made)).await?;
        let digest = Digest::of(code.as_bytes());
        let (kind, person, origin) = (SecretKind::Login, person.clone(), Some(origin));
        self.0
            .store
            .put_secret(LoginSecret { kind, digest, person, origin, made_at, expires_at })
            .await?;
        Ok(code)
    }

    /// Uses a login code up and opens a browser session. `None`: unknown, used or too old.
    pub async fn log_in(&self, code: &str) -> Result<Option<String>, Error> {
        let taken =
            self.0.store.take_secret(SecretKind::Login, Digest::of(code.as_bytes())).await?;
        let Some(login) = taken.filter(|login| login.expires_at > self.now()) else {
            return Ok(None);
        };
        let LoginSecret { person, origin, .. } = login;
        let actor = Actor::Person(person.clone());
        // mutant: a-login-without-its-maker
        let link = origin.clone();
        let logged_in = GlobalEvent::LoggedIn { person: person.clone(), via: "web".into(), link };
        // On the record before it works.
        self.change_global(&actor, GlobalCommand::Record(logged_in)).await?;
        let cookie = self.secret("");
        let (kind, digest) = (SecretKind::Cookie, Digest::of(cookie.as_bytes()));
        let made_at = self.now();
        let expires_at = made_at.plus_ms(self.session_ms());
        self.0
            .store
            .put_secret(LoginSecret { kind, digest, person, origin, made_at, expires_at })
            .await?;
        Ok(Some(cookie))
    }

    /// How long a login lasts that nobody uses.
    pub fn session_ms(&self) -> u64 {
        self.0.limits.session_ms
    }

    /// A login that is used lasts longer, up to its whole life. `Some`: so many milliseconds from now;
    /// `None`: it was prolonged not long ago, or cannot be any more.
    pub async fn prolong_login(&self, cookie: &str) -> Result<Option<u64>, Error> {
        let digest = Digest::of(cookie.as_bytes());
        let (now, lasts_ms) = (self.now(), self.session_ms());
        let Some(login) = self.0.store.find_secret(SecretKind::Cookie, digest).await? else {
            return Ok(None);
        };
        let ends = login.made_at.plus_ms(LOGIN_LIFE_MS).min(now.plus_ms(lasts_ms));
        let gains_ms = ends.ms_since(login.expires_at);
        if login.expires_at <= now || ends <= login.expires_at || gains_ms < lasts_ms / PROLONGED_IN
        {
            return Ok(None);
        }
        // Only if it is still there: whoever logs out meanwhile is out.
        self.0.store.prolong_secret(SecretKind::Cookie, digest, ends).await?;
        Ok(Some(ends.ms_since(now)))
    }

    pub async fn log_out(&self, cookie: &str) -> Result<(), Error> {
        self.0.store.take_secret(SecretKind::Cookie, Digest::of(cookie.as_bytes())).await?;
        Ok(())
    }

    /// 256 random bits in a form that survives copying.
    fn secret(&self, prefix: &str) -> String {
        format!("{prefix}{:032x}{:032x}", self.0.rng.bits(), self.0.rng.bits())
    }

    pub async fn mint_token(&self, by: &Caller, new: NewToken) -> Result<MintedToken, Error> {
        by.must_be_admin()?;
        if let TokenOwner::Person(_) = new.owner {
            // Otherwise a program could make itself somebody who answers.
            // mutant: a-program-answers
            by.must_be_person()?;
        }
        let maker = by.person.as_ref();
        let through = maker.and_then(|maker| maker.proof().earlier_hand(maker.id()));
        self.mint_as(CredentialMaker { by: by.actor.clone(), through }, new).await
    }

    /// Mints without asking who wants it: for the operator's own start-up.
    pub async fn mint(&self, by: Actor, new: NewToken) -> Result<MintedToken, Error> {
        self.mint_as(CredentialMaker::new(by), new).await
    }

    async fn mint_as(&self, made_by: CredentialMaker, new: NewToken) -> Result<MintedToken, Error> {
        let CredentialMaker { by, through } = made_by;
        let prefix = match &new.owner {
            TokenOwner::Person(id) if self.0.people.get(id).is_none() => {
                return Err(Refusal::NotFound { what: "person" }.into());
            }
            TokenOwner::Person(_) => "hp_person_",
            TokenOwner::Program(_) if new.scopes.contains(&TokenScope::Answer) => {
                return Err(Refusal::AnswerInvalid {
                    field: "scopes".into(),
                    why: "a program's token never answers a hold: leave `answer` out".into(),
                }
                .into());
            }
            TokenOwner::Program(_) => "hp_program_",
        };
        let secret = self.secret(prefix);
        let token = Token {
            id: TokenId::new(self.now().as_ms(), self.0.rng.bits()),
            owner: new.owner,
            scopes: new.scopes,
            secret: Digest::of(secret.as_bytes()),
            minted_by: by.clone(),
            through,
            minted_at: self.now(),
            expires_at: new.expires_at,
            note: new.note,
        };
        let minted = token.clone();
        let minted = GlobalEvent::TokenMinted { token: Box::new(minted) };
        self.change_global(&by, GlobalCommand::Record(minted)).await?;
        Ok(MintedToken { token, secret })
    }

    pub fn tokens(&self, caller: &Caller) -> Result<Vec<Token>, Error> {
        caller.must_be_admin()?;
        Ok(self.global_state().tokens.values().rev().cloned().collect())
    }

    pub async fn revoke_token(&self, caller: &Caller, id: TokenId) -> Result<(), Error> {
        caller.must_be_admin()?;
        let by = caller.actor.clone();
        self.change_global(&by.clone(), GlobalCommand::RevokeToken { token: id, by }).await
    }

    /// A session is seen by its creator, by people in the audience of any of its holds, by admins.
    pub fn sees_session(&self, caller: &Caller, session: &Session) -> bool {
        if caller.is_outside(session) {
            return false;
        }
        caller.is_admin()
            // mutant: strangers-see-sessions
            || session.creator.is_same(&caller.actor)
            || caller.is_in_chat_of(session)
            || session.holds.values().any(|hold| self.in_audience(caller, hold))
    }

    /// A hold is seen by its opener, its session's creator, its audience and admins.
    pub fn sees_hold(&self, caller: &Caller, hold: &Hold) -> bool {
        // mutant: strangers-see-holds
        caller.is_admin() || hold.opener.is_same(&caller.actor) || self.in_audience(caller, hold)
    }

    /// A confined caller has nothing to do with holds of other doors, also where the person that they
    /// act for may answer them. Every change of a hold asks this first.
    pub(crate) async fn must_be_within(&self, caller: &Caller, hold: &Hold) -> Result<(), Error> {
        if caller.confined_to.is_none() {
            return Ok(());
        }
        if let Some(session) = hold.session()
            && !caller.is_outside(&*self.load_session(session).await?)
        {
            return Ok(());
        }
        Err(Refusal::NotFound { what: "hold" }.into())
    }

    fn in_audience(&self, caller: &Caller, hold: &Hold) -> bool {
        caller.person.as_ref().is_some_and(|person| {
            hold.audience.people.contains(person.id())
                || caller.roles.iter().any(|role| hold.audience.roles.contains(role))
        })
    }

    pub(crate) async fn sees_stream(
        &self,
        caller: &Caller,
        stream: StreamId,
    ) -> Result<bool, Error> {
        Ok(caller.is_admin()
            || match stream {
                StreamId::Global => false,
                StreamId::Session(id) => self.sees_session(caller, &*self.load_session(id).await?),
                StreamId::ExternalHold(_) if caller.confined_to.is_some() => false,
                StreamId::ExternalHold(id) => {
                    self.0.store.hold(id).await?.is_some_and(|hold| self.sees_hold(caller, &hold))
                }
            })
    }
}

fn program_caller(token: &Token, name: &str) -> Caller {
    Caller {
        actor: Actor::Program {
            token: token.id,
            name: name.to_owned(),
            minted_by: token.minted_by.accountable().cloned(),
        },
        scopes: token.scopes.iter().copied().filter(|scope| *scope != TokenScope::Answer).collect(),
        person: None,
        roles: Vec::new(),
        login_makers: token.made_by().others(token.minted_by.accountable()),
        confined_to: None,
    }
}
