//! Titles and summaries of ours in the language of the card. In English they are the line that is stored with the hold; in
//! other languages they are worded from the kind. Values stand after a sign that is no letter, as in warnings.

use domain::budget::{Amount, Resource, money};
use domain::caption::{CaptionKind, RowChange};
use domain::view::ForeignText;

use super::asked::spelled;
use super::words::{CardWords, Language};

/// A text that is safe behind a mark, worded in the language of the card if it is ours.
pub(super) fn quoted(
    text: &ForeignText,
    kind: Option<&CaptionKind>,
    words: CardWords,
) -> Vec<String> {
    match kind.and_then(|kind| words.captioned(kind)) {
        // It may quote others, in whatever language it is.
        Some(line) => spelled(&ForeignText::marked(&line.replace('\n', " "))),
        None => spelled(text),
    }
}

impl CardWords {
    /// `None`: the line as it is stored.
    fn captioned(self, kind: &CaptionKind) -> Option<String> {
        match self.0 {
            Language::English => None,
            Language::Chinese => Some(chinese(kind)),
        }
    }
}

fn chinese(kind: &CaptionKind) -> String {
    match kind {
        CaptionKind::ChangeRows { change, rows, estimated, table } => {
            let about = about(*estimated);
            match change {
                RowChange::Insert => format!("向 {table} 插入{about} {rows} 行"),
                RowChange::Update => format!("更新 {table} 中的{about} {rows} 行"),
                RowChange::Delete => format!("从 {table} 删除{about} {rows} 行"),
            }
        }
        CaptionKind::ChangeTables { database, sql } => format!("修改 {database} 的表结构：{sql}"),
        CaptionKind::QueryDatabase { database, sql } => format!("查询 {database}：{sql}"),
        CaptionKind::RunCommand { command } => format!("运行：{command}"),
        CaptionKind::RunInShell { script } => format!("在 shell 中运行：{script}"),
        CaptionKind::RunTool { tool, arguments: None } => format!("运行 {tool}"),
        CaptionKind::RunTool { tool, arguments: Some(arguments) } => {
            format!("运行 {tool}：{arguments}")
        }
        CaptionKind::CarryOut { tool } => format!("执行 {tool}"),
        CaptionKind::SeveralQuestions { questions, headers } => {
            format!("{questions} 个问题：{headers}")
        }
        CaptionKind::WhatHappened { to } => {
            let to = to.kind().map_or_else(|| to.text().to_owned(), chinese);
            format!("这次调用的结果如何？ {to}")
        }
        CaptionKind::GoOn(used_up) => {
            format!("是否允许继续运行？已用完限额：{}", amount(used_up.limit()))
        }
        CaptionKind::Rows { rows, more: 0, estimated } => {
            format!("{}{rows} 行", about_first(*estimated))
        }
        CaptionKind::Rows { rows, more, estimated } => {
            format!("{}{rows} 行，另有 {more} 行因触发器和外键而改变", about_first(*estimated))
        }
        CaptionKind::Sends { request } => format!("发送 {request}"),
        CaptionKind::Used(used_up) => {
            format!("已用：{}；继续则再给：{}", amount(used_up.used()), amount(used_up.limit()))
        }
        CaptionKind::NewDefinition => "首次连接该服务器时还没有这个工具".into(),
        CaptionKind::ChangedDefinition => "服务器更改了对这个工具的说明".into(),
        CaptionKind::ServerAsks { server, message } => format!("服务器 {server} 询问：{message}"),
        CaptionKind::Deploy { project, target } => format!("将 {project} 部署到 {target}"),
        CaptionKind::Cut { of, left_out } => {
            let of = of.kind().map_or_else(|| of.text().to_owned(), chinese);
            format!("{of}…（还有 {left_out} 个字符）")
        }
    }
}

fn about(estimated: bool) -> &'static str {
    if estimated { "约" } else { "" }
}

fn about_first(estimated: bool) -> &'static str {
    if estimated { "约 " } else { "" }
}

fn amount(amount: Amount) -> String {
    let much = amount.much;
    match amount.of {
        Resource::Turns => format!("{much} 轮"),
        Resource::Tokens => format!("{much} 个词元"),
        Resource::Money => format!("金额 {}", money(much)),
        Resource::Time => format!("运行 {}", time(much)),
    }
}

fn time(ms: u64) -> String {
    let seconds = ms / 1_000;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0) => format!("{ms} 毫秒"),
        (0, 0, seconds) => format!("{seconds} 秒"),
        (0, minutes, 0) => format!("{minutes} 分"),
        (0, minutes, seconds) => format!("{minutes} 分 {seconds} 秒"),
        (hours, 0, _) => format!("{hours} 小时"),
        (hours, minutes, _) => format!("{hours} 小时 {minutes} 分"),
    }
}

#[cfg(test)]
mod tests {
    use domain::budget::UsedUp;
    use domain::caption::Caption;
    use domain::hold::Question;

    use super::super::sample::{asking, drawn};
    use super::*;

    /// What stands for every value. It is no English.
    const VALUE: &str = "甲乙";

    fn every_kind() -> Vec<CaptionKind> {
        let value = || VALUE.to_owned();
        let change_rows = |change, estimated| CaptionKind::ChangeRows {
            change,
            rows: 3,
            estimated,
            table: value(),
        };
        let used_up = |of, much| UsedUp { of, used: much, limit: much };
        let run = CaptionKind::RunCommand { command: value() };
        vec![
            change_rows(RowChange::Insert, false),
            change_rows(RowChange::Update, true),
            change_rows(RowChange::Delete, false),
            CaptionKind::ChangeTables { database: value(), sql: value() },
            CaptionKind::QueryDatabase { database: value(), sql: value() },
            run.clone(),
            CaptionKind::RunInShell { script: value() },
            CaptionKind::RunTool { tool: value(), arguments: None },
            CaptionKind::RunTool { tool: value(), arguments: Some(value()) },
            CaptionKind::CarryOut { tool: value() },
            CaptionKind::SeveralQuestions { questions: 2, headers: value() },
            CaptionKind::WhatHappened { to: Box::new(run.into()) },
            CaptionKind::WhatHappened { to: Box::new(VALUE.into()) },
            CaptionKind::GoOn(used_up(Resource::Turns, 20)),
            CaptionKind::GoOn(used_up(Resource::Money, 2_500_000)),
            CaptionKind::Rows { rows: 1, more: 0, estimated: true },
            CaptionKind::Rows { rows: 214, more: 6, estimated: false },
            CaptionKind::Sends { request: value() },
            CaptionKind::Used(used_up(Resource::Tokens, 100)),
            CaptionKind::Used(used_up(Resource::Time, 250)),
            CaptionKind::Used(used_up(Resource::Time, 90_000)),
            CaptionKind::Used(used_up(Resource::Time, 7_260_000)),
            CaptionKind::NewDefinition,
            CaptionKind::ChangedDefinition,
            CaptionKind::ServerAsks { server: value(), message: value() },
            CaptionKind::Deploy { project: value(), target: value() },
            CaptionKind::Cut {
                of: Box::new(CaptionKind::RunInShell { script: value() }.into()),
                left_out: 12,
            },
            CaptionKind::Cut { of: Box::new(VALUE.into()), left_out: 12 },
        ]
    }

    /// As a title, and as the summary of the preview.
    fn lines_of(kind: &CaptionKind, language: Language) -> [String; 2] {
        let mut hold = asking(Question::Perform { deny_values: Vec::new() });
        hold.title = Caption::new(kind.clone());
        hold.preview.summary = Some(Caption::new(kind.clone()));
        let card = drawn(&hold, language);
        let text = card.body.text();
        let heading = CardWords(language).label(domain::view::Label::Preview);
        let mut lines = text.lines().skip_while(|line| !line.contains(heading)).skip(1);
        [card.title, lines.next().expect("the summary").to_owned()]
    }

    #[test]
    fn every_title_and_summary_of_ours_is_chinese_on_a_chinese_card() {
        let mut codes: Vec<&str> = every_kind().iter().map(CaptionKind::code).collect();
        codes.dedup();
        assert_eq!(codes, CaptionKind::CODES, "one of each kind");
        for kind in every_kind() {
            for line in lines_of(&kind, Language::Chinese) {
                let words = line.split(|c: char| !c.is_ascii_alphabetic());
                let english: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
                assert!(english.is_empty() || english == ["shell"], "{english:?} in {line}");
                let values = kind.to_string().matches(VALUE).count();
                assert_eq!(line.matches(VALUE).count(), values, "all values: {line}");
                let digits = |text: &str| text.chars().filter(char::is_ascii_digit).count();
                assert_eq!(digits(&line), digits(&kind.to_string()), "all numbers: {line}");
            }
        }
    }

    #[test]
    fn an_english_card_and_words_of_others_are_as_they_were_stored() {
        for kind in every_kind() {
            let [title, summary] = lines_of(&kind, Language::English);
            assert_eq!(title, kind.to_string());
            assert!(summary.ends_with(&kind.to_string()), "{summary}");
        }
        let mut hold = asking(Question::Settle);
        hold.title = "Which strategy?".into();
        assert_eq!(drawn(&hold, Language::Chinese).title, "Which strategy?");
    }

    #[test]
    fn i47_what_a_chinese_title_quotes_is_marked_as_in_english() {
        let mut hold = asking(Question::Approve);
        let command = domain::visible::visible("a\n\u{202e}b");
        hold.title = Caption::new(CaptionKind::RunCommand { command });
        let title = drawn(&hold, Language::Chinese).title;
        assert_eq!(title, "运行：a⟦U+000A⟧⟦U+202E⟧b");
    }
}
