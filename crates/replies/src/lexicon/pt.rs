//! Portuguese.

use super::Pack;

pub(super) const PACK: Pack = Pack {
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
