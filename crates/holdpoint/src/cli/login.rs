//! `holdpoint login` and `logout`: one token for each server, kept for the user.

use std::io::{self, BufRead as _, Read as _};

use anyhow::{Context as _, bail};
use domain::visible::visible;
use reqwest::Url;
use serde_json::json;

use super::args::{LoginArgs, LogoutArgs};
use super::client::Client;
use super::exit::{Abandoned, Exit, UsageError};
use super::json;
use super::output::Terminal;
use super::token_store::TokenStore;

/// No token is longer.
const TOKEN_BYTES_MAX: u64 = 1000;

pub async fn login(server: &str, terminal: &Terminal, args: &LoginArgs) -> anyhow::Result<Exit> {
    let store = store()?;
    let (client, token) = match &args.link {
        Some(link) => by_link(link).await?,
        None => {
            let token = ask_token(terminal, server)?;
            (Client::with_token(server, Some(token.clone()))?, token)
        }
    };
    let me = client.get("/v1/me").await?;
    let word = |key: &str| visible(me[key].as_str().unwrap_or("?"));
    let (kind, id) = (word("kind"), word("id"));
    store.keep(client.server(), &token, &id)?;
    let (server, file) = (visible(client.server().as_str()), store.file().display().to_string());
    let out = terminal.out();
    if args.json {
        let told =
            json!({"server": server, "kind": kind, "id": id, "scopes": me["scopes"], "file": file});
        out.print(&json::pretty(&told))?;
    } else {
        out.line(&format!(
            "Logged in to {server} as the {kind} {id}.\nThe token is in {}; `holdpoint logout` removes it.",
            visible(&file)
        ))?;
    }
    Ok(Exit::Done)
}

pub fn logout(server: &str, terminal: &Terminal, args: &LogoutArgs) -> anyhow::Result<Exit> {
    let client = Client::with_token(server, None)?;
    let forgotten = store()?.forget(client.server())?;
    let server = visible(client.server().as_str());
    let out = terminal.out();
    if args.json {
        out.print(&json::pretty(&json!({"server": server, "forgotten": forgotten})))?;
    } else if forgotten {
        out.line(&format!(
            "The token for {server} is forgotten here; `holdpoint token revoke` ends it."
        ))?;
    } else {
        out.line(&format!("There was no token for {server}."))?;
    }
    Ok(Exit::Done)
}

fn store() -> anyhow::Result<TokenStore> {
    TokenStore::of_user()
        .context("there is no home folder to keep a token in\n  → set HOLDPOINT_TOKEN")
}

/// A token that somebody pastes, or that a script sends. It is not echoed where that can be had.
fn ask_token(terminal: &Terminal, server: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    if terminal.can_ask() {
        terminal.note(&format!(
            "The token for {} (`holdpoint token create` makes one):",
            visible(server)
        ));
        let hidden = Hidden::begin();
        let read = io::stdin().lock().read_line(&mut text);
        drop(hidden);
        read.context("nothing can be read")?;
    } else {
        io::stdin()
            .lock()
            .take(TOKEN_BYTES_MAX)
            .read_to_string(&mut text)
            .context("no token came")?;
    }
    let token = text.trim();
    if token.is_empty() {
        return match terminal.can_ask() {
            true => Err(Abandoned.into()),
            false => {
                Err(UsageError("send a token on standard input, or name a login link".into())
                    .into())
            }
        };
    }
    if !token.starts_with("hp_") {
        return Err(UsageError(
            "this is no token: one begins with `hp_person_` or `hp_program_`".into(),
        )
        .into());
    }
    Ok(token.to_owned())
}

/// The terminal shows nothing of what is typed until this is dropped.
struct Hidden(Option<nix::sys::termios::Termios>);

impl Hidden {
    fn begin() -> Hidden {
        use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
        let input = io::stdin();
        let before = tcgetattr(&input).ok();
        if let Some(mut quiet) = before.clone() {
            quiet.local_flags.remove(LocalFlags::ECHO);
            let _ = tcsetattr(&input, SetArg::TCSANOW, &quiet);
        }
        Hidden(before)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        use nix::sys::termios::{SetArg, tcsetattr};
        if let Some(before) = &self.0 {
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, before);
        }
    }
}

/// Uses a login link up, makes a token for the person whom it is for, and leaves the browser session.
async fn by_link(link: &str) -> anyhow::Result<(Client, String)> {
    let (server, code) = read_link(link)?;
    let client = Client::with_token(&server, None)?;
    let session = client.open_session(&code).await?;
    let person = visible(session.me["id"].as_str().unwrap_or_default());
    let host = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    let note = format!("holdpoint login on {}", host.as_deref().unwrap_or("a terminal"));
    let scopes = session.me["scopes"].clone();
    let body = json!({"person": session.me["id"], "scopes": scopes, "note": note});
    let minted = client.post_in(&session, "/v1/tokens", &body).await;
    let left = client.post_in(&session, "/logout", &json!({})).await;
    // It ends by itself, too.
    drop(left);
    match minted {
        Ok(token) => {
            let secret =
                token["token"].as_str().context("the reply has no token in it")?.to_owned();
            Ok((Client::with_token(&server, Some(secret.clone()))?, secret))
        }
        Err(error) => bail!(
            "{person} cannot make a token: {error:#}\n  → ask an admin for one (`holdpoint token create --person {person} --scope answer`), and give it to `holdpoint login`"
        ),
    }
}

/// The server and the code of a link such as `http://127.0.0.1:7420/login?code=…`.
fn read_link(link: &str) -> anyhow::Result<(String, String)> {
    let wrong = || {
        UsageError(
            "this is no login link: one looks like `http://127.0.0.1:7420/login?code=…`, in quotes"
                .into(),
        )
    };
    let url = Url::parse(link.trim()).map_err(|_| wrong())?;
    let code =
        url.query_pairs().find(|(name, _)| name == "code").map(|(_, code)| code.into_owned());
    let base = url.path().strip_suffix("/login");
    let (Some(code), Some(base)) = (code, base) else { return Err(wrong().into()) };
    let mut server = url.clone();
    server.set_path(base);
    server.set_query(None);
    server.set_fragment(None);
    Ok((server.to_string(), code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read() {
        let read = |link: &str| read_link(link).unwrap();
        assert_eq!(
            read("http://127.0.0.1:7420/login?code=ab12"),
            ("http://127.0.0.1:7420/".into(), "ab12".into())
        );
        assert_eq!(
            read("https://ops.example/team/login?code=ab12"),
            ("https://ops.example/team".into(), "ab12".into())
        );
        for wrong in ["", "ab12", "http://127.0.0.1:7420/", "http://127.0.0.1:7420/login"] {
            assert!(read_link(wrong).unwrap_err().is::<UsageError>(), "{wrong}");
        }
    }
}
