//! A list of words as one line in which every word can be told from its neighbours.

/// As a shell would have to be given it: words with anything unusual in them stand in quotes.
pub(super) fn quote_line(words: &[String]) -> String {
    words.iter().map(|word| quote_word(word)).collect::<Vec<_>>().join(" ")
}

fn quote_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_can_be_told_apart() {
        let line_of =
            |words: &[&str]| quote_line(&words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
        assert_eq!(line_of(&["git", "status"]), "git status");
        assert_eq!(line_of(&["rm", "a b"]), "rm 'a b'");
        assert_eq!(line_of(&["echo", "", "it's", "$HOME"]), r"echo '' 'it'\''s' '$HOME'");
        assert_ne!(line_of(&["a", "b"]), line_of(&["a b"]));
    }
}
