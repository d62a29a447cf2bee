//! Tokens and login links.

use anyhow::Context as _;
use domain::visible::visible;
use serde_json::{Value, json};

use super::args::{TokenCommand, TokenCreateArgs};
use super::client::Client;
use super::exit::Exit;
use super::json;
use super::output::{Screen, Terminal, moment, now, table};

pub async fn run(
    client: &Client,
    terminal: &Terminal,
    command: &TokenCommand,
) -> anyhow::Result<Exit> {
    let out = terminal.out();
    match command {
        TokenCommand::Create(args) => {
            let token = client.post("/v1/tokens", &wanted(args)).await?;
            if args.json {
                out.print(&json::pretty(&token))?;
            } else {
                let secret = token["token"].as_str().context("the reply has no token in it")?;
                let id = visible(token["id"].as_str().unwrap_or_default());
                terminal.note(&format!("Created {id}. This is the only time it is shown:"));
                out.line(&visible(secret))?;
            }
        }
        TokenCommand::List(args) => {
            let tokens = list_tokens(client).await?;
            if args.json {
                out.print(&json::pretty(&Value::Array(tokens)))?;
            } else {
                out.print(&listed(&out, &tokens))?;
            }
        }
        TokenCommand::Revoke(args) => {
            client.delete(&format!("/v1/tokens/{}", args.id)).await?;
            if args.json {
                out.print(&json::pretty(&json!({"id": args.id.to_string(), "revoked": true})))?;
            } else {
                out.line(&format!("Revoked {}.", args.id))?;
            }
        }
        TokenCommand::Login(args) => {
            let login = client.post("/v1/logins", &json!({"person": args.person})).await?;
            if args.json {
                out.print(&json::pretty(&login))?;
            } else {
                let url = login["url"].as_str().context("the reply has no link in it")?;
                terminal.note("Good for one login; give it to nobody else:");
                out.line(&visible(url))?;
            }
        }
    }
    Ok(Exit::Done)
}

fn wanted(args: &TokenCreateArgs) -> Value {
    let mut body = json!({"scopes": args.scopes});
    if let Some(person) = &args.person {
        body["person"] = json!(person);
    }
    if let Some(program) = &args.program {
        body["program"] = json!(program);
    }
    if let Some(expires) = args.expires {
        body["expires_in_s"] = json!(expires.as_secs());
    }
    if let Some(note) = &args.note {
        body["note"] = json!(note);
    }
    body
}

/// Every page of the list.
async fn list_tokens(client: &Client) -> anyhow::Result<Vec<Value>> {
    let mut tokens = Vec::new();
    let mut path = "/v1/tokens".to_owned();
    loop {
        let mut page = client.get(&path).await?;
        if let Some(items) = page["items"].as_array_mut() {
            tokens.append(items);
        }
        match next(&page) {
            Some(next) => path = next,
            None => return Ok(tokens),
        }
    }
}

/// What names the next page of a list.
pub fn next_cursor(page: &Value) -> Option<String> {
    let cursor = page["next"].as_str()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    cursor.chars().all(plain).then(|| cursor.to_owned())
}

/// Where the next page is. Cursors are opaque: what is not plain is not put into an address.
pub fn next(page: &Value) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let next = page["next"].as_str().filter(|next| next.bytes().all(is_plain))?;
    Some(format!("/v1/tokens?cursor={next}"))
}

/// A table of tokens.
pub fn listed(screen: &Screen, tokens: &[Value]) -> String {
    let rows: Vec<Vec<String>> = tokens.iter().map(row).collect();
    table(screen, &["id", "owner", "scopes", "expires", "note"], &rows)
}

fn row(token: &Value) -> Vec<String> {
    let text = |key: &str| token[key].as_str().unwrap_or_default().to_owned();
    let owner = match (token["person"].as_str(), token["program"].as_str()) {
        (Some(person), _) => format!("person {person}"),
        (None, Some(program)) => format!("program {program}"),
        (None, None) => String::new(),
    };
    let scopes: Vec<&str> =
        token["scopes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let expires = match token["expires_at"].as_str() {
        Some(at) => moment(at, now()),
        None => "never".into(),
    };
    vec![text("id"), owner, scopes.join(","), expires, text("note")]
}
