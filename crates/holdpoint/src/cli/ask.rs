//! A question from a script to people: standard output is the answer and nothing else.

use domain::hold::HoldReplyState;
use domain::visible::{visible, visible_multiline};
use serde_json::{Value, json};

use super::args::AskArgs;
use super::card::{choices, decided, taken_back};
use super::client::Client;
use super::exit::Exit;
use super::json;
use super::output::Terminal;
use super::waiting::{Interrupts, Waited, addressed, ask_and_wait};

pub async fn run(client: &Client, terminal: &Terminal, args: &AskArgs) -> anyhow::Result<Exit> {
    let mut interrupts = Interrupts::listen()?;
    let body = addressed(question(args), &args.asking);
    let hold = match ask_and_wait(client, terminal, &mut interrupts, &body).await? {
        Waited::Decided(hold) => hold,
        Waited::Interrupted => return Ok(Exit::Interrupted),
    };
    let is_answered = HoldReplyState::of(&hold) == HoldReplyState::Answered;
    if args.json {
        terminal.out().print(&json::pretty(&hold))?;
    } else if is_answered {
        terminal.out().print(&lines(&hold))?;
    }
    if !is_answered {
        terminal.note(&unanswered(&hold));
    }
    Ok(Exit::of_hold(&hold))
}

fn question(args: &AskArgs) -> Value {
    if args.options.is_empty() {
        return json!({"kind": "fill", "title": args.question});
    }
    let options: Vec<Value> = args.options.iter().map(|label| json!({"label": label})).collect();
    json!({
        "kind": "choose",
        "title": args.question,
        "options": options,
        "multiple": args.multiple,
        "allow_other": args.other,
    })
}

/// One line for each thing chosen; a form as JSON; free text as it is.
pub fn lines(hold: &Value) -> String {
    let decision = &hold["decision"];
    if decision["choose"].is_array() {
        return choices(hold, decision).iter().map(|choice| visible(choice) + "\n").collect();
    }
    match &decision["fill"] {
        Value::Object(form) if hold["schema"].is_null() && form.len() == 1 => {
            let text = form.get("text").and_then(Value::as_str).unwrap_or_default();
            visible_multiline(text) + "\n"
        }
        form => json::pretty(form),
    }
}

/// Why there is no answer, for the person who reads the log of the script.
pub fn unanswered(hold: &Value) -> String {
    match HoldReplyState::of(hold) {
        HoldReplyState::Denied => capital(&decided(&hold["decision"])),
        HoldReplyState::Expired => "Expired: nobody answered in time.".into(),
        HoldReplyState::Cancelled => format!("Cancelled: {}", taken_back(&hold["cancelled"])),
        HoldReplyState::Pending
        | HoldReplyState::Approved
        | HoldReplyState::Answered
        | HoldReplyState::Other => {
            format!("It ended as `{}`.", visible(hold["state"].as_str().unwrap_or_default()))
        }
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_printed_by_label_one_a_line() {
        let hold = json!({
            "options": [{"id": "1", "label": "Blue-Green"}, {"id": "2", "label": "Canary"}],
            "decision": {"choose": ["2", "later\nthan\u{1b}[2J now"]},
        });
        assert_eq!(lines(&hold), "Canary\nlater⟦U+000A⟧than⟦U+001B⟧[2J now\n");
    }

    #[test]
    fn free_text_is_printed_as_text_and_a_form_as_json() {
        let free = json!({"schema": null, "decision": {"fill": {"text": "one\ntwo"}}});
        assert_eq!(lines(&free), "one\ntwo\n");
        let form = json!({"schema": {"type": "object"}, "decision": {"fill": {"text": "x"}}});
        assert_eq!(lines(&form), "{\n  \"text\": \"x\"\n}\n");
    }

    #[test]
    fn silence_and_a_refusal_are_told_apart() {
        let denied =
            json!({"state": "denied", "decision": {"verdict": "deny", "by": "bo", "reason": "no"}});
        assert_eq!(unanswered(&denied), "Denied by bo: no");
        assert_eq!(unanswered(&json!({"state": "expired"})), "Expired: nobody answered in time.");
        let cancelled = json!({"state": "cancelled", "cancelled": {"by": "ci", "reason": "late"}});
        assert_eq!(unanswered(&cancelled), "Cancelled: taken back by ci: late");
    }
}
