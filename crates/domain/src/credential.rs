//! Who made the token or the login link by which a person came in. A vote carries it, so that a reader
//! of the log sees when one person held the credentials of two, and so that a rule can refuse such votes.

use std::collections::BTreeSet;

use crate::id::TokenId;
use crate::person::{Actor, PersonId};

/// Who made a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialMaker {
    /// Who made it. The runtime makes the link of the first start, and those of an embedding program.
    pub by: Actor,
    /// Set if the maker had come in by a credential that was not certainly their own. Without it an
    /// admin could make a link for another admin, log in as that person, and let "that person" make a
    /// clean one.
    pub through: Option<EarlierHand>,
}

/// Whose hand was on the maker's own credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EarlierHand {
    /// This person had the maker's credential in hand when it was made.
    Person(PersonId),
    /// The maker's login is older than record version 4, and nothing says who made it.
    Unrecorded,
}

impl CredentialMaker {
    /// A maker who came in by a credential of their own.
    pub fn new(by: Actor) -> CredentialMaker {
        CredentialMaker { by, through: None }
    }

    /// People other than `owner` who had the credential in hand when it was made. What is asked by it may
    /// be theirs.
    pub fn others(&self, owner: Option<&PersonId>) -> BTreeSet<PersonId> {
        let earlier = match &self.through {
            Some(EarlierHand::Person(id)) => Some(id),
            Some(EarlierHand::Unrecorded) | None => None,
        };
        let hands = self.by.accountable().into_iter().chain(earlier);
        hands.filter(|id| Some(*id) != owner).cloned().collect()
    }

    /// Whether nobody but `owner` had the credential in hand when it was made. The operator, who starts
    /// the server and gets its first link, names the people and writes the rules: the runtime's links
    /// are not refused, since that would protect nothing.
    pub fn is_own(&self, owner: &PersonId) -> bool {
        let by_owner = match &self.by {
            Actor::Person(by) => by == owner,
            Actor::Runtime => true,
            Actor::Program { .. } => false,
        };
        by_owner && self.through.is_none()
    }
}

/// Where a one-time login link came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkOrigin {
    /// The admin, the person or the runtime that made the link.
    pub made_by: CredentialMaker,
    /// The channel over which the link was sent to the person's own linked account, at their wish.
    pub channel: Option<String>,
}

/// How somebody proved who they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// A token. Votes before record version 4 do not tell who made it.
    Token(TokenId),
    /// A token, with who made it.
    MintedToken {
        /// Names the token, so that one that was revoked can be found on votes.
        id: TokenId,
        /// Who minted it.
        made_by: CredentialMaker,
    },
    /// A login. Before record version 4 nothing tells who made its link.
    Login,
    /// A login by a one-time link.
    Link(LinkOrigin),
    /// The sender that a chat platform vouched for, and the message that said it.
    Channel {
        /// The name of the channel.
        name: String,
        /// The platform's id of the message or press.
        message: String,
    },
    /// Nothing: a loopback door that acts in a person's name. Any program on the machine can use it.
    Door(String),
    /// The word of the program that embeds us, with what it says about how it knows them. Before record
    /// version 4 a vote tells it as a door.
    Vouched(String),
}

impl Proof {
    /// The name of the method, as the API shows it.
    pub fn name(&self) -> &'static str {
        match self {
            Proof::Token(_) | Proof::MintedToken { .. } => "token",
            Proof::Login => "login",
            Proof::Link(_) => "link",
            Proof::Channel { .. } => "channel",
            Proof::Door(_) | Proof::Vouched(_) => "door",
        }
    }

    /// Who made the credential; `None` where nothing was made, or where it is not recorded.
    pub fn made_by(&self) -> Option<&CredentialMaker> {
        match self {
            Proof::MintedToken { made_by, .. } => Some(made_by),
            Proof::Link(origin) => Some(&origin.made_by),
            Proof::Token(_)
            | Proof::Login
            | Proof::Channel { .. }
            | Proof::Door(_)
            | Proof::Vouched(_) => None,
        }
    }

    /// Whether it proves that `person` came in by a credential that no other person made. What is not
    /// recorded is not proven.
    pub fn is_own(&self, person: &PersonId) -> bool {
        match self {
            // mutant: a-door-proves-who-came
            Proof::Token(_) | Proof::Login | Proof::Door(_) => false,
            Proof::MintedToken { made_by, .. } => made_by.is_own(person),
            Proof::Link(origin) => origin.made_by.is_own(person),
            Proof::Channel { .. } | Proof::Vouched(_) => true,
        }
    }

    /// What a credential inherits that `maker`, who came in by this proof, makes now.
    pub fn earlier_hand(&self, maker: &PersonId) -> Option<EarlierHand> {
        if self.is_own(maker) {
            return None;
        }
        let Some(CredentialMaker { by, through }) = self.made_by() else {
            return Some(EarlierHand::Unrecorded);
        };
        match (through, by) {
            (Some(earlier), _) => Some(earlier.clone()),
            (None, Actor::Person(by)) => Some(EarlierHand::Person(by.clone())),
            (None, _) => Some(EarlierHand::Unrecorded),
        }
    }

    /// Why a rule refuses it, with what the person can do.
    pub fn why_not_own(&self, person: &PersonId) -> String {
        if let Proof::Door(door) = self {
            return format!(
                "the rule asks for a login of your own, and the door `{door}` let you in without one; \
                 answer in your own chat, or have a login link sent there"
            );
        }
        let who = match self.made_by() {
            Some(CredentialMaker { through: Some(EarlierHand::Person(by)), .. }) => by.to_string(),
            Some(CredentialMaker { by: Actor::Person(by), through: None }) if by != person => {
                by.to_string()
            }
            _ => "somebody who is not on record".to_owned(),
        };
        format!(
            "the rule refuses votes of logins that another person made, and yours was made by {who}; \
             answer in your own chat, or have a login link sent there"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(id: &str) -> PersonId {
        PersonId::new(id)
    }

    fn link(by: &str, through: Option<EarlierHand>) -> Proof {
        let made_by = CredentialMaker { by: Actor::Person(person(by)), through };
        Proof::Link(LinkOrigin { made_by, channel: None })
    }

    #[test]
    fn i53_a_link_that_another_person_made_is_not_own() {
        assert!(link("ana", None).is_own(&person("ana")));
        assert!(!link("root", None).is_own(&person("ana")));
        let runtime = CredentialMaker::new(Actor::Runtime);
        assert!(Proof::Link(LinkOrigin { made_by: runtime, channel: None }).is_own(&person("ana")));
        let program =
            Actor::Program { token: TokenId::new(1, 1), name: "ci".into(), minted_by: None };
        assert!(!CredentialMaker::new(program).is_own(&person("ana")));
        assert!(!Proof::Login.is_own(&person("ana")), "what is not recorded is not proven");
        assert!(!Proof::Token(TokenId::new(1, 1)).is_own(&person("ana")));
        let chat = Proof::Channel { name: "slack".into(), message: "m".into() };
        assert!(chat.is_own(&person("ana")));
    }

    #[test]
    fn i32_those_who_had_a_credential_in_hand_are_known() {
        let others = |proof: &Proof, owner: &str| -> Vec<String> {
            let makers = proof.made_by().expect("a maker").others(Some(&person(owner)));
            makers.iter().map(PersonId::to_string).collect()
        };
        assert!(others(&link("ana", None), "ana").is_empty());
        assert_eq!(others(&link("root", None), "ana"), ["root"]);
        let earlier = |by: &str| Some(EarlierHand::Person(person(by)));
        assert_eq!(others(&link("ana", earlier("root")), "ana"), ["root"]);
        assert_eq!(others(&link("eve", earlier("root")), "ana"), ["eve", "root"]);
        assert!(others(&link("ana", Some(EarlierHand::Unrecorded)), "ana").is_empty());
        let program =
            Actor::Program { token: TokenId::new(1, 1), name: "ci".into(), minted_by: None };
        assert!(CredentialMaker::new(program).others(None).is_empty());
    }

    #[test]
    fn i53_a_door_that_asks_for_no_credential_proves_nothing() {
        let (ana, door) = (person("ana"), Proof::Door("worlds".into()));
        assert!(!door.is_own(&ana));
        assert!(door.why_not_own(&ana).contains("door `worlds`"), "{}", door.why_not_own(&ana));
        assert_eq!(door.earlier_hand(&ana), Some(EarlierHand::Unrecorded));
        // The program that embeds us has checked who it is.
        assert!(Proof::Vouched("sso".into()).is_own(&ana));
    }

    #[test]
    fn i53_a_clean_link_cannot_be_made_from_one_that_is_not() {
        let (ana, root) = (person("ana"), person("root"));
        // Root made Ana's link, logs in as Ana, and makes a link for Ana.
        let earlier = link("root", None).earlier_hand(&ana);
        assert_eq!(earlier, Some(EarlierHand::Person(root.clone())));
        let second = link("ana", earlier);
        assert!(!second.is_own(&ana));
        assert!(second.why_not_own(&ana).contains("made by root"), "{}", second.why_not_own(&ana));
        // And once more.
        let third = link("ana", second.earlier_hand(&ana));
        assert!(!third.is_own(&ana));
        // Nor does a link that Ana makes for root become root's own.
        assert!(!link("ana", link("root", None).earlier_hand(&ana)).is_own(&root));
        assert_eq!(Proof::Login.earlier_hand(&ana), Some(EarlierHand::Unrecorded));
        assert_eq!(link("ana", None).earlier_hand(&ana), None);
    }
}
