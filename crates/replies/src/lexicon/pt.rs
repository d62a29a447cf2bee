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
    filler: &["obrigado", "por gentileza", "por favor"],
    hold: &["espere"],
    ack: &[],
};
