//! All packs as one table, spelled as replies are after folding.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::fold::fold_text;
use super::super::text::{is_unspaced, split_tokens};
use super::PACKS;

/// What a phrase says. In the order in which they win where packs disagree: `sí` is strong and `si`
/// weak, and after folding they are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum PhraseMeaning {
    /// Something that may stand behind an answer.
    Behind,
    /// Something that may stand right before an answer.
    Lead,
    Thanks,
    Please,
    /// Asks others for a yes.
    Asks,
    /// A yes only if it is negated: "i do not agree".
    Agree,
    Weakly,
    Yes,
    No,
}

impl PhraseMeaning {
    /// Whether a clause of nothing else changes nothing.
    pub(in super::super) fn is_courtesy(self) -> bool {
        matches!(self, PhraseMeaning::Thanks | PhraseMeaning::Please)
    }

    pub(in super::super) fn is_answer(self) -> bool {
        matches!(self, PhraseMeaning::Weakly | PhraseMeaning::Yes | PhraseMeaning::No)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct LexiconEntry {
    says: Option<PhraseMeaning>,
    hold: bool,
    ack: bool,
}

/// As in "do not do it".
pub(in super::super) const WORDS_MAX: usize = 4;
/// 実行してください, and room for a longer one.
pub(in super::super) const LETTERS_MAX: usize = 16;

static TABLE: LazyLock<HashMap<String, LexiconEntry>> = LazyLock::new(|| {
    let mut table: HashMap<String, LexiconEntry> = HashMap::new();
    for pack in PACKS {
        let says = [
            (pack.behind, PhraseMeaning::Behind),
            (pack.lead, PhraseMeaning::Lead),
            (pack.thanks, PhraseMeaning::Thanks),
            (pack.please, PhraseMeaning::Please),
            (pack.asks, PhraseMeaning::Asks),
            (pack.weak, PhraseMeaning::Weakly),
            (pack.strong, PhraseMeaning::Yes),
            (pack.cancel, PhraseMeaning::No),
        ];
        for (phrases, says) in says {
            for phrase in phrases {
                let entry = table.entry(phrase_key(phrase)).or_default();
                entry.says = entry.says.max(Some(says));
            }
        }
        pack.hold
            .iter()
            .for_each(|phrase| table.entry(phrase_key(phrase)).or_default().hold = true);
        pack.ack.iter().for_each(|phrase| table.entry(phrase_key(phrase)).or_default().ack = true);
    }
    table.entry("agree".into()).or_default().says = Some(PhraseMeaning::Agree);
    table
});

/// A phrase as the table spells it.
pub(in super::super) fn phrase_key(phrase: &str) -> String {
    split_tokens(&fold_text(phrase)).join(" ")
}

/// The table without the words that are themselves what is asked about.
pub(in super::super) struct Vocabulary {
    reserved: Vec<String>,
}

impl Vocabulary {
    pub(in super::super) fn without_reserved(reserved: &[String]) -> Vocabulary {
        let keys = reserved.iter().map(|word| phrase_key(word)).filter(|key| !key.is_empty());
        Vocabulary { reserved: keys.collect() }
    }

    pub(in super::super) fn meaning_of(&self, phrase: &str) -> Option<PhraseMeaning> {
        let says = TABLE.get(&join_words(phrase))?.says?;
        let taken = self.reserved.iter().any(|word| takes_out(word, phrase, says));
        (!taken).then_some(says)
    }

    pub(in super::super) fn is_hold(&self, phrase: &str) -> bool {
        TABLE.get(&join_words(phrase)).is_some_and(|entry| entry.hold)
    }

    pub(in super::super) fn is_ack(&self, phrase: &str) -> bool {
        TABLE.get(&join_words(phrase)).is_some_and(|entry| entry.ack)
    }
}

fn join_words(phrase: &str) -> String {
    split_tokens(phrase).join(" ")
}

/// With the word go the phrases that are made of it: where an order is to be cancelled, 确认取消 and
/// "cancel it" may mean yes. Only a no that is made of a reserved yes stays: 别执行 is a no, whatever
/// the tool is called.
fn takes_out(word: &str, phrase: &str, says: PhraseMeaning) -> bool {
    let made_of_it = if word.chars().all(is_unspaced) {
        phrase.contains(word)
    } else {
        let (word, phrase) = (split_tokens(word), split_tokens(phrase));
        phrase.windows(word.len()).any(|part| part == word)
    };
    let reserved_yes = TABLE.get(word).is_some_and(|entry| {
        matches!(entry.says, Some(PhraseMeaning::Yes | PhraseMeaning::Weakly))
    });
    made_of_it && !(says == PhraseMeaning::No && reserved_yes)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::LanguagePack;
    use super::*;

    fn all(which: impl Fn(&LanguagePack) -> &'static [&'static str]) -> HashSet<String> {
        PACKS.iter().flat_map(|pack| which(pack).iter().map(|phrase| phrase_key(phrase))).collect()
    }

    #[test]
    fn no_phrase_says_yes_and_no() {
        let yes: HashSet<String> = &all(|pack| pack.strong) | &all(|pack| pack.weak);
        let (no, filler) =
            (all(|pack| pack.cancel), PACKS.iter().flat_map(LanguagePack::filler).map(phrase_key));
        let filler: HashSet<String> = filler.chain(all(|pack| pack.asks)).collect();
        assert_eq!(yes.intersection(&no).next(), None);
        assert_eq!(yes.intersection(&filler).next(), None);
        assert_eq!(no.intersection(&filler).next(), None);
        let waits = &all(|pack| pack.hold) | &all(|pack| pack.ack);
        assert_eq!(yes.intersection(&waits).next(), None);
        assert_eq!(no.intersection(&waits).next(), None);
    }

    #[test]
    fn the_bounds_are_large_enough() {
        for phrase in TABLE.keys() {
            assert!(!phrase.is_empty());
            assert!(phrase.split(' ').count() <= WORDS_MAX, "{phrase}");
            assert!(phrase.chars().count() <= LETTERS_MAX, "{phrase}");
        }
    }

    #[test]
    fn a_reserved_word_takes_its_phrases_along() {
        let words = Vocabulary::without_reserved(&["Cancel".into(), "取消".into()]);
        for phrase in ["cancel", "cancel it", "取消", "确认取消", "取消操作"] {
            assert_eq!(words.meaning_of(phrase), None, "{phrase}");
        }
        for phrase in ["no", "拒绝", "cancelled", "stop it"] {
            assert_eq!(words.meaning_of(phrase), Some(PhraseMeaning::No), "{phrase}");
        }
        let words = Vocabulary::without_reserved(&["执行".into(), "execute".into()]);
        for phrase in ["执行", "确认执行", "execute", "execute it"] {
            assert_eq!(words.meaning_of(phrase), None, "{phrase}");
        }
        assert_eq!(words.meaning_of("别执行"), Some(PhraseMeaning::No));
        assert_eq!(
            Vocabulary::without_reserved(&["".into(), " ".into()]).meaning_of("yes"),
            Some(PhraseMeaning::Yes)
        );
    }
}
