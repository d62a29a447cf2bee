//! A second opinion, made in another way than the parser: may this text be a yes at all?

use std::collections::HashSet;
use std::sync::LazyLock;

use super::super::fold_text;
use super::super::lexicon::PACKS;

/// Every word of every phrase that says yes or nothing, and every Chinese or Japanese character of
/// them.
static YES: LazyLock<(HashSet<String>, HashSet<char>)> = LazyLock::new(|| {
    let phrases = PACKS
        .iter()
        .flat_map(|pack| [pack.strong, pack.weak].concat().into_iter().chain(pack.filler()));
    let folded: Vec<String> = phrases.map(fold_text).collect();
    let words = folded.iter().flat_map(|phrase| words(phrase)).collect();
    let letters = folded.iter().flat_map(|phrase| phrase.chars()).filter(|c| !c.is_ascii());
    (words, letters.collect())
});

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Each word is one that occurs in a yes or a courtesy, or is the code, or is written in characters
/// that do.
pub(super) fn may_be_a_yes(text: &str, code: Option<&str>) -> bool {
    words(&fold_text(text)).iter().all(|word| {
        YES.0.contains(word)
            || code.is_some_and(|code| fold_text(code) == *word)
            || word.chars().all(|c| YES.1.contains(&c) || c.is_ascii())
                && words(&word.replace(|c: char| !c.is_ascii(), " "))
                    .iter()
                    .all(|word| YES.0.contains(word))
    })
}
