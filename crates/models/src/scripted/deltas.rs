//! How a text reaches those who watch: in pieces, at a pace.

use std::time::Duration;

use ports::model::ModelError;
use tokio_util::sync::CancellationToken;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    pub(super) by: By,
    pub(super) delay: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Words(usize),
    Chars(usize),
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { by: By::Words(3), delay: Duration::ZERO }
    }
}

impl Pace {
    /// Joined again, the pieces are the text.
    pub(super) fn cut(&self, text: &str) -> Vec<String> {
        let mut pieces = Vec::new();
        let mut piece = String::new();
        let mut count = 0;
        let mut previous = ' ';
        for character in text.chars() {
            let begins = match self.by {
                By::Words(_) => previous.is_whitespace() && !character.is_whitespace(),
                By::Chars(_) => true,
            };
            let (By::Words(size) | By::Chars(size)) = self.by;
            if begins {
                if count == size {
                    pieces.push(std::mem::take(&mut piece));
                    count = 0;
                }
                count += 1;
            }
            piece.push(character);
            previous = character;
        }
        if !piece.is_empty() {
            pieces.push(piece);
        }
        pieces
    }

    pub(super) async fn wait(&self, stop: &CancellationToken) -> Result<(), ModelError> {
        if stop.is_cancelled() {
            return Err(ModelError::Stopped);
        }
        if self.delay.is_zero() {
            return Ok(());
        }
        match stop.run_until_cancelled(tokio::time::sleep(self.delay)).await {
            Some(()) => Ok(()),
            None => Err(ModelError::Stopped),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pace(by: By) -> Pace {
        Pace { by, delay: Duration::ZERO }
    }

    #[test]
    fn texts_are_cut_as_told() {
        let text = "One two  three\nfour.";
        assert_eq!(pace(By::Words(2)).cut(text), ["One two  ", "three\nfour."]);
        assert_eq!(pace(By::Chars(8)).cut(text), ["One two ", " three\nf", "our."]);
        assert_eq!(pace(By::Words(1)).cut(" é "), [" é "]);
        assert!(pace(By::Words(1)).cut("").is_empty());
    }

    proptest! {
        #[test]
        fn pieces_make_the_whole(text in any::<String>(), size in 1usize..9, words in any::<bool>()) {
            let by = if words { By::Words(size) } else { By::Chars(size) };
            let pieces = pace(by).cut(&text);
            prop_assert!(pieces.iter().all(|piece| !piece.is_empty()));
            prop_assert_eq!(pieces.concat(), text);
        }
    }
}
