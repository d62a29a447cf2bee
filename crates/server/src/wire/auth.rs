//! How somebody proved who they are, as a vote and a login show it.

use domain::id::TokenId;
use domain::person::{Actor, CredentialMaker, EarlierHand, LinkOrigin, Proof};
use schemars::JsonSchema;
use serde::Serialize;

use super::text::Text;

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Auth<'a> {
    /// `login` is a login from before it was recorded who made its link.
    #[schemars(extend("enum" = ["token", "link", "login", "channel", "door"]))]
    method: &'static str,
    /// Who made the link or the token; `runtime` for the link of the first start.
    #[serde(skip_serializing_if = "Option::is_none")]
    made_by: Option<Text<&'a Actor>>,
    /// Set if the maker had come in by a credential that this person made, or (`unrecorded`) by one of
    /// which nothing says who did.
    #[serde(skip_serializing_if = "Option::is_none")]
    through: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<Text<TokenId>>,
    /// The channel that vouched for them, or over which the link was sent to their own account.
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<&'a str>,
    /// The message that they pressed or wrote there.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    door: Option<&'a str>,
}

impl<'a> Auth<'a> {
    pub(super) fn of(proof: &'a Proof) -> Auth<'a> {
        let auth = Auth { method: proof.name(), ..Auth::default() };
        match proof {
            Proof::Token(id) => Auth { token: Some(Text(*id)), ..auth },
            Proof::MintedToken { id, made_by } => {
                Auth { token: Some(Text(*id)), ..auth.made(made_by) }
            }
            Proof::Login => auth,
            Proof::Link(origin) => Auth::of_link(origin),
            Proof::Channel { name, message } => {
                Auth { channel: Some(name), message: Some(message), ..auth }
            }
            Proof::Door(name) | Proof::Vouched(name) => Auth { door: Some(name), ..auth },
        }
    }

    pub(super) fn of_link(origin: &'a LinkOrigin) -> Auth<'a> {
        let auth = Auth { method: "link", channel: origin.channel.as_deref(), ..Auth::default() };
        // mutant: a-vote-does-not-show-the-maker
        auth.made(&origin.made_by)
    }

    fn made(self, maker: &'a CredentialMaker) -> Auth<'a> {
        let through = maker.through.as_ref().map(|hand| match hand {
            EarlierHand::Person(id) => id.as_str(),
            EarlierHand::Unrecorded => "unrecorded",
        });
        Auth { made_by: Some(Text(&maker.by)), through, ..self }
    }
}
