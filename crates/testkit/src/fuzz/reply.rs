//! A reply in a chat. The one promise that counts: nothing approves that is not made of known words.

use std::collections::HashSet;
use std::sync::LazyLock;

use reply_parser::lexicon::PACKS;
use reply_parser::{
    ApprovalCode, ExpectedReply, ReplyContext, ReplyVerdict, fold_text, parse_reply,
};

use super::{Pieces, told_plainly};

const CODE: &str = "7K3F";

pub(super) fn run(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let (context, with_code) = context(pieces.byte());
    let Ok(text) = std::str::from_utf8(pieces.rest()) else { return };
    let verdict = parse_reply(text, &context);
    assert_eq!(parse_reply(text, &context), verdict, "the same again");
    told_plainly(verdict.describe(), 0);
    assert!(!verdict.reason_name().is_empty());
    let once = fold_text(text);
    assert_eq!(fold_text(&once), once, "folding twice is folding once");
    match verdict {
        ReplyVerdict::Confirm(_) => is_made_of_yes(text, &context, with_code),
        ReplyVerdict::Choice(..) => assert!(matches!(context.asked, ExpectedReply::Choice { .. })),
        ReplyVerdict::Cancel(_) | ReplyVerdict::Ambiguous(_) => {}
    }
    // A word that nobody knows never helps.
    let with_more = parse_reply(&format!("{text} qqzx"), &context);
    assert!(!matches!(with_more, ReplyVerdict::Confirm(_)), "{text:?} and an unknown word confirm");
}

fn context(flags: u8) -> (ReplyContext, bool) {
    let is = |bit: u8| flags & (1 << bit) != 0;
    let asked = if is(0) {
        let options = ["Keep a backup", "Drop it", "取消"].map(String::from).to_vec();
        ExpectedReply::Choice { options, multi: is(1) }
    } else {
        ExpectedReply::Confirm { numbered: is(1) }
    };
    let context = ReplyContext {
        asked,
        code: is(2).then(|| ApprovalCode::new(CODE)),
        weak_ok: is(3),
        reserved: if is(4) { vec!["execute".into(), "执行".into()] } else { Vec::new() },
        mentions: if is(5) { vec!["@_user_1".into()] } else { Vec::new() },
        mentions_others: false,
        attachment: is(6),
        formatted: is(7),
    };
    (context, is(2))
}

static YES: LazyLock<(HashSet<String>, HashSet<char>)> = LazyLock::new(|| {
    let phrases = PACKS
        .iter()
        .flat_map(|pack| [pack.strong, pack.weak].concat().into_iter().chain(pack.filler()));
    let phrases: Vec<String> = phrases.map(fold_text).collect();
    let words = phrases.iter().flat_map(|phrase| words(phrase)).map(str::to_owned).collect();
    (words, phrases.iter().flat_map(|phrase| phrase.chars()).collect())
});

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty())
}

/// Judged without the parser: by single words, and by single characters where there are no blanks.
fn is_made_of_yes(text: &str, context: &ReplyContext, with_code: bool) {
    assert!(!context.attachment, "an attachment confirms nothing");
    assert!(!context.formatted, "formatted words confirm nothing");
    assert!(!text.contains(['"', '“', '「', '~', '|', '\u{336}', '🤔', '✗']), "{text:?} confirms");
    assert!(matches!(context.asked, ExpectedReply::Confirm { .. }), "a choice is not confirmed");
    assert!(!text.contains(['?', '？', '吗', '呢', '\u{202e}']), "{text:?} confirms");
    let text = text.replace("@_user_1", " ");
    let folded = fold_text(&text);
    let numbered = matches!(context.asked, ExpectedReply::Confirm { numbered: true });
    let mut coded = false;
    for word in words(&folded) {
        let code = with_code && word == fold_text(CODE);
        coded |= code;
        let known = YES.0.contains(word)
            || word.chars().all(|c| YES.1.contains(&c)) && !word.is_ascii()
            || code
            || numbered && word == "1";
        assert!(known, "{word:?} of {text:?} is not known to say yes");
    }
    assert!(coded || !with_code, "{text:?} confirms without the code");
}
