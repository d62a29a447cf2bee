//! The set-up changes while a person thinks. Elsewhere runs whose tool was gone or had changed
//! failed for good, ran something else than was approved, or hung as "running" (agenticos #274,
//! aion #178, druks #632).

use std::time::Duration;

use serde_json::{Value, json};
use testkit::served::{Served, results, unsound};

use crate::peers::{RULES, config, inputs, note, nothing, one_hold, start};

#[tokio::test]
async fn a_tool_that_is_gone_parks_the_call_and_its_return_lets_it_run() {
    let mut served = start().await;
    let ana = served.admin();
    let (session, hold) = one_hold(&ana, "note later").await;
    served.stop().await;
    let whole = config(RULES);
    let without = whole.replace("tools = [\"witness\", \"slow\"]", "tools = [\"slow\"]");
    let from = without.find("[[tools]]\nname = \"witness\"").expect("the tool");
    let to = from + without[from..].find("[[tools]]\nname = \"slow\"").expect("the next");
    served.write("holdpoint.toml", &format!("{}{}", &without[..from], &without[to..]));
    served.up().await;

    assert_eq!(ana.hold(&hold["id"]).await, hold, "the question still stands");
    ana.approve(&hold).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    let parked = ana.read(&session).await;
    assert_eq!(parked["run"]["status"], "paused", "{:#}", parked["run"]);
    let blocked = parked["run"]["blocked"].as_str().unwrap_or_default();
    assert!(blocked.contains("`witness` is not configured"), "{:#}", parked["run"]);
    assert_eq!(ana.hold(&hold["id"]).await["state"], "approved");
    assert_eq!(inputs(&served), nothing());
    assert_eq!(unsound(&parked), Vec::<String>::new());

    served.stop().await;
    served.write("holdpoint.toml", &whole);
    served.up().await;
    let read = ana.run_is(&session, "completed").await;
    assert_eq!(inputs(&served), [note("later")]);
    assert_eq!(unsound(&read), Vec::<String>::new());
}

/// The same name and arguments, and another program behind it. Returns the first question and, when
/// somebody has approved that, the second.
async fn changed_meanwhile(served: &mut Served) -> (String, Value, Value) {
    let ana = served.admin();
    let (session, hold) = one_hold(&ana, "note later").await;
    served.stop().await;
    served.write("other.sh", "cat > /dev/null; echo other >> @SITE@/other; echo done");
    let changed = config(RULES).replacen(
        "argv = [\"/bin/sh\", \"@SITE@/append.sh\", \"@SITE@/witness\"]",
        "argv = [\"/bin/sh\", \"@SITE@/other.sh\"]",
        1,
    );
    served.write("holdpoint.toml", &changed);
    served.up().await;
    ana.approve(&hold).await;
    let again = |read: &Value| {
        read["pending"].as_array().is_some_and(|p| p.len() == 1 && p[0]["id"] != hold["id"])
    };
    let read = ana.until(&session, "the question again", again).await;
    let asked = read["pending"][0].clone();
    (session, hold, asked)
}

#[tokio::test]
async fn a_tool_that_changed_is_asked_about_again_before_it_runs() {
    let mut served = start().await;
    let (session, hold, asked) = changed_meanwhile(&mut served).await;
    let ana = served.admin();
    assert_ne!(asked["digest"], hold["digest"]);
    assert_eq!(asked["parent"], hold["id"]);
    let warned = asked["preview"]["warnings"].to_string();
    assert!(warned.contains("the tool has changed"), "{warned}");
    // The first approval is not worth more the second time.
    ana.approve(&hold).await;
    assert!(!served.path("other").exists(), "what nobody approved did not run");
    ana.answer(&asked, json!({"verdict": "deny"})).await.must(200);
    let read = ana.run_is(&session, "completed").await;
    assert!(!served.path("other").exists());
    assert_eq!(inputs(&served), nothing());
    assert_eq!(unsound(&read), Vec::<String>::new());
}

#[tokio::test]
async fn a_tool_that_changed_is_shown_as_it_is_now_and_runs_once_approved() {
    let mut served = start().await;
    let (session, _, asked) = changed_meanwhile(&mut served).await;
    let ana = served.admin();
    let shown = asked["view"]["text"].as_str().unwrap_or_default();
    assert!(shown.contains("other.sh") && !shown.contains("append.sh"), "{shown}");
    ana.approve(&asked).await;
    let read = ana.run_is(&session, "completed").await;
    assert_eq!(results(&read)[0].1.trim(), "done");
    let ran = std::fs::read_to_string(served.path("other")).expect("an effect");
    assert_eq!(ran, "other\n");
    assert_eq!(inputs(&served), nothing());
    assert_eq!(unsound(&read), Vec::<String>::new());
}

/// Nor is a looser policy a licence for what was asked under a stricter one.
#[tokio::test]
async fn a_rule_that_got_stricter_meanwhile_holds_when_the_call_would_start() {
    let mut served = start().await;
    let ana = served.admin();
    let bob = served.person("bob").await;
    let (session, hold) = one_hold(&ana, "note later").await;
    served.stop().await;
    let stricter = RULES.replace("ask = { roles = [\"ops\"] }", "ask = { roles = [\"dba\"] }");
    served.write("holdpoint.toml", &config(&stricter));
    served.up().await;
    // Bob was asked, and may answer; it is not enough any more.
    bob.answer(&hold, json!({"verdict": "approve"})).await.must(200);
    let again = |read: &Value| {
        read["pending"].as_array().is_some_and(|p| p.len() == 1 && p[0]["id"] != hold["id"])
    };
    let read = ana.until(&session, "the question again", again).await;
    assert_eq!(inputs(&served), nothing());
    let asked = read["pending"][0].clone();
    assert_eq!(asked["audience"]["roles"], json!(["dba"]));
    ana.approve(&asked).await;
    ana.run_is(&session, "completed").await;
    assert_eq!(inputs(&served), [note("later")]);
}
