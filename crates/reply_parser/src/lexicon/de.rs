//! German.

use super::LanguagePack;

pub(super) const PACK: LanguagePack = LanguagePack {
    language: "de",
    strong: &[
        "ja",
        "bestätigen",
        "bestätige",
        "ich bestätige",
        "bestätigt",
        "genehmigen",
        "genehmigt",
        "zustimmen",
        "einverstanden",
        "ausführen",
        "freigeben",
    ],
    weak: &[],
    cancel: &["nein", "abbrechen", "abbruch", "ablehnen", "abgelehnt", "stopp"],
    please: &["bitte"],
    thanks: &["danke"],
    asks: &[],
    lead: &[],
    behind: &[],
    hold: &["warte", "moment"],
    ack: &[],
};
