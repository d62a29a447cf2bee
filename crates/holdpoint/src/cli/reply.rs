//! What a reply in a chat would mean, told without a server and without a chat.

use std::io::{self, BufRead, Read as _};

use domain::visible::visible;
use reply_parser::{
    ApprovalCode, ChosenOptions, ExpectedReply, ReplyContext, ReplyVerdict, parse_reply,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::args::ReplyExplainArgs;
use super::exit::{Exit, UsageError};
use super::output::{Paint, Screen, Terminal};

/// What a line may hold: far more than any reply, far less than would fill the memory.
const LINE_BYTES_MAX: u64 = 1 << 20;

pub fn explain(terminal: &Terminal, args: &ReplyExplainArgs) -> anyhow::Result<Exit> {
    let out = terminal.out();
    let Some(text) = &args.text else { return judge_lines(&out, io::stdin().lock()) };
    let context = match &args.context {
        None => ReplyContext::default(),
        Some(json) => serde_json::from_str::<ContextOptions>(json)
            .map_err(|why| UsageError(format!("--context is no good: {why}")))?
            .context()
            .map_err(|why| UsageError(format!("--context is no good: {why}")))?,
    };
    let verdict = parse_reply(text, &context);
    if args.json {
        out.line(&verdict_json(&verdict).to_string())?;
    } else {
        out.line(&format!(
            "{} ({}): {}",
            out.paint(paint(&verdict), &verdict_line(&verdict)),
            verdict.reason_name(),
            verdict.describe()
        ))?;
    }
    Ok(Exit::Done)
}

/// One verdict for each line. A line that cannot be read gets an error in its place, so that the
/// lines of question and answer stay side by side, and makes the command fail at its end.
fn judge_lines(out: &Screen, mut input: impl BufRead) -> anyhow::Result<Exit> {
    let mut exit = Exit::Done;
    let mut number = 0_u64;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut line)? == 0 {
            return Ok(exit);
        }
        number += 1;
        let whole = line.len() as u64 <= LINE_BYTES_MAX;
        if !whole && !line.ends_with(b"\n") {
            skip_line(&mut input)?;
        }
        if whole && line.trim_ascii().is_empty() {
            continue;
        }
        let read = if whole { parse_line(&line) } else { Err("the line is too long".into()) };
        match read {
            Ok(verdict) => out.line(&verdict_json(&verdict).to_string())?,
            Err(why) => {
                exit = Exit::Failed;
                let why = format!("line {number}: {}", visible(&why));
                out.line(&json!({"error": why}).to_string())?;
            }
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |at| at + 1);
        let done = end.is_some() || buffer.is_empty();
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}

fn parse_line(line: &[u8]) -> Result<ReplyVerdict, String> {
    let asked: ReplyLine = serde_json::from_slice(line).map_err(|why| why.to_string())?;
    let context = asked.ctx.unwrap_or_default().context()?;
    Ok(parse_reply(&asked.text, &context))
}

#[derive(Deserialize)]
struct ReplyLine {
    text: String,
    ctx: Option<ContextOptions>,
}

/// The context, with the plain question for everything that is not said.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "struct Asks")]
struct ContextOptions {
    kind: String,
    options: Vec<String>,
    multi: bool,
    numbered: bool,
    code: Option<String>,
    weak_ok: bool,
    reserved: Vec<String>,
    mentions: Vec<String>,
    attachment: bool,
    formatted: bool,
}

impl Default for ContextOptions {
    fn default() -> ContextOptions {
        ContextOptions {
            kind: "confirm".into(),
            options: Vec::new(),
            multi: false,
            numbered: false,
            code: None,
            weak_ok: true,
            reserved: Vec::new(),
            mentions: Vec::new(),
            attachment: false,
            formatted: false,
        }
    }
}

impl ContextOptions {
    fn context(self) -> Result<ReplyContext, String> {
        let asked = match self.kind.as_str() {
            "confirm" => ExpectedReply::Confirm { numbered: self.numbered },
            "choice" => ExpectedReply::Choice { options: self.options, multi: self.multi },
            other => return Err(format!("kind `{other}`: it is `confirm` or `choice`")),
        };
        Ok(ReplyContext {
            asked,
            code: self.code.as_deref().map(ApprovalCode::new),
            weak_ok: self.weak_ok,
            reserved: self.reserved,
            mentions: self.mentions,
            // Whom the text itself names is read from it; there is no platform here that knows more.
            mentions_others: false,
            attachment: self.attachment,
            formatted: self.formatted,
        })
    }
}

fn verdict_json(verdict: &ReplyVerdict) -> Value {
    let value = match verdict {
        ReplyVerdict::Choice(ChosenOptions::One(number), _) => json!(number),
        ReplyVerdict::Choice(ChosenOptions::Several(numbers), _) => json!(numbers),
        _ => Value::Null,
    };
    json!({"verdict": verdict.name(), "why": verdict.reason_name(), "value": value})
}

fn verdict_line(verdict: &ReplyVerdict) -> String {
    match verdict {
        ReplyVerdict::Choice(ChosenOptions::One(number), _) => format!("choice {number}"),
        ReplyVerdict::Choice(ChosenOptions::Several(numbers), _) => {
            let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
            format!("choice {}", numbers.join(", "))
        }
        other => other.name().to_owned(),
    }
}

fn paint(verdict: &ReplyVerdict) -> Paint {
    match verdict {
        ReplyVerdict::Confirm(_) | ReplyVerdict::Choice(..) => Paint::Green,
        ReplyVerdict::Cancel(_) => Paint::Red,
        ReplyVerdict::Ambiguous(_) => Paint::Yellow,
    }
}
