//! Headlines: one line, made visible, and honest about what they leave out.

use domain::caption::{Caption, CaptionKind};
use domain::limits::TITLE_BYTES_MAX;
use domain::visible::visible;

/// Makes a headline of `text`, which is not ours. One that is too long says how much is missing; the call itself is
/// always shown whole beside it.
pub(crate) fn make_headline(text: &str) -> Caption {
    let shown = visible(text);
    let (head, left_out) = fit_headline(&shown);
    said_to_be_cut(head.into(), left_out)
}

/// As much as a headline may have, and how many characters are left out.
fn fit_headline(shown: &str) -> (&str, usize) {
    if shown.len() <= TITLE_BYTES_MAX {
        return (shown, 0);
    }
    let missing_at_most = shown.chars().count().to_string().len();
    let room = TITLE_BYTES_MAX - "… ( more characters)".len() - missing_at_most;
    let cut = shown.floor_char_boundary(room);
    // Not in the middle of a `⟦U+202E⟧`.
    let cut = match shown[..cut].rfind('⟦') {
        Some(open) if !shown[open..cut].contains('⟧') => open,
        _ => cut,
    };
    (&shown[..cut], shown[cut..].chars().count())
}

fn said_to_be_cut(of: Caption, left_out: usize) -> Caption {
    match left_out {
        0 => of,
        left_out => CaptionKind::Cut { of: Box::new(of), left_out: left_out as u64 }.into(),
    }
}

/// A headline of ours. What it quotes is made visible, and cut with it.
pub(crate) fn titled(kind: CaptionKind) -> Caption {
    let shown = visible(&kind.to_string());
    let (head, left_out) = fit_headline(&shown);
    said_to_be_cut(Caption::cut(head.to_owned(), kind.map_values(&visible)), left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_stays_and_tricks_are_marked() {
        assert_eq!(make_headline("Run: git status"), "Run: git status");
        assert_eq!(make_headline("a\nb\u{202e}"), "a⟦U+000A⟧b⟦U+202E⟧");
    }

    #[test]
    fn a_title_of_ours_keeps_its_kind_when_it_is_marked_or_cut() {
        for command in ["git status".to_owned(), "a\nb\u{202e}".into(), "x".repeat(5_000)] {
            let line = make_headline(&format!("Run: {command}"));
            let title = titled(CaptionKind::RunCommand { command });
            assert_eq!(title, line.text());
            let (shown, mark) = match title.kind() {
                Some(CaptionKind::Cut { of, left_out }) => {
                    (&**of, format!("… ({left_out} more characters)"))
                }
                _ => (&title, String::new()),
            };
            let Some(CaptionKind::RunCommand { command }) = shown.kind() else {
                panic!("{title:?}")
            };
            assert_eq!(line, format!("Run: {command}{mark}"));
        }
    }

    #[test]
    fn a_long_text_says_how_much_is_missing() {
        for text in ["x".repeat(5_000), "ä".repeat(5_000), "\u{202e}".repeat(5_000)] {
            let line = make_headline(&text);
            assert!(line.len() <= TITLE_BYTES_MAX, "{}", line.len());
            assert!(line.ends_with(" more characters)"), "{line}");
            assert_eq!(line.matches('⟦').count(), line.matches('⟧').count());
            let Some(CaptionKind::Cut { of, left_out }) = line.kind() else { panic!("{line:?}") };
            assert_eq!(of.chars().count() as u64 + left_out, visible(&text).chars().count() as u64);
        }
    }
}
