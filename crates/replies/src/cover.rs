//! Whether known phrases cover a text from end to end, and what they say together.

use super::lexicon::{LETTERS_MAX, Says, WORDS_MAX, Words};
use super::text::{is_unspaced, tokens};

/// What the phrases of a covered text said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cover {
    pub(super) strong: bool,
    pub(super) weak: bool,
    pub(super) no: bool,
}

impl Cover {
    fn add(&mut self, says: Says) {
        match says {
            Says::Yes => self.strong = true,
            Says::Weakly => self.weak = true,
            Says::No => self.no = true,
            Says::Nothing => {}
        }
    }

    pub(super) fn yes(self) -> bool {
        self.strong || self.weak
    }
}

/// `None` if anything is left over. The longest phrase wins everywhere, so that "confirm the
/// cancelling" is not taken for a yes and a no.
pub(super) fn cover(text: &str, words: &Words) -> Option<Cover> {
    let tokens = tokens(text);
    let unspaced = text.chars().any(is_unspaced);
    let mut cover = Cover::default();
    let mut rest = tokens.as_slice();
    while let Some(first) = rest.first() {
        let longest = (1..=rest.len().min(WORDS_MAX))
            .rev()
            .find_map(|count| words.says(&rest[..count].join(" ")).map(|says| (count, says)));
        match longest {
            Some((count, says)) => {
                cover.add(says);
                rest = &rest[count..];
            }
            None if unspaced => {
                by_letters(first, words, &mut cover)?;
                rest = &rest[1..];
            }
            None => return None,
        }
    }
    (!tokens.is_empty()).then_some(cover)
}

/// Chinese and Japanese put no blanks between words. Letters of other scripts still stand in whole
/// words: `确认yesterday` has no `yes` in it.
fn by_letters(token: &str, words: &Words, cover: &mut Cover) -> Option<()> {
    let letters: Vec<char> = token.chars().collect();
    let mut at = 0;
    while at < letters.len() {
        let most = (letters.len() - at).min(LETTERS_MAX);
        let longest = (1..=most).rev().find_map(|count| {
            let end = at + count;
            if !is_word_end(&letters, at) || !is_word_end(&letters, end) {
                return None;
            }
            let phrase: String = letters[at..end].iter().collect();
            words.says(&phrase).map(|says| (end, says))
        });
        let (end, says) = longest?;
        cover.add(says);
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
    fn check(text: &str, strong: bool, weak: bool, no: bool) {
        let found = cover(text, &Words::without(&[]));
        assert_eq!(found, Some(Cover { strong, weak, no }), "{text}");
    }

    #[test]
    fn phrases_cover_from_end_to_end() {
        check("ok go ahead please", true, true, false);
        check("确认吧", true, false, false);
        check("请确认ok", true, true, false);
        check("确认取消", false, false, true);
        check("行不行", false, true, true);
        check("please", false, false, false);
    }

    #[test]
    fn whatever_is_left_over_spoils_it() {
        for text in
            ["", "yes sir", "还没确认", "确认yesterday", "确认oky", "xok确认", "go", "no1", "确 认"]
        {
            assert_eq!(cover(text, &Words::without(&[])), None, "{text}");
        }
    }
}
