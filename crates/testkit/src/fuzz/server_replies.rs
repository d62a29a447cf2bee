//! Replies of a server, or of whoever answers in its place, on the command line. They reach the terminal as
//! text, and nothing in them makes a yes of what a person typed.

use domain::time::Timestamp;
use domain::view;
use domain::visible::visible;
use holdpoint::cli::ask::{lines, unanswered};
use holdpoint::cli::card::{card, decided, taken_back};
use holdpoint::cli::client::understood;
use holdpoint::cli::exit::Exit;
use holdpoint::cli::menu::Menu;
use holdpoint::cli::output::Screen;
use holdpoint::cli::prompt::ask_for;
use holdpoint::cli::{answer, doctor, freeze, json, token};
use serde_json::Value;

use super::{Pieces, told_plainly};

const NOW: Timestamp = Timestamp::from_ms(1_800_000_000_000);

/// What is typed, with bars for line breaks, on the first line; the reply on the rest.
pub(super) fn run(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let typed = pieces.line();
    let reply = match understood(pieces.rest()) {
        Ok(reply) => reply,
        Err(error) => return told_plainly(&format!("{error:#}"), bytes.len()),
    };
    let screen = Screen::plain();
    for printed in [
        card(&screen, &reply, NOW),
        decided(&reply["decision"]),
        taken_back(&reply["cancelled"]),
        unanswered(&reply),
        lines(&reply),
        answer::result(&screen, &reply),
        answer::revealed(&reply),
        freeze::worded(&screen, &reply),
        token::listed(&screen, reply["items"].as_array().map_or(&[], Vec::as_slice)),
        doctor::whose(&reply),
    ] {
        is_text(&printed);
        assert!(printed.len() <= 4_000 + 40 * bytes.len(), "{} bytes", printed.len());
    }
    let pretty = json::pretty(&reply);
    is_text(&pretty);
    assert_eq!(serde_json::from_str::<Value>(&pretty).ok().as_ref(), Some(&reply), "the same JSON");
    if Exit::of_hold(&reply) == Exit::Done {
        let state = reply["state"].as_str();
        assert!(matches!(state, Some("pending" | "approved" | "answered")), "{state:?} is success");
    }
    let is_told = freeze::worded(&screen, &reply).starts_with("Frozen");
    assert_eq!(is_told, reply["frozen"] == true, "frozen or not");
    if let Some(path) = token::next(&reply) {
        let cursor = path.strip_prefix("/v1/tokens?cursor=").expect("of the same list");
        assert_eq!(reply["next"], cursor, "the cursor that was given");
        assert!(!cursor.contains(|c: char| "&#?/%+ ".contains(c) || !c.is_ascii_graphic()));
    }
    shown(&reply);
    asked(typed, &reply);
}

/// Only what was shown can be answered, by its own digest.
fn shown(hold: &Value) {
    let Ok(digest) = answer::shown_digest(hold) else { return };
    let text = hold["view"]["text"].as_str().expect("something was shown");
    assert_eq!(hold["digest"], *digest, "another digest than the server's");
    assert_eq!(hold["view"]["digest"], view::digest_of(&hold["view"]["parts"], text).to_string());
    let card = card(&Screen::plain(), hold, NOW);
    // The card breaks lines where the screen ends, and marks each.
    let words = |text: &str| text.replace([' ', '\n', '│', '┆'], "");
    assert!(
        words(&card).contains(&words(text)) || text.chars().any(is_hidden),
        "other words than were kept"
    );
}

/// A person says yes by typing what they are asked to type.
fn asked(typed: &[u8], hold: &Value) {
    let typed: Vec<u8> = typed.iter().map(|b| if *b == b'|' { b'\n' } else { *b }).collect();
    let (mut input, mut output) = (typed.as_slice(), Vec::new());
    let given = ask_for(&mut Menu::new(&mut input, &mut output), &Screen::plain(), hold);
    is_text(&String::from_utf8(output).expect("text"));
    let given = match given {
        Ok(given) => given,
        Err(error) => return told_plainly(&format!("{error:#}"), typed.len() + 1_000),
    };
    let typed = String::from_utf8_lossy(&typed);
    let said = |word: &str| typed.lines().any(|line| line.trim() == word);
    if given["verdict"] == "approve" {
        assert_eq!(hold["kind"], "approve");
        let tag = hold["tag"].as_str().filter(|tag| !tag.is_empty());
        let lightly = matches!(hold["risk"].as_str(), Some("low" | "medium"));
        let word = tag.filter(|_| !lightly).unwrap_or("yes");
        assert!(said(word), "{word:?} was not typed");
    }
    assert!(given["scope"].is_null() || given["scope"] == "once", "once, and no further");
}

fn is_text(printed: &str) {
    let moves = printed.chars().find(|c| is_hidden(*c) && !['\n', '⟦', '⟧'].contains(c));
    assert_eq!(moves, None, "more than text reaches the terminal: {printed:?}");
}

/// Behind a letter, where a mark may stand.
fn is_hidden(c: char) -> bool {
    visible(&format!("a{c}")) != format!("a{c}")
}
