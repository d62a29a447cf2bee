//! What `docs/embedding.md` shows, in the order in which it shows it. A test holds the two together.

use std::sync::Arc;
use std::time::Duration;

use holdpoint::host::{Outcome, Recovery};
use holdpoint::prelude::*;
use holdpoint::testing::TestClock;
use holdpoint::{card, chosen};
use serde_json::json;

/// What the model gives. Names, types and comments become the schema.
#[derive(Deserialize, JsonSchema)]
struct Transfer {
    /// To which account.
    to: String,
    /// In cents.
    amount: u64,
    /// The teller's. People are shown `[secret]` in its place.
    #[schemars(extend("writeOnly" = true))]
    pin: Option<String>,
}

#[derive(Clone, Default)]
struct Bank(Arc<std::sync::Mutex<Vec<(String, String, u64)>>>);

impl Bank {
    async fn balance(&self) -> Result<u64, std::io::Error> {
        Ok(1_000)
    }

    async fn pay(&self, key: &str, to: &str, amount: u64) -> Result<u32, std::io::Error> {
        let mut paid = self.0.lock().unwrap();
        if !paid.iter().any(|(known, ..)| known == key) {
            paid.push((key.to_owned(), to.to_owned(), amount));
        }
        Ok(paid.len() as u32)
    }

    async fn look_up(&self, key: &str) -> Option<u32> {
        let paid = self.0.lock().unwrap();
        paid.iter().position(|(known, ..)| known == key).map(|at| at as u32 + 1)
    }
}

fn transfer(bank: Bank) -> Tool {
    let (paying, previewing) = (bank.clone(), bank.clone());
    let transfer = Tool::from_fn("transfer", "Moves money.", move |transfer: Transfer, context| {
        let bank = paying.clone();
        async move {
            let key = context.idempotency_key();
            let number = bank.pay(&key, &transfer.to, transfer.amount).await?;
            Ok(format!("payment {number}"))
        }
    })
    .idempotent()
    .preview(move |transfer: Transfer| {
        let bank = previewing.clone();
        async move {
            let balance = bank.balance().await?;
            if transfer.amount > balance {
                return Err(ToolError::unsound("there is not that much money"));
            }
            Ok(Preview::new(format!("leaves {} cents", balance - transfer.amount))
                .title(&format!("Pay {}", transfer.to)))
        }
    });
    transfer.into()
}

fn careful_transfer(bank: Bank) -> Tool {
    let (paying, looking) = (bank.clone(), bank.clone());
    Tool::from_fn("transfer", "Moves money.", move |transfer: Transfer, context| {
        let bank = paying.clone();
        async move {
            let Transfer { to, amount, pin } = transfer;
            let number = bank.pay(&context.idempotency_key(), &to, amount).await?;
            Ok(format!("payment {number}{}", if pin.is_some() { " with a pin" } else { "" }))
        }
    })
    .recover(move |_, context| {
        let bank = looking.clone();
        async move {
            match bank.look_up(&context.idempotency_key()).await {
                Some(number) => {
                    Recovery::Done(Outcome::Succeeded(format!("payment {number}").into()))
                }
                None => Recovery::Unknown { evidence: "the bank has not heard of it yet".into() },
            }
        }
    })
    .into()
}

const SCRIPT: &str = r#"
    [[turn]]
    when = { says_regex = '^Pay (\w+): (\d+)$' }
    calls = [{ tool = "transfer", json = '{{"to": "{1}", "amount": {2}}}' }]

    [[turn]]
    when = { result_of = "transfer" }
    text = "{result}"
"#;

fn builder(tool: Tool) -> Builder {
    let model = Arc::new(ScriptedModel::parse(SCRIPT).unwrap());
    Holdpoint::builder()
        .person(Person::new("ana").name("Ana").admin())
        .person(Person::new("bob").name("Bob").role("finance"))
        .person(Person::new("eva").name("Eva").role("finance"))
        .agent(Agent::new("teller", model).instructions("You work in a bank.").tool(tool))
}

fn ruled(tool: Tool) -> Builder {
    let builder = builder(tool);
    builder
        .rule(Rule::allow("looking is free").effects(Effects::ReadOnly))
        .rule(Rule::deny("never that much").tool("transfer").when("/amount", Is::more_than(900)))
        .rule(
            Rule::ask("much needs two", Whom::role("finance").quorum(2).not_the_requester())
                .tool("transfer")
                .when("/amount", Is::at_least(500))
                .risk(Risk::High),
        )
        .rule(Rule::ask("money needs finance", Whom::role("finance")).tool("transfer"))
        .otherwise(Then::Deny)
}

#[tokio::test]
async fn a_run_is_said_waited_for_and_followed() -> anyhow::Result<()> {
    let holdpoint = ruled(transfer(Bank::default())).build().await?;
    let ana = holdpoint.vouch("ana", "logged in with a badge")?;
    let bob = holdpoint.vouch("bob", "logged in with a badge")?;

    let session = holdpoint.open(&ana, "teller").await?;
    session.say("Pay joe: 100").await?;
    match session.wait().await? {
        Rest::Paused { holds } => {
            for hold in holds {
                assert!(card(&hold).contains("preview (tool):\n│ leaves 900 cents\n"));
                holdpoint.answer(&bob, &hold, Answer::approve()).await?;
            }
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(session.wait().await?.text(), Some("payment 1"));

    let mut events = session.events_after(0).await?;
    while let Some(followed) = events.next().await {
        match followed? {
            Followed::Event(happening) => {
                // Remember `happening.position`: `events_after` goes on from there.
                if let Event::Session(SessionEvent::RunCompleted { .. }) = happening.event() {
                    break;
                }
            }
            // Text as the model writes it. It is not stored; the whole message follows as an event.
            Followed::Spoken(_) | Followed::Reset { .. } => {}
        }
    }
    holdpoint.close(Duration::from_secs(10)).await;
    Ok(())
}

#[tokio::test]
async fn an_answer_can_be_refused_for_good_reasons() -> anyhow::Result<()> {
    let holdpoint = ruled(transfer(Bank::default())).build().await?;
    let ana = holdpoint.vouch("ana", "logged in with a badge")?;
    let session = holdpoint.open(&ana, "teller").await?;
    let rest = session.ask("Pay joe: 100").await?;
    let hold = &rest.holds()[0];

    match holdpoint.answer(&ana, hold, Answer::approve()).await {
        Ok(hold) => panic!("{}", hold.id),
        // Another answer was faster. `hold` says who, and what they said.
        Err(Error::Refused(Refusal::AlreadyDecided { hold })) => panic!("{}", hold.id),
        // It was edited since it was shown: show it again.
        Err(Error::Refused(Refusal::VersionConflict { hold })) => panic!("{}", card(&hold)),
        // The rule asks finance, and Ana is not of them.
        Err(Error::Refused(Refusal::NotEntitled { why })) => assert!(!why.is_empty()),
        // Nothing was changed, or it is found by reading again.
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

#[tokio::test]
async fn a_nightly_job_asks_by_itself() -> anyhow::Result<()> {
    let holdpoint = ruled(transfer(Bank::default())).build().await?;
    let bob = holdpoint.vouch("bob", "logged in with a badge")?;

    let job = holdpoint.program("nightly").await?;
    let ask = Ask::choose("The backup failed. What now?", ["Try again", "Skip tonight"])
        .role("finance")
        .context(json!({"disk": "full"}))
        .expires(Duration::from_secs(3_600));
    let hold = holdpoint.ask(&job, ask).await?;
    holdpoint.answer(&bob, &hold, Answer::choose(["Skip tonight"])).await?;
    let decided = holdpoint.decided(&job, hold.id, Duration::from_secs(3_600)).await?;
    let decided = decided.expect("somebody answered in time");
    assert_eq!(chosen(&decided), Some(vec!["Skip tonight".to_owned()]));
    Ok(())
}

#[tokio::test]
async fn code_decides() -> anyhow::Result<()> {
    let builder = builder(transfer(Bank::default()));
    let holdpoint = builder
        .otherwise(Then::Allow)
        .decider("limits 2", |facts| match facts.arguments["amount"].as_u64() {
            Some(0..=10) => Ok(Opinion::Fine),
            Some(11..=800) => Ok(Opinion::ask(Whom::role("finance").not_the_requester())),
            Some(_) => Ok(Opinion::Deny),
            None => Err("there is no amount"),
        })
        .build()
        .await?;
    let ana = holdpoint.vouch("ana", "logged in with a badge")?;
    for (amount, paused) in [(10, false), (11, true), (801, false)] {
        let session = holdpoint.open(&ana, "teller").await?;
        let rest = session.ask(format!("Pay joe: {amount}")).await?;
        assert_eq!(!rest.holds().is_empty(), paused, "{amount}");
    }
    Ok(())
}

#[tokio::test]
async fn nobody_answers_in_time() -> anyhow::Result<()> {
    let bank = Bank::default();
    let clock = TestClock::new();
    let holdpoint = builder(careful_transfer(bank.clone())).clock(clock.clone()).build().await?;
    let ana = holdpoint.vouch("ana", "the test says so")?;
    let session = holdpoint.open(&ana, "teller").await?;
    assert_eq!(session.ask("Pay joe: 100").await?.holds().len(), 1);
    clock.advance(Duration::from_secs(24 * 60 * 60));
    let rest = session.wait().await?;
    assert!(rest.text().unwrap().starts_with("Expired: nobody decided in time."));
    assert_eq!(bank.look_up("any").await, None);
    Ok(())
}
