//! The words that are known, one file for each language. They are exact: a language is added as a
//! pack, never by being lenient.
//!
//! Left out on purpose, because people mean different things by them: `+1`, `k`, `never mind`,
//! `fine`, 继续.

mod de;
mod en;
mod es;
mod fr;
mod ja;
mod ko;
mod pt;
mod ru;
mod words;
mod zh;

pub(super) use words::{LETTERS_MAX, PhraseMeaning, Vocabulary, WORDS_MAX, phrase_key};

/// The words of one language.
#[derive(Clone, Copy, Debug)]
pub struct LanguagePack {
    pub language: &'static str,
    /// A yes that nobody says by the way.
    pub strong: &'static [&'static str],
    /// A yes that people also say when they only listen.
    pub weak: &'static [&'static str],
    pub cancel: &'static [&'static str],
    /// A courtesy that asks. Behind a yes it is manners; before one, somebody asks others for theirs.
    pub please: &'static [&'static str],
    /// A courtesy that thanks, with the same difference.
    pub thanks: &'static [&'static str],
    /// Asks others for a yes, and is never manners.
    pub asks: &'static [&'static str],
    /// May stand right before an answer.
    pub lead: &'static [&'static str],
    /// May stand behind an answer; `cover` says which behind which.
    pub behind: &'static [&'static str],
    /// Not yet.
    pub hold: &'static [&'static str],
    /// Heard, not answered.
    pub ack: &'static [&'static str],
}

impl LanguagePack {
    /// What may stand beside an answer and is none.
    pub fn filler(&self) -> impl Iterator<Item = &'static str> {
        [self.please, self.thanks, self.lead, self.behind].into_iter().flatten().copied()
    }
}

pub const PACKS: [LanguagePack; 9] =
    [zh::PACK, en::PACK, ja::PACK, ko::PACK, es::PACK, fr::PACK, de::PACK, pt::PACK, ru::PACK];
