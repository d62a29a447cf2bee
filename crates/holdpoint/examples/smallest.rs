//! The smallest program: one agent, one tool that is a closure, and an approval in the terminal.
//!
//!     cargo run -p holdpoint --example smallest

use std::io::Write as _;
use std::sync::Arc;

use holdpoint::card;
use holdpoint::prelude::*;

/// The arguments of the tool. Names, types and comments become the schema that the model is given.
#[derive(Deserialize, JsonSchema)]
struct Refund {
    /// The order's number.
    order: u64,
    /// In cents.
    amount: u64,
}

/// In place of a real model, so that the example needs no key. Any `holdpoint::model::Model` will do.
const SCRIPT: &str = r#"
    [[turn]]
    when = { says = "Order 7 arrived broken." }
    text = "I am sorry. Let me pay that back."
    calls = [{ tool = "refund", arguments = { order = 7, amount = 1250 } }]

    [[turn]]
    when = { result_of = "refund" }
    text = "{result}"
"#;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let refund = Tool::from_fn("refund", "Pays money back.", |refund: Refund, _| async move {
        // Here your bank is called. This runs once, and only with the arguments that were approved.
        Ok(format!("{} cents were paid back for order {}", refund.amount, refund.order))
    });
    let holdpoint = Holdpoint::builder()
        .person(Person::new("ana").admin())
        .agent(Agent::new("support", Arc::new(ScriptedModel::parse(SCRIPT)?)).tool(refund))
        .build()
        .await?;

    // The person at this terminal is Ana. That is this program's word; in a server it would come after a login.
    let ana = holdpoint.vouch("ana", "at the terminal")?;
    let session = holdpoint.open(&ana, "support").await?;
    let mut rest = session.ask("Order 7 arrived broken.").await?;
    while let Rest::Paused { holds } = &rest {
        for hold in holds {
            // Not a text of our own: this is what is recorded as having been shown.
            let answer = match answered(&format!("{}Approve? [y/N] ", card(hold)))?.as_str() {
                "y" | "yes" => Answer::approve(),
                _ => Answer::deny("not now"),
            };
            holdpoint.answer(&ana, hold, answer).await?;
        }
        rest = session.wait().await?;
    }
    say(&format!("{}\n", rest.text().unwrap_or("It did not end well.")))
}

fn answered(question: &str) -> anyhow::Result<String> {
    say(question)?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(line.trim().to_lowercase())
}

fn say(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
