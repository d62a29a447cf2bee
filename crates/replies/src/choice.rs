//! Options of a prompt, by label or by number.

use super::context::{Asked, Context};
use super::emoji;
use super::fold::fold;
use super::text::trimmed;
use super::verdict::{Chosen, How, Reason, Verdict};

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
pub(super) fn read(text: &str, context: &Context) -> Option<Verdict> {
    match &context.asked {
        Asked::Confirm { numbered: false } => None,
        Asked::Confirm { numbered: true } => match text {
            // A number of the prompt is not its code.
            "1" if context.code.is_some() => Some(Verdict::Ambiguous(Reason::CodeRequired)),
            "1" => Some(Verdict::Confirm(How::Number)),
            "2" => Some(Verdict::Cancel(How::Number)),
            _ => None,
        },
        Asked::Choice { options, multi } => label(text, options)
            .or_else(|| all(text, options.len()).filter(|_| *multi))
            .or_else(|| several(text, options.len()).filter(|_| *multi))
            .or_else(|| number(text).map(|number| one(number, options.len()))),
    }
}

/// The option whose label this folded text is. Pictures are part of a label.
pub(super) fn exact_label(text: &str, context: &Context) -> Option<Verdict> {
    let Asked::Choice { options, .. } = &context.asked else { return None };
    let said = spaced_once(trimmed(text));
    // A label of marks alone, as `…`, leaves nothing to compare: it is chosen by its number.
    if said.is_empty() {
        return None;
    }
    let is_said = |option: &&String| spaced_once(trimmed(&fold(option))) == said;
    let mut found = options.iter().enumerate().filter(|(_, option)| is_said(option));
    let (index, _) = found.next()?;
    // The plainer comparison below refuses to guess between two.
    found.next().is_none().then_some(Verdict::Choice(Chosen::One(index + 1), How::Label))
}

fn label(text: &str, options: &[String]) -> Option<Verdict> {
    let said = spaced_once(text);
    let is_said = |option: &&String| spaced_once(trimmed(&emoji::apart(&fold(option)).0)) == said;
    let mut found = options.iter().enumerate().filter(|(_, option)| is_said(option));
    let (index, _) = found.next()?;
    Some(match found.next() {
        None => Verdict::Choice(Chosen::One(index + 1), How::Label),
        // Two labels that differ only in ways that we do not see.
        Some(_) => Verdict::Ambiguous(Reason::WhichOption),
    })
}

fn spaced_once(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn all(text: &str, count: usize) -> Option<Verdict> {
    let said = ALL.contains(&text) && count > 0;
    said.then(|| Verdict::Choice(Chosen::Several((1..=count).collect()), How::Multi))
}

fn several(text: &str, count: usize) -> Option<Verdict> {
    let parts = text.split(BETWEEN).filter(|part| !part.is_empty() && *part != "and");
    let mut numbers = parts.map(digits).collect::<Option<Vec<usize>>>()?;
    if numbers.len() < 2 {
        return None;
    }
    numbers.sort_unstable();
    numbers.dedup();
    Some(if numbers.iter().all(|number| (1..=count).contains(number)) {
        Verdict::Choice(Chosen::Several(numbers), How::Multi)
    } else {
        Verdict::Ambiguous(Reason::OutOfRange)
    })
}

fn one(number: usize, count: usize) -> Verdict {
    if (1..=count).contains(&number) {
        Verdict::Choice(Chosen::One(number), How::Number)
    } else {
        Verdict::Ambiguous(Reason::OutOfRange)
    }
}

/// A number with at most one word before it and one behind it.
fn number(text: &str) -> Option<usize> {
    let text = text.strip_suffix('吧').unwrap_or(text);
    let before = BEFORE.iter().find(|word| text.starts_with(*word));
    let bare = before.map_or(text, |word| &text[word.len()..]);
    let ordinal = before.is_some_and(|word| *word == "第");
    let after = AFTER.iter().chain(AFTER_ORDINAL.iter().filter(|_| ordinal));
    let mut after = after.filter_map(|word| bare.strip_suffix(word));
    let bare = after.next().unwrap_or(bare).trim();
    digits(bare).or_else(|| written_out(bare))
}

fn digits(text: &str) -> Option<usize> {
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

    fn three(multi: bool) -> Context {
        Context::choice(["保留备份", "直接删除", "Abort"], multi)
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
            let chosen = Some(Verdict::Choice(Chosen::One(2), How::Number));
            assert_eq!(read(text, &three(false)), chosen, "{text}");
        }
        for text in ["0", "4", "99", "十"] {
            let out = Some(Verdict::Ambiguous(Reason::OutOfRange));
            assert_eq!(read(text, &three(false)), out, "{text}");
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
            assert_eq!(read(text, &three(false)), None, "{text}");
        }
    }

    #[test]
    fn several_numbers_only_where_several_may_be_chosen() {
        let both = Some(Verdict::Choice(Chosen::Several(vec![1, 3]), How::Multi));
        for text in ["1,3", "3 1", "1和3", "1、3、1", "1 & 3", "3+1", "1 and 3"] {
            assert_eq!(read(text, &three(true)), both, "{text}");
            assert_eq!(read(text, &three(false)), None, "{text}");
        }
        let out = Some(Verdict::Ambiguous(Reason::OutOfRange));
        assert_eq!(read("1,9", &three(true)), out);
        assert_eq!(read("1,x", &three(true)), None);
    }

    #[test]
    fn all_of_them_only_where_several_may_be_chosen() {
        for text in ALL {
            let all = Some(Verdict::Choice(Chosen::Several(vec![1, 2, 3]), How::Multi));
            assert_eq!(read(text, &three(true)), all, "{text}");
            assert_eq!(read(text, &three(false)), None, "{text}");
        }
    }

    #[test]
    fn labels_that_fold_to_the_same_are_not_guessed_at() {
        let context = Context::choice(["Keep", "KEEP"], false);
        assert_eq!(read("keep", &context), Some(Verdict::Ambiguous(Reason::WhichOption)));
    }

    #[test]
    fn i13_a_label_of_marks_is_not_chosen_by_an_empty_message() {
        let context = Context::choice(["Yes", "No", "…"], false);
        for text in ["", " ", "...", "!", "…", "()"] {
            assert_eq!(exact_label(&fold(text), &context), None, "{text}");
            let verdict = super::super::parse(text, &context);
            assert_eq!(verdict.name(), "ambiguous", "{text}: {}", verdict.why());
        }
        let third = Verdict::Choice(Chosen::One(3), How::Number);
        assert_eq!(super::super::parse("3", &context), third);
    }

    #[test]
    fn a_label_is_taken_whole() {
        assert_eq!(read("保留", &three(false)), None);
        assert_eq!(read("abort it", &three(false)), None);
    }
}
