//! The fake model server as a program of its own, for tests in other languages and for trying things
//! out by hand.

#![expect(clippy::print_stdout, reason = "the address that it printed is how others find it")]

use std::future::pending;
use std::process::ExitCode;

use testkit::fake_model::{FakeModel, Script};

const HELP: &str = "\
fake-model [--listen ADDR] [--script FILE]

Serves Anthropic Messages, OpenAI Chat Completions and OpenAI Responses on one port, and prints its
address. FILE is JSON: {\"key\", \"models\", \"turns\": [{\"when\", \"say\" or \"fail\", …}]}.

  --listen ADDR  where; 127.0.0.1:0 unless told
  --script FILE  what it says; nothing unless told

  POST /fake/script     another script, and everything starts over
  GET  /fake/requests   every request that came, as it came

Example:
  fake-model --listen 127.0.0.1:4010 --script turns.json";

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let (address, script) = match wish(&words) {
        Ok(wish) => wish,
        Err(why) => {
            eprintln!("fake-model: {why}");
            return ExitCode::from(2);
        }
    };
    match FakeModel::listen(&address, script).await {
        Ok(model) => {
            println!("{}", model.url());
            pending().await
        }
        Err(why) => {
            eprintln!("fake-model: it cannot listen on {address}: {why}");
            ExitCode::FAILURE
        }
    }
}

fn wish(words: &[String]) -> Result<(String, Script), String> {
    let (mut address, mut script) = ("127.0.0.1:0".to_owned(), Script::default());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("`{word}` needs a value; see --help"));
        match word.as_str() {
            "--listen" => address = value?.clone(),
            "--script" => {
                let file = value?;
                let text = std::fs::read(file).map_err(|why| format!("{file}: {why}"))?;
                script = Script::parse(&text)?;
            }
            other => return Err(format!("`{other}` is not an option; --help names them")),
        }
    }
    Ok((address, script))
}
