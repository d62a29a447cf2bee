//! Names in a message: ours is taken out, any other means that it is not for us alone.

/// Characters that reorder what follows: what is read is then not what is stored.
pub(super) fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Takes our own mentions out, exactly as the platform wrote them. One that goes on with a letter or
/// a digit is another's name: `@bot2` is not `@bot`.
pub(super) fn without_ours(text: &str, ours: &[String]) -> String {
    let mut ours: Vec<&str> = ours.iter().map(String::as_str).filter(|t| !t.is_empty()).collect();
    // The longest first, so that none leaves a piece of another behind.
    ours.sort_by_key(|token| std::cmp::Reverse(token.len()));
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = ours.iter().find_map(|token| {
            rest.strip_prefix(token).filter(|after| !after.chars().next().is_some_and(is_of_a_name))
        });
        match after {
            Some(after) => {
                // A blank in its place: two halves of a word must not come together.
                kept.push(' ');
                rest = after;
            }
            None => {
                kept.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    kept
}

/// Whether the text mentions a person: an `@` at the beginning of a word, with a name behind it.
pub(super) fn mentions_somebody(text: &str) -> bool {
    let mut before = None;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let at = matches!(c, '@' | '\u{ff20}' | '\u{fe6b}');
        if at
            && !before.is_some_and(is_of_a_name)
            && characters.peek().copied().is_some_and(is_of_a_name)
        {
            return true;
        }
        before = Some(c);
    }
    false
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, ours: &[&str], left: &str) {
        let ours: Vec<String> = ours.iter().map(|token| (*token).to_owned()).collect();
        assert_eq!(without_ours(text, &ours), left);
    }

    #[test]
    fn our_own_name_is_taken_out() {
        check("@_user_1 确认", &["@_user_1"], "  确认");
        check("<@U1> yes <@U1|holdpoint>", &["<@U1>", "<@U1|holdpoint>"], "  yes  ");
        check("/approve@bot", &["@bot"], "/approve ");
        check("yes", &[""], "yes");
    }

    #[test]
    fn a_longer_name_is_another_name() {
        check("@bot2 yes", &["@bot"], "@bot2 yes");
        check("@bot_b yes", &["@bot"], "@bot_b yes");
        check("@_user_12 yes", &["@_user_1"], "@_user_12 yes");
        check("@bot机 yes", &["@bot"], "@bot机 yes");
        check("@bot2 yes", &["@bot", "@bot2"], "  yes");
    }

    #[test]
    fn taking_a_name_out_joins_no_halves() {
        check("con@bot-firm", &["@bot"], "con -firm");
    }

    #[test]
    fn somebody_else_is_noticed() {
        for text in
            ["@bob yes", "yes @bob", "yes,@bob", "(@bob)", "<@U2> yes", "＠bob", "@_all yes"]
        {
            assert!(mentions_somebody(text), "{text}");
        }
        for text in ["yes", "mail a@b.example", "@ yes", "yes @", "7@9"] {
            assert!(!mentions_somebody(text), "{text}");
        }
    }
}
