//! The languages in which we speak ourselves.

/// People may answer in any language of the lexicon; these are for our own words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    #[default]
    English,
    Chinese,
}
