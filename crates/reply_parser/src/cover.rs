//! Whether known phrases cover a text from end to end, and what they say together.
//!
//! A yes is read strictly: each phrase beside it must stand where it belongs, because 执行了 tells that something ran,
//! 对了 means "by the way", and "please approve" asks somebody else. A no is read with more patience.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::lexicon::{LETTERS_MAX, PhraseMeaning, Vocabulary, WORDS_MAX, phrase_key};
use super::text::{is_unspaced, split_tokens};

/// What the phrases of a covered text said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CoveredMeaning {
    Yes {
        strong: bool,
    },
    No,
    Mixed,
    /// The sender asks other people for a yes.
    Request,
    /// Courtesies and particles only.
    Nothing,
}

struct CoveredPhrase {
    says: PhraseMeaning,
    text: String,
    /// It is part of a word without blanks, with others before or behind it.
    is_glued: bool,
}

/// `None` if anything is left over or stands where it does not belong.
pub(super) fn cover_text(text: &str, words: &Vocabulary) -> Option<CoveredMeaning> {
    let phrases = split_phrases(text, words)?;
    let says =
        |wanted: &[PhraseMeaning]| phrases.iter().any(|phrase| wanted.contains(&phrase.says));
    match (says(&[PhraseMeaning::Yes, PhraseMeaning::Weakly]), says(&[PhraseMeaning::No])) {
        (true, true) => Some(CoveredMeaning::Mixed),
        (true, false) => approving_cover(&phrases),
        (false, true) => denying_cover(&phrases),
        (false, false) if says(&[PhraseMeaning::Asks, PhraseMeaning::Agree]) => None,
        (false, false) => Some(CoveredMeaning::Nothing),
    }
}

/// Whether a negation turns this round, and into what. It never becomes a yes, so courtesies stand anywhere; particles
/// stand beside a strong word, because 不是我 and 不就行了 say something else.
pub(super) fn cover_negated(text: &str, words: &Vocabulary) -> Option<CoveredMeaning> {
    let phrases = split_phrases(text, words)?;
    let is_strong = |phrase: Option<&CoveredPhrase>| {
        phrase.is_some_and(|phrase| {
            matches!(phrase.says, PhraseMeaning::Yes | PhraseMeaning::No | PhraseMeaning::Agree)
        })
    };
    let misplaced = |(at, phrase): (usize, &CoveredPhrase)| match phrase.text.as_str() {
        "我" | "就" | "那就" => !is_strong(phrases.get(at + 1)),
        "了" | "吧" | "啦" => {
            let alone = phrases.iter().all(|phrase| !phrase.says.is_answer());
            !alone && !is_strong(at.checked_sub(1).and_then(|before| phrases.get(before)))
        }
        _ => false,
    };
    if phrases.iter().enumerate().any(misplaced) {
        return None;
    }
    let says =
        |wanted: &[PhraseMeaning]| phrases.iter().any(|phrase| wanted.contains(&phrase.says));
    if says(&[PhraseMeaning::No]) {
        return Some(CoveredMeaning::No);
    }
    let strong = says(&[PhraseMeaning::Yes, PhraseMeaning::Agree]);
    let yes = strong || says(&[PhraseMeaning::Weakly]);
    Some(if yes { CoveredMeaning::Yes { strong } } else { CoveredMeaning::Nothing })
}

fn approving_cover(phrases: &[CoveredPhrase]) -> Option<CoveredMeaning> {
    let strong = phrases.iter().any(|phrase| phrase.says == PhraseMeaning::Yes);
    let mut request = false;
    for (at, phrase) in phrases.iter().enumerate() {
        let (before, behind) = (&phrases[..at], &phrases[at + 1..]);
        let is_yes = |phrase: &CoveredPhrase| {
            matches!(phrase.says, PhraseMeaning::Yes | PhraseMeaning::Weakly)
        };
        let (last, next) = (before.last(), behind.first());
        let fits = match phrase.says {
            PhraseMeaning::Yes => true,
            // "ok go ahead" says it twice. By itself a weak word is the whole clause: 可以了 is no 可以.
            PhraseMeaning::Weakly if phrases.len() == 1 => true,
            PhraseMeaning::Weakly if is_asking_form(&phrase.text) && before.iter().any(is_yes) => {
                request = true;
                true
            }
            PhraseMeaning::Weakly => {
                let beside = [last, next].into_iter().flatten();
                strong && !phrase.is_glued && beside.clone().all(|beside| beside.says.is_answer())
            }
            PhraseMeaning::Please | PhraseMeaning::Thanks => {
                // mutant: reply-request-approves
                request |= behind.iter().any(is_yes);
                true
            }
            PhraseMeaning::Asks => {
                request = true;
                true
            }
            PhraseMeaning::Lead => next.is_some_and(|next| next.says == PhraseMeaning::Yes),
            PhraseMeaning::Behind => last.is_some_and(|last| fits_behind(&phrase.text, last, next)),
            PhraseMeaning::No | PhraseMeaning::Agree => false,
        };
        if !fits {
            return None;
        }
    }
    Some(if request { CoveredMeaning::Request } else { CoveredMeaning::Yes { strong } })
}

/// お願いします alone says yes to an offer; beside a verb it asks for it.
pub(super) fn is_asking_form(phrase: &str) -> bool {
    phrase.starts_with("お願い")
}

/// A yes that only its speaker can give. Any other (承認, "approve") may as well be asked of somebody else, if a
/// courtesy stands before it.
static OWN: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let own = [
        "yes",
        "approved",
        "confirmed",
        "i confirm",
        "i approve",
        "i agree",
        "lgtm",
        "我确认",
        "我同意",
        "我批准",
        "准了",
        "はい",
        "承認します",
        "許可します",
        "同意します",
        "네",
        "예",
        "승인합니다",
        "동의합니다",
        "sí",
        "confirmo",
        "apruebo",
        "acepto",
        "de acuerdo",
        "oui",
        "je confirme",
        "j'approuve",
        "j'accepte",
        "d'accord",
        "je valide",
        "ja",
        "ich bestätige",
        "bestätigt",
        "genehmigt",
        "einverstanden",
        "sim",
        "aprovo",
        "aceito",
        "de acordo",
        "да",
        "подтверждаю",
        "согласен",
        "согласна",
    ];
    own.iter().map(|phrase| phrase_key(phrase)).collect()
});

/// Whether every strong yes in a text is one that only its speaker can give.
pub(super) fn is_own_yes(text: &str, words: &Vocabulary) -> bool {
    let Some(phrases) = split_phrases(text, words) else { return false };
    let is_own = |(at, phrase): (usize, &CoveredPhrase)| match phrase.says {
        PhraseMeaning::Yes => {
            let before = at.checked_sub(1).and_then(|before| phrases.get(before));
            before.is_some_and(|before| before.text == "我") || OWN.contains(&phrase.text)
        }
        _ => true,
    };
    phrases.iter().enumerate().all(is_own)
}

/// 了 behind these says that they are given; behind any other it tells that something happened.
const GIVEN: [&str; 9] = ["批准", "核准", "同意", "确认", "確認", "通过", "通過", "允许", "允許"];

fn fits_behind(particle: &str, last: &CoveredPhrase, next: Option<&CoveredPhrase>) -> bool {
    let ends =
        next.is_none_or(|next| matches!(next.says, PhraseMeaning::Please | PhraseMeaning::Thanks));
    match particle {
        "了" => {
            let given = GIVEN.iter().any(|given| last.text.ends_with(given));
            ends && last.says == PhraseMeaning::Yes && given
        }
        // 准了吧 asks.
        "吧" | "啦" => ends && last.says == PhraseMeaning::Yes && !last.text.ends_with('了'),
        // Behind words of their own language: 確認です is no yes.
        "です" | "ます" => {
            last.says == PhraseMeaning::Yes && JAPANESE_NOUNS.contains(&last.text.as_str())
        }
        _ => matches!(last.says, PhraseMeaning::Yes | PhraseMeaning::Behind),
    }
}

const JAPANESE_NOUNS: [&str; 4] = ["はい", "承認", "実行", "許可"];

fn denying_cover(phrases: &[CoveredPhrase]) -> Option<CoveredMeaning> {
    let unsure = phrases
        .windows(2)
        .any(|pair| pair[0].text == "了" && pair[1].says == PhraseMeaning::Behind);
    let misplaced = phrases.first().is_some_and(|phrase| phrase.says == PhraseMeaning::Behind)
        || phrases.last().is_some_and(|phrase| phrase.says == PhraseMeaning::Lead)
        || phrases
            .iter()
            .any(|phrase| matches!(phrase.says, PhraseMeaning::Asks | PhraseMeaning::Agree));
    (!unsure && !misplaced).then_some(CoveredMeaning::No)
}

/// The longest phrase wins everywhere, so that "confirm the cancelling" is not taken for a yes and a no.
fn split_phrases(text: &str, words: &Vocabulary) -> Option<Vec<CoveredPhrase>> {
    let tokens = split_tokens(text);
    let unspaced = text.chars().any(is_unspaced);
    let mut phrases = Vec::new();
    let mut rest = tokens.as_slice();
    while let Some(first) = rest.first() {
        let longest = (1..=rest.len().min(WORDS_MAX)).rev().find_map(|count| {
            let text = rest[..count].join(" ");
            words
                .meaning_of(&text)
                .map(|says| (count, CoveredPhrase { says, text, is_glued: false }))
        });
        match longest {
            Some((count, phrase)) => {
                phrases.push(phrase);
                rest = &rest[count..];
            }
            None if unspaced => {
                by_letters(first, words, &mut phrases)?;
                rest = &rest[1..];
            }
            // mutant: reply-begins-with-yes, reply-forgets-not
            None => return None,
        }
    }
    (!tokens.is_empty()).then_some(phrases)
}

/// Chinese and Japanese put no blanks between words. Letters of other scripts still stand in whole
/// words: `确认yesterday` has no `yes` in it.
fn by_letters(token: &str, words: &Vocabulary, phrases: &mut Vec<CoveredPhrase>) -> Option<()> {
    let letters: Vec<char> = token.chars().collect();
    let mut at = 0;
    while at < letters.len() {
        let most = (letters.len() - at).min(LETTERS_MAX);
        let longest = (1..=most).rev().find_map(|count| {
            let end = at + count;
            if !is_word_end(&letters, at) || !is_word_end(&letters, end) {
                return None;
            }
            let text: String = letters[at..end].iter().collect();
            words.meaning_of(&text).map(|says| (end, CoveredPhrase { says, text, is_glued: true }))
        });
        let (end, phrase) = longest?;
        phrases.push(phrase);
        at = end;
    }
    Some(())
}

fn is_word_end(letters: &[char], at: usize) -> bool {
    at == 0 || at == letters.len() || is_unspaced(letters[at - 1]) || is_unspaced(letters[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wanted: Option<CoveredMeaning>, texts: &[&str]) {
        for text in texts {
            assert_eq!(cover_text(text, &Vocabulary::without_reserved(&[])), wanted, "{text}");
        }
    }

    #[test]
    fn phrases_cover_from_end_to_end() {
        let strong = Some(CoveredMeaning::Yes { strong: true });
        check(
            strong,
            &["ok go ahead please", "确认吧", "批准了", "那就执行吧", "我确认", "承認です"],
        );
        check(strong, &["approve it now", "just do it", "approve this please", "yes approve it"]);
        check(Some(CoveredMeaning::Yes { strong: false }), &["ok", "好的", "行吧", "お願いします"]);
        check(
            Some(CoveredMeaning::No),
            &["确认取消", "取消吧", "不要了", "那就取消", "please cancel"],
        );
        check(Some(CoveredMeaning::Mixed), &["行不行"]);
        check(Some(CoveredMeaning::Nothing), &["please", "thanks"]);
    }

    #[test]
    fn i48_asking_others_is_no_yes() {
        check(
            Some(CoveredMeaning::Request),
            &["please approve", "请批准", "谢谢确认", "kindly approve", "yes please approve"],
        );
        check(Some(CoveredMeaning::Request), &["承認お願いします", "승인 부탁드립니다"]);
    }

    #[test]
    fn i48_a_particle_changes_what_a_word_says() {
        check(
            None,
            &["对了", "对吧", "可以了", "行了", "没问题吧", "我就是", "执行了", "确认了吧"],
        );
        check(
            None,
            &["ok thanks", "不要了吧", "確認です", "了批准", "批准我", "it approve", "agree"],
        );
    }

    #[test]
    fn whatever_is_left_over_spoils_it() {
        check(
            None,
            &[
                "",
                "yes sir",
                "还没确认",
                "确认yesterday",
                "确认oky",
                "xok确认",
                "go",
                "no1",
                "确 认",
            ],
        );
    }
}
