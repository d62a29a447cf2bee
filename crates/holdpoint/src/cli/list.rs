//! `holdpoint list`: the inbox, one line for each hold.
//!
//! What a hold says was written by others. Each keeps to its one line: made visible, and cut before the
//! edge of the terminal, so that nothing of it can pass for a line of ours.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::hold::HoldStateName;
use domain::time::Timestamp;
use domain::visible::visible;
use serde_json::{Value, json};

use super::args::ListArgs;
use super::card::asked_by;
use super::client::Client;
use super::exit::Exit;
use super::json;
use super::output::{Paint, Screen, Terminal, distance, now};
use super::waiting::Interrupts;

/// How often a watcher looks.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The most that the server gives at once.
const PAGE: u32 = 200;

pub async fn run(client: &Client, terminal: &Terminal, args: &ListArgs) -> anyhow::Result<Exit> {
    let out = terminal.out();
    let holds = fetch(client, args).await?;
    match (args.json, args.watch) {
        (true, false) => out.print(&json::pretty(&Value::Array(holds.clone())))?,
        (true, true) => {
            for hold in &holds {
                out.line(&json!({"change": "open", "hold": hold}).to_string())?;
            }
        }
        (false, _) => out.print(&listed(&out, &holds, args, now()))?,
    }
    if args.watch {
        return watch(client, terminal, args, holds).await;
    }
    Ok(Exit::Done)
}

async fn fetch(client: &Client, args: &ListArgs) -> anyhow::Result<Vec<Value>> {
    let mut filter = vec![("limit", PAGE.min(args.limit).to_string())];
    let mut add = |name: &'static str, value: &Option<String>| {
        filter.extend(value.iter().map(|value| (name, value.clone())));
    };
    add("state", &Some(args.state.clone()).filter(|state| state != "all"));
    add("agent", &args.agent);
    add("tool", &args.tool);
    add("decided_by", &args.decided_by);
    add("sort", &Some(args.sort.clone()));
    add("session", &args.session);
    add("kind", &args.kind);
    add("risk", &args.risk);
    add("q", &args.search);
    add("mine", &args.mine.then(|| "true".to_owned()));
    let mut holds = Vec::new();
    let mut cursor = None;
    loop {
        let with_cursor = filter.iter().cloned().chain(cursor.map(|next| ("cursor", next)));
        let query: Vec<String> =
            with_cursor.map(|(name, value)| format!("{name}={}", encoded(&value))).collect();
        let mut page = client.get(&format!("/v1/holds?{}", query.join("&"))).await?;
        cursor = super::token::next_cursor(&page);
        if let Some(items) = page["items"].as_array_mut() {
            holds.append(items);
        }
        if cursor.is_none() || holds.len() >= args.limit as usize {
            holds.truncate(args.limit as usize);
            return Ok(holds);
        }
    }
}

/// For one value of a query.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// Tells what comes and what goes. A server that is away for a moment is waited for.
async fn watch(
    client: &Client,
    terminal: &Terminal,
    args: &ListArgs,
    holds: Vec<Value>,
) -> anyhow::Result<Exit> {
    let out = terminal.out();
    let mut interrupts = Interrupts::listen()?;
    let mut known = by_id(holds);
    let mut away = false;
    loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            _ = interrupts.next() => return Ok(Exit::Interrupted),
        }
        let holds = match fetch(client, args).await {
            Ok(holds) => holds,
            Err(error) if error.is::<super::client::Unreachable>() => {
                if !std::mem::replace(&mut away, true) {
                    terminal.note("The server does not answer; still looking.");
                }
                continue;
            }
            Err(error) => return Err(error),
        };
        away = false;
        let current = by_id(holds);
        for (id, hold) in &known {
            if !current.contains_key(id) {
                let ended =
                    client.get(&format!("/v1/holds/{id}")).await.unwrap_or_else(|_| hold.clone());
                tell(&out, "gone", &ended, args)?;
            }
        }
        for (id, hold) in &current {
            if !known.contains_key(id) {
                tell(&out, "open", hold, args)?;
            }
        }
        known = current;
    }
}

/// Ids are in the order of time.
fn by_id(holds: Vec<Value>) -> BTreeMap<String, Value> {
    let with_id = |hold: Value| Some((hold["id"].as_str().map(visible)?, hold));
    holds.into_iter().filter_map(with_id).collect()
}

fn tell(out: &Screen, change: &str, hold: &Value, args: &ListArgs) -> std::io::Result<()> {
    if args.json {
        return out.line(&json!({"change": change, "hold": hold}).to_string());
    }
    let state = visible(hold["state"].as_str().unwrap_or("?"));
    let mark = match change {
        "open" => out.paint(Paint::Green, "+"),
        _ => out.paint(Paint::Dim, "-"),
    };
    let line = row(hold, now()).line(out.columns().saturating_sub(2), Some(&state), out);
    out.line(&format!("{mark} {line}"))
}

fn listed(out: &Screen, holds: &[Value], args: &ListArgs, now: Timestamp) -> String {
    let is_pending = HoldStateName::parse(&args.state) == Some(HoldStateName::Pending);
    if holds.is_empty() {
        return match is_pending {
            true => "Nothing waits for an answer.\n".into(),
            false => "There is nothing.\n".into(),
        };
    }
    let states = !is_pending;
    let head = ListRow {
        tag: "TAG".into(),
        risk: "RISK".into(),
        age: "OPENED".into(),
        asked_by: "ASKED BY".into(),
        title: "WHAT".into(),
    };
    let columns = out.columns();
    let head = head.line(columns, states.then_some("STATE"), &Screen::plain());
    let mut text = format!("{}\n", out.paint(Paint::Dim, &head));
    for hold in holds {
        let state = states.then(|| visible(hold["state"].as_str().unwrap_or("?")));
        text.push_str(&row(hold, now).line(columns, state.as_deref(), out));
        text.push('\n');
    }
    text
}

struct ListRow {
    tag: String,
    risk: String,
    age: String,
    asked_by: String,
    title: String,
}

fn row(hold: &Value, now: Timestamp) -> ListRow {
    let word = |key: &str| match &hold[key] {
        Value::String(text) => visible(text),
        Value::Object(object) => visible(object.get("name").and_then(Value::as_str).unwrap_or("?")),
        _ => "?".into(),
    };
    let opened = hold["opened_at"].as_str().and_then(Timestamp::parse);
    ListRow {
        tag: word("tag"),
        risk: word("risk"),
        age: opened.map_or_else(|| "?".into(), |at| distance(at, now)),
        asked_by: asked_by(hold),
        title: word("title"),
    }
}

impl ListRow {
    /// One line that fits: what somebody else wrote comes last, and is cut.
    fn line(&self, columns: usize, state: Option<&str>, screen: &Screen) -> String {
        let mut line = format!("{} ", fit(&self.tag, 4));
        let risk = fit(&self.risk, 9);
        line.push_str(&match self.risk.as_str() {
            "high" | "critical" => screen.paint(Paint::Red, &risk),
            _ => risk,
        });
        let mut used = 14;
        if let Some(state) = state {
            line.push_str(&format!("{} ", fit(state, 9)));
            used += 10;
        }
        line.push_str(&format!("{} {} ", fit(&self.age, 10), fit(&self.asked_by, 12)));
        used += 24;
        line.push_str(cut(&self.title, columns.saturating_sub(used)).trim_end());
        line
    }
}

/// Exactly so many columns.
fn fit(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let pad = columns.saturating_sub(width(&text));
    format!("{text}{}", " ".repeat(pad))
}

/// At most so many columns, and a sign that there is more.
fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += wide(c);
        if used > columns {
            break;
        }
        kept.push(c);
    }
    if columns == 0 { String::new() } else { kept + "…" }
}

fn width(text: &str) -> usize {
    text.chars().map(wide).sum()
}

/// Two for all that a terminal could draw wide: a line is then never too long.
fn wide(c: char) -> usize {
    match c {
        '…' | '⟦' | '⟧' => 1,
        c if c < '\u{1100}' => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_763_172_180_000);

    fn hold(title: &str) -> Value {
        json!({"id": "hold_01jd3kq8v2m4x6z8a0c2e4g6j8", "tag": "7Q2", "risk": "high",
               "opened_at": "2025-11-15T02:02:00Z", "requester": "ana", "title": title, "state": "pending"})
    }

    #[test]
    fn a_hold_is_one_line_that_fits() {
        let line =
            |title: &str, columns| row(&hold(title), NOW).line(columns, None, &Screen::plain());
        assert_eq!(line("rm -rf build", 80), "7Q2  high     60 s ago   ana          rm -rf build");
        let mut by_program = hold("rm -rf build");
        by_program["asked_by"] = json!({"program": "ci", "on_behalf_of": "ana"});
        let shown = row(&by_program, NOW).line(80, None, &Screen::plain());
        assert!(shown.contains("program ci"), "the person only made its token: {shown}");
        let forged = format!("x{}approved by ana\n7Q3  low\u{1b}[2J", " ".repeat(200));
        for columns in [40, 60, 80, 120] {
            let line = line(&forged, columns);
            assert!(width(&line) <= columns, "{columns}: {line}");
            assert!(!line.contains('\n') && !line.contains('\u{1b}'), "{line:?}");
        }
        let chinese = line(&"删除".repeat(60), 80);
        assert!(width(&chinese) <= 80 && chinese.ends_with('…'), "{chinese}");
    }

    #[test]
    fn queries_carry_any_text() {
        assert_eq!(encoded("a b&c=1#ü"), "a%20b%26c%3D1%23%C3%BC");
    }

    #[test]
    fn an_empty_inbox_says_so() {
        use clap::Parser as _;
        let cli = crate::cli::Cli::parse_from(["holdpoint", "list"]);
        let crate::cli::args::CliCommand::List(args) = cli.command else { panic!("not a list") };
        assert_eq!(listed(&Screen::plain(), &[], &args, NOW), "Nothing waits for an answer.\n");
    }
}
