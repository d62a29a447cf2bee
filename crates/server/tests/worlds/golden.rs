//! Whole streams, to the letter: what a client of either generation reads. Ids, times and addresses are
//! numbered in the order in which they appear, and pieces of text that come together are one.

use std::collections::BTreeMap;

use domain::json::canonical;
use serde_json::{Value, json};

use crate::prompts::STRATEGY;
use crate::stage::{Reply, Stage, approval, choice, stage};

const TWO: &str = r#"call ask_user_input {"type":"multiple-select","allowSkip":true,"questions":[{"id":"where","header":"Place","question":"Where to?","options":[{"id":"eu","label":"Europe","description":"slow"},{"id":"us","label":"America"}]},{"id":"when","header":"Time","question":"When?","options":["now","later"]}],"metadata":{"why":"move"}}"#;

/// Puts numbers in place of what differs from run to run.
#[derive(Default)]
struct Plain {
    seen: BTreeMap<String, usize>,
}

impl Plain {
    fn line(&mut self, event: &Value, stage: &Stage) -> String {
        let text = String::from_utf8(canonical(event)).expect("UTF-8");
        let text = text.replace(&stage.address.to_string(), "HOST");
        let text = without_durations(&text);
        let mut plain = String::new();
        let mut rest = text.as_str();
        while let Some(letter) = rest.chars().next() {
            let begins = plain.ends_with(['_', '-']);
            let taken = match (begins.then(|| id(rest)).flatten(), time(rest)) {
                (Some(id), _) => {
                    let next = self.seen.len() + 1;
                    let number = *self.seen.entry(id.to_owned()).or_insert(next);
                    plain.push_str(&number.to_string());
                    id.len()
                }
                (None, Some(time)) => {
                    plain.push_str("TIME");
                    time.len()
                }
                (None, None) => {
                    plain.push(letter);
                    letter.len_utf8()
                }
            };
            rest = &rest[taken..];
        }
        plain
    }
}

fn without_durations(text: &str) -> String {
    const MARK: &str = "\"duration\":";
    let mut pieces = text.split(MARK);
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        plain.push_str(MARK);
        plain.push_str("\"MS\"");
        plain.push_str(piece.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    plain
}

/// The unguessable part of an id of ours.
fn id(text: &str) -> Option<&str> {
    let id = text.get(..26)?;
    let known = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase();
    id.bytes().all(known).then_some(id)
}

fn time(text: &str) -> Option<&str> {
    let time = text.get(..24)?;
    let fits = time.bytes().zip(b"0000-00-00T00:00:00.000Z").all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == *form,
    });
    fits.then_some(time)
}

/// Several pieces of one text are told as the last of them.
fn joined(reply: &Reply) -> Vec<Value> {
    let mut events: Vec<Value> = Vec::new();
    for event in &reply.events {
        let mut event = event.clone();
        if event["data"]["type"] == "chunk" {
            event["data"]["content"] = json!("…");
            if events.last().is_some_and(|last| last["data"]["type"] == "chunk") {
                events.pop();
            }
        }
        events.push(event);
    }
    events
}

fn check(name: &str, golden: &str, streams: &[&Reply], stage: &Stage) {
    let mut plain = Plain::default();
    let mut told = String::new();
    for stream in streams {
        for event in joined(stream) {
            told.push_str(&plain.line(&event, stage));
            told.push('\n');
        }
        told.push('\n');
    }
    let told = told.trim_end();
    if told != golden.trim_end() {
        let path = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(&path, format!("{told}\n")).expect("a file");
        let differ = told.lines().zip(golden.lines()).find(|(told, golden)| told != golden);
        panic!("{name} differs, see {path}: {differ:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_and_a_choice_as_the_first_generation_reads_them() {
    let stage = stage().await;
    *stage.witness.directory.lock().expect("sound") = "/srv/shop".into();
    let chat = stage.chat().await;
    let said = format!("call shell_cmd {{\"command\":\"ls\"}}\n{STRATEGY}\n---\nAll done.");
    let first = stage.say(&chat, &said).await;
    let second = stage.submit(approval(&first.dialog(), "approve", Some("once"))).await;
    let third = stage.submit(choice(&second.dialog(), "Canary")).await;
    let golden = include_str!("golden/first.jsonl");
    check("first.jsonl", golden, &[&first, &second, &third], &stage);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_questions_as_the_second_generation_reads_them() {
    let stage = stage().await;
    let chat = stage.chat().await;
    let asked = stage.say(&chat, TWO).await;
    check("second.jsonl", include_str!("golden/second.jsonl"), &[&asked], &stage);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denial_and_a_failed_run_as_they_are_read() {
    let stage = stage().await;
    let chat = stage.chat().await;
    let asked = stage.say(&chat, "call write_file {\"path\":\"x\"}\n---\nfall over").await;
    let denied = stage.submit(approval(&asked.dialog(), "deny", None)).await;
    check("denied.jsonl", include_str!("golden/denied.jsonl"), &[&asked, &denied], &stage);
}
