//! What a person at a terminal is asked, for each kind of hold.

use domain::visible::visible;
use serde_json::{Value, json};

use super::exit::Abandoned;
use super::form;
use super::menu::{Menu, MenuEntry};
use super::output::{Paint, Screen};

/// A dangerous call wants more than a habit: the tag differs from hold to hold.
pub fn confirm(menu: &mut Menu<'_>, screen: &Screen, hold: &Value) -> anyhow::Result<()> {
    let risk = hold["risk"].as_str().unwrap_or_default();
    let tag = hold["tag"].as_str().filter(|tag| !tag.is_empty());
    let confirmed = match (risk, tag) {
        ("low" | "medium", _) | (_, None) => menu.confirms("Type yes to approve:", "yes")?,
        (risk, Some(tag)) => {
            let risk = screen.paint(Paint::Red, &format!("{} risk", visible(risk)));
            menu.confirms(&format!("This is {risk}. Type {} to approve:", visible(tag)), tag)?
        }
    };
    if confirmed { Ok(()) } else { Err(Abandoned.into()) }
}

/// What a hold has to choose from.
pub fn options_of(hold: &Value) -> Vec<MenuEntry> {
    let entry = |option: &Value| MenuEntry {
        id: option["id"].as_str().unwrap_or_default().to_owned(),
        label: option["label"].as_str().unwrap_or_default().to_owned(),
        description: option["description"].as_str().map(str::to_owned),
    };
    hold["options"].as_array().into_iter().flatten().map(entry).collect()
}

pub fn ask_for(menu: &mut Menu<'_>, screen: &Screen, hold: &Value) -> anyhow::Result<Value> {
    match hold["kind"].as_str().unwrap_or_default() {
        "choose" => {
            let entries = options_of(hold);
            let (multiple, other) = (hold["multiple"] == true, hold["allow_other"] == true);
            Ok(json!({"choose": menu.choose(&entries, multiple, other)?}))
        }
        "fill" => {
            let schema = hold.get("schema").filter(|schema| !schema.is_null());
            Ok(json!({"fill": form::fill(menu, schema)?}))
        }
        "perform" => {
            let content = menu.text("What came of it?")?;
            let is_error = menu.yes_or_no("Did it go wrong? [no]", Some(false))?;
            Ok(json!({"perform": {"content": content, "is_error": is_error}}))
        }
        "settle" => {
            menu.say("What really happened to this call?")?;
            let how = menu.choose_one(&[
                MenuEntry::new("succeeded", "It ran, and did what it should"),
                MenuEntry::new("failed", "It ran or began, and failed"),
                MenuEntry::new("retry", "It did not happen: propose it again"),
            ])?;
            let mut answer = json!({"settle": how});
            let content = menu.line("What did it give? (may be left empty)")?;
            if !content.is_empty() {
                answer["content"] = json!(content);
            }
            Ok(answer)
        }
        "approve" => {
            // A run that used up a budget: there is no call in whose place to answer.
            let goes_on = hold["session"].is_string() && hold["call"].is_null();
            let what = match goes_on {
                true => menu.choose_one(&[
                    MenuEntry::new("approve", "let the run go on"),
                    MenuEntry::new("deny", "end the run"),
                ])?,
                false => menu.choose_one(&[
                    MenuEntry::new("approve", "approve exactly this call"),
                    MenuEntry::new("deny", "deny it"),
                    MenuEntry::new("respond", "answer in its place: nothing runs"),
                ])?,
            };
            match what.as_str() {
                "approve" => {
                    confirm(menu, screen, hold)?;
                    Ok(json!({"verdict": "approve", "scope": "once"}))
                }
                "deny" => Ok(json!({"verdict": "deny", "reason": menu.text("Why?")?})),
                _ => Ok(json!({
                    "verdict": "respond",
                    "content": menu.text("What shall the agent be told?")?,
                })),
            }
        }
        other => anyhow::bail!(
            "this program does not know holds of the kind `{}`: use a newer one",
            visible(other)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(hold: &Value, lines: &str) -> (anyhow::Result<Value>, String) {
        let mut shown = Vec::new();
        let mut input = lines.as_bytes();
        let mut menu = Menu::new(&mut input, &mut shown);
        let answer = ask_for(&mut menu, &Screen::plain(), hold);
        (answer, String::from_utf8(shown).unwrap())
    }

    #[test]
    fn each_kind_of_hold_has_its_questions() {
        let choose = json!({
            "kind": "choose", "multiple": true, "allow_other": true,
            "options": [{"id": "1", "label": "Blue-Green"}, {"id": "2", "label": "Canary"}],
        });
        for (hold, lines, answer) in [
            (choose, "1,3\nlater\n", json!({"choose": ["1", "later"]})),
            (json!({"kind": "fill", "schema": null}), "hi\n", json!({"fill": {"text": "hi"}})),
            (
                json!({"kind": "perform"}),
                "done\n\n",
                json!({"perform": {"content": "done", "is_error": false}}),
            ),
            (json!({"kind": "settle"}), "3\n\n", json!({"settle": "retry"})),
            (
                json!({"kind": "settle"}),
                "1\n42 rows\n",
                json!({"settle": "succeeded", "content": "42 rows"}),
            ),
            (
                json!({"kind": "approve", "risk": "medium", "tag": "7Q2"}),
                "1\nyes\n",
                json!({"verdict": "approve", "scope": "once"}),
            ),
            (
                json!({"kind": "approve", "risk": "critical", "tag": "7Q2"}),
                "1\n7Q2\n",
                json!({"verdict": "approve", "scope": "once"}),
            ),
            (json!({"kind": "approve"}), "2\nno\n", json!({"verdict": "deny", "reason": "no"})),
            (
                json!({"kind": "approve", "session": "ses_1", "call": null, "risk": "medium"}),
                "3\n1\nyes\n",
                json!({"verdict": "approve", "scope": "once"}),
            ),
            (
                json!({"kind": "approve"}),
                "3\ntry staging\n",
                json!({"verdict": "respond", "content": "try staging"}),
            ),
        ] {
            assert_eq!(typed(&hold, lines).0.unwrap(), answer, "{hold}");
        }
    }

    #[test]
    fn a_dangerous_call_is_not_approved_by_habit() {
        let hold = json!({"kind": "approve", "risk": "high", "tag": "7Q2"});
        for lines in ["1\nyes\n", "1\n7q2\n", "1\n\n", "1\n"] {
            let (answer, shown) = typed(&hold, lines);
            assert!(answer.unwrap_err().is::<Abandoned>(), "{lines:?}");
            assert!(shown.contains("This is high risk. Type 7Q2 to approve:"), "{shown}");
        }
        // A risk that this program does not know is at least high.
        let hold = json!({"kind": "approve", "risk": "apocalyptic", "tag": "7Q2"});
        assert!(typed(&hold, "1\nyes\n").0.is_err());
    }

    #[test]
    fn an_unknown_kind_is_not_guessed_at() {
        let (answer, _) = typed(&json!({"kind": "dance\u{1b}"}), "yes\n");
        assert!(answer.unwrap_err().to_string().contains("`dance⟦U+001B⟧`"));
    }
}
