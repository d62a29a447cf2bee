//! A person's own browsers that are told.

use domain::time::Timestamp;
use engine::{NewSubscription, Subscription};
use ports::push::{PushLanguage, PushTarget};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::Text;
use crate::problem::Problem;

/// What `PushManager.subscribe` gives, as JSON, and what is worded how.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PushBody {
    endpoint: String,
    keys: PushKeys,
    /// When the browser says that it ends; we end it before.
    #[serde(default, rename = "expirationTime")]
    #[expect(dead_code, reason = "browsers send it with the rest")]
    expiration_time: Option<f64>,
    /// `en` or `zh`.
    language: Option<String>,
    /// What its owner tells it by.
    name: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PushKeys {
    p256dh: String,
    auth: String,
}

impl PushBody {
    pub(crate) fn parse(self) -> Result<NewSubscription, Problem> {
        let PushKeys { p256dh, auth } = self.keys;
        let language = match self.language.as_deref() {
            None => PushLanguage::default(),
            Some(name) => PushLanguage::parse(name)
                .ok_or_else(|| Problem::invalid("language", "is one of: en, zh"))?,
        };
        Ok(NewSubscription {
            target: PushTarget { endpoint: self.endpoint, p256dh, auth },
            language,
            name: self.name,
        })
    }
}

/// Nothing of its endpoint or keys is told again.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PushSubscription {
    id: String,
    name: Option<String>,
    #[schemars(extend("enum" = ["en", "zh"]))]
    language: &'static str,
    #[schemars(extend("format" = "date-time"))]
    at: Text<Timestamp>,
}

impl PushSubscription {
    pub(crate) fn of(one: Subscription) -> PushSubscription {
        let language = one.language.name();
        PushSubscription { id: one.id, name: one.name, language, at: Text(one.at) }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PushSubscriptions {
    /// The `applicationServerKey`; null where no notices are sent.
    pub(crate) key: Option<String>,
    pub(crate) items: Vec<PushSubscription>,
}
