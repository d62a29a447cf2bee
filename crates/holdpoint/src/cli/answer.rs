//! One hold: shown first, whole, and then answered.

use std::io::{self, Write};

use anyhow::Context as _;
use domain::hold::HoldReplyState;
use domain::id::HoldId;
use domain::json::Arguments;
use domain::visible::visible;
use serde_json::{Value, json};

use super::args::{AnswerArgs, ApproveArgs, ClaimArgs, CommentArgs, DenyArgs, ShowArgs};
use super::card::{card, decided, outcome, view_is_genuine};
use super::client::Client;
use super::exit::{Exit, UsageError};
use super::json;
use super::menu::{self, Menu};
use super::output::{Paint, Screen, Terminal, now};
use super::problem::Problem;
use super::prompt::{ask_for, confirm, options_of};
use super::reply_state::OutcomeReplyState;

pub async fn show(client: &Client, terminal: &Terminal, args: &ShowArgs) -> anyhow::Result<Exit> {
    let id = args.id.resolve(client).await?;
    let hold = client.hold(id).await?;
    let out = terminal.out();
    if args.json {
        out.print(&json::pretty(&hold))?;
    } else {
        out.print(&card(&out, &hold, now()))?;
    }
    if args.reveal {
        let secrets = client.post(&format!("/v1/holds/{id}/reveal"), &json!({})).await?;
        if args.json {
            out.print(&json::pretty(&secrets))?;
            return Ok(Exit::Done);
        }
        out.print(&revealed(&secrets))?;
    }
    Ok(Exit::Done)
}

/// One line for each secret.
pub fn revealed(secrets: &Value) -> String {
    let line = |secret: &Value| {
        let word = |key: &str| visible(secret[key].as_str().unwrap_or_default());
        let value = visible(&secret["value"].to_string());
        format!("secret: {} {} = {value}\n", word("part"), word("at"))
    };
    secrets["secrets"].as_array().into_iter().flatten().map(line).collect()
}

pub async fn approve(
    client: &Client,
    terminal: &Terminal,
    args: &ApproveArgs,
) -> anyhow::Result<Exit> {
    if args.digest.is_none() && !terminal.can_ask() {
        return Err(UsageError(format!(
            "without a terminal, name what you have seen: look with `holdpoint show {0}`, then `holdpoint approve {0} --digest sha256:…`",
            args.id
        ))
        .into());
    }
    let mut answer = json!({
        "verdict": "approve",
        "scope": if args.session { "session" } else { "once" },
    });
    if let Some(edit) = &args.edit {
        // Read as strictly as the server does, so that a key given twice is not silently dropped.
        let edited = Arguments::parse(edit.as_bytes())
            .map_err(|why| UsageError(format!("--edit is no good: {why}")))?;
        answer["arguments"] = edited.value().clone();
    }
    if let Some(note) = &args.note {
        answer["note"] = json!(note);
    }
    let id = args.id.resolve(client).await?;
    let hold = look(client, terminal, id, args.json).await?;
    if let Some(edited) = answer.get("arguments") {
        let screen = terminal.for_reading(args.json);
        screen.line(&screen.paint(Paint::Bold, "Approved instead would be these arguments:"))?;
        screen.print(&json::pretty(edited))?;
    }
    let digest = match args.digest {
        Some(digest) => digest.to_string(),
        None if HoldReplyState::of(&hold) != HoldReplyState::Pending => {
            return standing(terminal, &hold);
        }
        None => {
            prompt(terminal, |menu, screen| confirm(menu, screen, &hold))?;
            shown_digest(&hold)?
        }
    };
    send(client, terminal, id, &json!({"digest": digest, "answer": answer}), args.json).await
}

pub async fn deny(client: &Client, terminal: &Terminal, args: &DenyArgs) -> anyhow::Result<Exit> {
    let id = args.id.resolve(client).await?;
    look(client, terminal, id, args.json).await?;
    // Without a digest: a no to a call is a no to its edited version as well.
    let mut answer = json!({"verdict": "deny", "reason": args.reason});
    if args.stop {
        answer["stop"] = json!(true);
    }
    send(client, terminal, id, &json!({"answer": answer}), args.json).await
}

pub async fn answer(
    client: &Client,
    terminal: &Terminal,
    args: &AnswerArgs,
) -> anyhow::Result<Exit> {
    let given = given_answer(args)?;
    if given.is_none() && !terminal.can_ask() {
        return Err(UsageError(
            "without a terminal, say what to answer: --choose, --fill, --settle, --respond or --perform".into(),
        )
        .into());
    }
    let id = args.id.resolve(client).await?;
    let hold = look(client, terminal, id, args.json).await?;
    let answer = match given {
        Some(_) if !args.choose.is_empty() => json!({"choose": chosen(&hold, &args.choose)?}),
        Some(answer) => answer,
        None if HoldReplyState::of(&hold) != HoldReplyState::Pending => {
            return standing(terminal, &hold);
        }
        None => prompt(terminal, |menu, screen| ask_for(menu, screen, &hold))?,
    };
    // An answer to a question is bound to that question, so that a number means what was shown.
    let digest = match args.digest {
        Some(digest) => digest.to_string(),
        None => shown_digest(&hold)?,
    };
    send(client, terminal, id, &json!({"digest": digest, "answer": answer}), args.json).await
}

/// Says to the others who looks after it.
pub async fn claim(client: &Client, terminal: &Terminal, args: &ClaimArgs) -> anyhow::Result<Exit> {
    let id = args.id.resolve(client).await?;
    let path = format!("/v1/holds/{id}/claim");
    let hold = match args.release {
        true => client.delete(&path).await?,
        false => client.post(&path, &json!({})).await?,
    };
    let out = terminal.out();
    if args.json {
        out.print(&json::pretty(&hold))?;
    } else if args.release {
        out.line("Given back: nobody looks after it.")?;
    } else {
        if let Some(before) = hold["claimed_from"].as_str() {
            out.line(&format!("{} looked after it until now: tell them.", visible(before)))?;
        }
        out.line(
            "Yours: the others see that you look after it. Anybody who may answer still can.",
        )?;
    }
    Ok(Exit::Done)
}

/// Says something to the others, which decides nothing.
pub async fn comment(
    client: &Client,
    terminal: &Terminal,
    args: &CommentArgs,
) -> anyhow::Result<Exit> {
    let id = args.id.resolve(client).await?;
    let said = json!({"text": args.text});
    let hold = client.post(&format!("/v1/holds/{id}/comments"), &said).await?;
    let out = terminal.out();
    if args.json {
        out.print(&json::pretty(&hold))?;
        return Ok(Exit::Done);
    }
    let last = hold["comments"].as_array().and_then(|all| all.last());
    let told = last.and_then(|comment| comment["mentions"].as_array()).into_iter().flatten();
    let told: Vec<String> = told.filter_map(Value::as_str).map(visible).collect();
    out.line(&match told.is_empty() {
        true => "Said. Nobody in particular is told: write @id for that.".to_owned(),
        false => format!("Said, and told: {}.", told.join(", ")),
    })?;
    Ok(Exit::Done)
}

/// Options by the numbers that the card shows, by id or by label.
fn chosen(hold: &Value, named: &[String]) -> anyhow::Result<Vec<String>> {
    let entries = options_of(hold);
    let id = |text: &String| match menu::named(&entries, text) {
        Ok(id) => Ok(id.unwrap_or_else(|| text.clone())),
        Err(why) => Err(UsageError(why).into()),
    };
    named.iter().map(id).collect()
}

/// The answer that the options spell out.
fn given_answer(args: &AnswerArgs) -> anyhow::Result<Option<Value>> {
    Ok(if !args.choose.is_empty() {
        Some(json!({"choose": args.choose}))
    } else if let Some(form) = &args.fill {
        let form: Value = serde_json::from_str(form)
            .map_err(|error| UsageError(format!("--fill is not JSON: {error}")))?;
        Some(json!({"fill": form}))
    } else if let Some(how) = args.settle {
        let mut answer = json!({"settle": how.name()});
        if let Some(content) = &args.content {
            answer["content"] = json!(content);
        }
        Some(answer)
    } else if let Some(text) = &args.respond {
        Some(json!({"verdict": "respond", "content": text}))
    } else {
        let perform = |text| json!({"perform": {"content": text, "is_error": args.error}});
        args.perform.as_ref().map(perform)
    })
}

/// Fetches a hold and shows it.
async fn look(
    client: &Client,
    terminal: &Terminal,
    id: HoldId,
    json: bool,
) -> anyhow::Result<Value> {
    let hold = client.hold(id).await?;
    let screen = terminal.for_reading(json);
    screen.print(&card(&screen, &hold, now()))?;
    Ok(hold)
}

/// The digest to be answered, of what was really shown.
pub fn shown_digest(hold: &Value) -> anyhow::Result<String> {
    if !view_is_genuine(hold) {
        anyhow::bail!(
            "the text above is not the one that the server keeps with the answer; nothing was answered\n  → ask whoever runs the server: something on the way may have changed it"
        );
    }
    hold["digest"].as_str().map(str::to_owned).context("the server sent a hold without a digest")
}

/// Puts questions to the person at the terminal.
fn prompt<T>(
    terminal: &Terminal,
    ask: impl FnOnce(&mut Menu<'_>, &Screen) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let screen = terminal.for_prompts();
    let mut input = io::stdin().lock();
    let mut output = AnswerScreen(screen);
    ask(&mut Menu::new(&mut input, &mut output).of_columns(screen.columns()), &screen)
}

struct AnswerScreen(Screen);

impl Write for AnswerScreen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.print(&String::from_utf8_lossy(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// There is nothing left to ask: it says how the hold ended.
fn standing(terminal: &Terminal, hold: &Value) -> anyhow::Result<Exit> {
    terminal.note(&format!(
        "It is already {}; there is nothing to answer.",
        visible(hold["state"].as_str().unwrap_or_default())
    ));
    Ok(Exit::of_hold(hold))
}

async fn send(
    client: &Client,
    terminal: &Terminal,
    id: HoldId,
    body: &Value,
    json: bool,
) -> anyhow::Result<Exit> {
    let hold = match client.post(&format!("/v1/holds/{id}/answer"), body).await {
        Ok(hold) => hold,
        Err(error) => return too_late(client, terminal, id, error).await,
    };
    let out = terminal.out();
    if json {
        out.print(&json::pretty(&hold))?;
    } else {
        out.line(&result(&out, &hold))?;
    }
    Ok(Exit::Done)
}

/// What came of an answer.
pub fn result(screen: &Screen, hold: &Value) -> String {
    match HoldReplyState::of(hold) {
        HoldReplyState::Pending => {
            let quorum = hold["audience"]["quorum"].as_u64().unwrap_or(1);
            let votes = hold["answers"].as_array().map_or(0, Vec::len);
            if votes == 0 {
                "Changed: it must be approved again as it now is.".into()
            } else {
                format!("Counted: {votes} of {quorum} needed; it is still pending.")
            }
        }
        HoldReplyState::Denied => screen.paint(Paint::Red, "Denied."),
        // What was looked at right before the start: the rules, people and tools of that moment.
        HoldReplyState::Approved
            if OutcomeReplyState::of(hold) == Some(OutcomeReplyState::Failed) =>
        {
            let came = outcome(&hold["outcome"]);
            format!("{} {came}", screen.paint(Paint::Red, "Approved, and yet it did not work."))
        }
        HoldReplyState::Approved => screen.paint(Paint::Green, "Approved."),
        HoldReplyState::Answered => screen.paint(Paint::Green, "Answered."),
        // Not by this answer alone: those who were asked do not agree.
        HoldReplyState::Cancelled => {
            let why = hold["cancelled"]["reason"].as_str().unwrap_or("it was cancelled");
            format!("Counted, and it is over: {}.", visible(why))
        }
        HoldReplyState::Expired | HoldReplyState::Other => {
            let state = visible(hold["state"].as_str().unwrap_or_default());
            format!("It is {state}: {}", decided(&hold["decision"]))
        }
    }
}

/// Another answer was first: the code says what stands instead.
async fn too_late(
    client: &Client,
    terminal: &Terminal,
    id: HoldId,
    error: anyhow::Error,
) -> anyhow::Result<Exit> {
    let decided = error
        .downcast_ref::<Problem>()
        .is_some_and(|problem| problem.code == "hold_already_decided");
    if !decided {
        return Err(error);
    }
    let state = client.hold(id).await.map(|hold| Exit::of_hold(&hold));
    match state {
        Ok(exit @ (Exit::Denied | Exit::Cancelled | Exit::Expired)) => {
            terminal.error(&format!("{error:#}"));
            Ok(exit)
        }
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_not_the_kept_one_cannot_be_answered() {
        let hold = json!({"digest": "sha256:aa", "view": {"text": "x", "digest": "sha256:00"}});
        assert!(shown_digest(&hold).is_err());
    }

    #[test]
    fn a_vote_that_does_not_decide_says_so() {
        let hold = json!({"state": "pending", "audience": {"quorum": 2}, "answers": [{}]});
        assert_eq!(result(&Screen::plain(), &hold), "Counted: 1 of 2 needed; it is still pending.");
        let again = json!({"content": "Asked again: the policy has changed since."});
        let hold = json!({"state": "approved", "outcome": {"state": "failed", "result": again}});
        let told =
            "Approved, and yet it did not work. failed: Asked again: the policy has changed since.";
        assert_eq!(result(&Screen::plain(), &hold), told);
        let cancelled = json!({"by": "runtime", "reason": "they do not agree"});
        let hold = json!({"state": "cancelled", "cancelled": cancelled, "decision": null});
        let over = "Counted, and it is over: they do not agree.";
        assert_eq!(result(&Screen::plain(), &hold), over);
    }
}
