//! A card as plain text, for places that know nothing else.

use crate::card::{Card, Words};

/// The whole card. Nothing is cut here: who has a bound cuts the card first.
pub fn text(card: &Card) -> String {
    let mut lines = vec![card.headline.clone(), card.title.clone(), card.subtitle()];
    lines.extend(card.facts.iter().map(|fact| format!("{}: {}", fact.name, fact.value)));
    lines.push(String::new());
    lines.push(card.body.text.trim_end().to_owned());
    lines.extend(card.cut_note());
    lines.push(String::new());
    lines.extend(card.hint.clone());
    lines.extend(card.link.as_ref().map(|link| format!("{}: {link}", Words(card.language).open())));
    lines.join("\n").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use crate::card::sample::{check_snapshots, samples};

    #[test]
    fn every_kind_of_hold() {
        check_snapshots("plain", |card| super::text(card).into());
        assert!(samples().iter().all(|(_, card)| !super::text(card).is_empty()));
    }
}
