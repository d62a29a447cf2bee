//! A policy in code, a tool that the other side carries out, and a form by a Rust type.
//!
//!     cargo run -p holdpoint --example own_policy

use std::convert::Infallible;
use std::io::Write as _;
use std::sync::Arc;

use holdpoint::prelude::*;
use holdpoint::{card, filled};

#[derive(Deserialize, Serialize, JsonSchema)]
struct Order {
    /// The goods.
    item: String,
    /// In euros.
    price: u64,
}

/// What the customer fills in.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Address {
    /// Street and number.
    street: String,
    /// Five digits.
    #[schemars(regex(pattern = r"^\d{5}$"))]
    zip: String,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the customer's app reads it, not this program")]
struct Scan {
    /// What to hold in front of the camera.
    what: String,
}

const SCRIPT: &str = r#"
    [[turn]]
    when = { says_regex = '^Buy (.+) for (\d+)$' }
    calls = [
        { tool = "address", arguments = {} },
        { tool = "scan", arguments = { what = "your card" } },
        { tool = "order", json = '{{"item": "{1}", "price": {2}}}' },
    ]

    [[turn]]
    when = { after_tools = ["address", "scan", "order"] }
    text = "{result}"
"#;

/// What the program's own code thinks of a call. It knows things that no rule can: here, a credit line.
fn opinion(facts: &holdpoint::Facts<'_>) -> Result<Opinion, Infallible> {
    let price = facts.arguments["price"].as_u64();
    Ok(match (facts.tool, price) {
        ("order", Some(0..=50)) => Opinion::Fine,
        ("order", Some(51..=5_000)) => Opinion::ask(Whom::role("buyer").not_the_requester()),
        ("order", _) => Opinion::Deny,
        _ => Opinion::Fine,
    })
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let order = Tool::from_fn("order", "Orders goods.", |order: Order, _| async move {
        Ok(format!("ordered {} for {} euros", order.item, order.price))
    });
    let agent = Agent::new("buyer", Arc::new(ScriptedModel::parse(SCRIPT)?))
        .tool(Tool::form::<Address>("address", "Asks where to deliver.", "Where shall we deliver?"))
        .tool(Tool::client::<Scan>("scan", "Scans something with the customer's phone."))
        .tool(order);
    let holdpoint = Holdpoint::builder()
        .person(Person::new("cleo").name("Cleo"))
        .person(Person::new("bea").name("Bea").role("buyer").admin())
        .agent(agent)
        // No rules: the code decides alone. If it failed, people would be asked.
        .otherwise(Then::Allow)
        .decider("credit line 1", opinion)
        .build()
        .await?;

    let cleo = holdpoint.vouch("cleo", "an example has no login")?;
    let bea = holdpoint.vouch("bea", "an example has no login")?;
    let mut out = std::io::stdout();
    for wish in ["Buy a cup for 12", "Buy a chair for 900", "Buy a house for 900000"] {
        let session = holdpoint.open(&cleo, "buyer").await?;
        let mut rest = session.ask(wish).await?;
        while let Rest::Paused { holds } = &rest {
            for hold in holds {
                match &hold.question {
                    Question::Fill { .. } => {
                        let home = Address { street: "Main Street 1".into(), zip: "80331".into() };
                        let hold = holdpoint.answer(&cleo, hold, Answer::fill(&home)).await?;
                        if let Some(address) = filled::<Address>(&hold) {
                            writeln!(out, "Cleo lives at {}", address?.street)?;
                        }
                    }
                    // The customer's app would do this, over HTTP.
                    Question::Perform { .. } => {
                        holdpoint.answer(&cleo, hold, Answer::perform("card 4711")).await?;
                    }
                    _ => {
                        // Cleo asked for it, so she may not approve it; that is refused, and nothing changes.
                        if let Err(why) = holdpoint.answer(&cleo, hold, Answer::approve()).await {
                            writeln!(out, "Cleo: {why}")?;
                        }
                        write!(out, "Bea approves:\n{}", card(hold))?;
                        holdpoint.answer(&bea, hold, Answer::approve()).await?;
                    }
                }
            }
            rest = session.wait().await?;
        }
        writeln!(out, "{wish}: {}\n", rest.text().unwrap_or_default().replace('\n', " | "))?;
    }
    Ok(())
}
