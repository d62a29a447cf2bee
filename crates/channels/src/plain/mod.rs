//! A card as plain text, for places that know nothing else.

use domain::view::FOREIGN_MARK;

use crate::card::{Card, CardBlock, CardWords};
use crate::limits::PLAIN_COLUMNS_MAX;

/// Before the lines that one line of foreign text is wrapped into, after its first.
const WRAPPED_MARK: &str = "┆ ";

/// The whole card. Nothing is cut here: who has a bound cuts the card first. Foreign lines are wrapped
/// here, narrower than any screen, with a mark before each: the surface that shows the text need not wrap
/// them again.
pub fn card_text(card: &Card) -> String {
    let mut lines = vec![card.headline.clone()];
    for block in card.flow() {
        match block {
            CardBlock::Ours(line) => lines.push(line),
            CardBlock::Foreign(foreign) => {
                lines.extend(foreign.iter().flat_map(|line| wrapped(line)))
            }
        }
    }
    lines.push(String::new());
    lines.extend(card.hint.clone());
    lines.extend(
        card.link.as_ref().map(|link| format!("{}: {link}", CardWords(card.language).open())),
    );
    lines.join("\n").trim_end().to_owned()
}

fn wrapped(line: &str) -> Vec<String> {
    let mut rows = vec![FOREIGN_MARK.to_owned()];
    let mut columns = 2;
    for c in line.chars() {
        // Anything beyond ASCII may be drawn two columns wide.
        let wide = if c.is_ascii() { 1 } else { 2 };
        if columns + wide > PLAIN_COLUMNS_MAX {
            rows.push(WRAPPED_MARK.to_owned());
            columns = 2;
        }
        columns += wide;
        rows.last_mut().into_iter().for_each(|row| row.push(c));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{FOREIGN_MARK, PLAIN_COLUMNS_MAX, WRAPPED_MARK};
    use crate::card::hostile;
    use crate::card::sample::{check_snapshots, samples};

    /// Every line of foreign text has a mark, and none is wrapped by whoever shows it.
    #[test]
    fn i47_no_foreign_line_is_drawn_as_ours() {
        hostile::check("plain", |card| {
            let mut drawn = hostile::Drawn::default();
            for line in super::card_text(card).lines() {
                match [FOREIGN_MARK, WRAPPED_MARK].iter().find_map(|mark| line.strip_prefix(mark)) {
                    Some(foreign) => {
                        let columns: usize =
                            foreign.chars().map(|c| 2 - usize::from(c.is_ascii())).sum();
                        assert!(columns + 2 <= PLAIN_COLUMNS_MAX, "{line}");
                        // Words that were wrapped in the middle are read as one.
                        drawn.foreign.push_str(foreign);
                    }
                    None => drawn.say(line),
                }
            }
            drawn
        });
    }

    #[test]
    fn every_kind_of_hold() {
        check_snapshots("plain", |card| super::card_text(card).into());
        assert!(samples().iter().all(|(_, card)| !super::card_text(card).is_empty()));
    }
}
