//! What the server refuses, and what to do about it.

use std::fmt;

use domain::visible::visible;
use serde_json::Value;

use super::foreign_lines::marked_lines;

/// No terminal that we draw for is narrower, and what it wraps itself has no mark.
const NARROW_COLUMNS: usize = 40;

/// A problem document (RFC 9457), or the nearest thing that a stranger's reply gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub status: u16,
    /// Stable; empty when it was not our server that answered.
    pub code: String,
    pub detail: String,
    pub field: Option<String>,
    pub decision: Option<Value>,
    pub retry_after_s: Option<u64>,
    /// Whether a token was sent, because the remedy differs.
    pub with_token: bool,
}

impl Problem {
    pub fn read(status: u16, content_type: &str, body: &[u8], with_token: bool) -> Problem {
        let document: Value = if content_type.contains("json") {
            serde_json::from_slice(body).unwrap_or(Value::Null)
        } else {
            Value::Null
        };
        let text = |key: &str| document[key].as_str().map(str::to_owned);
        Problem {
            status,
            code: text("code").unwrap_or_default(),
            detail: text("detail").or_else(|| text("title")).unwrap_or_default(),
            field: text("field"),
            decision: document.get("decision").filter(|decision| !decision.is_null()).cloned(),
            retry_after_s: None,
            with_token,
        }
    }

    /// The server would have asked, but whom?
    pub fn is_about_audience(&self) -> bool {
        let named = self.field.as_deref().is_some_and(|field| {
            field.trim_start_matches('/').split(['.', '/']).next() == Some("audience")
        });
        named || self.code == "audience_unsatisfiable"
    }

    /// What is said of edited arguments may be the tool's own words.
    fn is_of_a_tool(&self) -> bool {
        self.code == "answer_invalid"
            && self.field.as_deref().is_some_and(|field| field.starts_with("arguments"))
    }

    fn remedy(&self) -> Option<String> {
        let remedy = match self.code.as_str() {
            "unauthenticated" if !self.with_token => {
                "log in with `holdpoint login`, or put a token into HOLDPOINT_TOKEN (`holdpoint token create` makes one)"
            }
            "unauthenticated" => {
                "the token (HOLDPOINT_TOKEN, or that of `holdpoint login`) is unknown, expired or revoked: use another"
            }
            "not_entitled" => {
                "use the token of a person who may do this; a program's token never answers a hold"
            }
            "not_found" => "check the id, and that this token's owner may see it",
            "version_conflict" => {
                "it was changed after you saw it: look again with `holdpoint show`"
            }
            "hold_already_decided" | "hold_expired" => "`holdpoint show` says how it ended",
            "already_voted" => "your first answer stands",
            "frozen" => "everything is frozen; `holdpoint freeze` says why, `--off` lifts it",
            "too_large" => "send less",
            "too_many" | "unavailable" => {
                return Some(match self.retry_after_s {
                    Some(seconds) => format!("try again in {seconds} s"),
                    None => "try again in a moment".into(),
                });
            }
            "" => "is this address really Holdpoint's? name the server with --server",
            _ => return None,
        };
        Some(remedy.into())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.code.is_empty() {
            write!(
                f,
                "the server replied with status {} and no reason we understand",
                self.status
            )?;
        } else if self.detail.is_empty() {
            write!(f, "the server refused: {}", visible(&self.code))?;
        } else if self.is_of_a_tool() {
            f.write_str("the server did not take the arguments:")?;
            for line in marked_lines(&visible(&self.detail), NARROW_COLUMNS) {
                write!(f, "\n{line}")?;
            }
        } else {
            f.write_str(&visible(&self.detail))?;
        }
        if let Some(field) = self.field.as_deref().filter(|field| is_plain_field(field)) {
            let end = if self.is_of_a_tool() { "\n" } else { " " };
            write!(f, "{end}(field `{field}`)")?;
        }
        if let Some(decision) = &self.decision {
            write!(f, " ({})", super::card::decided(decision))?;
        }
        match self.remedy() {
            Some(remedy) => write!(f, "\n  → {remedy}"),
            None => Ok(()),
        }
    }
}

/// The names in it are those of a form or a tool: one that could be read as more than a name is not said.
fn is_plain_field(field: &str) -> bool {
    let is_han = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./[]~".contains(c) || is_han(c);
    field.chars().count() <= 80 && field.chars().all(is_plain)
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problem(document: &Value, with_token: bool) -> Problem {
        let body = document.to_string();
        Problem::read(409, "application/problem+json", body.as_bytes(), with_token)
    }

    #[test]
    fn each_code_says_what_to_do() {
        for code in [
            "unauthenticated",
            "not_entitled",
            "not_found",
            "version_conflict",
            "hold_already_decided",
            "hold_expired",
            "already_voted",
            "frozen",
            "too_large",
            "too_many",
            "unavailable",
        ] {
            let told = problem(&json!({"code": code, "detail": "no"}), true).to_string();
            assert!(told.starts_with("no\n  → "), "{code}: {told}");
        }
    }

    #[test]
    fn the_remedy_depends_on_whether_a_token_was_sent() {
        let document = json!({"code": "unauthenticated", "title": "who are you?"});
        let without = problem(&document, false).to_string();
        assert!(without.contains("holdpoint login"), "{without}");
        assert!(problem(&document, true).to_string().contains("expired or revoked"));
    }

    #[test]
    fn i47_neither_a_tool_nor_a_form_has_a_line_of_its_own_in_a_refusal() {
        let forged = format!("no{}digest     │ sha256:00 FORGED\u{202e}\nFORGED", " ".repeat(90));
        for field in ["arguments", "arguments/where"] {
            let document = json!({"code": "answer_invalid", "detail": forged, "field": field});
            let told = problem(&document, true).to_string();
            assert!(told.contains("FORGED"), "{told}");
            for line in told.lines() {
                let marked = line.starts_with('│') || line.starts_with('┆');
                assert!(marked || !line.contains("FORGED") && !line.contains("sha256"), "{told}");
                assert!(!marked || line.chars().count() <= NARROW_COLUMNS, "{told}");
            }
        }
        let document =
            json!({"code": "answer_invalid", "detail": "no", "field": format!("fill/{forged}")});
        assert_eq!(problem(&document, true).to_string(), "no");
        let document = json!({"code": "answer_invalid", "detail": "no", "field": "fill/姓名/0"});
        assert_eq!(problem(&document, true).to_string(), "no (field `fill/姓名/0`)");
    }

    #[test]
    fn the_standing_decision_is_told() {
        let told = problem(
            &json!({
                "code": "hold_already_decided",
                "detail": "the hold is denied",
                "decision": {"verdict": "deny", "by": "bo", "reason": "wrong\u{1b}[2Jtable"},
            }),
            true,
        );
        assert!(told.to_string().contains("denied by bo: wrong⟦U+001B⟧[2Jtable"), "{told}");
    }

    #[test]
    fn a_stranger_is_not_taken_for_our_server() {
        let told = Problem::read(502, "text/html", b"<h1>Bad gateway</h1>", true);
        assert!(told.to_string().contains("status 502"), "{told}");
        assert!(told.to_string().contains("--server"), "{told}");
    }

    #[test]
    fn a_question_without_an_audience_is_told_apart() {
        assert!(
            problem(&json!({"code": "bad_request", "field": "audience.roles"}), true)
                .is_about_audience()
        );
        assert!(
            problem(&json!({"code": "bad_request", "field": "/audience"}), true)
                .is_about_audience()
        );
        assert!(
            !problem(&json!({"code": "bad_request", "field": "title"}), true).is_about_audience()
        );
    }
}
