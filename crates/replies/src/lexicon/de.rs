//! German.

use super::Pack;

pub(super) const PACK: Pack = Pack {
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
