//! What a person's edit changed in a call, line by line, for the next approver.
//!
//! It is kept in the hold's preview, before the tool's own diff. Every line of it begins with a sign,
//! so that the lines around it cannot be taken for part of it.

use super::fields::fields_of;
use super::foreign::ForeignText;
use super::part::{DiffLine, Sign};
use super::rows::{Row, field_rows};
use crate::call::Call;
use crate::hold::Hold;
use crate::schema::redacted;

/// The edited call is shown whole beside it; a longer diff helps nobody.
const DIFF_BYTES_MAX: usize = 32 << 10;

/// More pairs of lines than this are not compared: then all old lines are shown, and all new ones.
const PAIRS_MAX: usize = 250_000;

/// How many lines stand around a change.
const AROUND: usize = 2;

const HEAD: &str = "--- as proposed\n+++ as edited\n";
const BY_THE_TOOL: &str = "*** by the tool";

/// The diff of an edited call's preview: what the edit changed, after what earlier edits did, and
/// then what the tool itself would change.
pub(crate) fn with_edit(before: &Hold, after: &Call, by_the_tool: Option<&str>) -> Option<String> {
    let earlier = before.preview.diff.as_deref().and_then(|diff| edits(before, diff));
    let newest = before.call().map(|call| changed_lines(call, after))?;
    let mut diff = HEAD.to_owned();
    for part in earlier.map(|(lines, _)| lines).into_iter().chain([newest.as_str()]) {
        diff.push_str(part);
        diff.push('\n');
    }
    if let Some(own) = by_the_tool {
        diff.push_str(&format!("{BY_THE_TOOL}\n{own}\n"));
    }
    diff.pop();
    Some(diff)
}

/// Whether a program's diff could be taken for what people changed.
pub fn is_like_an_edit(diff: &str) -> bool {
    diff.starts_with(HEAD)
}

/// The lines of all edits, and the tool's own diff. Only a call that was revised has any.
pub(super) fn edits<'a>(hold: &Hold, diff: &'a str) -> Option<(&'a str, Option<&'a str>)> {
    let revised = hold.call().is_some_and(|call| call.revision > 1);
    let lines = diff.strip_prefix(HEAD).filter(|_| revised)?;
    match lines.split_once(&format!("\n{BY_THE_TOOL}\n")) {
        Some((lines, own)) => Some((lines, Some(own))),
        None => Some((lines, None)),
    }
}

/// The lines that differ, each made visible, with its sign before it.
fn changed_lines(before: &Call, after: &Call) -> String {
    let lines = |call: &Call| -> Vec<String> {
        let shown = redacted(call.arguments.value(), &call.secrets);
        let rows = fields_of(&shown).iter().flat_map(field_rows).collect::<Vec<_>>();
        rows.into_iter().map(|(Row::Ours(line) | Row::Foreign(line))| line).collect()
    };
    let mut text = String::new();
    for (sign, line) in compared(&lines(before), &lines(after)) {
        if text.len() + line.len() > DIFF_BYTES_MAX {
            text.push_str(" … (more was changed than is shown here)\n");
            break;
        }
        text.push_str(sign.mark());
        text.push_str(line);
        text.push('\n');
    }
    text.pop();
    text
}

/// The same, as it is shown.
pub(super) fn diff_lines(diff: &str) -> Vec<DiffLine> {
    let lines = diff.split('\n').map(|line| {
        let (sign, text) = match (line.strip_prefix('+'), line.strip_prefix('-')) {
            (Some(added), _) => (Sign::Added, added),
            (_, Some(removed)) => (Sign::Removed, removed),
            _ => (Sign::Same, line.strip_prefix(' ').unwrap_or(line)),
        };
        // Its lines were made visible when the edit was judged.
        DiffLine { sign, text: ForeignText::marked(text) }
    });
    lines.collect()
}

fn compared<'a>(old: &'a [String], new: &'a [String]) -> Vec<(Sign, &'a str)> {
    let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[same..], &new[same..]);
    let after = old_rest.iter().rev().zip(new_rest.iter().rev());
    let after = after.take_while(|(old, new)| old == new).count();
    let (old_middle, rest) = old_rest.split_at(old_rest.len() - after);
    let new_middle = &new_rest[..new_rest.len() - after];
    let mut lines: Vec<(Sign, &str)> = Vec::new();
    lines.extend(old[same.saturating_sub(AROUND)..same].iter().map(|line| (Sign::Same, &**line)));
    lines.extend(middle(old_middle, new_middle));
    lines.extend(rest.iter().take(AROUND).map(|line| (Sign::Same, &**line)));
    lines
}

fn middle<'a>(old: &'a [String], new: &'a [String]) -> Vec<(Sign, &'a str)> {
    let removed = |lines: &'a [String]| lines.iter().map(|line| (Sign::Removed, &**line));
    let added = |lines: &'a [String]| lines.iter().map(|line| (Sign::Added, &**line));
    if old.len().saturating_mul(new.len()) > PAIRS_MAX {
        return removed(old).chain(added(new)).collect();
    }
    // The longest common subsequence of what follows.
    let width = new.len() + 1;
    let mut longest = vec![0_u32; (old.len() + 1) * width];
    for (i, one) in old.iter().enumerate().rev() {
        for (j, other) in new.iter().enumerate().rev() {
            longest[i * width + j] = match one == other {
                true => longest[(i + 1) * width + j + 1] + 1,
                false => longest[(i + 1) * width + j].max(longest[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            lines.push((Sign::Same, &*old[i]));
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            lines.push((Sign::Removed, &*old[i]));
            i += 1;
        } else {
            lines.push((Sign::Added, &*new[j]));
            j += 1;
        }
    }
    lines.extend(removed(&old[i..]).chain(added(&new[j..])));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(old: &[&str], new: &[&str]) -> Vec<String> {
        let owned =
            |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let (old, new) = (owned(old), owned(new));
        let lines = compared(&old, &new);
        lines.into_iter().map(|(sign, line)| format!("{}{line}", sign.mark())).collect()
    }

    #[test]
    fn what_changed_is_shown_with_the_lines_around_it() {
        assert_eq!(
            shown(&["a", "b", "c", "d", "e", "f", "g"], &["a", "b", "c", "D", "e", "f", "g"]),
            [" b", " c", "-d", "+D", " e", " f"]
        );
        assert_eq!(shown(&["a", "x", "b"], &["a", "b", "y"]), [" a", "-x", " b", "+y"]);
        assert_eq!(shown(&[], &["a"]), ["+a"]);
        assert!(shown(&["a"], &["a"]).iter().all(|line| line.starts_with(' ')));
    }

    #[test]
    fn many_lines_are_not_compared_pair_by_pair() {
        let (old, new): (Vec<_>, Vec<_>) =
            (0..2_000).map(|n| (format!("o{n}"), format!("n{n}"))).unzip();
        assert_eq!(compared(&old, &new).len(), 4_000);
    }
}
