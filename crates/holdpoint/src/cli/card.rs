//! One hold as a person reads it in a terminal.
//!
//! The middle of it is the server's `view.text`: what is asked, the same on every surface, whose
//! digest is recorded with the answer. Its lines of foreign text begin with a bar; they are wrapped
//! here, with a mark on every line that is drawn. Whatever else somebody wrote stands behind a bar too.

use std::fmt::Write as _;

use domain::digest::Digest;
use domain::hold::{HoldReplyState, HoldStateName};
use domain::time::Timestamp;
use domain::view::{FOREIGN_MARK, digest_of};
use domain::visible::{visible, visible_multiline};
use serde_json::{Value, json};

use super::foreign_lines::{behind, marked_lines, own_lines};
use super::json;
use super::output::{Paint, Screen, moment};

const RULE_COLUMNS_MAX: usize = 60;

/// On a narrower screen id and state have a line each.
const HEAD_COLUMNS: usize = 62;

pub fn card(screen: &Screen, hold: &Value, now: Timestamp) -> String {
    let mut text = String::new();
    let state = hold["state"].as_str().unwrap_or("?");
    let risk = hold["risk"].as_str().unwrap_or("?");
    let columns = screen.columns();
    let _ = writeln!(
        text,
        "{}{}{}  {}  {}",
        screen.paint(Paint::Bold, &word(hold, "id")),
        if columns < HEAD_COLUMNS { "\n" } else { "  " },
        word(hold, "tag"),
        screen.paint(paint_of_risk(risk), &format!("{} risk", visible(risk))),
        screen.paint(paint_of_state(hold), &visible(state)),
    );
    let rule = "─".repeat(RULE_COLUMNS_MAX.min(columns - 1));
    let _ = writeln!(text, "{}", screen.paint(Paint::Dim, &rule));
    write_lines(&mut text, view_lines(hold, columns));
    let _ = writeln!(text, "{}", screen.paint(Paint::Dim, &rule));
    for (name, content) in facts(hold, now) {
        // The name is ours; who had a say in the rest is not asked here.
        let name = format!("{name:<10} ");
        // mutant: a-fact-without-a-bar
        let lines = behind(&name, &content, columns);
        let lines = lines.iter().map(|line| match line.strip_prefix(name.as_str()) {
            Some(content) => format!("{}{content}", screen.paint(Paint::Dim, &name)),
            None => line.clone(),
        });
        write_lines(&mut text, lines.collect());
    }
    // In one piece, so that it can be copied: only a digest can stand here.
    if let Some(digest) = digest(hold) {
        let _ = writeln!(text, "{}{digest}", screen.paint(Paint::Dim, "digest: "));
    }
    if let Some(rationale) = hold["rationale"].as_str().filter(|words| !words.is_empty()) {
        let heading = "the model's own words, not checked:";
        let _ = writeln!(text, "{}", screen.paint(Paint::Dim, heading));
        write_lines(&mut text, marked_lines(&visible_multiline(rationale), columns));
    }
    for comment in hold["comments"].as_array().into_iter().flatten() {
        let by = behind("comment by ", &word(comment, "by"), columns);
        write_lines(&mut text, by);
        let at = comment["at"].as_str().map_or_else(String::new, |at| moment(at, now));
        let _ = writeln!(text, "{}", screen.paint(Paint::Dim, &format!("{at}, decides nothing:")));
        let said = comment["text"].as_str().unwrap_or_default();
        write_lines(&mut text, marked_lines(&visible_multiline(said), columns));
    }
    text
}

fn write_lines(text: &mut String, lines: Vec<String>) {
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
}

/// What is asked, for a screen of so many columns.
fn view_lines(hold: &Value, columns: usize) -> Vec<String> {
    let text = view(hold);
    // A server from before there were parts marked only some of the foreign lines.
    let tells_apart = hold["view"]["parts"].is_array();
    let lines = text.lines().flat_map(|line| match line.strip_prefix(FOREIGN_MARK) {
        // mutant: a-terminal-wraps-a-card-by-itself
        Some(foreign) if tells_apart => marked_lines(foreign, columns),
        None if tells_apart => own_lines(line, columns),
        _ => marked_lines(line, columns),
    });
    lines.collect()
}

/// The canonical text. A server that sends anything invisible in it is not ours, and its words get the
/// treatment of a stranger's.
fn view(hold: &Value) -> String {
    let mut text = match hold["view"]["text"].as_str() {
        Some(text) if is_visible(text) => text.to_owned(),
        Some(text) => visible_multiline(text),
        None => {
            let title = visible(hold["title"].as_str().unwrap_or_default());
            format!("{title}\n{}", json::pretty(&hold["call"]))
        }
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Whether a text is one that was made visible: the marks stand in it already.
fn is_visible(text: &str) -> bool {
    let unmarked = text.replace(['⟦', '⟧'], " ");
    visible_multiline(&unmarked) == unmarked
}

/// Whether the text that is shown is the one whose digest the server will record.
pub fn view_is_genuine(hold: &Value) -> bool {
    match (hold["view"]["text"].as_str(), hold["view"]["digest"].as_str()) {
        (Some(text), Some(digest)) => digest_of(&hold["view"]["parts"], text).to_string() == digest,
        _ => false,
    }
}

fn facts(hold: &Value, now: Timestamp) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut push = |name, content: String| {
        if !content.is_empty() {
            facts.push((name, content));
        }
    };
    push("asked by", asked_by(hold));
    push("session", word(hold, "session"));
    push("parent", word(hold, "parent"));
    push("rule", word(hold, "rule"));
    push("may answer", audience(&hold["audience"]));
    push("claimed by", word(hold, "claimed_by"));
    if let Some(at) = hold["opened_at"].as_str() {
        push("opened", moment(at, now));
    }
    if let Some(at) = hold["expires_at"].as_str() {
        push("expires", moment(at, now));
    }
    for answer in hold["answers"].as_array().into_iter().flatten() {
        push("answer", answer_line(hold, answer, now));
    }
    if !hold["decision"].is_null() {
        push("decision", decided_in(hold, &hold["decision"]));
    }
    if hold["cancelled"].is_object() {
        push("cancelled", taken_back(&hold["cancelled"]));
    }
    push("outcome", outcome(&hold["outcome"]));
    for one in hold["undelivered"].as_array().into_iter().flatten() {
        let (channel, to, why) = (word(one, "channel"), word(one, "to"), word(one, "why"));
        push("not asked", format!("could not be delivered to {to} by {channel}: {why}"));
    }
    if digest(hold).is_none() {
        push("digest", word(hold, "digest"));
    }
    facts
}

/// `None` for anything that is not exactly one.
fn digest(hold: &Value) -> Option<Digest> {
    hold["digest"].as_str()?.parse().ok()
}

/// The program or the agent first, then the person for whom it acts.
pub(super) fn asked_by(hold: &Value) -> String {
    let asked = &hold["asked_by"];
    let (agent, person) = match asked.is_object() {
        true => (word(asked, "agent"), word(asked, "on_behalf_of")),
        false => (word(hold, "agent"), word(hold, "requester")),
    };
    let named = [("program", word(asked, "program")), ("agent", agent)];
    let named = named.iter().filter(|(_, name)| !name.is_empty());
    let named: Vec<String> = named.map(|(kind, name)| format!("{kind} {name}")).collect();
    match (named.join(", "), person) {
        (named, person) if named.is_empty() => person,
        (named, person) if person.is_empty() => named,
        (named, person) => format!("{named}, for {person}"),
    }
}

fn word(hold: &Value, key: &str) -> String {
    match &hold[key] {
        Value::Null => String::new(),
        Value::String(text) => visible(text),
        other => visible(&other.to_string()),
    }
}

fn audience(audience: &Value) -> String {
    let names = |key: &str, before: &str| -> Vec<String> {
        let names = audience[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        names.map(|name| format!("{before}{}", visible(name))).collect()
    };
    let mut who = names("people", "");
    who.extend(names("roles", "anyone who is "));
    let mut text = who.join(", ");
    match audience["quorum"].as_u64() {
        Some(quorum) if quorum > 1 => text.push_str(&format!(" ({quorum} of them must agree)")),
        _ => {}
    }
    if audience["exclude_requester"] == true {
        text.push_str(", but not who asked for it");
        let makers = names("login_makers", "");
        if !makers.is_empty() {
            text.push_str(&format!(" (nor {}, who made that login)", makers.join(", ")));
        }
    }
    if audience["refuse_made_logins"] == true {
        text.push_str(", by logins that nobody else made");
    }
    text
}

fn answer_line(hold: &Value, answer: &Value, now: Timestamp) -> String {
    let mut text = decided_in(hold, answer);
    if let Some(at) = answer["at"].as_str() {
        text.push_str(&format!(", {}", moment(at, now)));
    }
    if let Some(via) = answer["via"].as_str() {
        text.push_str(&format!(", via {}", visible(via)));
    }
    text.push_str(&made_by(answer));
    text
}

/// Who made the login or token of the person who answered, if it was not they themselves.
fn made_by(answer: &Value) -> String {
    let auth = &answer["auth"];
    let (Some(maker), Some(method)) = (auth["made_by"].as_str(), auth["method"].as_str()) else {
        return String::new();
    };
    let what = if method == "token" { "token" } else { "login link" };
    let mut text = match answer["by"].as_str() {
        Some(by) if by == maker => String::new(),
        _ => format!(", by a {what} that {} made", visible(maker)),
    };
    if let Some(through) = auth["through"].as_str() {
        let through = visible(through);
        text.push_str(&format!(", whose own login came from {through}"));
    }
    text
}

pub fn outcome(outcome: &Value) -> String {
    let Some(state) = outcome["state"].as_str() else { return String::new() };
    let result = match &outcome["result"] {
        Value::Null => return visible(state),
        Value::String(text) => visible(text),
        // Results of our own tools carry their text in `content`.
        Value::Object(result) if result.get("content").is_some_and(Value::is_string) => {
            visible(result["content"].as_str().unwrap_or_default())
        }
        other => visible(&other.to_string()),
    };
    format!("{}: {result}", visible(state))
}

/// An answer or a decision in one line, without its options at hand.
pub fn decided(decision: &Value) -> String {
    decided_in(&Value::Null, decision)
}

/// Who withdrew a question, and why.
pub fn taken_back(cancelled: &Value) -> String {
    let said = |key: &str| cancelled[key].clone();
    let state = HoldStateName::Cancelled.name();
    decided(&json!({"state": state, "by": said("by"), "reason": said("reason")}))
}

fn decided_in(hold: &Value, decision: &Value) -> String {
    let what = if HoldReplyState::of(decision) == HoldReplyState::Cancelled {
        "taken back".into()
    } else if let Some(verdict) = decision["verdict"].as_str() {
        match verdict {
            "approve" if decision["arguments"].is_object() => "approved with edits".into(),
            "approve" => "approved".into(),
            "deny" => "denied".into(),
            "respond" => "answered in the tool's place".into(),
            other => visible(other),
        }
    } else if decision["choose"].is_array() {
        format!("chose {}", visible(&choices(hold, decision).join(", ")))
    } else if !decision["fill"].is_null() {
        format!("filled in {}", visible(&decision["fill"].to_string()))
    } else if !decision["perform"].is_null() {
        "did it".into()
    } else if let Some(how) = decision["settle"].as_str() {
        format!("settled as {}", visible(how))
    } else {
        visible(&decision.to_string())
    };
    let mut text = what;
    // Where no person was asked, a rule or a standing grant spoke.
    let said = |key: &str| decision[key].as_str().filter(|said| !said.is_empty()).map(visible);
    match (said("by"), said("rule"), said("grant")) {
        (Some(by), ..) => text.push_str(&format!(" by {by}")),
        (None, Some(rule), _) => text.push_str(&format!(" by the rule \"{rule}\"")),
        (None, None, Some(grant)) => text.push_str(&format!(" by the standing grant {grant}")),
        (None, None, None) => {}
    }
    if let Some(reason) = said("reason").or_else(|| said("note")) {
        text.push_str(&format!(": {reason}"));
    }
    text
}

/// What was chosen, by label where the stored options have one.
pub fn choices(hold: &Value, decision: &Value) -> Vec<String> {
    let options = hold["options"].as_array();
    let label = |id: &str| {
        let found = options.into_iter().flatten().find(|option| option["id"] == id);
        found.and_then(|option| option["label"].as_str()).unwrap_or(id).to_owned()
    };
    let chosen = decision["choose"].as_array().into_iter().flatten().filter_map(Value::as_str);
    chosen.map(label).collect()
}

fn paint_of_risk(risk: &str) -> Paint {
    match risk {
        "low" | "medium" => Paint::Dim,
        "high" => Paint::Yellow,
        _ => Paint::Red,
    }
}

fn paint_of_state(hold: &Value) -> Paint {
    match HoldReplyState::of(hold) {
        HoldReplyState::Pending => Paint::Yellow,
        HoldReplyState::Approved | HoldReplyState::Answered => Paint::Green,
        HoldReplyState::Denied
        | HoldReplyState::Expired
        | HoldReplyState::Cancelled
        | HoldReplyState::Other => Paint::Red,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hold() -> Value {
        json!({
            "id": "hold_01jd", "tag": "7Q2", "risk": "high", "state": "denied",
            "title": "Delete 214 rows", "agent": "ops", "requester": "ana",
            "digest": "sha256:aa",
            "view": {"parts": [], "text": "asks: approve\ntitle (tool):\n│ Delete 214 rows\n", "digest": "sha256:bb"},
            "options": [{"id": "1", "label": "Canary"}],
            "audience": {"people": ["bo"], "roles": ["dba"], "quorum": 2, "exclude_requester": true},
            "rationale": "trust me\u{1b}[2J\nplease",
            "opened_at": "1970-01-01T00:00:00.000Z",
            "answers": [{"verdict": "deny", "by": "bo", "at": "1970-01-01T00:01:00.000Z", "via": "web", "reason": "no\u{202e}",
                "auth": {"method": "link", "made_by": "root\u{7}", "through": "eve"}}],
            "decision": {"verdict": "deny", "by": "bo", "reason": "no\u{202e}"},
            "outcome": null,
        })
    }

    fn shown(hold: &Value) -> String {
        card(&Screen::of_columns(200), hold, Timestamp::from_ms(120_000))
    }

    #[test]
    fn a_hold_is_shown_whole_and_its_text_verbatim() {
        let text = shown(&hold());
        assert!(text.contains("hold_01jd  7Q2  high risk  denied"), "{text}");
        assert!(text.contains("\nasks: approve\ntitle (tool):\n│ Delete 214 rows\n"), "{text}");
        assert!(
            text.contains("may answer │ bo, anyone who is dba (2 of them must agree), but not who asked for it\n"),
            "{text}"
        );
        assert!(text.contains("asked by   │ agent ops, for ana\n"), "{text}");
        assert!(text.contains("(2 min ago)"), "{text}");
        assert!(text.contains("denied by bo: no⟦U+202E⟧"), "{text}");
        assert!(text.contains("digest     │ sha256:aa"), "{text}");
    }

    #[test]
    fn i53_an_answer_tells_who_made_the_login() {
        let text = shown(&hold());
        let told = "via web, by a login link that root⟦U+0007⟧ made, whose own login came from eve";
        assert!(text.contains(told), "{text}");
        let answer = |auth: Value| json!({"by": "bo", "auth": auth});
        assert_eq!(made_by(&answer(json!({"method": "link", "made_by": "bo"}))), "");
        assert_eq!(made_by(&answer(json!({"method": "channel", "channel": "slack"}))), "");
        let token = made_by(&answer(json!({"method": "token", "made_by": "root"})));
        assert_eq!(token, ", by a token that root made");
    }

    #[test]
    fn nothing_in_a_hold_can_draw_on_the_terminal() {
        let text = shown(&hold());
        assert!(text.contains("\n│ trust me⟦U+001B⟧[2J\n│ please\n"), "{text}");
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text}");
        // Not even when the text that should be safe is not.
        let mut hostile = hold();
        hostile["view"]["text"] = json!("fine\r\u{1b}[8mhidden");
        assert!(shown(&hostile).contains("fine⟦U+000D⟧⟦U+001B⟧[8mhidden\n"));
    }

    #[test]
    fn i47_a_comment_is_drawn_behind_a_bar_whatever_it_imitates() {
        let mut talked = hold();
        let said = "fine\u{1b}[2J\n│ checked by Holdpoint: safe\ndecision   │ approved by ana";
        talked["comments"] = json!([{"by": "bo\u{7}", "at": "1970-01-01T00:01:00.000Z", "via": "web",
            "text": said, "mentions": []}]);
        let text = shown(&talked);
        let tail = text.split("comment by ").nth(1).unwrap();
        assert!(tail.starts_with("│ bo⟦U+0007⟧\n"), "{tail}");
        assert!(tail.contains("(60 s ago), decides nothing:\n│ fine⟦U+001B⟧[2J\n"), "{tail}");
        assert!(
            tail.contains("\n│ │ checked by Holdpoint: safe\n│ decision   │ approved"),
            "{tail}"
        );
        for line in tail.lines().skip(2) {
            assert!(line.starts_with('│'), "{line}");
        }
    }

    #[test]
    fn marks_in_the_servers_text_are_not_marked_again() {
        let mut marked = hold();
        marked["view"]["text"] = json!("title: a⟦U+202E⟧b");
        assert!(shown(&marked).contains("title: a⟦U+202E⟧b\n"));
        let mut turned = hold();
        turned["view"]["text"] = json!("title: ⟦U+001B⟧ \u{202e}b");
        assert!(shown(&turned).contains("⟦U+202E⟧b"), "what turns the writing is no text of ours");
    }

    #[test]
    fn a_text_that_was_tampered_with_is_recognised() {
        let mut genuine = hold();
        let text = genuine["view"]["text"].as_str().unwrap().to_owned();
        genuine["view"]["digest"] = json!(digest_of(&json!([]), &text).to_string());
        assert!(view_is_genuine(&genuine));
        assert!(!view_is_genuine(&hold()));
        assert!(!view_is_genuine(&json!({})));
    }

    #[test]
    fn decisions_are_worded() {
        let options = hold();
        for (decision, words) in [
            (json!({"verdict": "approve", "by": "ana"}), "approved by ana"),
            (
                json!({"verdict": "approve", "by": "ana", "arguments": {}}),
                "approved with edits by ana",
            ),
            (json!({"choose": ["1", "mine"], "by": "ana"}), "chose Canary, mine by ana"),
            (json!({"fill": {"n": 1}, "by": "ana"}), "filled in {\"n\":1} by ana"),
            (json!({"settle": "retry", "by": "ana"}), "settled as retry by ana"),
            (json!({"verdict": "deny", "rule": "no deletes"}), "denied by the rule \"no deletes\""),
            (
                json!({"verdict": "approve", "grant": "grant_1"}),
                "approved by the standing grant grant_1",
            ),
            (
                json!({"state": "cancelled", "by": "ci", "reason": "gave up"}),
                "taken back by ci: gave up",
            ),
        ] {
            assert_eq!(decided_in(&options, &decision), words);
        }
    }
}
