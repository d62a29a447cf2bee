//! Slack's own marks in a text: who is mentioned, and the three signs that are escaped.

/// Who is mentioned in a text, as it came.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Mentions {
    /// As they are written: `<@U1>` or `<@U1|name>`.
    pub(super) us: Vec<String>,
    pub(super) others: bool,
}

pub(super) fn mentions(text: &str, own_user: &str) -> Mentions {
    let mut found = Mentions::default();
    let mut rest = text;
    // A sign that people type is escaped, so every one of these is Slack's.
    while let Some(start) = rest.find('<') {
        let Some(length) = rest[start..].find('>') else { break };
        let mark = &rest[start..=start + length];
        let inside = &mark[1..mark.len() - 1];
        if let Some(user) = inside.strip_prefix('@') {
            match user.split('|').next() == Some(own_user) {
                true => found.us.push(mark.to_owned()),
                false => found.others = true,
            }
        } else if inside.starts_with('!') {
            // Everybody here, or a group of people.
            found.others = true;
        }
        rest = &rest[start + length + 1..];
    }
    found
}

/// The text as people typed it.
pub(super) fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_are_told_apart() {
        let us = |marks: &[&str]| Mentions {
            us: marks.iter().map(|mark| (*mark).to_owned()).collect(),
            others: false,
        };
        assert_eq!(mentions("<@U1> yes", "U1"), us(&["<@U1>"]));
        assert_eq!(mentions("yes <@U1|hold>", "U1"), us(&["<@U1|hold>"]));
        for other in ["<@U2> yes", "<@U11>", "<!here> yes", "<!subteam^S1>", "<@U2|U1>"] {
            let found = mentions(other, "U1");
            assert!(found.others && found.us.is_empty(), "{other}");
        }
        for none in ["yes", "&lt;@U1&gt; yes", "<https://example.org|x>", "<#C1>", "a < b", "<@U1"]
        {
            assert_eq!(mentions(none, "U1"), Mentions::default(), "{none}");
        }
        assert_eq!(unescaped("a &lt;b&gt; &amp;lt; c"), "a <b> &lt; c");
    }
}
