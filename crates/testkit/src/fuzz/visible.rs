//! Text as people see it: nothing invisible, nothing that looks like something else, and no two
//! texts that look the same.

use domain::visible::{look_alikes, visible, visible_multiline};

use super::text;

pub(super) fn run(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let (line, lines) = (visible(text), visible_multiline(text));
    assert_eq!(original(&line), text, "every text can be told from every other");
    assert_eq!(original(&lines), text);
    assert!(!line.contains('\n'));
    assert_eq!(lines.matches('\n').count(), text.matches('\n').count());
    for shown in [&line, &lines] {
        assert!(shown.len() <= 16 * text.chars().count(), "bounded");
        for c in shown.chars().filter(|c| *c != '\n') {
            assert!(!c.is_control() && !hidden(c), "U+{:04X} is shown", c as u32);
        }
    }
    assert!(look_alikes(text).len() <= text.len());
}

/// A few that everybody knows to be invisible or to turn the writing; the domain knows them all.
fn hidden(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Reads the marks back, by a rule written apart from the domain's.
fn original(shown: &str) -> String {
    let mut out = String::new();
    let mut rest = shown;
    while let Some(at) = rest.find('⟦') {
        out.push_str(&rest[..at]);
        let (mark, after) = rest[at..].split_once('⟧').expect("every mark is closed");
        let mark = &mark["⟦".len()..];
        match mark.strip_prefix("·×") {
            Some(count) => out.extend(std::iter::repeat_n(' ', count.parse().expect("a count"))),
            None => {
                let point = mark.strip_prefix("U+").expect("a code point");
                let point = u32::from_str_radix(point, 16).expect("a code point");
                out.push(char::from_u32(point).expect("a character"));
            }
        }
        rest = after;
    }
    assert!(!rest.contains('⟧'), "no mark is forged");
    out + rest
}
