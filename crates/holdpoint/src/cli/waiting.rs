//! Opening a hold and waiting for people, however long it takes.
//!
//! The hold lives on the server: a lost connection or a restart there is sat out here. Ctrl-C
//! takes the question back, so that no person answers a question that no program waits for.

use std::time::Duration;

use anyhow::Context as _;
use domain::hold::HoldReplyState;
use domain::id::HoldId;
use domain::time::Timestamp;
use domain::visible::visible;
use engine::SystemRng;
use ports::backoff::Backoff;
use ports::clock::Rng as _;
use serde_json::{Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::args::Asking;
use super::client::{Client, Unreachable};
use super::output::{Terminal, moment, now};
use super::problem::Problem;

/// Long enough for a reply that is on its way, short enough for somebody who wants to leave.
const LEAVING: Duration = Duration::from_secs(5);
/// After this, a hold that should have expired has: the server is gone for good.
const OVERDUE_MS: u64 = 120_000;
/// How long to be patient with a lost server when the hold itself never ends.
const ENDLESS_MS: u64 = 24 * 3600 * 1000;
const AGAIN_FIRST: Duration = Duration::from_secs(2);
const AGAIN_MAX: Duration = Duration::from_secs(15);

pub enum Waited {
    Decided(Value),
    Interrupted,
}

/// A wish to end this program, from Ctrl-C or from the process that started it.
pub struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    Interrupt,
    Terminate,
    Hangup,
}

impl Interrupts {
    /// From now on these no longer end the program by themselves.
    pub fn listen() -> anyhow::Result<Interrupts> {
        let on = |kind| signal(kind).context("cannot listen for Ctrl-C");
        Ok(Interrupts {
            interrupt: on(SignalKind::interrupt())?,
            terminate: on(SignalKind::terminate())?,
            hangup: on(SignalKind::hangup())?,
        })
    }

    pub async fn next(&mut self) -> Interrupt {
        tokio::select! {
            _ = self.interrupt.recv() => Interrupt::Interrupt,
            _ = self.terminate.recv() => Interrupt::Terminate,
            _ = self.hangup.recv() => Interrupt::Hangup,
        }
    }
}

/// Adds to a question whom it goes to and until when.
pub fn addressed(mut body: Value, asking: &Asking) -> Value {
    if !asking.to.is_empty() {
        let (people, roles): (Vec<&str>, Vec<&str>) =
            asking.to.iter().map(String::as_str).partition(|to| to.starts_with('@'));
        let people: Vec<&str> = people.iter().map(|person| &person[1..]).collect();
        body["audience"] = json!({"people": people, "roles": roles});
    }
    if let Some(timeout) = asking.timeout {
        body["expires_in_s"] = json!(timeout.as_secs());
    }
    if let Some(risk) = &asking.risk {
        body["risk"] = json!(risk);
    }
    body
}

/// Puts a question to people and waits until it is decided, one way or another.
pub async fn ask_and_wait(
    client: &Client,
    terminal: &Terminal,
    interrupts: &mut Interrupts,
    body: &Value,
) -> anyhow::Result<Waited> {
    let mut opening = Box::pin(client.post("/v1/holds", body));
    let (opened, leaving) = tokio::select! {
        opened = &mut opening => (opened?, false),
        _ = interrupts.next() => match tokio::time::timeout(LEAVING, opening).await {
            Ok(Ok(opened)) => (opened, true),
            // Nothing was opened, or nobody can say: it will expire by itself.
            _ => return Ok(Waited::Interrupted),
        },
    };
    let id: HoldId = opened["id"]
        .as_str()
        .and_then(|id| id.parse().ok())
        .context("the server's reply names no hold")?;
    if leaving {
        take_back(client, terminal, interrupts, id).await;
        return Ok(Waited::Interrupted);
    }
    if HoldReplyState::of(&opened) != HoldReplyState::Pending {
        return Ok(Waited::Decided(opened));
    }
    announce(client, terminal, id, &opened);
    until_decided(client, terminal, interrupts, id, &opened).await
}

fn announce(client: &Client, terminal: &Terminal, id: HoldId, hold: &Value) {
    let until = match hold["expires_at"].as_str() {
        Some(at) => format!(", until {}", moment(at, now())),
        None => String::new(),
    };
    let tag = visible(hold["tag"].as_str().unwrap_or_default());
    terminal.note(&format!("Asked: {id} ({tag}){until}"));
    terminal.note(&format!("       {}", client.page(id)));
}

async fn until_decided(
    client: &Client,
    terminal: &Terminal,
    interrupts: &mut Interrupts,
    id: HoldId,
    hold: &Value,
) -> anyhow::Result<Waited> {
    let give_up_at = match hold["expires_at"].as_str().and_then(Timestamp::parse) {
        Some(at) => at.plus_ms(OVERDUE_MS),
        None => now().plus_ms(ENDLESS_MS),
    };
    let (rng, mut backoff) = (SystemRng::default(), Backoff::new(AGAIN_FIRST, AGAIN_MAX));
    let mut is_away = false;
    loop {
        let error = tokio::select! {
            waited = client.wait_decided(id) => match waited {
                Ok(Some(hold)) if HoldReplyState::of(&hold) != HoldReplyState::Pending => {
                    return Ok(Waited::Decided(hold));
                }
                Ok(not_yet) => {
                    if is_away {
                        terminal.note("The server is back; still waiting.");
                    }
                    is_away = false;
                    backoff.reset();
                    // A server that answers at once must not be asked in a tight circle.
                    if not_yet.is_none() {
                        continue;
                    }
                    None
                }
                Err(error) if is_passing(&error) && now() < give_up_at => Some(error),
                Err(error) => return Err(error),
            },
            _ = interrupts.next() => {
                take_back(client, terminal, interrupts, id).await;
                return Ok(Waited::Interrupted);
            }
        };
        if let Some(error) = error {
            if !is_away {
                terminal.warn(&format!("{error}\n  Still waiting; Ctrl-C gives up."));
            }
            is_away = true;
        }
        tokio::select! {
            () = tokio::time::sleep(backoff.wait(rng.bits())) => {}
            _ = interrupts.next() => {
                take_back(client, terminal, interrupts, id).await;
                return Ok(Waited::Interrupted);
            }
        }
    }
}

/// What ends by itself: the server is away, starting, or busy.
pub fn is_passing(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<Problem>() {
        Some(problem) => matches!(problem.status, 429 | 500..=599),
        None => error.is::<Unreachable>(),
    }
}

async fn take_back(client: &Client, terminal: &Terminal, interrupts: &mut Interrupts, id: HoldId) {
    let path = format!("/v1/holds/{id}/cancel");
    let reason = json!({"reason": "whoever asked no longer waits"});
    let cancelled = tokio::select! {
        cancelled = tokio::time::timeout(LEAVING, client.post(&path, &reason)) => cancelled,
        // A second Ctrl-C ends it at once.
        _ = interrupts.next() => return,
    };
    match cancelled {
        Ok(Ok(_)) => terminal.note("The question was taken back."),
        Ok(Err(error)) => terminal.warn(&format!("the question was not taken back: {error:#}")),
        Err(_) => terminal.warn("the server did not say whether the question was taken back"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_and_roles_are_told_apart() {
        let asking = Asking {
            to: vec!["dba".into(), "@ana".into()],
            timeout: Some(Duration::from_secs(300)),
            risk: Some("high".into()),
        };
        assert_eq!(
            addressed(json!({"kind": "fill"}), &asking),
            json!({
                "kind": "fill", "expires_in_s": 300, "risk": "high",
                "audience": {"people": ["ana"], "roles": ["dba"]},
            })
        );
        // Nobody named: the policy says who is asked.
        assert_eq!(addressed(json!({}), &Asking::default()), json!({}));
    }

    #[test]
    fn only_what_passes_is_sat_out() {
        let problem = |status| Problem::read(status, "", b"", true);
        assert!(is_passing(&problem(503).into()));
        assert!(is_passing(&problem(429).into()));
        assert!(!is_passing(&problem(404).into()));
        assert!(!is_passing(&anyhow::anyhow!("bug")));
    }
}
