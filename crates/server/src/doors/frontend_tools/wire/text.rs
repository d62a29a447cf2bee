//! Text of models and tools in the xml format. The client joins items, takes whole CDATA sections out,
//! reads tags in what is left, and turns `\n` back into a line feed. So whatever could be read as markup
//! goes into a section, and each section is whole within its item.

use super::DONE;

/// The client puts such marks where sections were; a text that contains one would be taken for it.
const PLACEHOLDER: &str = "__CDATA_PLACEHOLDER_";

/// Text that comes in pieces.
#[derive(Clone, Debug, Default)]
pub(super) struct Flowing {
    /// The last piece ended with a carriage return: a line feed after it is the same line break.
    after_return: bool,
    /// The end of what was sent, as long as a placeholder's name could begin in it.
    tail: String,
}

impl Flowing {
    /// The item for the next piece, if there is something to send.
    pub(super) fn piece(&mut self, delta: &str) -> Option<String> {
        let rest = match (self.after_return, delta.strip_prefix('\n')) {
            (true, Some(rest)) => rest,
            _ => delta,
        };
        if rest.is_empty() {
            // Nothing at all, or the second half of the line break.
            self.after_return &= delta.is_empty();
            return None;
        }
        let delta = rest;
        self.after_return = delta.ends_with('\r');
        let text = one_line(delta);
        let from = self.tail.len();
        self.tail.push_str(&text);
        // A mark that ends in this piece, wherever it began.
        let is_marked =
            self.tail.match_indices(PLACEHOLDER).any(|(at, _)| at + PLACEHOLDER.len() > from);
        let mut keep = self.tail.len().saturating_sub(PLACEHOLDER.len() - 1);
        while !self.tail.is_char_boundary(keep) {
            keep += 1;
        }
        self.tail.drain(..keep);
        Some(if is_marked || must_be_wrapped(&text) { wrapped(&text) } else { text })
    }
}

/// A whole text as one section.
pub(super) fn section(text: &str) -> String {
    wrapped(&one_line(text))
}

/// Line breaks of any kind as the two characters that stand for one.
fn one_line(text: &str) -> String {
    // mutant: frontend-carriage-return
    text.replace("\r\n", "\\n").replace(['\r', '\n'], "\\n")
}

fn must_be_wrapped(text: &str) -> bool {
    // An item of nothing but space is dropped by the client.
    let is_blank = text.chars().all(|c| c.is_whitespace() || c == '\u{feff}');
    // And by this one it would take the stream to be over.
    // mutant: frontend-text-as-markup, frontend-text-says-done
    is_blank || text == DONE || text.contains('<') || text.contains("]]>")
}

/// Tags that the client searches an item for before it looks for sections. `meta_final` holds back
/// everything after one that does not end; in the raw format `awaiting_frontend_tools` shows a prompt.
// mutant: frontend-prompt-hidden-by-text
const SEARCHED: [&str; 2] = ["<meta_final", "<awaiting_frontend_tools"];

fn wrapped(text: &str) -> String {
    // mutant: frontend-section-ends-early
    let mut inner = text.replace("]]>", "]]]]><![CDATA[>");
    for tag in SEARCHED {
        let broken = format!("<]]><![CDATA[{}", &tag[1..]);
        inner = inner.replace(tag, &broken);
    }
    format!("<![CDATA[{inner}]]>")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(deltas: &[&str]) -> Vec<String> {
        let mut flowing = Flowing::default();
        deltas.iter().filter_map(|delta| flowing.piece(delta)).collect()
    }

    #[test]
    fn plain_text_goes_as_it_is() {
        assert_eq!(
            pieces(&["Hello & \"you\" ", "'é' > \\ ]]"]),
            ["Hello & \"you\" ", "'é' > \\ ]]"]
        );
    }

    #[test]
    fn what_could_be_markup_goes_into_a_section() {
        assert_eq!(pieces(&["a < b"]), ["<![CDATA[a < b]]>"]);
        assert_eq!(pieces(&["x]]>y"]), ["<![CDATA[x]]]]><![CDATA[>y]]>"]);
        assert_eq!(pieces(&["__CDATA_PLACEHOLDER_0__"]), ["<![CDATA[__CDATA_PLACEHOLDER_0__]]>"]);
        assert_eq!(
            pieces(&["__CDATA_PLACE", "HOLDER_0__", "."]),
            ["__CDATA_PLACE", "<![CDATA[HOLDER_0__]]>", "."]
        );
        assert_eq!(pieces(&[" ", "[DONE]"]), ["<![CDATA[ ]]>", "<![CDATA[[DONE]]]>"]);
        assert_eq!(pieces(&["<meta_final"]), ["<![CDATA[<]]><![CDATA[meta_final]]>"]);
        assert_eq!(
            pieces(&["<awaiting_frontend_tools data"]),
            ["<![CDATA[<]]><![CDATA[awaiting_frontend_tools data]]>"]
        );
    }

    #[test]
    fn a_line_break_is_one_however_it_is_written_and_split() {
        for deltas in [
            &["a\nb"][..],
            &["a\r\nb"],
            &["a\rb"],
            &["a\r", "\nb"],
            &["a\r", "\n", "b"],
            &["a", "\r", "\n", "b"],
            &["a\r", "", "\nb"],
        ] {
            let joined: String = pieces(deltas).concat();
            assert_eq!(joined, "a\\nb", "{deltas:?}");
        }
        assert_eq!(pieces(&["a\r", "\n\nb"]).concat(), "a\\n\\nb");
    }
}
