//! Spanish. Written without its accent `si` is the same word to us, so it is a clear yes too.

use super::LanguagePack;

pub(super) const PACK: LanguagePack = LanguagePack {
    language: "es",
    strong: &[
        "sí",
        "confirmar",
        "confirmo",
        "confirma",
        "aprobar",
        "apruebo",
        "aceptar",
        "acepto",
        "adelante",
        "de acuerdo",
        "hazlo",
        "ejecutar",
        "ejecuta",
    ],
    weak: &["si", "vale"],
    cancel: &[
        "cancelar", "cancela", "cancelo", "rechazar", "rechazo", "denegar", "detener", "alto",
    ],
    please: &["por favor"],
    thanks: &["gracias"],
    asks: &[],
    lead: &[],
    behind: &[],
    hold: &["espera", "espere"],
    ack: &[],
};
