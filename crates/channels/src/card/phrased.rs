//! Lines of ours about how a call runs and why there is no preview, in the language of the card. In English they are the
//! text that is stored with the call; in other languages they are worded from their codes. Text of others between them stays
//! as it is.

use domain::phrase::{NoPreviewReason, Phrase, PhraseCode, RunDetail, SERVER_CLAIMS};
use domain::view::{ForeignText, LINE_END};
use domain::visible::visible;

use super::asked::spelled;
use super::words::{CardWords, Language};

/// The lines of a detail, each safe behind a mark.
pub(super) fn detail_lines(detail: &RunDetail, words: CardWords) -> Vec<String> {
    let mut lines = spelled(&ForeignText::new(detail));
    if words.0 == Language::English {
        return lines;
    }
    let last = lines.len().saturating_sub(1);
    for &(number, ref phrase) in detail.phrases() {
        let values: Vec<String> = phrase.values.iter().map(|value| visible(value)).collect();
        if let Some(line) = lines.get_mut(number) {
            *line = spelled(&ForeignText::marked(&chinese(phrase.code, &values))).concat();
            if number < last {
                line.push(LINE_END);
            }
        }
    }
    lines
}

/// Why there is no preview, in Chinese where the words are ours.
pub(super) fn chinese_reason(why: &NoPreviewReason) -> String {
    let mut inner = None;
    for Phrase { code, values } in why.phrases().iter().rev() {
        let mut values = values.clone();
        if let (Some(inner), Some(last)) = (inner.take(), values.last_mut()) {
            *last = inner;
        }
        inner = Some(chinese(*code, &values));
    }
    inner.unwrap_or_else(|| why.to_string())
}

fn chinese(code: PhraseCode, values: &[String]) -> String {
    if let (PhraseCode::ServerSays, [claims]) = (code, values) {
        let claims: Vec<&str> = claims.split(", ").map(chinese_claim).collect();
        return format!("服务器声称：{}（未经核实）", claims.join("、"));
    }
    let mut values = values.iter();
    let mut text = String::new();
    for (index, piece) in chinese_template(code).split("{}").enumerate() {
        if index > 0 {
            text.push_str(values.next().map_or("", String::as_str));
        }
        text.push_str(piece);
    }
    text
}

/// With `{}` for each value, in the order of the English phrase.
fn chinese_template(code: PhraseCode) -> &'static str {
    match code {
        PhraseCode::Program => "程序：{}",
        PhraseCode::Environment => "环境变量：{}",
        PhraseCode::TimeLimit => "时间限制：{} 秒",
        PhraseCode::BoundFile => "文件：{}",
        PhraseCode::BoundFileBeginning => "文件：{}（仅开头部分），{} 字节，更改于 {}",
        PhraseCode::AsUser => "以用户身份运行：{}",
        PhraseCode::Database => "数据库：{}，位于 {}",
        PhraseCode::DatabaseReadOnly => "数据库：{}，位于 {}，只读",
        PhraseCode::Postgres => "数据库：{}，位于 {}，用户 {}（PostgreSQL）",
        PhraseCode::PostgresReadOnly => "数据库：{}，位于 {}，用户 {}（PostgreSQL），只读",
        PhraseCode::RowsNotCounted => "未统计行数",
        PhraseCode::RowsChanged => "改变的行数：{}",
        PhraseCode::RowsAlsoChanged => "因触发器和外键而改变的行数：{}",
        PhraseCode::McpTool => "MCP 服务器：{}（{}），工具：{}",
        PhraseCode::ReachedBy => "连接方式：{}",
        PhraseCode::ReachedAsUser => "连接方式：{}，用户：{}",
        PhraseCode::Definition => "定义：{}",
        PhraseCode::ServerSaysNothing => "服务器没有说明其影响",
        PhraseCode::ServerSays => "服务器声称：{}（未经核实）",
        PhraseCode::RequestBody => "正文：{}",
        PhraseCode::KeySent => "以 `idempotency-key` 附带此调用的幂等键",
        PhraseCode::PublicAddresses => "仅发往公网地址",
        PhraseCode::AnyAddress => "可发往任何地址，包括内网地址",
        PhraseCode::DemoCloud => "Shipper Cloud（演示）",
        PhraseCode::RowsUncounted => "无法统计涉及的行数：{}",
        PhraseCode::DatabaseUnreadable => "无法读取数据库：{}",
        PhraseCode::DatabaseBusy => "另一个程序正占用数据库，请稍后再试",
        PhraseCode::RowsBusy => "另一个程序正占用这些行，请稍后再试",
        PhraseCode::Interrupted => "已被中止，或超过了时间限制",
        PhraseCode::DatabaseUnreachable => "无法连接数据库：{}",
        PhraseCode::NoAnswer => "{} 秒内没有应答",
        PhraseCode::CertificatesUnreadable => "无法读取本机的证书：{}",
        PhraseCode::MarkerNotWritable => {
            "需要表 {} 才能保证更改只执行一次，而此用户无权写入；请数据库所有者执行：{}"
        }
        PhraseCode::MarkerNotMade => {
            "需要表 {} 才能保证更改只执行一次，而此用户无权创建；请数据库所有者执行：{}"
        }
        PhraseCode::ProgramNotFound => "在 PATH 中找不到程序 `{}`，请指定已安装的程序",
        PhraseCode::ProgramNotExecutable => "`{}` 不是可执行文件",
        PhraseCode::FileUnreadable => "无法读取 `{}`：{}",
        PhraseCode::TooMuchToCheck => {
            "所指定的程序和脚本合计超过 {} MiB，超出单个命令的核对上限；请减少一次指定的数量"
        }
        PhraseCode::PreviewFailed => "工具的预览异常终止",
        PhraseCode::PreviewTooSlow => "工具的预览超过了 {} 秒",
    }
}

/// Of [`SERVER_CLAIMS`], in the same order.
const CHINESE_CLAIMS: [&str; SERVER_CLAIMS.len()] = [
    "只读取",
    "会写入",
    "可能造成破坏",
    "不造成破坏",
    "可以重复",
    "不得重复",
    "会访问外部",
    "不访问外部",
];

fn chinese_claim(claim: &str) -> &str {
    let place = SERVER_CLAIMS.iter().position(|known| *known == claim);
    place.map_or(claim, |place| CHINESE_CLAIMS[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands for every value. It is no English.
    const VALUE: &str = "甲乙";

    /// Names and signs that are the same in every language.
    const NAMES: [&str; 12] = [
        "MCP",
        "PostgreSQL",
        "PATH",
        "MiB",
        "idempotency",
        "key",
        "Shipper",
        "Cloud",
        "s",
        "U",
        "x",
        "A",
    ];

    fn english_in(text: &str) -> Vec<&str> {
        let words = text.split(|c: char| !c.is_ascii_alphabetic());
        words.filter(|word| !word.is_empty() && !NAMES.contains(word)).collect()
    }

    #[test]
    fn every_phrase_of_ours_is_chinese_on_a_chinese_card() {
        for code in PhraseCode::ALL {
            let values = vec![VALUE; code.english().matches("{}").count()];
            let mut detail = RunDetail::default();
            detail.push(*code, &values);
            let line = detail_lines(&detail, CardWords(Language::Chinese)).concat();
            assert_eq!(english_in(&line), Vec::<&str>::new(), "{line}");
            assert_eq!(line.matches(VALUE).count(), values.len(), "all values: {line}");
            assert!(!line.is_ascii(), "{line}");
            let english = detail_lines(&detail, CardWords(Language::English)).concat();
            assert_eq!(detail, english.as_str(), "as it is stored");
            let why = NoPreviewReason::new(*code, &values);
            assert_eq!(chinese_reason(&why), line);
        }
    }

    #[test]
    fn what_a_server_claims_is_chinese_word_for_word() {
        let mut detail = RunDetail::default();
        detail.push(PhraseCode::ServerSays, &[&SERVER_CLAIMS.join(", ")]);
        let line = detail_lines(&detail, CardWords(Language::Chinese)).concat();
        assert_eq!(english_in(&line), Vec::<&str>::new(), "{line}");
        assert!(CHINESE_CLAIMS.iter().all(|claim| line.contains(claim)), "{line}");
    }

    #[test]
    fn a_reason_inside_a_reason_is_chinese_and_words_of_others_stay() {
        let busy = NoPreviewReason::new(PhraseCode::DatabaseBusy, &[]);
        let why = NoPreviewReason::because(PhraseCode::RowsUncounted, busy);
        assert_eq!(chinese_reason(&why), "无法统计涉及的行数：另一个程序正占用数据库，请稍后再试");
        let why = NoPreviewReason::because(PhraseCode::RowsUncounted, "disk I/O error".into());
        assert_eq!(chinese_reason(&why), "无法统计涉及的行数：disk I/O error");
        assert_eq!(chinese_reason(&"it is away".into()), "it is away");
    }

    #[test]
    fn i47_lines_of_others_are_not_worded_and_tricks_are_marked() {
        let mut detail = RunDetail::default();
        detail.push_text("POST https://api.example/\ntime limit 1 s");
        detail.push(PhraseCode::AsUser, &["\u{202e}"]);
        detail.push(PhraseCode::TimeLimit, &["30"]);
        assert_eq!(
            detail_lines(&detail, CardWords(Language::Chinese)),
            [
                "POST https://api.example/⏎",
                "time limit 1 s⏎",
                "以用户身份运行：⟦U+202E⟧⏎",
                "时间限制：30 秒"
            ]
        );
    }
}
