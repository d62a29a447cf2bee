//! Words that are themselves what is asked about.

/// The same verb in the languages of the lexicon. A tool that is called one of these takes all of them
/// out: "取消" answers nothing where `cancel_order` waits.
const VERBS: [&[&str]; 12] = [
    &[
        "cancel",
        "cancelled",
        "canceled",
        "取消",
        "撤销",
        "撤銷",
        "キャンセル",
        "取り消し",
        "취소",
        "cancelar",
        "cancela",
        "cancelo",
        "annuler",
        "annule",
        "отмена",
        "отменить",
        "отмени",
    ],
    &[
        "stop",
        "停止",
        "ストップ",
        "중지",
        "detener",
        "alto",
        "arrêter",
        "arrête",
        "stopp",
        "parar",
        "pare",
        "стоп",
    ],
    &["abort", "终止", "終止", "中止", "abbrechen", "abbruch"],
    &[
        "reject",
        "rejected",
        "拒绝",
        "拒絕",
        "驳回",
        "駁回",
        "却下",
        "거절",
        "rechazar",
        "rechazo",
        "rejeter",
        "ablehnen",
        "rejeitar",
        "отклонить",
    ],
    &[
        "deny",
        "denied",
        "拒否",
        "거부",
        "denegar",
        "refuse",
        "refuser",
        "recusar",
        "negar",
        "запрещаю",
        "disallow",
    ],
    &["decline", "declined"],
    &[
        "confirm",
        "confirmed",
        "确认",
        "確認",
        "确定",
        "確定",
        "확인",
        "confirmar",
        "confirmo",
        "confirma",
        "confirmer",
        "confirme",
        "bestätigen",
        "bestätige",
        "bestätigt",
        "подтвердить",
        "подтверждаю",
    ],
    &[
        "approve",
        "approved",
        "批准",
        "核准",
        "承認",
        "승인",
        "aprobar",
        "apruebo",
        "approuver",
        "genehmigen",
        "genehmigt",
        "aprovar",
        "aprovo",
        "одобряю",
    ],
    &[
        "execute",
        "执行",
        "執行",
        "実行",
        "실행",
        "ejecutar",
        "ejecuta",
        "exécuter",
        "ausführen",
        "executar",
        "выполнить",
        "выполняй",
    ],
    &["allow", "允许", "允許", "准许", "許可", "허용", "разрешаю"],
    &["accept", "同意", "동의", "aceptar", "acepto", "accepter", "aceitar", "aceito"],
    &["proceed", "进行", "진행", "prosseguir", "freigeben"],
];

/// The words to take out for a call of this tool.
pub fn reserved_by(tool: &str) -> Vec<String> {
    let parts = split_words(tool);
    let families = VERBS.iter().filter(|verbs| {
        let is_part = |verb: &&str| parts.iter().any(|part| part == verb);
        // Names without blanks are searched through; a tool may be called 取消订单.
        verbs.iter().any(|verb| is_part(verb) || !verb.is_ascii() && tool.contains(verb))
    });
    families.flat_map(|verbs| verbs.iter().map(|verb| (*verb).to_owned())).collect()
}

/// `cancelOrder`, `cancel_order` and `orders.cancel` are made of the same words.
fn split_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before_lower = false;
    let mut inside = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            inside = false;
        } else {
            if !inside || before_lower && c.is_uppercase() {
                words.push(String::new());
            }
            inside = true;
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before_lower = c.is_lowercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::{ReplyContext, parse_reply};
    use super::*;

    #[test]
    fn a_tool_takes_its_own_verb_out_in_every_language() {
        for tool in ["cancel_order", "cancelOrder", "orders.cancel", "CANCEL", "取消订单"] {
            let reserved = reserved_by(tool);
            assert!(reserved.iter().any(|word| word == "取消"), "{tool}");
            let context = ReplyContext { reserved, ..ReplyContext::default() };
            for text in
                ["cancel", "取消", "cancel it", "确认取消", "annule", "キャンセル", "отмена"]
            {
                assert_eq!(parse_reply(text, &context).name(), "ambiguous", "{tool}: {text}");
            }
            assert_eq!(parse_reply("no", &context).name(), "cancel");
            assert_eq!(parse_reply("确认", &context).name(), "confirm");
        }
    }

    #[test]
    fn other_names_take_nothing_out() {
        for tool in ["sql_modify", "cancellation_report", "nonstop", "deploy", ""] {
            assert_eq!(reserved_by(tool), Vec::<String>::new(), "{tool}");
        }
    }
}
