//! Settings that cannot be meant: the file and the line are named, with what to write instead, and
//! nothing starts.

use testkit::served::{Served, run};

use crate::bad_input::{CONFIG, SCRIPT, nothing_was_lost, one_hold};

/// Puts `wrong` into the settings after the line `after`, and expects to be told about its last line:
/// in `serve`, which must not start, and in `policy check`, which must not pass it.
async fn refused(after: &str, wrong: &str, says: &str) {
    let served = Served::prepare(CONFIG, SCRIPT);
    let before = CONFIG.lines().take_while(|line| *line != after).count() + 1;
    let lines: Vec<&str> = CONFIG.lines().collect();
    assert!(before <= lines.len(), "there is no line {after:?}");
    let (head, tail) = lines.split_at(before);
    served.write("holdpoint.toml", &format!("{}\n{wrong}\n{}\n", head.join("\n"), tail.join("\n")));
    let place = format!("holdpoint.toml:{}: ", before + wrong.lines().count());
    let here = served.path("");
    for command in
        [&["serve", "--config", "holdpoint.toml"][..], &["policy", "check", "holdpoint.toml"]]
    {
        let (code, out, said) = run(served.binary(), command, &here).await;
        assert_eq!((code, &*out), (1, ""), "{wrong}: {said}");
        assert!(said.contains(&place) && said.contains(says), "{wrong} in {place}: {said}");
    }
    assert!(!served.path("data").exists(), "nothing was begun");
}

#[tokio::test]
async fn unknown_keys_are_refused_with_file_and_line() {
    refused("[server]", "listn = \"127.0.0.1:1\"", "unknown key `listn`; did you mean `listen`?")
        .await;
    refused("kind = \"human\"", "ask = \"anything\"", "unknown key `ask`").await;
    refused("then = \"ask\"", "approve = true", "unknown key `approve`").await;
    refused("id = \"cleo\"", "role = [\"admin\"]", "did you mean `roles`?").await;
    refused("provider = \"scripted\"", "api_key = \"sk-1\"", "secrets do not belong in this file")
        .await;
    refused("", "[polices]", "unknown key `polices`").await;
}

#[tokio::test]
async fn wrong_types_and_words_are_refused_with_file_and_line() {
    refused("id = \"cleo\"", "roles = \"admin\"", "expected").await;
    refused("id = \"cleo\"", "roles = [\"admin\" \"dba\"]", "expected").await;
    refused("kind = \"human\"", "timeout = 5", "unknown key `timeout`").await;
    refused("", "[policy]\ndefault = \"maybe\"", "allow").await;
}

#[tokio::test]
async fn a_quorum_that_nobody_could_reach_is_refused_with_its_line() {
    let rule = "[[policy.rules]]\nname = \"all hands\"\nmatch = { tool = \"*\" }\nthen = \"ask\"\n";
    for (ask, line, says) in [
        ("ask = { roles = [\"dba\"], quorum = 2 }", 1, "rule `all hands`"),
        ("ask = { quorum = 9 }", 1, "rule `all hands`"),
        (
            "ask = { roles = [\"dba\"], exclude_requester = true, quorum = 2 }",
            1,
            "rule `all hands`",
        ),
        ("ask = { roles = [\"pilot\"] }", 5, "nobody has the role `pilot`"),
        ("ask = { people = [\"anna\"] }", 5, "there is no person `anna`; did you mean `ana`?"),
    ] {
        let served = Served::prepare(&format!("{rule}{ask}\n{CONFIG}"), SCRIPT);
        let arguments = ["serve", "--config", "holdpoint.toml"];
        let (code, _, said) = run(served.binary(), &arguments, &served.path("")).await;
        assert_eq!(code, 1, "{ask}: {said}");
        let place = format!("holdpoint.toml:{line}: ");
        assert!(said.contains(&place) && said.contains(says), "{ask}: {said}");
        assert!(!served.path("data").exists(), "nothing was begun");
    }
}

/// As the documentation shows it: in the folder of the file, with the name alone.
#[tokio::test]
async fn settings_may_be_named_without_their_folder() {
    let served = Served::prepare(&CONFIG.replace("@PORT@", "1"), SCRIPT);
    let arguments = ["policy", "check", "holdpoint.toml"];
    let (code, _, said) = run(served.binary(), &arguments, &served.path("")).await;
    assert_eq!(code, 0, "{said}");
    // Everything is sound up to the door, which nobody may open here.
    let arguments = ["serve", "--config", "holdpoint.toml"];
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    served.write("holdpoint.toml", &CONFIG.replace("@PORT@", &port.to_string()));
    let (code, _, said) = run(served.binary(), &arguments, &served.path("")).await;
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("is in use"), "{said}");
}

#[tokio::test]
async fn a_script_that_makes_no_sense_is_refused_with_its_line() {
    let served = Served::prepare(CONFIG, "default = \"x\"\n\n[[turn]]\nwhne = { any = true }\n");
    let arguments = ["serve", "--config", "holdpoint.toml"];
    let (code, _, said) = run(served.binary(), &arguments, &served.path("")).await;
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("script.toml:4") && said.contains("whne"), "{said}");
}

#[tokio::test]
async fn a_missing_file_is_told_with_the_remedy() {
    let served = Served::prepare(CONFIG, SCRIPT);
    let arguments = ["serve", "--config", "nowhere.toml"];
    let (code, _, said) = run(served.binary(), &arguments, &served.path("")).await;
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("nowhere.toml") && said.contains("holdpoint init"), "{said}");
}

#[tokio::test]
async fn bad_settings_over_good_data_lose_nothing() {
    let mut served = Served::start(CONFIG, SCRIPT).await;
    let (_, session, hold) = one_hold(&served, "note a").await;
    served.stop().await;
    served.write("holdpoint.toml", &format!("{CONFIG}\nask = 7\n"));
    let arguments = ["serve", "--config", "holdpoint.toml"];
    let (code, _, said) = run(served.binary(), &arguments, &served.path("")).await;
    assert_eq!(code, 1, "{said}");
    served.write("holdpoint.toml", CONFIG);
    served.up().await;
    nothing_was_lost(&served, &session, &hold).await;
}
