//! A shop that pays money back, with a witness of every payment.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use holdpoint::TypedFn;
use holdpoint::prelude::*;

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
pub(crate) struct Refund {
    /// The order's number.
    pub(crate) order: u64,
    /// In cents.
    pub(crate) amount: u64,
    /// The till's.
    #[schemars(extend("writeOnly" = true))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pin: Option<String>,
}

/// What was really paid, and under which key.
#[derive(Clone, Default)]
pub(crate) struct Till(Arc<Mutex<Vec<(Refund, String)>>>);

impl Till {
    pub(crate) fn paid(&self) -> Vec<(u64, u64)> {
        self.0.lock().unwrap().iter().map(|(refund, _)| (refund.order, refund.amount)).collect()
    }

    pub(crate) fn pins(&self) -> Vec<Option<String>> {
        self.0.lock().unwrap().iter().map(|(refund, _)| refund.pin.clone()).collect()
    }

    pub(crate) fn tool(&self) -> TypedFn<Refund> {
        let till = self.clone();
        Tool::from_fn("refund", "Pays money back.", move |refund: Refund, context| {
            let till = till.clone();
            async move {
                let text = format!("paid {} for {}", refund.amount, refund.order);
                till.0.lock().unwrap().push((refund, context.idempotency_key()));
                Ok(text)
            }
        })
        .preview(|refund: Refund| async move {
            if refund.amount == 0 {
                return Err(ToolError::unsound("pay at least one cent"));
            }
            Ok(Preview::new(format!("Order {} was paid by card", refund.order))
                .title(&format!("Refund order {}", refund.order)))
        })
    }
}

pub(crate) const SCRIPT: &str = r#"
    [[turn]]
    when = { says_regex = '^Refund (\d+): (\d+)$' }
    calls = [{ tool = "refund", json = '{{"order": {1}, "amount": {2}}}' }]

    [[turn]]
    when = { says = "Refund two." }
    calls = [
        { tool = "refund", arguments = { order = 1, amount = 100 } },
        { tool = "refund", arguments = { order = 2, amount = 200 } },
        { tool = "refund", arguments = { order = 3, amount = 300 } },
    ]

    [[turn]]
    when = { says = "Refund with the pin." }
    calls = [{ tool = "refund", arguments = { order = 9, amount = 1, pin = "hunter2" } }]

    [[turn]]
    when = { says = "Fail once." }
    fail = "unavailable"
    times = 1

    [[turn]]
    when = { says = "Fail once." }
    text = "Now it works."

    [[turn]]
    when = { says = "Wait." }
    calls = [{ tool = "wait", arguments = {} }]

    [[turn]]
    when = { says = "Where to?" }
    calls = [{ tool = "ask_address", arguments = { note = "for the parcel" } }]

    [[turn]]
    when = { says = "Where am I?" }
    calls = [{ tool = "location", arguments = { accuracy = "city" } }]

    [[turn]]
    when = { result_regex = '(?s).*' }
    text = "{result}"
"#;

pub(crate) fn script() -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::parse(SCRIPT).unwrap())
}

/// Ana runs the shop, Bob and Eva are in finance, Joe is nobody in particular.
pub(crate) fn people(builder: Builder) -> Builder {
    builder
        .person(Person::new("ana").name("Ana").admin())
        .person(Person::new("bob").name("Bob").role("finance"))
        .person(Person::new("eva").name("Eva").role("finance"))
        .person(Person::new("joe"))
}

pub(crate) fn shop(till: &Till) -> Builder {
    people(Holdpoint::builder())
        .agent(Agent::new("shop", script()).instructions("You run a shop.").tool(till.tool()))
        .rule(Rule::ask("money needs finance", Whom::role("finance")).tool("refund"))
}

pub(crate) const GRACE: Duration = Duration::from_secs(5);

pub(crate) fn one(rest: &Rest) -> Arc<Hold> {
    let [hold] = rest.holds() else { panic!("one hold, and not {rest:?}") };
    hold.clone()
}
