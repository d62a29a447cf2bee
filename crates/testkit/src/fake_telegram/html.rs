//! Telegram's HTML, read as strictly as the platform reads it.

/// The text that people see, or why the platform refuses it.
pub(super) fn read(html: &str) -> Result<String, String> {
    const TAGS: [&str; 8] = ["b", "strong", "i", "em", "u", "s", "code", "pre"];
    let bad = |what: &str, at: usize| {
        format!("Bad Request: can't parse entities: {what} at byte offset {at}")
    };
    let mut text = String::new();
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(c) = rest.chars().next() {
        let at = html.len() - rest.len();
        match c {
            '<' => {
                let end = rest.find('>').ok_or_else(|| bad("Unclosed start tag", at))?;
                let tag = &rest[1..end];
                match tag.strip_prefix('/') {
                    Some(name) if open.last() == Some(&name) => {
                        open.pop();
                    }
                    Some(_) => return Err(bad("Unmatched end tag", at)),
                    None if TAGS.contains(&tag) => open.push(tag),
                    None => return Err(bad(&format!("Unsupported start tag \"{tag}\""), at)),
                }
                rest = &rest[end + 1..];
            }
            '&' => {
                let known = [("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&'), ("&quot;", '"')];
                match known.iter().find(|(escape, _)| rest.starts_with(escape)) {
                    Some((escape, meant)) => {
                        text.push(*meant);
                        rest = &rest[escape.len()..];
                    }
                    None => {
                        text.push('&');
                        rest = &rest[1..];
                    }
                }
            }
            c => {
                text.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    if open.is_empty() { Ok(text) } else { Err(bad("Can't find end tag", html.len())) }
}
