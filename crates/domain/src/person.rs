//! Who can ask and who can answer.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

pub use crate::authenticated::{AuthenticatedPerson, Credential, KeptLogin};
pub use crate::credential::{CredentialMaker, EarlierHand, LinkOrigin, Proof};
use crate::id::TokenId;

/// Names one person, as the configuration does.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PersonId(Arc<str>);

impl PersonId {
    /// Any text. Whether the configuration has such a person is for [`People::get`] to say.
    pub fn new(id: &str) -> PersonId {
        PersonId(id.into())
    }

    /// As the configuration spells it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PersonId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for PersonId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The role whose holders see everything and are asked when a rule names nobody.
pub const ADMIN: &str = "admin";

/// One person of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// What everything on record names them by.
    pub id: PersonId,
    /// What other people read.
    pub name: String,
    /// Words of the configuration, by which rules ask several people at once.
    pub roles: BTreeSet<String>,
    /// Explicitly linked accounts: by platform, `feishu` → an open_id, or by the name of one channel there.
    pub identities: BTreeMap<String, String>,
}

impl Person {
    /// Who they are on a channel. An account that is linked to this very channel stands before the one
    /// for its platform: some platforms name people anew for each app.
    pub fn identity_on(&self, channel: &str, platform: &str) -> Option<&str> {
        let known = self.identities.get(channel).or_else(|| self.identities.get(platform))?;
        (!known.is_empty()).then_some(known)
    }
}

/// Everybody the configuration names. One person is one entry, however many accounts are linked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct People(BTreeMap<PersonId, Person>);

impl People {
    /// Of two with one id the later one counts; the configuration refuses that earlier.
    pub fn new(people: impl IntoIterator<Item = Person>) -> People {
        People(people.into_iter().map(|person| (person.id.clone(), person)).collect())
    }

    /// The person of this id. `None` if the configuration does not name them, or no longer.
    pub fn get(&self, id: &PersonId) -> Option<&Person> {
        self.0.get(id)
    }

    /// Everybody, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Person> {
        self.0.values()
    }

    /// Whether the person is named and has the role [`ADMIN`].
    pub fn is_admin(&self, id: &PersonId) -> bool {
        self.get(id).is_some_and(|person| person.roles.contains(ADMIN))
    }

    /// The name to show; a person who has left the configuration is shown by id.
    pub fn name_of<'a>(&'a self, id: &'a PersonId) -> &'a str {
        self.get(id).map_or_else(|| id.as_str(), |person| &person.name)
    }
}

/// Who did something, as it is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A person, by a credential of theirs.
    Person(PersonId),
    /// A program, and the person who gave it its token: nobody escapes a rule by way of a token.
    Program {
        /// The token that it came with.
        token: TokenId,
        /// The program's name, as its token has it.
        name: String,
        /// Who gave it its token. `None` if the runtime did.
        minted_by: Option<PersonId>,
    },
    /// The runtime itself: timers, recovery.
    Runtime,
}

impl Actor {
    /// What a reader of the log knows it by.
    pub fn as_str(&self) -> &str {
        match self {
            Actor::Person(id) => id.as_str(),
            Actor::Program { name, .. } => name,
            Actor::Runtime => "runtime",
        }
    }

    /// The person who answers for what this actor does.
    pub fn accountable(&self) -> Option<&PersonId> {
        match self {
            Actor::Person(id) => Some(id),
            Actor::Program { minted_by, .. } => minted_by.as_ref(),
            Actor::Runtime => None,
        }
    }

    /// The same caller, whatever else is known about them.
    pub fn is_same(&self, other: &Actor) -> bool {
        match (self, other) {
            (Actor::Person(a), Actor::Person(b)) => a == b,
            (Actor::Program { token: a, .. }, Actor::Program { token: b, .. }) => a == b,
            _ => false,
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who asks, as rules about requesters see it.
#[derive(Clone, Copy, Debug)]
pub struct Requester<'a> {
    /// In whose name it is asked. `None` where no person is behind it.
    pub person: Option<&'a PersonId>,
    /// Who made the login or token by which the request came, if that was another person.
    pub login_makers: &'a BTreeSet<PersonId>,
}

/// Who may answer a hold, and how many of them must agree.
///
/// ```
/// use holdpoint_domain::person::{Audience, People, Person, PersonId};
///
/// let person = |id: &str| Person {
///     id: PersonId::new(id),
///     name: id.to_uppercase(),
///     roles: ["dba".to_owned()].into(),
///     identities: Default::default(),
/// };
/// let people = People::new([person("ana"), person("bob")]);
/// let audience = Audience {
///     people: Default::default(),
///     roles: ["dba".to_owned()].into(),
///     quorum: 1,
///     exclude_requester: true,
///     refuse_made_logins: false,
///     login_makers: Default::default(),
/// };
/// let (ana, bob) = (PersonId::new("ana"), PersonId::new("bob"));
/// assert!(audience.admits(&bob, Some(&ana), &people));
/// assert!(!audience.admits(&ana, Some(&ana), &people), "it was asked in her name");
/// assert!(!audience.admits(&PersonId::new("eve"), Some(&ana), &people));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audience {
    /// People who may answer, by name.
    pub people: BTreeSet<PersonId>,
    /// People who may answer, by role.
    pub roles: BTreeSet<String>,
    /// How many different people must give the same answer.
    pub quorum: u32,
    /// The person in whose name it is asked may not answer.
    pub exclude_requester: bool,
    /// Only people whose login or token no other person made.
    pub refuse_made_logins: bool,
    /// Who made the login or token by which the requester asked, if that was another person: with
    /// `exclude_requester` they count as the requester, since they could have asked themselves.
    pub login_makers: BTreeSet<PersonId>,
}

impl Audience {
    /// Whether this person may answer now, judged by who they are now.
    pub fn admits(&self, who: &PersonId, requester: Option<&PersonId>, people: &People) -> bool {
        if self.excludes(who, requester) {
            return false;
        }
        // Someone who left the configuration is entitled to nothing, even if named.
        let Some(person) = people.get(who) else { return false };
        self.people.contains(who) || person.roles.iter().any(|role| self.roles.contains(role))
    }

    /// Whether this person is left out because they asked, or made the login by which it was asked.
    pub fn excludes(&self, who: &PersonId, requester: Option<&PersonId>) -> bool {
        // mutant: requester-may-approve
        self.exclude_requester && (requester == Some(who) || self.login_makers.contains(who))
    }

    /// Whether this person's way in is good enough for the rule.
    pub fn accepts_login(&self, who: &PersonId, proof: &Proof) -> bool {
        !self.refuse_made_logins || proof.is_own(who)
    }

    /// How many people could answer as the configuration is now.
    pub fn count(&self, requester: Option<&PersonId>, people: &People) -> usize {
        people.iter().filter(|person| self.admits(&person.id, requester, people)).count()
    }

    /// Whether enough people could answer for the quorum to be reached.
    pub fn is_satisfiable(&self, requester: Option<&PersonId>, people: &People) -> bool {
        self.quorum >= 1 && self.count(requester, people) >= self.quorum as usize
    }

    /// The stricter of an earlier audience and this one, in everything that both demand. If too few people
    /// are in both, those of this one answer.
    pub fn stricter_of(
        self,
        earlier: &Audience,
        requester: Option<&PersonId>,
        people: &People,
    ) -> Audience {
        let demanded = Audience {
            quorum: self.quorum.max(earlier.quorum),
            exclude_requester: self.exclude_requester || earlier.exclude_requester,
            refuse_made_logins: self.refuse_made_logins || earlier.refuse_made_logins,
            login_makers: self.login_makers.union(&earlier.login_makers).cloned().collect(),
            ..self
        };
        // Roles of both stay roles, so that newcomers count.
        let roles: BTreeSet<String> =
            demanded.roles.intersection(&earlier.roles).cloned().collect();
        let by_name = people.iter().filter(|person| {
            demanded.admits(&person.id, requester, people)
                && earlier.admits(&person.id, requester, people)
                && person.roles.is_disjoint(&roles)
        });
        let by_name = by_name.map(|person| person.id.clone()).collect();
        let both = Audience { people: by_name, roles, ..demanded.clone() };
        if both.is_satisfiable(requester, people) { both } else { demanded }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn people() -> People {
        People::new([("ana", "dba"), ("bob", "dba"), ("eve", "guest")].map(|(id, role)| Person {
            id: PersonId::new(id),
            name: id.to_uppercase(),
            roles: [role.to_owned()].into(),
            identities: BTreeMap::new(),
        }))
    }

    fn dbas(quorum: u32, exclude_requester: bool) -> Audience {
        Audience {
            people: BTreeSet::new(),
            roles: ["dba".into()].into(),
            quorum,
            exclude_requester,
            refuse_made_logins: false,
            login_makers: BTreeSet::new(),
        }
    }

    #[test]
    fn roles_admit_and_strangers_do_not() {
        let (people, ana) = (people(), PersonId::new("ana"));
        assert!(dbas(1, false).admits(&ana, None, &people));
        assert!(!dbas(1, false).admits(&PersonId::new("eve"), None, &people));
        assert!(!dbas(1, false).admits(&PersonId::new("nobody"), None, &people));
    }

    #[test]
    fn i32_the_requester_is_left_out_where_the_rule_says_so() {
        let (people, ana) = (people(), PersonId::new("ana"));
        assert!(!dbas(1, true).admits(&ana, Some(&ana), &people));
        assert!(dbas(1, true).is_satisfiable(Some(&ana), &people), "bob is left");
        assert!(!dbas(2, true).is_satisfiable(Some(&ana), &people), "two are needed, one is left");
    }

    #[test]
    fn i32_the_maker_of_the_requesters_login_counts_as_the_requester() {
        let (people, ana, eve) = (people(), PersonId::new("ana"), PersonId::new("eve"));
        let made = |exclude_requester| Audience {
            login_makers: [ana.clone()].into(),
            ..dbas(1, exclude_requester)
        };
        assert!(!made(true).admits(&ana, Some(&eve), &people), "Ana made Eve's login");
        assert!(made(true).admits(&PersonId::new("bob"), Some(&eve), &people));
        assert!(made(false).admits(&ana, Some(&eve), &people), "the rule does not ask for it");
        // It stays so when the rules become stricter.
        let both = dbas(1, true).stricter_of(&made(false), Some(&eve), &people);
        assert!(!both.admits(&ana, Some(&eve), &people), "{both:?}");
    }

    #[test]
    fn i07_the_stricter_of_two_audiences_keeps_what_both_demand() {
        let (people, ana) = (people(), PersonId::new("ana"));
        let named = |names: &[&str]| Audience {
            people: names.iter().map(|name| PersonId::new(name)).collect(),
            roles: BTreeSet::new(),
            ..dbas(1, false)
        };
        let made = |audience: Audience| Audience { refuse_made_logins: true, ..audience };
        let both = dbas(1, false).stricter_of(&made(dbas(2, true)), None, &people);
        assert_eq!(both, made(dbas(2, true)), "a role of both stays a role");
        let both = dbas(1, false).stricter_of(&named(&["bob", "eve"]), None, &people);
        assert_eq!(both, named(&["bob"]), "only who was asked before and is asked now");
        let both = named(&["eve"]).stricter_of(&dbas(1, true), Some(&ana), &people);
        let eve = Audience { exclude_requester: true, ..named(&["eve"]) };
        assert_eq!(both, eve, "nobody is in both: those of now answer");
        let both = dbas(2, false).stricter_of(&named(&["bob"]), None, &people);
        assert_eq!(both, dbas(2, false), "too few are in both");
    }

    #[test]
    fn an_account_of_one_channel_stands_before_that_of_its_platform() {
        let link = |key: &str, account: &str| (key.to_owned(), account.to_owned());
        let links = [link("feishu", "ou_1"), link("feishu-eu", "ou_2"), link("slack", "")];
        let ana = Person {
            id: PersonId::new("ana"),
            name: "Ana".into(),
            roles: BTreeSet::new(),
            identities: links.into(),
        };
        assert_eq!(ana.identity_on("feishu", "feishu"), Some("ou_1"));
        assert_eq!(ana.identity_on("feishu-cn", "feishu"), Some("ou_1"));
        assert_eq!(ana.identity_on("feishu-eu", "feishu"), Some("ou_2"));
        assert_eq!(ana.identity_on("slack", "slack"), None, "nobody is called nothing");
        assert_eq!(ana.identity_on("telegram", "telegram"), None);
    }

    #[test]
    fn a_named_person_who_left_is_entitled_to_nothing() {
        let gone = PersonId::new("gone");
        let audience = Audience { people: [gone.clone()].into(), ..dbas(1, false) };
        assert!(!audience.admits(&gone, None, &people()));
    }
}
