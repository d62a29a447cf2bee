//! The command line as people and scripts use it: the real program against a real server.

mod demo;
mod hook_install;
mod policy_cases;
mod pty;

use demo::{Demo, command};
use serde_json::json;

#[tokio::test]
async fn a_call_is_shown_and_approved_by_its_digest() {
    let demo = Demo::start();
    let hold = demo.scenario("approve").await;
    let (id, digest) = (hold["id"].as_str().unwrap(), hold["digest"].as_str().unwrap());

    let shown = demo.person_runs(&["show", id]).ends_with(0);
    assert!(shown.out.contains(hold["view"]["text"].as_str().unwrap()), "{}", shown.out);
    assert!(shown.out.contains(digest), "{}", shown.out);
    assert!(!shown.out.contains('\u{1b}'), "colours without a terminal");
    let json = demo.person_runs(&["show", id, "--json"]).ends_with(0).json();
    assert_eq!(json["id"], id);

    // Nobody can have looked: there is no terminal and no digest.
    let blind = demo.person_runs(&["approve", id]).ends_with(2);
    assert!(blind.err.contains("--digest"), "{}", blind.err);
    let other = format!("sha256:{}", "0".repeat(64));
    let stale = demo.person_runs(&["approve", id, "--digest", &other]).ends_with(1);
    assert!(stale.err.contains("changed after you saw it"), "{}", stale.err);
    // A program sees nothing of this session, and could not answer anyway.
    demo.program_runs(&["approve", id, "--digest", digest]).ends_with(1);
    assert_eq!(demo.hold(id).await["state"], "pending");

    let approved =
        demo.person_runs(&["approve", id, "--digest", digest, "--note", "ok"]).ends_with(0);
    assert!(approved.out.contains(hold["view"]["text"].as_str().unwrap()), "it is shown first");
    assert!(approved.out.contains("Approved."), "{}", approved.out);
    let late = demo.person_runs(&["deny", id, "--reason", "too late"]).ends_with(1);
    assert!(late.err.contains(&format!("approved by {}", demo.person())), "{}", late.err);
}

#[tokio::test]
async fn a_denied_hold_stays_denied() {
    let demo = Demo::start();
    let hold = demo.scenario("approve").await;
    let (id, digest) = (hold["id"].as_str().unwrap(), hold["digest"].as_str().unwrap());
    let denied = demo.person_runs(&["deny", id, "--reason", "wrong table", "--json"]).ends_with(0);
    assert_eq!(denied.json()["state"], "denied");
    assert_eq!(denied.json()["decision"]["reason"], "wrong table");
    let late = demo.person_runs(&["approve", id, "--digest", digest]).ends_with(10);
    assert!(late.err.contains("wrong table"), "{}", late.err);
    demo.person_runs(&["show", "hold_01jd3kq8v2m4x6z8a0c2e4g6j8"]).ends_with(1);
    demo.person_runs(&["show", "nonsense"]).ends_with(2);
}

#[tokio::test]
async fn every_kind_of_hold_can_be_answered() {
    let demo = Demo::start();

    let hold = demo.scenario("choose").await;
    let id = hold["id"].as_str().unwrap();
    let silent = demo.person_runs(&["answer", id]).ends_with(2);
    assert!(silent.err.contains("--choose"), "{}", silent.err);
    demo.person_runs(&["answer", id, "--respond", "x"]).ends_with(1);
    demo.person_runs(&["answer", id, "--choose", "no such thing"]).ends_with(1);
    let label = hold["options"][0]["label"].as_str().unwrap();
    let answered = demo.person_runs(&["answer", id, "--choose", label]).ends_with(0);
    assert!(answered.out.contains("Answered."), "{}", answered.out);

    let hold = demo.scenario("choose_many").await;
    let id = hold["id"].as_str().unwrap();
    let labels: Vec<&str> =
        hold["options"].as_array().unwrap().iter().filter_map(|o| o["label"].as_str()).collect();
    let answer = ["answer", id, "--choose", labels[0], "--choose", labels[1], "--json"];
    let json = demo.person_runs(&answer).ends_with(0).json();
    assert_eq!(json["state"], "answered");

    let hold = demo.scenario("perform").await;
    let id = hold["id"].as_str().unwrap();
    let json = demo.person_runs(&["answer", id, "--perform", "done", "--json"]).ends_with(0).json();
    assert_eq!(json["decision"]["perform"]["content"], "done");

    let hold = demo.scenario("fill").await;
    let id = hold["id"].as_str().unwrap();
    demo.person_runs(&["answer", id, "--fill", "{not json"]).ends_with(2);
    let wrong = demo.person_runs(&["answer", id, "--fill", "[]"]).ends_with(1);
    assert!(wrong.err.contains("fill"), "{}", wrong.err);
    let form = r#"{"title":"1.4","summary":"faster"}"#;
    let json = demo.person_runs(&["answer", id, "--fill", form, "--json"]).ends_with(0).json();
    assert_eq!(json["decision"]["fill"]["title"], "1.4");
    assert_eq!(json["decision"]["via"], "cli");

    let hold = demo.scenario("approve").await;
    let id = hold["id"].as_str().unwrap();
    let json =
        demo.person_runs(&["answer", id, "--respond", "not today", "--json"]).ends_with(0).json();
    assert_eq!(
        (&json["state"], &json["decision"]["verdict"]),
        (&json!("answered"), &json!("respond"))
    );
}

#[tokio::test]
async fn a_script_asks_and_prints_the_answer() {
    let demo = Demo::start();
    let strategies = ["--option", "Blue-Green", "--option", "Canary"];

    let asking = demo.program_asks(&[&["ask", "Which strategy?"], &strategies[..]].concat());
    demo.person_runs(&["answer", &asking.hold, "--choose", "2"]).ends_with(0);
    let answered = asking.ended().ends_with(0);
    assert_eq!(answered.out, "Canary\n");

    let several = [&["ask", "Which?", "--multiple", "--other"], &strategies[..]].concat();
    let asking = demo.program_asks(&several);
    demo.person_runs(&["answer", &asking.hold, "--choose", "Blue-Green", "--choose", "none\u{7}"])
        .ends_with(0);
    assert_eq!(asking.ended().ends_with(0).out, "Blue-Green\nnone⟦U+0007⟧\n");

    let asking = demo.program_asks(&["ask", "Ticket?", "--json"]);
    demo.person_runs(&["answer", &asking.hold, "--fill", r#"{"text":"OPS-7"}"#]).ends_with(0);
    assert_eq!(asking.ended().ends_with(0).json()["decision"]["fill"]["text"], "OPS-7");

    let asking = demo.program_asks(&["ask", "Now?"]);
    demo.person_runs(&["deny", &asking.hold, "--reason", "busy"]).ends_with(0);
    let denied = asking.ended().ends_with(10);
    assert!(denied.out.is_empty() && denied.err.contains("busy"), "{denied:?}");
}

#[tokio::test]
async fn silence_cancellation_and_an_empty_room_have_their_own_codes() {
    let demo = Demo::start();
    let expired = demo.program_runs(&["ask", "Anybody?", "--timeout", "1s"]).ends_with(11);
    assert!(expired.out.is_empty(), "{expired:?}");

    let asking = demo.program_asks(&["ask", "Now?"]);
    let path = format!("/v1/holds/{}/cancel", asking.hold);
    demo.client().post(&path, &json!({"reason": "not needed"})).await.unwrap();
    asking.ended().ends_with(12);

    let nobody = demo.program_runs(&["ask", "Now?", "--to", "@nobody-of-this-name"]).ends_with(13);
    assert!(nobody.err.contains("nobody-of-this-name"), "{}", nobody.err);
    demo.program_runs(&["ask", "Now?", "--to", "no-such-role"]).ends_with(13);
}

#[tokio::test]
async fn an_interrupted_question_is_taken_back() {
    let demo = Demo::start();
    for arguments in [&["ask", "Now?"][..], &["gate", "--", "true"]] {
        let asking = demo.program_asks(arguments);
        let id = asking.hold.clone();
        asking.interrupt();
        asking.ended().ends_with(130);
        assert_eq!(demo.hold(&id).await["state"], "cancelled");
    }
}

#[tokio::test]
async fn a_question_outlives_the_server_that_was_asked() {
    let mut demo = Demo::start();
    let mut asking = demo.program_asks(&["ask", "Ticket?"]);
    demo.restart();
    asking.says("Still waiting");
    demo.person_runs(&["answer", &asking.hold, "--fill", r#"{"text":"OPS-7"}"#]).ends_with(0);
    assert_eq!(asking.ended().ends_with(0).out, "OPS-7\n");
}

#[tokio::test]
async fn an_approved_command_waits_while_everything_is_frozen() {
    let demo = Demo::start();
    let asking = demo.program_asks(&["gate", "--", "echo", "ran"]);
    let digest = demo.hold(&asking.hold).await["digest"].as_str().unwrap().to_owned();
    demo.person_runs(&["freeze", "--reason", "wait"]).ends_with(0);
    demo.person_runs(&["approve", &asking.hold, "--digest", &digest]).ends_with(0);
    // The vote is taken, and decides after the thaw.
    let frozen = demo.hold(&asking.hold).await;
    assert_eq!(
        (&frozen["state"], frozen["answers"].as_array().map(Vec::len)),
        (&json!("pending"), Some(1))
    );
    assert!(frozen["outcome"].is_null());
    demo.person_runs(&["freeze", "--off"]).ends_with(0);
    assert_eq!(asking.ended().ends_with(0).out, "ran\n");
}

#[tokio::test]
async fn a_gated_command_runs_after_approval_and_exactly_as_approved() {
    let demo = Demo::start();
    let script = "echo ran \"$0\"; echo \"token: $HOLDPOINT_TOKEN\"; exit 7";
    let asking = demo.program_asks(&["gate", "--title", "Seven", "--", "sh", "-c", script, "a b"]);
    let id = asking.hold.clone();
    let hold = demo.hold(&id).await;
    assert_eq!(hold["title"], "Seven");
    assert_eq!(hold["call"]["tool"], "gate.exec");
    assert_eq!(hold["call"]["arguments"]["argv"], json!(["sh", "-c", script, "a b"]));
    let digest = hold["digest"].as_str().unwrap();
    demo.person_runs(&["approve", &id, "--digest", digest]).ends_with(0);
    let ran = asking.ended().ends_with(7);
    assert_eq!(ran.out, "ran a b\ntoken: \n");
    let outcome = &demo.hold(&id).await["outcome"];
    assert_eq!(outcome["state"], "failed");
    assert!(outcome.to_string().contains("exit code 7"), "{outcome}");

    let asking = demo.program_asks(&["gate", "--", "true"]);
    let id = asking.hold.clone();
    let digest = demo.hold(&id).await["digest"].as_str().unwrap().to_owned();
    demo.person_runs(&["approve", &id, "--digest", &digest]).ends_with(0);
    asking.ended().ends_with(0);
    assert_eq!(demo.hold(&id).await["outcome"]["state"], "succeeded");
}

#[tokio::test]
async fn a_gated_command_that_was_not_approved_does_not_run() {
    let demo = Demo::start();
    let witness = demo.data.path().join("witness");
    let gate = ["gate", "--", "touch", witness.to_str().unwrap()];

    let asking = demo.program_asks(&gate);
    demo.person_runs(&["deny", &asking.hold, "--reason", "no"]).ends_with(0);
    let denied = asking.ended().ends_with(10);
    assert!(denied.err.contains("Nothing was run"), "{}", denied.err);
    assert!(!witness.exists());

    // Somebody approves another command than the one that would run.
    let asking = demo.program_asks(&gate);
    let id = asking.hold.clone();
    let hold = demo.hold(&id).await;
    let mut edited = hold["call"]["arguments"].clone();
    edited["argv"][0] = json!("rm");
    let (digest, edited) = (hold["digest"].as_str().unwrap(), edited.to_string());
    demo.person_runs(&["approve", &id, "--digest", digest, "--edit", &edited]).ends_with(0);
    let refused = asking.ended().ends_with(1);
    assert!(refused.err.contains("another command"), "{}", refused.err);
    assert!(!witness.exists());
    assert_eq!(demo.hold(&id).await["outcome"]["state"], "failed");

    demo.program_runs(&["gate", "--timeout", "1s", "--", "touch", witness.to_str().unwrap()])
        .ends_with(11);
    assert!(!witness.exists());
}

#[tokio::test]
async fn a_command_that_cannot_start_says_so() {
    let demo = Demo::start();
    let asking = demo.program_asks(&["gate", "--", "no-such-program-anywhere"]);
    let id = asking.hold.clone();
    let digest = demo.hold(&id).await["digest"].as_str().unwrap().to_owned();
    demo.person_runs(&["approve", &id, "--digest", &digest]).ends_with(0);
    let ended = asking.ended().ends_with(127);
    assert!(ended.err.contains("could not be started"), "{}", ended.err);
    assert_eq!(demo.hold(&id).await["outcome"]["state"], "failed");
}

#[tokio::test]
async fn everything_can_be_frozen_and_thawed() {
    let demo = Demo::start();
    let status = demo.person_runs(&["freeze", "--json"]).ends_with(0).json();
    assert_eq!(status["frozen"], false);
    let frozen = demo.person_runs(&["freeze", "--reason", "it loops"]).ends_with(0);
    assert!(frozen.out.contains("Frozen") && frozen.out.contains("it loops"), "{}", frozen.out);
    let refused = demo.program_runs(&["ask", "Now?"]).ends_with(1);
    assert!(refused.err.contains("frozen"), "{}", refused.err);
    demo.program_runs(&["freeze", "--off"]).ends_with(1);
    let thawed = demo.person_runs(&["freeze", "--off"]).ends_with(0);
    assert!(thawed.out.contains("Not frozen"), "{}", thawed.out);
}

#[tokio::test]
async fn tokens_are_made_listed_and_revoked() {
    let demo = Demo::start();
    let create = [
        "token",
        "create",
        "--program",
        "ci",
        "--scope",
        "ask",
        "--expires",
        "30d",
        "--note",
        "pipeline",
    ];
    let created = demo.person_runs(&create).ends_with(0);
    let secret = created.out.trim();
    assert!(secret.starts_with("hp_program_") && !secret.contains(char::is_whitespace), "{secret}");

    let listed = demo.person_runs(&["token", "list", "--json"]).ends_with(0).json();
    let ours = listed.as_array().unwrap().iter().find(|token| token["program"] == "ci").unwrap();
    assert_eq!((&ours["note"], &ours["scopes"]), (&json!("pipeline"), &json!(["ask"])));
    assert!(!listed.to_string().contains(secret), "the secret is kept");
    let table = demo.person_runs(&["token", "list"]).ends_with(0);
    assert!(
        table.out.contains("program ci") && table.out.contains("(in 29 days)"),
        "{}",
        table.out
    );

    let ask = ["ask", "Now?", "--timeout", "1s"];
    let used: demo::Ran = demo.command(secret, &ask).output().unwrap().into();
    used.ends_with(11);
    demo.person_runs(&["token", "revoke", ours["id"].as_str().unwrap()]).ends_with(0);
    let revoked: demo::Ran = demo.command(secret, &ask).output().unwrap().into();
    assert!(revoked.ends_with(1).err.contains("revoked"));

    let answering = ["token", "create", "--program", "ci", "--scope", "answer"];
    demo.person_runs(&answering).ends_with(1);
    demo.program_runs(&["token", "list"]).ends_with(1);
    let login = demo.person_runs(&["token", "login", demo.person()]).ends_with(0);
    assert!(login.out.contains("/login?code="), "{}", login.out);
}

#[tokio::test]
async fn the_audit_log_is_exported_and_verified_offline() {
    let demo = Demo::start();
    let hold = demo.scenario("approve").await;
    let id = hold["id"].as_str().unwrap();
    demo.person_runs(&["deny", id, "--reason", "no"]).ends_with(0);
    let file = demo.data.path().join("audit.jsonl");
    let path = file.to_str().unwrap();
    demo.person_runs(&["audit", "export", "--out", path]).ends_with(0);
    demo.person_runs(&["audit", "export", "--out", path]).ends_with(2);
    demo.program_runs(&["audit", "export"]).ends_with(1);

    // Neither a server nor a token is needed from here on.
    let verify = |more: &[&str]| -> demo::Ran {
        command(&[&["audit", "verify"], more].concat()).output().unwrap().into()
    };
    let report = verify(&[path, "--json"]).ends_with(0).json();
    assert!(report["entries"].as_u64().unwrap() > 3, "{report}");
    let key = report["key"].as_str().unwrap();
    let kept = demo.data.path().join("kept.json");
    std::fs::write(&kept, report["end"].to_string()).unwrap();
    let trusted =
        verify(&[path, "--key", key, "--checkpoint", kept.to_str().unwrap()]).ends_with(0);
    assert!(trusted.out.contains("Sound:") && trusted.err.is_empty(), "{trusted:?}");

    let export = std::fs::read_to_string(&file).unwrap();
    assert!(export.contains(id), "the log tells of the hold");
    let forged = demo.data.path().join("forged.jsonl");
    let mut lines: Vec<&str> = export.lines().collect();
    lines.remove(2);
    std::fs::write(&forged, lines.join("\n") + "\n").unwrap();
    let found = verify(&[forged.to_str().unwrap()]).ends_with(1);
    assert!(found.err.contains("entry 2 was deleted"), "{}", found.err);
}

#[tokio::test]
async fn holds_are_listed_and_named_by_their_tags() {
    let demo = Demo::start();
    let nothing = demo.person_runs(&["list"]).ends_with(0);
    assert_eq!(nothing.out, "Nothing waits for an answer.\n");
    let hold = demo.scenario("approve").await;
    let (tag, digest) = (hold["tag"].as_str().unwrap(), hold["digest"].as_str().unwrap());
    let listed = demo.person_runs(&["list"]).ends_with(0);
    assert_eq!(listed.out.lines().count(), 2, "{}", listed.out);
    assert!(listed.out.lines().nth(1).is_some_and(|line| line.starts_with(tag)), "{}", listed.out);
    let json = demo.person_runs(&["list", "--json", "--agent", "demo", "--mine"]).ends_with(0);
    assert_eq!(json.json()[0]["id"], hold["id"]);
    let none = demo.person_runs(&["list", "--risk", "critical", "--json"]).ends_with(0);
    assert_eq!(none.json(), json!([]));

    let lower = tag.to_lowercase();
    let shown = demo.person_runs(&["show", &lower, "--json"]).ends_with(0).json();
    assert_eq!(shown["id"], hold["id"]);
    let claimed = demo.person_runs(&["claim", tag, "--json"]).ends_with(0).json();
    assert!(!claimed["claimed_by"].is_null(), "{claimed}");
    demo.person_runs(&["claim", tag, "--release"]).ends_with(0);
    let said = demo.person_runs(&["comment", tag, "approve? @nobody"]).ends_with(0);
    assert!(said.out.starts_with("Said."), "{}", said.out);
    let shown = demo.person_runs(&["show", tag]).ends_with(0);
    assert!(shown.out.contains("decides nothing:\n│ approve? @nobody\n"), "{}", shown.out);
    let talked = demo.person_runs(&["comment", tag, "again", "--json"]).ends_with(0).json();
    assert_eq!((&talked["comment_count"], &talked["state"]), (&json!(2), &json!("pending")));
    demo.person_runs(&["comment", tag, "  "]).ends_with(1);
    demo.person_runs(&["approve", tag, "--digest", digest]).ends_with(0);
    // One that is decided can still be looked at.
    demo.person_runs(&["show", tag]).ends_with(0);
    let decided = demo.person_runs(&["list", "--state", "approved"]).ends_with(0);
    assert!(decided.out.contains(tag) && decided.out.contains("approved"), "{}", decided.out);
    let other = if tag == "ZZZ" { "ZZY" } else { "ZZZ" };
    let unknown = demo.person_runs(&["show", other]).ends_with(1);
    assert!(unknown.err.contains("holdpoint list"), "{}", unknown.err);
}

#[tokio::test]
async fn a_watcher_is_told_what_comes_and_what_goes() {
    use std::io::{BufRead as _, BufReader};
    let demo = Demo::start();
    let token = demo.ready()["person_token"].as_str().unwrap().to_owned();
    let mut watcher = demo.command(&token, &["list", "--watch", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(watcher.stdout.take().unwrap()).lines();
    let mut next = || -> serde_json::Value {
        serde_json::from_str(&lines.next().expect("a line").unwrap()).unwrap()
    };
    let hold = demo.scenario("approve").await;
    let told = next();
    assert_eq!((&told["change"], &told["hold"]["id"]), (&json!("open"), &hold["id"]));
    demo.person_runs(&["deny", hold["tag"].as_str().unwrap(), "--reason", "no"]).ends_with(0);
    let told = next();
    assert_eq!((&told["change"], &told["hold"]["state"]), (&json!("gone"), &json!("denied")));
    watcher.kill().unwrap();
    watcher.wait().unwrap();
}

#[tokio::test]
async fn a_kept_token_is_used_and_forgotten() {
    use std::io::Write as _;
    let demo = Demo::start();
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str], input: Option<&str>| -> demo::Ran {
        let mut command = command(arguments);
        command.env("XDG_CONFIG_HOME", home.path()).env("HOLDPOINT_SERVER", demo.url());
        command.stdin(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // Nobody may want to read it.
        let _ = stdin.write_all(input.unwrap_or_default().as_bytes());
        drop(stdin);
        child.wait_with_output().unwrap().into()
    };
    let refused = run(&["list"], None).ends_with(1);
    assert!(refused.err.contains("holdpoint login"), "{}", refused.err);
    run(&["login"], Some("hp_person_wrong\n")).ends_with(1);
    run(&["login"], Some("nonsense\n")).ends_with(2);
    run(&["list"], None).ends_with(1);
    let token = demo.ready()["person_token"].as_str().unwrap();
    let told = run(&["login", "--json"], Some(&format!("{token}\n"))).ends_with(0).json();
    assert_eq!((&told["kind"], &told["id"]), (&json!("person"), &json!("ana")));
    assert!(!told.to_string().contains(token), "the token is not shown");
    run(&["list"], None).ends_with(0);
    run(&["logout"], None).ends_with(0);
    run(&["list"], None).ends_with(1);

    // A login link makes a token of its own, once.
    let link = demo.ready()["login"].as_str().unwrap();
    let told = run(&["login", link], None).ends_with(0);
    assert!(told.out.contains("as the person ana"), "{}", told.out);
    run(&["freeze"], None).ends_with(0);
    let again = run(&["login", link], None).ends_with(1);
    assert!(again.err.contains("used before"), "{}", again.err);
}

#[tokio::test]
async fn each_scenario_of_the_demo_finds_the_shop_as_the_first_did() {
    let demo = Demo::start();
    for _ in 0..2 {
        let hold = demo.scenario("approve").await;
        assert!(hold["view"]["text"].as_str().unwrap().contains("214"), "{hold}");
        let (id, digest) = (hold["id"].as_str().unwrap(), hold["digest"].as_str().unwrap());
        demo.person_runs(&["approve", id, "--digest", digest]).ends_with(0);
        let wait = format!("/v1/holds/{id}/wait?until=settled&timeout_s=60");
        let settled = demo.client().get(&wait).await.unwrap();
        assert_eq!(settled["outcome"]["state"], "succeeded", "{settled}");
    }
}

#[tokio::test]
async fn the_doctor_finds_a_healthy_server_well() {
    let demo = Demo::start();
    let well = demo.person_runs(&["doctor", "--json"]).ends_with(0).json();
    assert_eq!(well["well"], true, "{well}");
    let nobody = command(&["doctor", "--server", demo.url()]).output().unwrap();
    let nobody = demo::Ran::from(nobody).ends_with(1);
    assert!(nobody.out.contains("HOLDPOINT_TOKEN"), "{}", nobody.out);
}

#[tokio::test]
async fn the_demo_opens_its_doors_when_it_is_told_to() {
    let demo = Demo::start_with(&["--doors"]);
    let doors = demo.ready()["doors"].as_array().expect("a list").clone();
    let names: Vec<_> = doors.iter().filter_map(|door| door["name"].as_str()).collect();
    assert_eq!(names, ["frontend_tools", "worlds", "ai_sdk"]);
    for door in &doors {
        assert_eq!(door["url"], demo.url());
        assert!(door["names"].as_array().is_some_and(|names| !names.is_empty()), "{door}");
    }
    // Our own client, which also sets up what every other one needs.
    let own = demo.client();
    // Without credentials, as Ana: the scenario's question comes over the wire.
    let message = json!({"id": "m1", "role": "user", "parts": [
        {"type": "text", "text": "Deploy my-app to Shipper Cloud."}]});
    let say = |text: &str| {
        let mut message = message.clone();
        message["parts"][0]["text"] = text.into();
        message["id"] = text.into();
        let body = json!({"id": "c1", "trigger": "submit-message", "messages": [message]});
        reqwest::Client::new().post(format!("{}/api/chat", demo.url())).json(&body).send()
    };
    let asked = say("Deploy my-app to Shipper Cloud.").await.unwrap().text().await.unwrap();
    assert!(asked.contains("pending_confirmation"), "{asked}");
    let yes = "Yes, please proceed with deploying \"my-app\" to Shipper Cloud.";
    let done = say(yes).await.unwrap().text().await.unwrap();
    assert!(done.contains("\"status\":\"success\""), "{done}");
    // Every agent type that the front end of the first door offers, without `agent_uuid`, as it posts.
    for kind in [
        "agent_no_tools",
        "agent_client_tools",
        "agent_frontend_tools",
        "agent_all_json",
        "agent_subagents",
        "agent_cowork",
    ] {
        let body = json!({"user_prompt": "Hello.", "agent_type": kind});
        let run = reqwest::Client::new().post(format!("{}/agent/run", demo.url())).json(&body);
        let reply = run.header("origin", "http://localhost:5173").send().await.unwrap();
        assert_eq!(reply.status(), 200, "{kind}");
        let told = reply.text().await.unwrap();
        assert!(told.starts_with("data: ") && told.contains("meta_init"), "{kind}: {told}");
        assert!(told.ends_with("data: [DONE]\n\n"), "{kind}: {told}");
    }
    // The page says what kind of set-up this is.
    let me = own.get("/v1/me").await.unwrap();
    assert!(me.to_string().contains("insecure"), "{me}");
    assert!(Demo::start().ready().get("doors").is_none());
}
