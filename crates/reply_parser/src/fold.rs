//! One spelling for every way of writing the same word.

use icu_casemap::CaseMapper;
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, Script};

/// Width, case, accents on Latin letters and invisible characters make no difference; anything else
/// does. A Cyrillic `у` is no `y`, `й` is no `и`, `が` is no `か`.
///
/// ```
/// use holdpoint_reply_parser::fold_text;
/// assert_eq!(fold_text("ＳÍ"), "si");
/// assert_eq!(fold_text("d’accord"), "d'accord");
/// assert_eq!(fold_text("con\u{200b}firm"), "confirm");
/// assert_ne!(fold_text("уes"), "yes");
/// ```
pub fn fold_text(text: &str) -> String {
    // Most replies, and for them the tables have nothing to say.
    if text.is_ascii() {
        return text.to_ascii_lowercase().replace('`', "'");
    }
    // Before the normaliser too: to it an acute accent by itself is a blank with a mark on it.
    let text: String = text.chars().map(straight_apostrophe).collect();
    let text = nfkc(&text);
    let text: String = text.chars().filter(|c| !is_dropped(*c)).map(straight_apostrophe).collect();
    let text = CaseMapper::new().fold_string(&text).into_owned();
    without_latin_accents(&nfkc(&text))
}

fn nfkc(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfkc().normalize(text).into_owned()
}

/// The signs that keyboards put where an apostrophe was meant.
fn straight_apostrophe(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{60}' | '\u{b4}' => '\'',
        c => c,
    }
}

fn is_dropped(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}') || char_category(c) == GeneralCategory::Format
}

pub(super) fn char_category(c: char) -> GeneralCategory {
    CodePointMapData::<GeneralCategory>::new().get(c)
}

fn without_latin_accents(text: &str) -> String {
    let apart = DecomposingNormalizerBorrowed::new_nfd().normalize(text);
    let mut kept = String::with_capacity(apart.len());
    let mut on_latin = false;
    for c in apart.chars() {
        if is_accent(c) {
            if !on_latin {
                kept.push(c);
            }
        } else {
            on_latin = c.is_alphabetic() && char_script(c) == Script::Latin;
            kept.push(c);
        }
    }
    ComposingNormalizerBorrowed::new_nfc().normalize(&kept).into_owned()
}

/// A stroke through a letter is no accent: a "yes" that was struck out is no yes.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{333}' | '\u{339}'..='\u{36f}')
}

fn char_script(c: char) -> Script {
    CodePointMapData::<Script>::new().get(c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn writing_a_word_in_another_way_makes_no_difference() {
        for (written, folded) in [
            ("CONFIRM", "confirm"),
            ("ｃｏｎｆｉｒｍ", "confirm"),
            ("𝐜onfirm", "confirm"),
            ("Não", "nao"),
            ("sí", "si"),
            ("si\u{301}", "si"),
            ("Straße", "strasse"),
            ("ДА", "да"),
            ("ｷｬﾝｾﾙ", "キャンセル"),
            ("don´t", "don't"),
            ("don`t", "don't"),
            ("don＇t", "don't"),
            ("②", "2"),
            ("✔\u{fe0f}", "✔"),
        ] {
            assert_eq!(fold_text(written), folded, "{written}");
        }
    }

    #[test]
    fn letters_that_only_look_alike_stay_apart() {
        for (a, b) in [("уes", "yes"), ("й", "и"), ("が", "か"), ("ο", "o"), ("ı", "i")] {
            assert_ne!(fold_text(a), fold_text(b), "{a}");
        }
        assert_eq!(fold_text("й"), "й");
        assert_eq!(fold_text("か\u{3099}"), "が");
    }

    #[test]
    fn what_is_struck_out_is_not_read_as_if_it_stood() {
        assert_ne!(fold_text("y\u{336}e\u{336}s\u{336}"), "yes");
    }

    #[test]
    fn every_character_folds_once() {
        // The planes between and after these have no characters that anything is known of.
        let all: Vec<char> = ('\0'..'\u{40000}').chain('\u{e0000}'..'\u{e1000}').collect();
        for chunk in all.chunks(2_000) {
            // A letter between them, so that marks have something to stand on.
            let text: String = chunk.iter().flat_map(|c| ['a', *c]).collect();
            let once = fold_text(&text);
            assert!(fold_text(&once) == once, "near U+{:04X}", chunk[0] as u32);
        }
    }

    #[test]
    fn the_short_way_for_ascii_is_the_long_way() {
        let ascii: String = ('\0'..='\x7f').collect();
        // One letter that is not ASCII makes it go the long way.
        assert_eq!(format!("{}我", fold_text(&ascii)), fold_text(&format!("{ascii}我")));
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(text in any::<String>(), marked in "[aéи\u{300}-\u{36f}´`\u{200d}K]{0,9}") {
            for text in [text, marked] {
                let once = fold_text(&text);
                prop_assert_eq!(fold_text(&once), once);
            }
        }
    }
}
