//! The lines that a file loses and gains.

/// More than this is not a diff that people read; the agent's arguments are shown in any case.
pub(crate) const DIFF_BYTES_MAX: usize = 128 << 10;
const PAIRS_MAX: usize = 1_000_000;
const AROUND: usize = 3;

/// One text of all changes: each file's name, then its lines with their signs.
pub fn unified_diff<'a>(files: impl Iterator<Item = (String, &'a str, &'a str)>) -> Option<String> {
    let mut text = String::new();
    for (name, before, after) in files {
        if before == after {
            continue;
        }
        let state = if before.is_empty() { " (new or empty)" } else { "" };
        text.push_str(&format!("*** {name}{state}\n"));
        for line in lines(before, after) {
            if text.len() + line.len() > DIFF_BYTES_MAX {
                text.push_str("… more was changed than is shown here; see the arguments\n");
                return Some(text);
            }
            text.push_str(&line);
            text.push('\n');
        }
    }
    text.pop();
    (!text.is_empty()).then_some(text)
}

fn lines(before: &str, after: &str) -> Vec<String> {
    let old: Vec<&str> = split(before);
    let new: Vec<&str> = split(after);
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[same..], &new[same..]);
    let ends = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(|(old, new)| old == new)
        .count();
    let (old_middle, tail) = old_rest.split_at(old_rest.len() - ends);
    let new_middle = &new_rest[..new_rest.len() - ends];
    let mut out = vec![format!("@@ line {} @@", same + 1)];
    out.extend(old[same.saturating_sub(AROUND)..same].iter().map(|line| format!(" {line}")));
    out.extend(middle(old_middle, new_middle));
    out.extend(tail.iter().take(AROUND).map(|line| format!(" {line}")));
    let ended = |text: &str| text.is_empty() || text.ends_with('\n');
    if ended(before) != ended(after) {
        out.push("@@ the end of the last line changes, too @@".into());
    }
    out
}

fn split(text: &str) -> Vec<&str> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    if text.is_empty() { Vec::new() } else { text.split('\n').collect() }
}

/// The longest common subsequence stays.
fn middle(old: &[&str], new: &[&str]) -> Vec<String> {
    let removed = |line: &&str| format!("-{line}");
    let added = |line: &&str| format!("+{line}");
    if old.len().saturating_mul(new.len()) > PAIRS_MAX {
        return old.iter().map(removed).chain(new.iter().map(added)).collect();
    }
    let width = new.len() + 1;
    let mut longest = vec![0_u32; (old.len() + 1) * width];
    for (i, old) in old.iter().enumerate().rev() {
        for (j, new) in new.iter().enumerate().rev() {
            longest[i * width + j] = match old == new {
                true => longest[(i + 1) * width + j + 1] + 1,
                false => longest[(i + 1) * width + j].max(longest[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut out = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            out.push(format!(" {}", old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len()
            && (j == new.len() || longest[(i + 1) * width + j] >= longest[i * width + j + 1])
        {
            out.push(removed(&old[i]));
            i += 1;
        } else {
            out.push(added(&new[j]));
            j += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(before: &str, after: &str) -> String {
        unified_diff([("f".to_owned(), before, after)].into_iter()).unwrap_or_default()
    }

    #[test]
    fn changed_lines_stand_with_their_signs() {
        assert_eq!(diff("a\nb\nc\n", "a\nx\nc\n"), "*** f\n@@ line 2 @@\n a\n-b\n+x\n c");
        assert_eq!(diff("", "a\n"), "*** f (new or empty)\n@@ line 1 @@\n+a");
        assert_eq!(diff("a\nb\n", ""), "*** f\n@@ line 1 @@\n-a\n-b");
        assert_eq!(diff("a", "a"), "");
        assert!(diff("a", "a\n").contains("the end of the last line"));
        let kept = diff("a\nb\nc\nd\n", "x\nb\ny\nd\n");
        assert_eq!(kept, "*** f\n@@ line 1 @@\n-a\n+x\n b\n-c\n+y\n d");
    }

    #[test]
    fn a_long_diff_says_that_it_is_cut() {
        let long = "x\n".repeat(DIFF_BYTES_MAX);
        assert!(diff("", &long).ends_with("see the arguments\n"));
    }
}
