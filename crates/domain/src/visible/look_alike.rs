//! Words that are not written in the letters they seem to be written in.
//!
//! `visible` cannot help against a Cyrillic `а` in `pаypal`: it has a picture, and the picture is
//! the trick. So a card warns about such words. It is a warning and no proof: silence here does not
//! mean that a name is the one it looks like.

use std::fmt;

use super::visible;
use crate::warning::WarningKind;

/// A word that deserves a second look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The word, safe to show.
    pub word: String,
    /// Where it begins, in bytes.
    pub at: usize,
    /// The scripts it is made of, in order of appearance: one, if every letter of the word has a
    /// Latin twin; several, if they are mixed.
    pub scripts: Vec<Script>,
}

impl Finding {
    /// The warning that people are shown.
    pub fn warning(self) -> WarningKind {
        WarningKind::LookAlike { word: self.word, scripts: self.scripts }
    }
}

/// Scripts with letters that pass for one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// The letters that the others pass for.
    Latin,
    /// Such as ο and ρ.
    Greek,
    /// Such as а, е and о.
    Cyrillic,
    /// Such as օ and ս.
    Armenian,
    /// Such as Ꭺ and Ꭼ.
    Cherokee,
    /// Such as ⲟ and ⲣ.
    Coptic,
    /// Wide forms of Latin letters and digits.
    Fullwidth,
    /// Letters and digits made for formulas, lists and frames: 𝐚 ⓐ ℓ Ⅷ.
    Ornamental,
}

impl Script {
    /// All of them.
    pub const ALL: [Script; 8] = [
        Script::Latin,
        Script::Greek,
        Script::Cyrillic,
        Script::Armenian,
        Script::Cherokee,
        Script::Coptic,
        Script::Fullwidth,
        Script::Ornamental,
    ];

    /// The word in our sentences and in the API.
    pub fn name(self) -> &'static str {
        match self {
            Script::Latin => "Latin",
            Script::Greek => "Greek",
            Script::Cyrillic => "Cyrillic",
            Script::Armenian => "Armenian",
            Script::Cherokee => "Cherokee",
            Script::Coptic => "Coptic",
            Script::Fullwidth => "fullwidth",
            Script::Ornamental => "ornamental",
        }
    }

    /// The script of this name. `None`: there is none.
    pub fn parse(text: &str) -> Option<Script> {
        Script::ALL.into_iter().find(|script| script.name() == text)
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A card that lists more than this warns of nothing any more.
const FINDINGS_MAX: usize = 20;

/// The words of a text that mix scripts or imitate Latin ones, at most twenty of them.
///
/// ```
/// let found = holdpoint_domain::visible::look_alikes("pay p\u{430}ypal now");
/// let warning = found[0].clone().warning().to_string();
/// assert_eq!(warning, "`p\u{430}ypal` mixes letters: Latin, Cyrillic");
/// ```
pub fn look_alikes(text: &str) -> Vec<Finding> {
    if text.is_ascii() {
        return Vec::new();
    }
    let has_latin = text.chars().any(|c| c.is_ascii_alphabetic());
    letter_runs(text)
        .filter_map(|(at, word)| {
            let mut scripts = Vec::new();
            for script in word.chars().filter_map(script) {
                if !scripts.contains(&script) {
                    scripts.push(script);
                }
            }
            let suspicious = match scripts.as_slice() {
                [] | [Script::Latin] => false,
                // No language is written in these, but one can read Latin out of them.
                [Script::Fullwidth | Script::Ornamental] => true,
                // A Russian text may well have words like `сон`; between Latin ones it is odd.
                [_] => has_latin && word.chars().all(|c| script(c).is_none() || has_twin(c)),
                _ => true,
            };
            suspicious.then(|| Finding { word: visible(word), at, scripts })
        })
        .take(FINDINGS_MAX)
        .collect()
}

/// Runs of letters, digits and what may be drawn upon them. Characters without a picture do not
/// end a word, or one of them would be enough to escape.
fn letter_runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_' || super::is_mark(c);
    text.split(move |c| !is_inside(c) && (c.is_ascii() || !super::is_hidden(c)))
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

fn script(c: char) -> Option<Script> {
    Some(match c {
        'a'..='z' | 'A'..='Z' => Script::Latin,
        '\u{aa}' | '\u{ba}' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2af}' => {
            Script::Latin
        }
        '\u{1d00}'..='\u{1d25}' | '\u{1e00}'..='\u{1eff}' | '\u{2c60}'..='\u{2c7f}' => {
            Script::Latin
        }
        '\u{a722}'..='\u{a787}' | '\u{a78b}'..='\u{a7ff}' | '\u{ab30}'..='\u{ab64}' => {
            Script::Latin
        }
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Script::Greek,
        '\u{400}'..='\u{52f}' | '\u{1c80}'..='\u{1c8f}' | '\u{a640}'..='\u{a69f}' => {
            Script::Cyrillic
        }
        '\u{531}'..='\u{588}' => Script::Armenian,
        '\u{13a0}'..='\u{13fd}' | '\u{ab70}'..='\u{abbf}' => Script::Cherokee,
        '\u{2c80}'..='\u{2cff}' => Script::Coptic,
        '\u{ff10}'..='\u{ff19}' | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' => {
            Script::Fullwidth
        }
        '\u{2102}'..='\u{2188}' if c.is_alphanumeric() => Script::Ornamental,
        '\u{24b6}'..='\u{24e9}' | '\u{1d400}'..='\u{1d7ff}' | '\u{1f130}'..='\u{1f189}' => {
            Script::Ornamental
        }
        '\u{1fbf0}'..='\u{1fbf9}' => Script::Ornamental,
        _ => return None,
    })
}

/// Letters that common fonts draw like a Latin one.
fn has_twin(c: char) -> bool {
    const CYRILLIC: &str = "аАВеЕЗіІїЇјЈКМНоОрРсСТуУхХѕЅԁԛԜԝһҺӀӏѵѴвкмнтьЬбг";
    const GREEK: &str = "αΑΒΕΖΗΙΚΜΝΟΡΤΥΧοικνρυχγηωϲϹϳ";
    const OTHER: &str = "օՕսՍցհոԼᎠᎡᎢᎥᎪᎫᎬᎳᎻᏀᏂᏃᏎᏒᏔᏚᏞᏟᏢᏦᏴⲟⲞⲣⲢⲥⲤⲭⲬ";
    [CYRILLIC, GREEK, OTHER].iter().any(|twins| twins.contains(c))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<String> {
        look_alikes(text).into_iter().map(|one| one.warning().to_string()).collect()
    }

    #[test]
    fn mixed_words_are_found() {
        assert_eq!(found("p\u{430}ypal"), ["`p\u{430}ypal` mixes letters: Latin, Cyrillic"]);
        assert_eq!(found("\u{3bf}rders"), ["`\u{3bf}rders` mixes letters: Greek, Latin"]);
        assert_eq!(found("s\u{ff48}"), ["`s\u{ff48}` mixes letters: Latin, fullwidth"]);
        assert_eq!(
            found("\u{ff52}\u{ff4d}"),
            ["`ｒｍ` looks Latin, but is written in fullwidth letters"]
        );
        assert_eq!(found("\u{1d42b}m").len(), 1);
        // A hidden character does not cut the word in two innocent halves.
        assert_eq!(
            found("p\u{200b}\u{430}"),
            ["`p⟦U+200B⟧\u{430}` mixes letters: Latin, Cyrillic"]
        );
    }

    #[test]
    fn words_that_imitate_latin_ones_are_found_among_latin() {
        assert_eq!(
            found("rm /\u{43e}\u{440}\u{442}"),
            ["`\u{43e}\u{440}\u{442}` looks Latin, but is written in Cyrillic letters"]
        );
        assert!(found("он не спит").is_empty());
    }

    #[test]
    fn honest_text_raises_no_warning() {
        for text in [
            "DELETE FROM orders",
            "удалить orders из базы",
            "tabelle Überweisung_2 naïve",
            "削除するfileを選ぶ",
            "删除 orders 表",
            "διαγραφή του orders",
            "50 µs",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
    }

    #[test]
    fn says_where_and_stops_counting() {
        assert_eq!(look_alikes("ok é p\u{430}y")[0].at, 6);
        assert_eq!(look_alikes(&"p\u{430} ".repeat(50)).len(), FINDINGS_MAX);
    }

    proptest! {
        #[test]
        fn findings_point_into_the_text(text in "[apо\u{430}\u{ff41}\u{200b} é/]{0,20}") {
            for finding in look_alikes(&text) {
                prop_assert!(text.is_char_boundary(finding.at));
                prop_assert!(!finding.scripts.is_empty());
            }
        }
    }
}
