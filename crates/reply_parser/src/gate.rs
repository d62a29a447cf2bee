//! Whether a message may answer anything at all, before a word of it is read.
//!
//! What does not pass is not a reply: it goes on to the agent untouched. What passes is for one hold, or
//! for several that must be told apart first.

use domain::hold::Risk;
use domain::time::Timestamp;

use super::text::is_separator;
use crate::limits::READING_TIME_MS;

/// A message as its platform vouches for it.
#[derive(Clone, Copy, Debug)]
pub struct ChatMessage<'a> {
    pub text: &'a str,
    pub at: Timestamp,
    /// Bots, channels and anonymous admins are nobody who can answer.
    pub from_a_person: bool,
    pub edited: bool,
    pub forwarded: bool,
    pub attachment: bool,
    /// Between one person and us.
    pub direct: bool,
    pub mentions_us: bool,
    /// Our message that it replies to.
    pub replies_to: Option<&'a str>,
    pub thread: Option<&'a str>,
}

/// A hold that waits in this session, and where it was put.
#[derive(Clone, Copy, Debug)]
pub struct OpenPrompt<'a> {
    pub tag: &'a str,
    pub risk: Risk,
    /// Whether the sender is among those who may answer it, looked up now.
    pub admits_sender: bool,
    pub message: &'a str,
    pub thread: Option<&'a str>,
    pub delivered_at: Timestamp,
    /// Nothing of ours stands below it.
    pub is_latest: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateResult {
    /// Goes on to the agent.
    NotAReply,
    /// It is about these, and the sender may answer none of them: if the text is an answer, they are
    /// told so privately. It is not consumed.
    NotEntitled(Vec<usize>),
    /// For this one. `text` has the tag taken out; `weak_ok` says whether an "ok" is enough.
    For { open: usize, text: String, weak_ok: bool },
    /// Names none of several.
    Several(Vec<usize>),
}

pub fn gate_message(message: &ChatMessage, opens: &[OpenPrompt]) -> GateResult {
    // mutant: reply-edited-counts
    let counts = message.from_a_person && !message.edited && !message.forwarded;
    if !counts || message.attachment || !is_for_us(message, opens) {
        return GateResult::NotAReply;
    }
    let (named, text) = named_prompts(message, opens);
    // A message that is older than the prompt cannot answer it.
    let seen = |index: &usize| message.at >= opens[*index].delivered_at;
    let candidates: Vec<usize> = named.into_iter().filter(seen).collect();
    if candidates.is_empty() {
        return GateResult::NotAReply;
    }
    let entitled: Vec<usize> =
        candidates.iter().copied().filter(|index| opens[*index].admits_sender).collect();
    match entitled.as_slice() {
        [] => GateResult::NotEntitled(candidates),
        // Only now: a yes that came too soon for one hold must not become a yes to another.
        [only] if !is_read(message.at, &opens[*only]) => GateResult::NotAReply,
        [only] => {
            let open = &opens[*only];
            let beside = message.direct || is_beside(message, open);
            let weak_ok = open.risk <= Risk::Medium && beside && open.is_latest;
            GateResult::For { open: *only, text, weak_ok }
        }
        _ => GateResult::Several(entitled),
    }
}

/// In a group people talk to one another too.
fn is_for_us(message: &ChatMessage, opens: &[OpenPrompt]) -> bool {
    message.direct || message.mentions_us || opens.iter().any(|open| is_beside(message, open))
}

fn is_beside(message: &ChatMessage, open: &OpenPrompt) -> bool {
    message.replies_to == Some(open.message)
        || message.thread.is_some() && message.thread == open.thread
}

/// Something dangerous takes a moment to read.
fn is_read(at: Timestamp, open: &OpenPrompt) -> bool {
    let reading_ms = if open.risk >= Risk::High { READING_TIME_MS } else { 0 };
    // mutant: reply-before-the-prompt
    at >= open.delivered_at.plus_ms(reading_ms)
}

/// Which holds it may be about: the one that it replies to and those whose `#tag` it has; else, if it
/// replies to nothing in particular, those that were put into the same thread.
fn named_prompts(message: &ChatMessage, opens: &[OpenPrompt]) -> (Vec<usize>, String) {
    let all = |keep: &dyn Fn(&OpenPrompt) -> bool| -> Vec<usize> {
        let kept = opens.iter().enumerate().filter(|(_, open)| keep(open));
        kept.map(|(index, _)| index).collect()
    };
    let tags: Vec<&str> = opens.iter().map(|open| open.tag).collect();
    let (tagged, rest) = without_tags(message.text, &tags);
    let replied = all(&|open| message.replies_to == Some(open.message));
    // A reply to one prompt with the tag of another is about both, and so about neither.
    let mut named = [replied, tagged].concat();
    named.sort_unstable();
    named.dedup();
    if !named.is_empty() {
        return (named, rest);
    }
    // Some platforms call whatever stands in a thread a reply to its first message. Any other reply is
    // about what it replies to, and if nothing waits there, it is about no other hold either.
    // mutant: reply-to-a-decided-prompt
    let at_large = message.replies_to.is_none() || message.replies_to == message.thread;
    // Each thread is a conversation of its own, also where nobody else is.
    (all(&|open| at_large && open.thread == message.thread), rest)
}

/// The text without the `#tag`s of these holds, and which of them it names.
pub fn without_tags(text: &str, tags: &[&str]) -> (Vec<usize>, String) {
    let mut tagged: Vec<usize> = Vec::new();
    let mut rest = String::with_capacity(text.len());
    for piece in text.split_inclusive(is_separator) {
        let word = piece.trim_end_matches(is_separator);
        let before = tagged.len();
        if let Some(name) = word.strip_prefix('#') {
            let all = tags.iter().enumerate().filter(|(_, tag)| name.eq_ignore_ascii_case(tag));
            tagged.extend(all.map(|(index, _)| index));
        }
        if tagged.len() == before {
            rest.push_str(word);
        }
        rest.push_str(&piece[word.len()..]);
    }
    tagged.sort_unstable();
    tagged.dedup();
    (tagged, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Timestamp = Timestamp::from_ms(10_000);

    fn open(tag: &'static str) -> OpenPrompt<'static> {
        OpenPrompt {
            tag,
            risk: Risk::Medium,
            admits_sender: true,
            message: "om_prompt",
            thread: None,
            delivered_at: ASKED,
            is_latest: true,
        }
    }

    fn said(text: &str) -> ChatMessage<'_> {
        ChatMessage {
            text,
            at: ASKED.plus_ms(1),
            from_a_person: true,
            edited: false,
            forwarded: false,
            attachment: false,
            direct: true,
            mentions_us: false,
            replies_to: None,
            thread: None,
        }
    }

    fn answers(open: usize, text: &str) -> GateResult {
        GateResult::For { open, text: text.into(), weak_ok: true }
    }

    #[test]
    fn a_plain_message_answers_the_one_that_waits() {
        assert_eq!(gate_message(&said("yes"), &[open("7Q2")]), answers(0, "yes"));
        assert_eq!(gate_message(&said("yes"), &[]), GateResult::NotAReply);
    }

    #[test]
    fn i31_what_cannot_count_goes_on_untouched() {
        let opens = [open("7Q2")];
        let cases: [fn(&mut ChatMessage); 5] = [
            |message| message.from_a_person = false,
            |message| message.edited = true,
            |message| message.forwarded = true,
            |message| message.attachment = true,
            |message| message.at = Timestamp::from_ms(9_999),
        ];
        for change in cases {
            let mut message = said("yes");
            change(&mut message);
            assert_eq!(gate_message(&message, &opens), GateResult::NotAReply, "{message:?}");
        }
    }

    #[test]
    fn something_dangerous_takes_a_moment_to_read() {
        let opens = [OpenPrompt { risk: Risk::High, ..open("7Q2") }];
        let at = |ms| ChatMessage { at: ASKED.plus_ms(ms), ..said("yes") };
        assert_eq!(gate_message(&at(1_499), &opens), GateResult::NotAReply);
        let answered = GateResult::For { open: 0, text: "yes".into(), weak_ok: false };
        assert_eq!(gate_message(&at(1_500), &opens), answered);
    }

    #[test]
    fn i31_whoever_may_not_answer_is_told_so_and_decides_nothing() {
        let opens = [OpenPrompt { admits_sender: false, ..open("7Q2") }];
        assert_eq!(gate_message(&said("yes"), &opens), GateResult::NotEntitled(vec![0]));
        let mixed = [OpenPrompt { admits_sender: false, ..open("7Q2") }, open("8R3")];
        assert_eq!(gate_message(&said("yes"), &mixed), answers(1, "yes"));
        assert_eq!(gate_message(&said("yes #7q2"), &mixed), GateResult::NotEntitled(vec![0]));
    }

    #[test]
    fn in_a_group_only_what_is_said_to_us_counts() {
        let opens = [OpenPrompt { thread: Some("t1"), ..open("7Q2") }];
        let group = ChatMessage { direct: false, ..said("yes") };
        assert_eq!(gate_message(&group, &opens), GateResult::NotAReply);
        let mentioned = ChatMessage { mentions_us: true, ..group };
        let strict = GateResult::For { open: 0, text: "yes".into(), weak_ok: false };
        assert_eq!(
            gate_message(&mentioned, &[open("7Q2")]),
            strict,
            "an ok from across the room is not enough"
        );
        assert_eq!(
            gate_message(&ChatMessage { replies_to: Some("om_prompt"), ..group }, &opens),
            answers(0, "yes")
        );
        assert_eq!(
            gate_message(&ChatMessage { thread: Some("t1"), ..group }, &opens),
            answers(0, "yes")
        );
        assert_eq!(
            gate_message(&ChatMessage { thread: Some("t2"), ..group }, &opens),
            GateResult::NotAReply
        );
        assert_eq!(
            gate_message(&group, &[open("7Q2")]),
            GateResult::NotAReply,
            "no thread is not the same thread"
        );
    }

    #[test]
    fn several_holds_are_told_apart_by_tag_or_reply() {
        let opens = [open("7Q2"), OpenPrompt { message: "om_other", ..open("8R3") }];
        assert_eq!(gate_message(&said("yes"), &opens), GateResult::Several(vec![0, 1]));
        assert_eq!(gate_message(&said("yes #8r3"), &opens), answers(1, "yes "));
        assert_eq!(gate_message(&said("#7Q2, yes"), &opens), answers(0, ", yes"));
        assert_eq!(gate_message(&said("yes #999"), &opens), GateResult::Several(vec![0, 1]));
        assert_eq!(gate_message(&said("#7Q2 #8R3 yes"), &opens), GateResult::Several(vec![0, 1]));
        let reply = ChatMessage { replies_to: Some("om_other"), ..said("yes") };
        assert_eq!(gate_message(&reply, &opens), answers(1, "yes"));
        let both = ChatMessage { text: "yes #7Q2", ..reply };
        assert_eq!(gate_message(&both, &opens), GateResult::Several(vec![0, 1]));
    }

    #[test]
    fn i31_a_reply_to_what_waits_no_longer_answers_nothing_else() {
        let opens = [open("7Q2")];
        let reply =
            ChatMessage { replies_to: Some("om_decided"), mentions_us: true, ..said("yes") };
        for direct in [true, false] {
            assert_eq!(
                gate_message(&ChatMessage { direct, ..reply }, &opens),
                GateResult::NotAReply
            );
            // Some platforms open a thread under whatever is replied to.
            let under = ChatMessage { thread: Some("om_decided"), direct, ..reply };
            assert_eq!(gate_message(&under, &opens), GateResult::NotAReply);
        }
        let tagged = ChatMessage { text: "yes #7Q2", ..reply };
        assert_eq!(
            gate_message(&tagged, &opens),
            answers(0, "yes "),
            "it says itself what it means"
        );
        // Whatever stands in a thread may be called a reply to the first message there.
        let opens = [OpenPrompt { thread: Some("om_first"), ..open("7Q2") }];
        let inside =
            ChatMessage { replies_to: Some("om_first"), thread: Some("om_first"), ..said("yes") };
        assert_eq!(gate_message(&inside, &opens), answers(0, "yes"));
        let quoting = ChatMessage { replies_to: Some("om_decided"), ..inside };
        assert_eq!(gate_message(&quoting, &opens), GateResult::NotAReply);
    }

    #[test]
    fn i31_words_in_one_thread_answer_nothing_in_another() {
        let opens = [OpenPrompt { thread: Some("t1"), ..open("7Q2") }];
        for direct in [true, false] {
            let outside = ChatMessage { direct, mentions_us: true, ..said("yes") };
            assert_eq!(gate_message(&outside, &opens), GateResult::NotAReply);
            let other = ChatMessage { thread: Some("t2"), ..outside };
            assert_eq!(gate_message(&other, &opens), GateResult::NotAReply);
            assert_eq!(gate_message(&other, &[open("7Q2")]), GateResult::NotAReply);
            assert_eq!(
                gate_message(&ChatMessage { thread: Some("t1"), ..outside }, &opens),
                answers(0, "yes")
            );
            let tagged = ChatMessage { text: "yes #7Q2", ..other };
            let strict = GateResult::For { open: 0, text: "yes ".into(), weak_ok: direct };
            assert_eq!(gate_message(&tagged, &opens), strict);
        }
    }

    #[test]
    fn i31_a_yes_that_came_too_soon_for_one_is_no_yes_to_another() {
        let opens = [OpenPrompt { risk: Risk::High, ..open("7Q2") }, open("8R3")];
        assert_eq!(gate_message(&said("yes"), &opens), GateResult::Several(vec![0, 1]));
        assert_eq!(gate_message(&said("yes #7Q2"), &opens), GateResult::NotAReply);
        assert_eq!(gate_message(&said("yes #8R3"), &opens), answers(1, "yes "));
    }

    #[test]
    fn an_ok_is_not_enough_when_something_of_ours_stands_below() {
        let opens = [OpenPrompt { is_latest: false, ..open("7Q2") }];
        assert_eq!(
            gate_message(&said("ok"), &opens),
            GateResult::For { open: 0, text: "ok".into(), weak_ok: false }
        );
    }
}
