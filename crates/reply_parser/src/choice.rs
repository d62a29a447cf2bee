//! Options of a prompt, by label or by number.

use super::context::{ExpectedReply, ReplyContext};
use super::emoji;
use super::fold::fold_text;
use super::text::trim_emphasis;
use super::verdict::{AmbiguityReason, ChosenOptions, ReplyVerdict, VerdictSource};

const BEFORE: [&str; 13] = [
    "选择",
    "選擇",
    "选",
    "選",
    "option",
    "choice",
    "opcion",
    "opcao",
    "choix",
    "вариант",
    "第",
    "#",
    "(",
];
const AFTER: [&str; 8] = ["号", "號", "项", "項", "番", "번", ")", "."];
/// Behind an ordinal only: 第二个 is the second, 两个 are two of them.
const AFTER_ORDINAL: [&str; 2] = ["个", "個"];
const BETWEEN: [char; 7] = [',', '，', '、', ' ', '和', '&', '+'];
const ALL: [&str; 6] = ["all", "全部", "全选", "都要", "todos", "alle"];

/// `None` if the text is no choice; it may still be a no.
pub(super) fn parse_choice(text: &str, context: &ReplyContext) -> Option<ReplyVerdict> {
    match &context.asked {
        ExpectedReply::Confirm { numbered: false } => None,
        ExpectedReply::Confirm { numbered: true } => match text {
            // A number of the prompt is not its code.
            "1" if context.code.is_some() => {
                Some(ReplyVerdict::Ambiguous(AmbiguityReason::CodeRequired))
            }
            "1" => Some(ReplyVerdict::Confirm(VerdictSource::Number)),
            "2" => Some(ReplyVerdict::Cancel(VerdictSource::Number)),
            _ => None,
        },
        ExpectedReply::Choice { options, multi } => match_label(text, options)
            .or_else(|| match_all(text, options.len()).filter(|_| *multi))
            .or_else(|| match_several(text, options.len()).filter(|_| *multi))
            .or_else(|| parse_number(text).map(|number| choose_one(number, options.len()))),
    }
}

/// The option whose label this folded text is. Pictures are part of a label.
pub(super) fn exact_label(text: &str, context: &ReplyContext) -> Option<ReplyVerdict> {
    let ExpectedReply::Choice { options, .. } = &context.asked else { return None };
    let said = spaced_once(trim_emphasis(text));
    // A label of marks alone, as `…`, leaves nothing to compare: it is chosen by its number.
    if said.is_empty() {
        return None;
    }
    let is_said = |option: &&String| spaced_once(trim_emphasis(&fold_text(option))) == said;
    let mut found = options.iter().enumerate().filter(|(_, option)| is_said(option));
    let (index, _) = found.next()?;
    // The plainer comparison below refuses to guess between two.
    found
        .next()
        .is_none()
        .then_some(ReplyVerdict::Choice(ChosenOptions::One(index + 1), VerdictSource::Label))
}

fn match_label(text: &str, options: &[String]) -> Option<ReplyVerdict> {
    let said = spaced_once(text);
    let is_said = |option: &&String| {
        spaced_once(trim_emphasis(&emoji::split_emoji(&fold_text(option)).0)) == said
    };
    let mut found = options.iter().enumerate().filter(|(_, option)| is_said(option));
    let (index, _) = found.next()?;
    Some(match found.next() {
        None => ReplyVerdict::Choice(ChosenOptions::One(index + 1), VerdictSource::Label),
        // Two labels that differ only in ways that we do not see.
        Some(_) => ReplyVerdict::Ambiguous(AmbiguityReason::WhichOption),
    })
}

fn spaced_once(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn match_all(text: &str, count: usize) -> Option<ReplyVerdict> {
    let said = ALL.contains(&text) && count > 0;
    said.then(|| {
        ReplyVerdict::Choice(ChosenOptions::Several((1..=count).collect()), VerdictSource::Multi)
    })
}

fn match_several(text: &str, count: usize) -> Option<ReplyVerdict> {
    let parts = text.split(BETWEEN).filter(|part| !part.is_empty() && *part != "and");
    let mut numbers = parts.map(parse_digits).collect::<Option<Vec<usize>>>()?;
    if numbers.len() < 2 {
        return None;
    }
    numbers.sort_unstable();
    numbers.dedup();
    Some(if numbers.iter().all(|number| (1..=count).contains(number)) {
        ReplyVerdict::Choice(ChosenOptions::Several(numbers), VerdictSource::Multi)
    } else {
        ReplyVerdict::Ambiguous(AmbiguityReason::OutOfRange)
    })
}

fn choose_one(number: usize, count: usize) -> ReplyVerdict {
    if (1..=count).contains(&number) {
        ReplyVerdict::Choice(ChosenOptions::One(number), VerdictSource::Number)
    } else {
        ReplyVerdict::Ambiguous(AmbiguityReason::OutOfRange)
    }
}

/// A number with at most one word before it and one behind it.
fn parse_number(text: &str) -> Option<usize> {
    let text = text.strip_suffix('吧').unwrap_or(text);
    let before = BEFORE.iter().find(|word| text.starts_with(*word));
    let bare = before.map_or(text, |word| &text[word.len()..]);
    let ordinal = before.is_some_and(|word| *word == "第");
    let after = AFTER.iter().chain(AFTER_ORDINAL.iter().filter(|_| ordinal));
    let mut after = after.filter_map(|word| bare.strip_suffix(word));
    let bare = after.next().unwrap_or(bare).trim();
    parse_digits(bare).or_else(|| written_out(bare))
}

fn parse_digits(text: &str) -> Option<usize> {
    let short = matches!(text.len(), 1..=2) && text.bytes().all(|byte| byte.is_ascii_digit());
    short.then(|| text.parse().ok()).flatten()
}

fn written_out(text: &str) -> Option<usize> {
    const NUMBERS: &str = "一二三四五六七八九十";
    let mut characters = text.chars();
    let (Some(c), None) = (characters.next(), characters.next()) else { return None };
    NUMBERS.chars().position(|n| n == c).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three(multi: bool) -> ReplyContext {
        ReplyContext::choice(["保留备份", "直接删除", "Abort"], multi)
    }

    #[test]
    fn numbers_are_read_in_many_ways() {
        for text in [
            "2",
            "选择 2",
            "选2",
            "第二个",
            "第2项",
            "option 2",
            "option2",
            "#2",
            "2番",
            "2번",
            "第 2 个",
            "选2吧",
            "(2)",
            "2.",
        ] {
            let chosen = Some(ReplyVerdict::Choice(ChosenOptions::One(2), VerdictSource::Number));
            assert_eq!(parse_choice(text, &three(false)), chosen, "{text}");
        }
        for text in ["0", "4", "99", "十"] {
            let out = Some(ReplyVerdict::Ambiguous(AmbiguityReason::OutOfRange));
            assert_eq!(parse_choice(text, &three(false)), out, "{text}");
        }
        for text in [
            "123",
            "２nd",
            "2 3",
            "-1",
            "+1",
            "1.5",
            "两个",
            "二个",
            "2个",
            "two",
            "option",
            "十一",
            "第第二",
        ] {
            assert_eq!(parse_choice(text, &three(false)), None, "{text}");
        }
    }

    #[test]
    fn several_numbers_only_where_several_may_be_chosen() {
        let both =
            Some(ReplyVerdict::Choice(ChosenOptions::Several(vec![1, 3]), VerdictSource::Multi));
        for text in ["1,3", "3 1", "1和3", "1、3、1", "1 & 3", "3+1", "1 and 3"] {
            assert_eq!(parse_choice(text, &three(true)), both, "{text}");
            assert_eq!(parse_choice(text, &three(false)), None, "{text}");
        }
        let out = Some(ReplyVerdict::Ambiguous(AmbiguityReason::OutOfRange));
        assert_eq!(parse_choice("1,9", &three(true)), out);
        assert_eq!(parse_choice("1,x", &three(true)), None);
    }

    #[test]
    fn all_of_them_only_where_several_may_be_chosen() {
        for text in ALL {
            let all = Some(ReplyVerdict::Choice(
                ChosenOptions::Several(vec![1, 2, 3]),
                VerdictSource::Multi,
            ));
            assert_eq!(parse_choice(text, &three(true)), all, "{text}");
            assert_eq!(parse_choice(text, &three(false)), None, "{text}");
        }
    }

    #[test]
    fn labels_that_fold_to_the_same_are_not_guessed_at() {
        let context = ReplyContext::choice(["Keep", "KEEP"], false);
        assert_eq!(
            parse_choice("keep", &context),
            Some(ReplyVerdict::Ambiguous(AmbiguityReason::WhichOption))
        );
    }

    #[test]
    fn i13_a_label_of_marks_is_not_chosen_by_an_empty_message() {
        let context = ReplyContext::choice(["Yes", "No", "…"], false);
        for text in ["", " ", "...", "!", "…", "()"] {
            assert_eq!(exact_label(&fold_text(text), &context), None, "{text}");
            let verdict = super::super::parse_reply(text, &context);
            assert_eq!(verdict.name(), "ambiguous", "{text}: {}", verdict.reason_name());
        }
        let third = ReplyVerdict::Choice(ChosenOptions::One(3), VerdictSource::Number);
        assert_eq!(super::super::parse_reply("3", &context), third);
    }

    #[test]
    fn a_label_is_taken_whole() {
        assert_eq!(parse_choice("保留", &three(false)), None);
        assert_eq!(parse_choice("abort it", &three(false)), None);
    }
}
