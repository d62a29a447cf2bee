//! The one switch that stops everything.

use domain::visible::visible;
use serde_json::{Value, json};

use super::args::FreezeArgs;
use super::client::Client;
use super::exit::Exit;
use super::json;
use super::output::{Paint, Screen, Terminal};

pub async fn run(client: &Client, terminal: &Terminal, args: &FreezeArgs) -> anyhow::Result<Exit> {
    match (&args.reason, args.off) {
        (Some(reason), _) => drop(client.post("/v1/freeze", &json!({"reason": reason})).await?),
        (None, true) => drop(client.delete("/v1/freeze").await?),
        (None, false) => {}
    }
    // Read back rather than assumed: what is printed is how it stands.
    let freeze = client.get("/v1/freeze").await?;
    let out = terminal.out();
    if args.json {
        out.print(&json::pretty(&freeze))?;
    } else {
        out.line(&worded(&out, &freeze))?;
    }
    Ok(Exit::Done)
}

/// How it stands.
pub fn worded(screen: &Screen, freeze: &Value) -> String {
    if freeze["frozen"] != true {
        return "Not frozen: approved calls run.".into();
    }
    let mut text = screen.paint(Paint::Red, "Frozen: no call starts.");
    if let Some(by) = freeze["by"].as_str() {
        text.push_str(&format!(" By {}", visible(by)));
        if let Some(reason) = freeze["reason"].as_str() {
            text.push_str(&format!(": {}", visible(reason)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_it_stands_is_said_in_words() {
        let screen = Screen::plain();
        assert_eq!(worded(&screen, &json!({"frozen": false})), "Not frozen: approved calls run.");
        assert_eq!(
            worded(&screen, &json!({"frozen": true, "by": "ana", "reason": "it loops\u{7}"})),
            "Frozen: no call starts. By ana: it loops⟦U+0007⟧"
        );
    }
}
