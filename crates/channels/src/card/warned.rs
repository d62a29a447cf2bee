//! Warnings in the language of the card. In English they are the sentence that is stored with the hold; in other
//! languages they are worded from the kind. Values stand in the sentence after a sign that is no letter, so that no accent
//! of theirs is drawn upon a word of ours.

use domain::policy::AskedByRule;
use domain::visible::Script;
use domain::warning::{Likeness, WarningKind, WhyAskedAgain, WhyEstimated, WrapperRuns};

use super::phrased::chinese_reason;
use super::words::{CardWords, Language};

impl CardWords {
    /// `None`: the sentence as it is stored.
    pub(super) fn warned(self, kind: &WarningKind) -> Option<String> {
        match self.0 {
            Language::English => None,
            Language::Chinese => Some(chinese(kind)),
        }
    }
}

fn chinese(kind: &WarningKind) -> String {
    match kind {
        WarningKind::NoWhere { table } => {
            format!("没有 WHERE 条件：涉及 `{table}` 的所有行")
        }
        WarningKind::MoreRows { rows } => format!("另有 {rows} 行会因触发器和外键而改变"),
        WarningKind::EstimatedRows { because } => match because {
            WhyEstimated::HasTriggers => "行数是估计值：该表有触发器，预览时没有触发".into(),
            WhyEstimated::IsViewOrHasRules => {
                "行数是估计值：这是视图，或带有规则，预览时没有展开".into()
            }
        },
        WarningKind::Wrapper { program, runs } => match runs {
            WrapperRuns::Script => {
                format!("`{program}` 会运行一段脚本：请通读全文，批准的就是它")
            }
            WrapperRuns::Elsewhere => {
                format!("`{program}` 会在别处运行命令，那里的规则可能与这里不同")
            }
            WrapperRuns::AsAnotherUser => format!("`{program}` 会以另一用户的权限运行命令"),
            WrapperRuns::OnFindings => {
                format!("`{program}` 会对它找到或读到的内容运行命令，这些内容没有显示在这里")
            }
            WrapperRuns::Command => format!("`{program}` 会运行它后面的命令"),
        },
        WarningKind::NotBound { word } => {
            format!("未绑定：`{word}` 的含义到运行时才知道，因此它指向的脚本没有经过核对")
        }
        WarningKind::NewDefinition => {
            "首次连接该服务器时还没有这个工具；批准此调用即接受新的定义".into()
        }
        WarningKind::ChangedDefinition => {
            "服务器更改了对这个工具的说明；批准此调用即接受新的定义".into()
        }
        WarningKind::NoPreview { why } => format!("无法预览：{}", chinese_reason(why)),
        WarningKind::SecretGiven(given) => format!(
            "工具 `{}` 将得到机密 `{}`（用于 `{}`）：由 `{}` 于 {} 在 `{}` 中提供",
            given.tool, given.secret, given.place, given.by, given.at, given.field
        ),
        WarningKind::DeniedBefore { likeness, by, minutes_ago, reason } => {
            let likeness = match likeness {
                Likeness::Same => "相同",
                Likeness::Similar => "相似",
            };
            let reason = reason.as_ref().map(|reason| format!("：“{reason}”")).unwrap_or_default();
            format!("与 `{by}` 在{}拒绝过的一次调用{likeness}{reason}", ago(*minutes_ago))
        }
        WarningKind::StricterPolicy(asked) => {
            format!("提出此问题之后策略已改变，现在的要求：{}", asked_by_rule(asked))
        }
        WarningKind::AskedAgain { because } => match because {
            WhyAskedAgain::ToolChanged => "提出此调用之后，工具已改变",
            WhyAskedAgain::PolicyAsksNow => "策略已改变，现在须询问此调用",
            WhyAskedAgain::GrantEnded => "先前的长期授权已失效",
            WhyAskedAgain::ApprovalMissing => "找不到先前的批准",
            WhyAskedAgain::ApprovalVoid => "先前的批准不成立",
            WhyAskedAgain::OtherCallApproved => "先前批准的不是此调用",
            WhyAskedAgain::ApproversNotEntitled => "先前的批准者已无权批准",
        }
        .into(),
        WarningKind::OutcomeUnknown => "没有人知道此调用是否已执行。它没有再次运行。".into(),
        WarningKind::EarlierAttempt => {
            "先前的一次尝试被中断，有人要求再次提出此调用。请先确认它没有发生过。".into()
        }
        WarningKind::LookAlike { word, scripts } => match scripts.as_slice() {
            [only] => format!("`{word}` 看似拉丁字母，实为{}", script(*only)),
            scripts => {
                let names: Vec<&str> = scripts.iter().map(|one| script(*one)).collect();
                format!("`{word}` 混用了不同的字母：{}", names.join("、"))
            }
        },
    }
}

fn ago(minutes: u64) -> String {
    match minutes {
        0 => "不到一分钟前".into(),
        1..60 => format!(" {minutes} 分钟前"),
        60..1_440 => format!(" {} 小时前", minutes / 60),
        _ => format!(" {} 天前", minutes / 1_440),
    }
}

fn asked_by_rule(asked: &AskedByRule) -> String {
    let roles = asked.roles.iter().map(|role| format!("角色 `{role}`"));
    let people = asked.people.iter().map(|person| format!("`{person}`"));
    let names: Vec<String> = roles.chain(people).collect();
    let whom = match names.is_empty() {
        true => "请求者或管理员".to_owned(),
        false => names.join(" 或 "),
    };
    let mut text = format!("询问 {whom}");
    if asked.quorum > 1 {
        text.push_str(&format!("，需 {} 人同意", asked.quorum));
    }
    if asked.exclude_requester {
        text.push_str("，请求者除外");
    }
    if asked.refuse_made_logins {
        text.push_str("，且登录不得由他人生成");
    }
    let Some(rule) = &asked.rule else {
        text.push_str("（默认：没有规则作出决定）");
        return text;
    };
    let line = match asked.line {
        0 => String::new(),
        line => format!("，第 {line} 行"),
    };
    let doubt = if asked.in_doubt { "，存疑：无法判断" } else { "" };
    text.push_str(&format!("（规则 `{rule}`{line}{doubt}）"));
    text
}

fn script(script: Script) -> &'static str {
    match script {
        Script::Latin => "拉丁字母",
        Script::Greek => "希腊字母",
        Script::Cyrillic => "西里尔字母",
        Script::Armenian => "亚美尼亚字母",
        Script::Cherokee => "切罗基字母",
        Script::Coptic => "科普特字母",
        Script::Fullwidth => "全角字母",
        Script::Ornamental => "装饰字母",
    }
}

#[cfg(test)]
mod tests {
    use domain::hold::Question;
    use domain::time::Timestamp;
    use domain::view::View;
    use domain::warning::{SecretGiven, Warning};

    use super::super::sample::{asking, drawn};
    use super::*;

    /// What stands for every value. It is no English.
    const VALUE: &str = "甲乙";

    fn every_kind() -> Vec<WarningKind> {
        let value = || VALUE.to_owned();
        let by_rule = AskedByRule {
            roles: vec![value()],
            people: vec![value()],
            quorum: 2,
            exclude_requester: true,
            refuse_made_logins: true,
            rule: Some(value()),
            line: 3,
            in_doubt: true,
        };
        let by_default =
            AskedByRule { roles: Vec::new(), people: Vec::new(), rule: None, ..by_rule.clone() };
        let given = SecretGiven {
            tool: value(),
            secret: value(),
            place: value(),
            by: value(),
            field: value(),
            at: Timestamp::from_ms(0),
        };
        let wrapper = |runs| WarningKind::Wrapper { program: value(), runs };
        let denied = |likeness, minutes_ago| WarningKind::DeniedBefore {
            likeness,
            by: value(),
            minutes_ago,
            reason: Some(value()),
        };
        let asked_again = |because| WarningKind::AskedAgain { because };
        vec![
            WarningKind::NoWhere { table: value() },
            WarningKind::MoreRows { rows: 6 },
            WarningKind::EstimatedRows { because: WhyEstimated::HasTriggers },
            WarningKind::EstimatedRows { because: WhyEstimated::IsViewOrHasRules },
            wrapper(WrapperRuns::Script),
            wrapper(WrapperRuns::Elsewhere),
            wrapper(WrapperRuns::AsAnotherUser),
            wrapper(WrapperRuns::OnFindings),
            wrapper(WrapperRuns::Command),
            WarningKind::NotBound { word: value() },
            WarningKind::NewDefinition,
            WarningKind::ChangedDefinition,
            WarningKind::NoPreview { why: value().into() },
            WarningKind::SecretGiven(Box::new(given)),
            denied(Likeness::Same, 0),
            denied(Likeness::Same, 59),
            denied(Likeness::Similar, 60),
            denied(Likeness::Similar, 2_880),
            WarningKind::StricterPolicy(Box::new(by_rule)),
            WarningKind::StricterPolicy(Box::new(by_default)),
            asked_again(WhyAskedAgain::ToolChanged),
            asked_again(WhyAskedAgain::PolicyAsksNow),
            asked_again(WhyAskedAgain::GrantEnded),
            asked_again(WhyAskedAgain::ApprovalMissing),
            asked_again(WhyAskedAgain::ApprovalVoid),
            asked_again(WhyAskedAgain::OtherCallApproved),
            asked_again(WhyAskedAgain::ApproversNotEntitled),
            WarningKind::OutcomeUnknown,
            WarningKind::EarlierAttempt,
            WarningKind::LookAlike { word: value(), scripts: Script::ALL.into() },
            WarningKind::LookAlike { word: value(), scripts: vec![Script::Greek] },
        ]
    }

    fn lines_of(kind: WarningKind, language: Language) -> String {
        let mut hold = asking(Question::Perform { deny_values: Vec::new() });
        hold.title = "标题".into();
        hold.preview.warnings = vec![Warning::new(kind)];
        let card = drawn(&hold, language);
        let text = card.body.text();
        let heading = CardWords(language).warning();
        let mut lines = text.lines().skip_while(|line| !line.contains(heading)).skip(1);
        lines.next().expect("the warning").to_owned()
    }

    #[test]
    fn every_warning_of_ours_is_chinese_on_a_chinese_card() {
        let mut codes: Vec<&str> = every_kind().iter().map(WarningKind::code).collect();
        codes.dedup();
        assert_eq!(codes, WarningKind::CODES, "one of each kind");
        for kind in every_kind() {
            let sentence = lines_of(kind.clone(), Language::Chinese);
            let is_english = |word: &&str| word.chars().all(|c| c.is_ascii_alphabetic());
            let words = sentence.split(|c: char| !c.is_ascii_alphanumeric());
            let english: Vec<&str> =
                words.filter(|word| !word.is_empty()).filter(is_english).collect();
            assert!(english.is_empty() || english == ["WHERE"], "{english:?} in {sentence}");
            assert!(sentence.chars().filter(|c| !c.is_ascii()).count() > 5, "{sentence}");
            let values = kind.to_string().matches(VALUE).count();
            assert_eq!(sentence.matches(VALUE).count(), values, "all values: {sentence}");
        }
    }

    #[test]
    fn an_english_card_and_words_of_others_are_as_they_were_stored() {
        for kind in every_kind() {
            let sentence = lines_of(kind.clone(), Language::English);
            assert!(sentence.ends_with(&kind.to_string()), "{sentence}");
        }
        let mut hold = asking(Question::Settle);
        hold.preview.warnings = vec!["this order was refunded before".into()];
        assert_eq!(View::of(&hold).parts.len(), 3);
        let text = drawn(&hold, Language::Chinese).body.text();
        assert!(text.contains("this order was refunded before"), "{text}");
    }
}
