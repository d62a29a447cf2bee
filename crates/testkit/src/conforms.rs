//! What every channel must do, as a suite that each of them passes on its own fake platform.

use std::time::Duration;

use domain::hold::Question;
use ports::channel::{Channel, ChannelError, Hooked, Place, Pointer, Posted, Said, Saying, Spoken};
use ports::clock::Clock;
use serde_json::Value;

use crate::asked::Asked;
use crate::faults::Fault;
use crate::inbox::Notebook;

/// A channel, and the platform behind it as people see it.
pub trait Platform: Sync {
    fn channel(&self) -> &dyn Channel;

    fn clock(&self) -> &dyn Clock;

    /// A chat that our account may write in.
    fn place(&self) -> Place;

    /// Our messages that stand there, as texts, the oldest first.
    fn standing(&self) -> Vec<String>;

    /// What can be pressed on a message now; `None` if it is gone.
    fn pointers(&self, posted: &Posted) -> Option<Vec<Pointer>>;

    fn delete(&self, posted: &Posted);

    /// The next thing that is sent there meets this.
    fn fail(&self, fault: Fault);

    /// Whether the platform itself knows a message again that is sent twice.
    fn knows_repeats(&self) -> bool;
}

/// Every pointer in a message, in whichever of its two forms the platform carries it.
pub fn pointers_in(message: &Value) -> Vec<Pointer> {
    let mut found = Vec::new();
    match message {
        Value::String(text) => found.extend(text.parse::<Pointer>().ok()),
        Value::Array(items) => items.iter().for_each(|item| found.extend(pointers_in(item))),
        Value::Object(fields) => {
            let part = |name: &str| fields.get(name).and_then(Value::as_str);
            if let (Some(key), Some(said), Some(nonce)) = (part("r"), part("o"), part("n")) {
                found.extend(format!("h1:{key}:{said}:{nonce}").parse::<Pointer>().ok());
            }
            fields.values().for_each(|value| found.extend(pointers_in(value)));
        }
        _ => {}
    }
    found
}

/// Panics with a sentence about the first thing that the channel does wrong.
pub async fn conforms(platform: &dyn Platform) {
    names(platform);
    shows_and_repaints(platform).await;
    cuts_take_no_yes(platform).await;
    choices_have_their_options(platform).await;
    faults_are_told_as_what_they_are(platform).await;
    what_is_gone_is_gone(platform).await;
    repeats_are_one(platform).await;
    says_what_it_is_told(platform).await;
    nothing_unsigned_gets_in(platform).await;
    stops_when_told(platform).await;
}

fn names(platform: &dyn Platform) {
    let channel = platform.channel();
    assert!(!channel.name().is_empty() && !channel.account().is_empty(), "it has no name");
    assert!(!channel.platform().is_empty(), "nobody could be linked to it");
}

async fn shows_and_repaints(platform: &dyn Platform) {
    let (channel, asked) = (platform.channel(), Asked::deletion().keyed("conforms1"));
    let before = platform.standing().len();
    let shown = channel.show(&platform.place(), &asked.showing()).await.expect("it can be shown");
    assert!(shown.takes_a_yes, "a small call is shown whole");
    assert_eq!(platform.standing().len(), before + 1, "one message");
    let pointers = platform.pointers(&shown.posted).expect("it stands where it says");
    for said in [Said::Allow, Said::Deny] {
        let pointer = Pointer { key: asked.key.clone(), said, nonce: asked.nonce.clone() };
        assert!(pointers.contains(&pointer), "no button for {said}: {pointers:?}");
        assert!(pointer.to_string().len() <= 64);
    }
    let takes = channel.repaint(&shown.posted, &asked.clone().approved().showing()).await;
    assert_eq!(takes, Ok(false), "what is decided takes no yes");
    assert_eq!(platform.pointers(&shown.posted), Some(Vec::new()), "no button is alive");
    assert_eq!(platform.standing().len(), before + 1, "the message itself changes");
    let text = platform.standing().pop().unwrap_or_default();
    assert!(text.contains("Ana"), "it says who decided: {text}");
    // Again, as after a restart.
    let again = channel.repaint(&shown.posted, &asked.approved().showing()).await;
    assert_eq!(again, Ok(false), "painting it once more is no error");
}

async fn cuts_take_no_yes(platform: &dyn Platform) {
    let asked = Asked::long(400_000).keyed("conforms2");
    let shown = platform.channel().show(&platform.place(), &asked.showing()).await;
    let shown = shown.expect("something large is shown in part");
    assert!(!shown.takes_a_yes, "nobody approves what they were not shown");
    let pointers = platform.pointers(&shown.posted).expect("it stands where it says");
    assert!(pointers.iter().all(|pointer| pointer.said == Said::Deny), "{pointers:?}");
}

async fn choices_have_their_options(platform: &dyn Platform) {
    let labels = ["Blue-Green", "Canary"].map(|label| (label.to_owned(), None));
    let question = Question::choose(labels, false, false).expect("a question");
    let asked = Asked::question(question).keyed("conforms3");
    let shown = platform.channel().show(&platform.place(), &asked.showing()).await;
    let shown = shown.expect("a choice can be shown");
    let pointers = platform.pointers(&shown.posted).expect("it stands where it says");
    for number in [1, 2] {
        let option = pointers.iter().any(|pointer| pointer.said == Said::Option(number));
        assert!(option || !shown.takes_a_yes, "option {number} is missing: {pointers:?}");
    }
}

async fn faults_are_told_as_what_they_are(platform: &dyn Platform) {
    let channel = platform.channel();
    for (number, fault) in
        [Fault::Wait(3), Fault::Status(500), Fault::Garbage].into_iter().enumerate()
    {
        let asked = Asked::deletion().keyed(&format!("conformsf{number}"));
        let before = platform.standing().len();
        platform.fail(fault);
        let shown = channel.show(&platform.place(), &asked.showing()).await;
        match (fault, shown) {
            (Fault::Wait(_), Err(ChannelError::Again { after: Some(after), .. })) => {
                assert!(after >= Duration::from_secs(3), "sooner than it was asked: {after:?}");
            }
            (Fault::Wait(_), other) => panic!("too much at once is told as {other:?}"),
            (_, Err(ChannelError::Again { .. } | ChannelError::Unknown(_))) => {}
            // It may have tried again by itself, and then it stands there once.
            (_, Ok(_)) => assert_eq!(platform.standing().len(), before + 1, "{fault:?}"),
            (_, Err(error)) => panic!("{fault:?} passes, and is told as {error}"),
        }
    }
}

async fn what_is_gone_is_gone(platform: &dyn Platform) {
    let (channel, asked) = (platform.channel(), Asked::deletion().keyed("conforms4"));
    let shown = channel.show(&platform.place(), &asked.showing()).await.expect("it can be shown");
    platform.delete(&shown.posted);
    let painted = channel.repaint(&shown.posted, &asked.approved().showing()).await;
    assert!(matches!(painted, Err(ChannelError::Gone(_))), "{painted:?}");
}

async fn repeats_are_one(platform: &dyn Platform) {
    if !platform.knows_repeats() {
        return;
    }
    let (channel, asked) = (platform.channel(), Asked::deletion().keyed("conforms5"));
    let before = platform.standing().len();
    let first = channel.show(&platform.place(), &asked.showing()).await.expect("it can be shown");
    let second = channel.show(&platform.place(), &asked.showing()).await.expect("and again");
    assert_eq!(first.posted.message, second.posted.message, "the same key is the same message");
    assert_eq!(platform.standing().len(), before + 1);
}

async fn says_what_it_is_told(platform: &dyn Platform) {
    let hostile = "plain, *bold* _low_ <b>&amp; `code` [link](https://example.com) @here";
    let saying = Saying { key: "conforms-said", text: hostile, reply_to: None, whisper_to: None };
    let spoken = platform.channel().say_piece(&platform.place(), &saying, 0).await;
    assert_eq!(spoken, Ok(Spoken::All), "a short text is one message");
    let said = platform.standing().pop().unwrap_or_default();
    assert!(said.contains("plain, ") && said.contains("code"), "{said}");
    says_a_long_text_piece_by_piece(platform).await;
}

/// Each call is one message: whoever speaks knows then which of them were said.
async fn says_a_long_text_piece_by_piece(platform: &dyn Platform) {
    let long: String = (1_000..2_400).map(|number| format!("word{number} ")).collect();
    let before = platform.standing().len();
    let mut said = String::new();
    let saying = Saying { key: "conforms-long", text: &long, reply_to: None, whisper_to: None };
    for piece in 0.. {
        let spoken = platform.channel().say_piece(&platform.place(), &saying, piece).await;
        assert_eq!(platform.standing().len(), before + piece + 1, "one message for each piece");
        said.push_str(&platform.standing().pop().unwrap_or_default());
        match spoken.expect("it can be said") {
            Spoken::More => assert!(piece < 100, "it never ends"),
            Spoken::All => break,
        }
    }
    // Where a platform cuts in the middle of a word, that one is in no piece as a whole.
    let whole = (1_000..2_400).filter(|number| {
        let times = said.matches(&format!("word{number}")).count();
        assert!(times <= 1, "word{number} is said {times} times");
        times == 1
    });
    assert!(whole.count() > 1_380, "something is left out");
}

/// Whatever arrives without a signature is nobody's.
async fn nothing_unsigned_gets_in(platform: &dyn Platform) {
    let notebook = Notebook::default();
    let bodies: [&[u8]; 5] =
        [b"", b"{}", b"\xff\xfe", b"[[[[", br#"{"type":"event","text":"yes"}"#];
    for body in bodies {
        for path in ["events", "", "no/such/path"] {
            let request = Hooked {
                method: "POST".into(),
                path: path.into(),
                query: None,
                headers: vec![("content-type".into(), "application/json".into())],
                body: body.to_vec(),
                at: platform.clock().now(),
            };
            let reply = platform.channel().hook(request, &notebook).await;
            assert!((400..500).contains(&reply.status), "{path}: {}", reply.status);
        }
    }
    assert!(notebook.presses().is_empty() && notebook.wrote().is_empty(), "it was believed");
}

async fn stops_when_told(platform: &dyn Platform) {
    let stop = tokio_util::sync::CancellationToken::new();
    stop.cancel();
    let listening = platform.channel().listen(std::sync::Arc::new(Notebook::default()), stop);
    let ended = tokio::time::timeout(Duration::from_secs(10), listening).await;
    assert!(ended.is_ok(), "it goes on listening after it was told to stop");
}
