//! What holds for all words of the lexicon, one by one and in every pair, and for any text.

use proptest::prelude::*;

use super::super::lexicon::PACKS;
use super::super::{
    AmbiguityReason, ExpectedReply, ReplyContext, ReplyVerdict, fold_text, parse_reply,
};
use super::oracle::may_be_a_yes;
use super::with_code;

fn yes() -> Vec<&'static str> {
    PACKS.iter().flat_map(|pack| [pack.strong, pack.weak].concat()).collect()
}

fn no() -> Vec<&'static str> {
    PACKS.iter().flat_map(|pack| pack.cancel.to_vec()).collect()
}

fn confirms(text: &str) -> bool {
    matches!(parse_reply(text, &ReplyContext::default()), ReplyVerdict::Confirm(_))
}

const NEGATIONS: [&str; 30] = [
    "不要",
    "不能",
    "不可以",
    "不想",
    "不许",
    "不許",
    "不准",
    "不予",
    "不",
    "别",
    "別",
    "勿",
    "莫",
    "拒绝",
    "do not",
    "don't",
    "dont",
    "not",
    "never",
    "cannot",
    "can not",
    "can't",
    "cant",
    "won't",
    "will not",
    "не",
    "nicht",
    "não",
    "nao",
    "Don’t",
];

#[test]
fn i13_every_yes_confirms_and_every_no_cancels() {
    for word in yes() {
        assert_eq!(parse_reply(word, &ReplyContext::default()).name(), "confirm", "{word}");
        assert_ne!(parse_reply(word, &with_code()).name(), "confirm", "{word} without the code");
    }
    for pack in PACKS {
        let strict = ReplyContext { weak_ok: false, ..ReplyContext::default() };
        for word in pack.strong {
            assert_eq!(parse_reply(word, &strict).name(), "confirm", "{word}");
        }
        for word in pack.weak.iter().filter(|word| fold_text(word) != "si") {
            assert_eq!(
                parse_reply(word, &strict),
                ReplyVerdict::Ambiguous(AmbiguityReason::Weak),
                "{word}"
            );
        }
    }
    for word in no() {
        for context in [ReplyContext::default(), with_code(), ReplyContext::choice(["A"], false)] {
            assert_eq!(parse_reply(word, &context).name(), "cancel", "{word}");
        }
    }
}

#[test]
fn i13_a_negated_yes_never_confirms() {
    for negation in NEGATIONS {
        for word in yes() {
            let behind = format!("{word} {negation}");
            for text in [format!("{negation}{word}"), format!("{negation} {word}"), behind] {
                assert!(!confirms(&text), "{text}");
            }
        }
    }
    for word in yes() {
        for text in [format!("{word} nicht"), format!("ne {word} pas"), format!("no {word}")] {
            assert!(!confirms(&text), "{text}");
        }
    }
}

#[test]
fn i13_a_question_never_confirms() {
    for word in yes() {
        for mark in ["?", "？", "吗", "嗎", "呢", "么", " ?", "¿", "؟", "❓"] {
            assert!(!confirms(&format!("{word}{mark}")), "{word}{mark}");
        }
    }
}

#[test]
fn i13_yes_and_no_together_never_confirm() {
    for yes in yes() {
        for no in no() {
            for text in [
                format!("{yes} {no}"),
                format!("{no} {yes}"),
                format!("{yes}{no}"),
                format!("{no}{yes}"),
            ] {
                // Glued together two words may be a third, which is then just that word.
                let a_word = PACKS.iter().any(|pack| pack.strong.contains(&text.as_str()));
                assert!(!confirms(&text) || a_word, "{text}");
            }
        }
    }
}

#[test]
fn i13_a_letter_before_a_latin_yes_never_confirms() {
    for word in yes().into_iter().filter(|word| word.starts_with(|c: char| c.is_ascii())) {
        for letter in ('a'..='z').chain('0'..='9') {
            let text = format!("{letter}{word}");
            // "s" before "i confirm" makes two words that are known.
            let first = fold_text(text.split(' ').next().unwrap_or(&text));
            let known = yes().iter().any(|yes| fold_text(yes) == first);
            assert!(!confirms(&text) || known, "{text}");
        }
    }
}

#[test]
fn a_number_counts_in_every_form_where_the_prompt_said_so_and_nowhere_else() {
    let numbered = ReplyContext {
        asked: ExpectedReply::Confirm { numbered: true },
        ..ReplyContext::default()
    };
    for (text, name) in [("1", "confirm"), ("１", "confirm"), ("¹", "confirm"), ("２", "cancel")]
    {
        assert_eq!(parse_reply(text, &numbered).name(), name, "{text}");
        assert!(!confirms(text), "{text}");
    }
    for text in ["11", "1 2", "¹²", "1?", "a1"] {
        assert!(!matches!(parse_reply(text, &numbered), ReplyVerdict::Confirm(_)), "{text}");
    }
}

#[test]
fn i13_unknown_words_never_help() {
    let unknown = [
        "but",
        "later",
        "maybe",
        "yesterday",
        "7",
        "如果",
        "明天",
        "ない",
        "если",
        "x",
        "🅰b",
        "🅰",
        "🅐",
        "=",
    ];
    for word in yes() {
        for other in unknown {
            for text in [
                format!("{word} {other}"),
                format!("{other} {word}"),
                format!("{word}{other}"),
                format!("{other}{word}"),
                format!("{word}, {other}"),
            ] {
                assert!(!confirms(&text), "{text}");
            }
        }
    }
}

/// Courtesies and words that ask, as they stand before a yes of somebody else.
fn requests() -> Vec<&'static str> {
    let words =
        |pack: &super::super::lexicon::LanguagePack| [pack.please, pack.thanks, pack.asks].concat();
    PACKS.iter().flat_map(words).chain(["Please", "PLS", "劳驾", "could you", "可否"]).collect()
}

#[test]
fn i48_a_request_never_confirms() {
    for request in requests() {
        for word in yes() {
            for text in [format!("{request} {word}"), format!("{request}{word}")] {
                assert!(!confirms(&text), "{text}");
            }
        }
    }
    for word in yes() {
        for behind in ["お願いします", "お願い", " 부탁드립니다", " 주세요"] {
            assert!(!confirms(&format!("{word}{behind}")), "{word}{behind}");
        }
    }
}

/// The same in clauses of their own, in both orders.
#[test]
fn i48_a_request_in_another_clause_never_confirms() {
    let own = |word: &str| {
        let words = super::super::lexicon::Vocabulary::without_reserved(&[]);
        super::super::cover::is_own_yes(&fold_text(word), &words)
    };
    let thanks: Vec<&str> = PACKS.iter().flat_map(|pack| pack.thanks.to_vec()).collect();
    let asks: Vec<&str> = PACKS.iter().flat_map(|pack| pack.asks.to_vec()).collect();
    for word in yes() {
        let own = own(word);
        for separator in ["、", ", ", "。", "\n"] {
            for request in requests() {
                // "Thanks, yes" is one's own yes, and a weak word is no verb that could be asked for.
                let answers = thanks.contains(&request) && own;
                let text = format!("{request}{separator}{word}");
                assert!(!confirms(&text) || answers, "{text}");
                let text = format!("yes{separator}{request}{separator}{word}");
                assert!(!confirms(&text) || own, "{text}");
            }
            for request in &asks {
                let text = format!("{word}{separator}{request}");
                assert!(!confirms(&text), "{text}");
            }
            for text in
                [format!("{word}{separator}お願いします"), format!("お願いします{separator}{word}")]
            {
                assert!(!confirms(&text) || own, "{text}");
            }
        }
    }
}

#[test]
fn i48_a_quoted_struck_or_unfinished_yes_never_confirms() {
    for word in yes() {
        for (open, close) in [
            ("\"", "\""),
            ("“", "”"),
            ("「", "」"),
            ("『", "』"),
            ("«", "»"),
            ("> ", ""),
            (">", ""),
            ("~", "~"),
            ("~~", "~~"),
            ("～", "～"),
            ("||", "||"),
            ("", ":"),
            ("", "："),
            ("", ","),
            ("", "，"),
            ("", "、"),
            ("", " -"),
            ("", "—"),
            ("", "…"),
        ] {
            for (before, behind) in [("", ""), ("**", "**"), (" ", ". ")] {
                let text = format!("{before}{open}{word}{close}{behind}");
                assert!(!confirms(&text), "{text}");
            }
        }
        let formatted = ReplyContext { formatted: true, ..ReplyContext::default() };
        assert_eq!(
            parse_reply(word, &formatted),
            ReplyVerdict::Ambiguous(AmbiguityReason::Formatted),
            "{word}"
        );
    }
}

/// Every symbol of Unicode but those that say yes and those that say nothing.
#[test]
fn i48_a_symbol_beside_a_yes_never_confirms() {
    let listed = "👍✅☑✔🆗👌🙆🙏🙂😊😀👏🎉🚀💪❤";
    let symbols = ('\u{80}'..'\u{1ffff}').filter(|c| {
        use icu_properties::props::GeneralCategory::{MathSymbol, ModifierSymbol, OtherSymbol};
        let category = super::super::fold::char_category(*c);
        let skin_tone = ('\u{1f3fb}'..='\u{1f3ff}').contains(c);
        matches!(category, OtherSymbol | ModifierSymbol | MathSymbol)
            && !skin_tone
            && !listed.contains(*c)
    });
    let symbols: Vec<char> = symbols.collect();
    assert!(symbols.len() > 5_000, "{}", symbols.len());
    for symbol in symbols {
        // What folding makes of a sign (an accent, a letter) is read as that.
        let folded = fold_text(&symbol.to_string());
        if folded.trim().is_empty() || folded.contains(char::is_alphanumeric) {
            continue;
        }
        for word in ["yes", "ok", "确认", "да", "はい"] {
            for text in [format!("{word} {symbol}"), format!("{symbol} {word}")] {
                assert!(!confirms(&text), "{text} U+{:04X}", symbol as u32);
            }
        }
    }
    for word in yes() {
        for symbol in ["🤔", "✗", "✘", "❎", "☒", "×", "✋", "⏸", "⏳", "🔜", "😬", "💣", "🤷"]
        {
            assert!(!confirms(&format!("{word} {symbol}")), "{word} {symbol}");
            assert!(!confirms(&format!("{word}{symbol}")), "{word}{symbol}");
        }
    }
}

/// A weak word with anything beside it is another word: 对了, 可以了, 好啦.
#[test]
fn i48_a_particle_beside_a_weak_yes_never_confirms() {
    // `sí` is a strong yes, and `si` is the same word to us.
    for word in PACKS.iter().flat_map(|pack| pack.weak).filter(|word| **word != "si") {
        for particle in ["了", "吧", "啦", "啊", "呀", "哦", "我", "就", "那就", "です"]
        {
            for text in [format!("{word}{particle}"), format!("{particle}{word}")] {
                let listed = PACKS.iter().any(|pack| pack.weak.contains(&text.as_str()));
                assert!(!confirms(&text) || listed, "{text}");
            }
        }
    }
}

/// Texts out of the words that matter, in any order and spacing.
fn mixes() -> impl Strategy<Value = String> {
    let known: Vec<String> = PACKS
        .iter()
        .flat_map(|pack| {
            let lists = [pack.strong, pack.weak, pack.cancel, pack.asks, pack.hold, pack.ack];
            lists.concat().into_iter().chain(pack.filler())
        })
        .chain(NEGATIONS)
        .map(str::to_owned)
        .collect();
    let piece = prop_oneof![
        6 => prop::sample::select(known),
        1 => "[a-z0-9]{1,5}",
        1 => "\\PC{1,3}",
        1 => prop::sample::select(vec!["👍", "❌", "7K3F", "7K3E", "1", "2", "/", "@bob", "\u{200b}"])
            .prop_map(String::from),
    ];
    let between = prop::sample::select(vec!["", " ", ", ", "，", "\n", "-", "。"]);
    prop::collection::vec((piece, between), 0..5)
        .prop_map(|pieces| pieces.into_iter().map(|(piece, between)| piece + between).collect())
}

fn contexts() -> impl Strategy<Value = ReplyContext> {
    let asked = prop_oneof![
        any::<bool>().prop_map(|numbered| ExpectedReply::Confirm { numbered }),
        any::<bool>().prop_map(|multi| ExpectedReply::Choice {
            options: ["保留备份", "直接删除", "Abort"].map(String::from).to_vec(),
            multi,
        }),
    ];
    (asked, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(asked, code, weak_ok, reserve)| {
            let code = code.then(|| super::super::ApprovalCode::new("7K3F"));
            let reserved =
                if reserve { vec!["execute".into(), "取消".into()] } else { Vec::new() };
            ReplyContext { asked, code, weak_ok, reserved, ..ReplyContext::default() }
        },
    )
}

/// The digit, in whatever form it is typed: `１` and `¹` are the same to a reader.
fn has_a_one(text: &str) -> bool {
    fold_text(text).contains('1')
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn i13_what_approves_is_covered_by_known_words(text in mixes(), context in contexts()) {
        let verdict = parse_reply(&text, &context);
        prop_assert_eq!(&parse_reply(&text, &context), &verdict, "the same again");
        prop_assert!(!verdict.reason_name().is_empty() && !verdict.describe().is_empty());
        let numbered = matches!(context.asked, ExpectedReply::Confirm { numbered: true });
        if matches!(verdict, ReplyVerdict::Confirm(_)) && !(numbered && has_a_one(&text)) {
            let code = context.code.as_ref().map(|code| code.as_shown());
            prop_assert!(may_be_a_yes(&text, code), "{:?} confirmed", text);
        }
        if let ReplyVerdict::Choice(..) = verdict {
            let choice = matches!(context.asked, ExpectedReply::Choice { .. });
            prop_assert!(choice);
        }
    }

    #[test]
    fn i13_an_unknown_word_never_makes_a_yes(text in mixes(), unknown in "[bcdfghjkq]{3,6}", at in 0_usize..9) {
        let words: Vec<&str> = text.split_inclusive(' ').collect();
        let at = at.min(words.len());
        let with = format!("{} {unknown} {}", words[..at].concat(), words[at..].concat());
        prop_assert!(!confirms(&with), "{:?}", with);
    }

    #[test]
    fn any_text_at_all_has_a_verdict(text in any::<String>(), context in contexts()) {
        if let ReplyVerdict::Confirm(_) = parse_reply(&text, &context) {
            let code = context.code.as_ref().map(|code| code.as_shown());
            prop_assert!(may_be_a_yes(&text, code) || has_a_one(&text), "{:?}", text);
        }
    }

    #[test]
    fn case_width_and_accents_make_no_difference(word in prop::sample::select(yes()), no in prop::sample::select(no())) {
        for (word, name) in [(word, "confirm"), (no, "cancel")] {
            let wide: String = word
                .chars()
                .map(|c| match c {
                    '!'..='~' => char::from_u32(c as u32 - 0x21 + 0xff01).unwrap_or(c),
                    c => c,
                })
                .collect();
            let invisible: String = word.chars().flat_map(|c| [c, '\u{200b}']).collect();
            for text in [word.to_uppercase(), fold_text(word), wide, invisible, format!(" **{word}**。")] {
                let verdict = parse_reply(&text, &ReplyContext::default());
                prop_assert_eq!(verdict.name(), name, "{}", text);
            }
        }
    }
}
