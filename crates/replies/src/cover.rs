//! Whether known phrases cover a text from end to end, and what they say together.
//!
//! A yes is read strictly: each phrase beside it must stand where it belongs, because 执行了 tells that something ran,
//! 对了 means "by the way", and "please approve" asks somebody else. A no is read with more patience.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::lexicon::{LETTERS_MAX, Says, WORDS_MAX, Words, key};
use super::text::{is_unspaced, tokens};

/// What the phrases of a covered text said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cover {
    Yes {
        strong: bool,
    },
    No,
    Mixed,
    /// Somebody asks others for a yes.
    Request,
    /// Courtesies and particles only.
    Nothing,
}

struct Phrase {
    says: Says,
    text: String,
    /// It is part of a word without blanks, with others before or behind it.
    is_glued: bool,
}

/// `None` if anything is left over or stands where it does not belong.
pub(super) fn cover(text: &str, words: &Words) -> Option<Cover> {
    let phrases = phrases(text, words)?;
    let says = |wanted: &[Says]| phrases.iter().any(|phrase| wanted.contains(&phrase.says));
    match (says(&[Says::Yes, Says::Weakly]), says(&[Says::No])) {
        (true, true) => Some(Cover::Mixed),
        (true, false) => yes(&phrases),
        (false, true) => no(&phrases),
        (false, false) if says(&[Says::Asks, Says::Agree]) => None,
        (false, false) => Some(Cover::Nothing),
    }
}

/// Whether a negation turns this round, and into what. It never becomes a yes, so courtesies stand anywhere; particles
/// stand beside a strong word, because 不是我 and 不就行了 say something else.
pub(super) fn negated(text: &str, words: &Words) -> Option<Cover> {
    let phrases = phrases(text, words)?;
    let is_strong = |phrase: Option<&Phrase>| {
        phrase.is_some_and(|phrase| matches!(phrase.says, Says::Yes | Says::No | Says::Agree))
    };
    let misplaced = |(at, phrase): (usize, &Phrase)| match phrase.text.as_str() {
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
    let says = |wanted: &[Says]| phrases.iter().any(|phrase| wanted.contains(&phrase.says));
    if says(&[Says::No]) {
        return Some(Cover::No);
    }
    let strong = says(&[Says::Yes, Says::Agree]);
    let yes = strong || says(&[Says::Weakly]);
    Some(if yes { Cover::Yes { strong } } else { Cover::Nothing })
}

fn yes(phrases: &[Phrase]) -> Option<Cover> {
    let strong = phrases.iter().any(|phrase| phrase.says == Says::Yes);
    let mut request = false;
    for (at, phrase) in phrases.iter().enumerate() {
        let (before, behind) = (&phrases[..at], &phrases[at + 1..]);
        let is_yes = |phrase: &Phrase| matches!(phrase.says, Says::Yes | Says::Weakly);
        let (last, next) = (before.last(), behind.first());
        let fits = match phrase.says {
            Says::Yes => true,
            // "ok go ahead" says it twice. By itself a weak word is the whole clause: 可以了 is no 可以.
            Says::Weakly if phrases.len() == 1 => true,
            Says::Weakly if is_asking_form(&phrase.text) && before.iter().any(is_yes) => {
                request = true;
                true
            }
            Says::Weakly => {
                let beside = [last, next].into_iter().flatten();
                strong && !phrase.is_glued && beside.clone().all(|beside| beside.says.is_answer())
            }
            Says::Please | Says::Thanks => {
                request |= behind.iter().any(is_yes);
                true
            }
            Says::Asks => {
                request = true;
                true
            }
            Says::Lead => next.is_some_and(|next| next.says == Says::Yes),
            Says::Behind => last.is_some_and(|last| fits_behind(&phrase.text, last, next)),
            Says::No | Says::Agree => false,
        };
        if !fits {
            return None;
        }
    }
    Some(if request { Cover::Request } else { Cover::Yes { strong } })
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
    own.iter().map(|phrase| key(phrase)).collect()
});

/// Whether every strong yes in a text is one that only its speaker can give.
pub(super) fn is_own_yes(text: &str, words: &Words) -> bool {
    let Some(phrases) = phrases(text, words) else { return false };
    let is_own = |(at, phrase): (usize, &Phrase)| match phrase.says {
        Says::Yes => {
            let before = at.checked_sub(1).and_then(|before| phrases.get(before));
            before.is_some_and(|before| before.text == "我") || OWN.contains(&phrase.text)
        }
        _ => true,
    };
    phrases.iter().enumerate().all(is_own)
}

/// 了 behind these says that they are given; behind any other it tells that something happened.
const GIVEN: [&str; 9] = ["批准", "核准", "同意", "确认", "確認", "通过", "通過", "允许", "允許"];

fn fits_behind(particle: &str, last: &Phrase, next: Option<&Phrase>) -> bool {
    let ends = next.is_none_or(|next| matches!(next.says, Says::Please | Says::Thanks));
    match particle {
        "了" => {
            let given = GIVEN.iter().any(|given| last.text.ends_with(given));
            ends && last.says == Says::Yes && given
        }
        // 准了吧 asks.
        "吧" | "啦" => ends && last.says == Says::Yes && !last.text.ends_with('了'),
        // Behind words of their own language: 確認です is no yes.
        "です" | "ます" => {
            last.says == Says::Yes && JAPANESE_NOUNS.contains(&last.text.as_str())
        }
        _ => matches!(last.says, Says::Yes | Says::Behind),
    }
}

const JAPANESE_NOUNS: [&str; 4] = ["はい", "承認", "実行", "許可"];

fn no(phrases: &[Phrase]) -> Option<Cover> {
    let unsure =
        phrases.windows(2).any(|pair| pair[0].text == "了" && pair[1].says == Says::Behind);
    let misplaced = phrases.first().is_some_and(|phrase| phrase.says == Says::Behind)
        || phrases.last().is_some_and(|phrase| phrase.says == Says::Lead)
        || phrases.iter().any(|phrase| matches!(phrase.says, Says::Asks | Says::Agree));
    (!unsure && !misplaced).then_some(Cover::No)
}

/// The longest phrase wins everywhere, so that "confirm the cancelling" is not taken for a yes and a no.
fn phrases(text: &str, words: &Words) -> Option<Vec<Phrase>> {
    let tokens = tokens(text);
    let unspaced = text.chars().any(is_unspaced);
    let mut phrases = Vec::new();
    let mut rest = tokens.as_slice();
    while let Some(first) = rest.first() {
        let longest = (1..=rest.len().min(WORDS_MAX)).rev().find_map(|count| {
            let text = rest[..count].join(" ");
            words.says(&text).map(|says| (count, Phrase { says, text, is_glued: false }))
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
            None => return None,
        }
    }
    (!tokens.is_empty()).then_some(phrases)
}

/// Chinese and Japanese put no blanks between words. Letters of other scripts still stand in whole
/// words: `确认yesterday` has no `yes` in it.
fn by_letters(token: &str, words: &Words, phrases: &mut Vec<Phrase>) -> Option<()> {
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
            words.says(&text).map(|says| (end, Phrase { says, text, is_glued: true }))
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
    fn check(wanted: Option<Cover>, texts: &[&str]) {
        for text in texts {
            assert_eq!(cover(text, &Words::without(&[])), wanted, "{text}");
        }
    }

    #[test]
    fn phrases_cover_from_end_to_end() {
        let strong = Some(Cover::Yes { strong: true });
        check(
            strong,
            &["ok go ahead please", "确认吧", "批准了", "那就执行吧", "我确认", "承認です"],
        );
        check(strong, &["approve it now", "just do it", "approve this please", "yes approve it"]);
        check(Some(Cover::Yes { strong: false }), &["ok", "好的", "行吧", "お願いします"]);
        check(Some(Cover::No), &["确认取消", "取消吧", "不要了", "那就取消", "please cancel"]);
        check(Some(Cover::Mixed), &["行不行"]);
        check(Some(Cover::Nothing), &["please", "thanks"]);
    }

    #[test]
    fn i48_asking_others_is_no_yes() {
        check(
            Some(Cover::Request),
            &["please approve", "请批准", "谢谢确认", "kindly approve", "yes please approve"],
        );
        check(Some(Cover::Request), &["承認お願いします", "승인 부탁드립니다"]);
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
