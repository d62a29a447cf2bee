//! Options of a prompt, by label or by number.

use super::context::{Asked, Context};
use super::emoji;
use super::fold::fold;
use super::text::trimmed;
use super::verdict::{Chosen, How, Reason, Verdict};

const BEFORE: [&str; 12] = [
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
];
const AFTER: [&str; 8] = ["个", "個", "号", "號", "项", "項", "番", "번"];
const BETWEEN: [char; 7] = [',', '，', '、', ' ', '和', '&', '+'];

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
            .or_else(|| several(text, options.len()).filter(|_| *multi))
            .or_else(|| number(text).map(|number| one(number, options.len()))),
    }
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

fn several(text: &str, count: usize) -> Option<Verdict> {
    let parts = text.split(BETWEEN).filter(|part| !part.is_empty());
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
    let bare = BEFORE.iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text);
    let bare = AFTER.iter().find_map(|word| bare.strip_suffix(word)).unwrap_or(bare);
    let bare = bare.trim_matches(|c: char| c.is_whitespace() || "().".contains(c));
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
    if c == '两' { Some(2) } else { NUMBERS.chars().position(|n| n == c).map(|at| at + 1) }
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
            "两个",
        ] {
            let chosen = Some(Verdict::Choice(Chosen::One(2), How::Number));
            assert_eq!(read(text, &three(false)), chosen, "{text}");
        }
        for text in ["0", "4", "99", "十"] {
            let out = Some(Verdict::Ambiguous(Reason::OutOfRange));
            assert_eq!(read(text, &three(false)), out, "{text}");
        }
        for text in ["123", "２nd", "2 3", "-1", "1.5", "two", "option", "十一", "第第二"] {
            assert_eq!(read(text, &three(false)), None, "{text}");
        }
    }

    #[test]
    fn several_numbers_only_where_several_may_be_chosen() {
        let both = Some(Verdict::Choice(Chosen::Several(vec![1, 3]), How::Multi));
        for text in ["1,3", "3 1", "1和3", "1、3、1", "1 & 3", "3+1"] {
            assert_eq!(read(text, &three(true)), both, "{text}");
            assert_eq!(read(text, &three(false)), None, "{text}");
        }
        let out = Some(Verdict::Ambiguous(Reason::OutOfRange));
        assert_eq!(read("1,9", &three(true)), out);
        assert_eq!(read("1,x", &three(true)), None);
    }

    #[test]
    fn labels_that_fold_to_the_same_are_not_guessed_at() {
        let context = Context::choice(["Keep", "KEEP"], false);
        assert_eq!(read("keep", &context), Some(Verdict::Ambiguous(Reason::WhichOption)));
    }

    #[test]
    fn a_label_is_taken_whole() {
        assert_eq!(read("保留", &three(false)), None);
        assert_eq!(read("abort it", &three(false)), None);
    }
}
