//! French.

use super::LanguagePack;

pub(super) const PACK: LanguagePack = LanguagePack {
    language: "fr",
    strong: &[
        "oui",
        "confirmer",
        "confirme",
        "je confirme",
        "approuver",
        "j'approuve",
        "accepter",
        "j'accepte",
        "d'accord",
        "valider",
        "je valide",
        "vas-y",
        "allez-y",
        "exécuter",
    ],
    weak: &[],
    cancel: &[
        "non",
        "annuler",
        "annule",
        "refuser",
        "je refuse",
        "rejeter",
        "arrêter",
        "arrête",
        "pas d'accord",
    ],
    please: &["s'il vous plaît"],
    thanks: &["merci"],
    asks: &[],
    lead: &[],
    behind: &[],
    hold: &["attendez", "attends"],
    ack: &[],
};
