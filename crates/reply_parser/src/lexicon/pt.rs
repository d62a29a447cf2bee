//! Portuguese.

use super::LanguagePack;

pub(super) const PACK: LanguagePack = LanguagePack {
    language: "pt",
    strong: &[
        "sim",
        "confirmar",
        "confirmo",
        "aprovar",
        "aprovo",
        "aceitar",
        "aceito",
        "de acordo",
        "prosseguir",
        "executar",
    ],
    weak: &[],
    cancel: &["não", "nao", "rejeitar", "recusar", "negar", "parar", "pare"],
    please: &["por gentileza", "por favor"],
    thanks: &["obrigado"],
    asks: &[],
    lead: &[],
    behind: &[],
    hold: &["espere"],
    ack: &[],
};
