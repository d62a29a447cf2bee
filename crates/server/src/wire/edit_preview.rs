//! What an edit would make of a hold: what is sent to see it, and what is seen.

use domain::digest::Digest;
use domain::json::Arguments;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::answer::bad_arguments;
use super::headline::Headline;
use super::hold::{Audience, Call, Hold, HoldPreview};
use super::text::Text;
use super::view::View;
use crate::problem::Problem;

/// The arguments as they would be sent with an approval.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditBody {
    /// All of them. Secrets may be sent back as they were shown.
    #[schemars(with = "serde_json::Map<String, Value>")]
    arguments: Box<RawValue>,
}

impl EditBody {
    pub(crate) fn parse(self) -> Result<Arguments, Problem> {
        let text = self.arguments.get();
        Arguments::parse(text.as_bytes()).map_err(|error| bad_arguments("arguments", &error))
    }
}

/// A hold as it would be after the edit. Nothing of it is stored.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EditPreview<'a> {
    /// Of the edited call. The approval names the digest of the hold as it is.
    digest: Text<Digest>,
    title: &'a str,
    #[schemars(extend("enum" = ["low", "medium", "high", "critical"]))]
    risk: &'static str,
    /// What the policy says of the edited call. One that it denies is refused as `answer_invalid`.
    #[schemars(extend("enum" = ["allow", "ask"]))]
    verdict: &'static str,
    rule: Option<&'a str>,
    audience: Audience<'a>,
    /// Whether the caller's approval would count for the edited call; otherwise the hold waits for others.
    may_approve: bool,
    call: Option<Call<'a>>,
    headline: Headline,
    preview: HoldPreview<'a>,
    view: View,
}

impl<'a> EditPreview<'a> {
    pub(crate) fn of(preview: &'a engine::EditPreview) -> EditPreview<'a> {
        let Hold {
            digest, title, risk, rule, audience, call, headline, preview: found, view, ..
        } = Hold::of(&preview.hold);
        EditPreview {
            digest,
            title,
            risk,
            verdict: if preview.is_allowed { "allow" } else { "ask" },
            rule,
            audience,
            may_approve: preview.may_approve,
            call,
            headline,
            preview: found,
            view,
        }
    }
}
