//! What every channel must do, as a suite that each of them passes on its own fake platform.

use std::time::Duration;

use domain::hold::Question;
use ports::channel::{
    ButtonAction, Channel, ChannelError, Destination, MessageRef, OutgoingText, Pointer, Shown,
    Step, StepKind, TextProgress, WebhookRequest,
};
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
    fn place(&self) -> Destination;

    /// Our messages that stand there, as texts, the oldest first.
    fn standing(&self) -> Vec<String>;

    /// What can be pressed on a message now; `None` if it is gone.
    fn pointers(&self, posted: &MessageRef) -> Option<Vec<Pointer>>;

    fn delete(&self, posted: &MessageRef);

    /// The next thing that is sent there meets this.
    fn fail(&self, fault: Fault);

    /// Whether the platform itself knows a message again that is sent twice.
    fn knows_repeats(&self) -> bool;

    /// Whether it can say after which time it wants to be asked again.
    fn says_when(&self) -> bool {
        true
    }
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

/// Panics with a sentence about the first thing that the channel does wrong. What it claims to do is tried,
/// and what it does not claim must be refused, or do nothing, without a trace on the platform.
pub async fn conforms(platform: &dyn Platform) {
    names(platform);
    shows(platform).await;
    repaints(platform).await;
    cuts_take_no_yes(platform).await;
    choices_have_their_options(platform).await;
    faults_are_told_as_what_they_are(platform).await;
    what_is_gone_is_gone(platform).await;
    repeats_are_one(platform).await;
    tells_each_step(platform).await;
    says_what_it_is_told(platform).await;
    nothing_unsigned_gets_in(platform).await;
    looks_at_its_own_settings(platform).await;
    stops_when_told(platform).await;
}

fn names(platform: &dyn Platform) {
    let channel = platform.channel();
    assert!(!channel.name().is_empty() && !channel.account().is_empty(), "it has no name");
    assert!(!channel.platform().is_empty(), "nobody could be linked to it");
    assert!(
        !(channel.redraws() && channel.every_step()),
        "what happens to a hold is drawn or told, and not both"
    );
    if let Some(pauses) = channel.retries() {
        assert!(!pauses.is_empty() && pauses.is_sorted(), "pauses grow: {pauses:?}");
    }
}

async fn shown(platform: &dyn Platform, asked: &Asked) -> Shown {
    let before = platform.standing().len();
    let shown = platform.channel().show(&platform.place(), &asked.showing()).await;
    let shown = shown.expect("it can be shown");
    assert_eq!(platform.standing().len(), before + 1, "one message");
    shown
}

fn pointers(platform: &dyn Platform, posted: &MessageRef) -> Vec<Pointer> {
    platform.pointers(posted).expect("it stands where it says")
}

async fn shows(platform: &dyn Platform) {
    let asked = Asked::deletion().keyed("conforms1");
    let shown = shown(platform, &asked).await;
    let pointers = pointers(platform, &shown.posted);
    let text = platform.standing().pop().unwrap_or_default();
    if !platform.channel().has_buttons() {
        assert!(pointers.is_empty(), "it has buttons all the same: {pointers:?}");
        let link = asked.link.as_deref().expect("a link");
        assert!(text.contains(link), "it leads nowhere: {text}");
        return;
    }
    assert!(shown.accepts_approval, "a small call is shown whole");
    for said in [ButtonAction::Allow, ButtonAction::Deny] {
        let pointer = Pointer { key: asked.key.clone(), said, nonce: asked.nonce.clone() };
        assert!(pointers.contains(&pointer), "no button for {said}: {pointers:?}");
        assert!(pointer.to_string().len() <= 64);
    }
}

async fn repaints(platform: &dyn Platform) {
    let (channel, asked) = (platform.channel(), Asked::deletion().keyed("conforms6"));
    let shown = shown(platform, &asked).await;
    let before = platform.standing();
    let takes = channel.repaint(&shown.posted, &asked.clone().approved().showing()).await;
    assert_eq!(takes, Ok(false), "what is decided takes no yes");
    if !channel.redraws() {
        assert_eq!(platform.standing(), before, "nothing there changes");
        return;
    }
    assert_eq!(platform.pointers(&shown.posted), Some(Vec::new()), "no button is alive");
    assert_eq!(platform.standing().len(), before.len(), "the message itself changes");
    let text = platform.standing().pop().unwrap_or_default();
    assert!(text.contains("Ana"), "it says who decided: {text}");
    // Again, as after a restart.
    let again = channel.repaint(&shown.posted, &asked.approved().showing()).await;
    assert_eq!(again, Ok(false), "painting it once more is no error");
}

async fn cuts_take_no_yes(platform: &dyn Platform) {
    const BYTES: usize = 400_000;
    let asked = Asked::long(BYTES).keyed("conforms2");
    let shown = shown(platform, &asked).await;
    let text = platform.standing().pop().unwrap_or_default();
    // A program reads it all, whatever its size.
    let whole = text.len() >= BYTES;
    assert!(!shown.accepts_approval || whole, "nobody approves what they were not shown");
    let pointers = pointers(platform, &shown.posted);
    let only_no =
        |pointer: &Pointer| matches!(pointer.said, ButtonAction::Deny | ButtonAction::Explain);
    assert!(whole || pointers.iter().all(only_no), "{pointers:?}");
}

async fn choices_have_their_options(platform: &dyn Platform) {
    let names = ["Blue-Green", "Canary"];
    let labels = names.map(|label| (label.to_owned(), None));
    let question = Question::choose(labels, false, false).expect("a question");
    let asked = Asked::question(question).keyed("conforms3");
    let shown = shown(platform, &asked).await;
    let pointers = pointers(platform, &shown.posted);
    let text = platform.standing().pop().unwrap_or_default();
    for (number, name) in (1..).zip(names) {
        assert!(text.contains(name), "option {name} is not shown: {text}");
        let option = pointers.iter().any(|pointer| pointer.said == ButtonAction::Option(number));
        let needed = platform.channel().has_buttons() && shown.accepts_approval;
        assert!(option || !needed, "option {number} is missing: {pointers:?}");
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
            (Fault::Wait(_), Err(ChannelError::Again { after, .. })) => {
                let wanted = platform.says_when().then_some(Duration::from_secs(3));
                assert!(after >= wanted, "sooner than it was asked: {after:?}");
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
    let shown = shown(platform, &asked).await;
    platform.delete(&shown.posted);
    let before = platform.standing();
    let painted = channel.repaint(&shown.posted, &asked.approved().showing()).await;
    match channel.redraws() {
        true => assert!(matches!(painted, Err(ChannelError::Gone(_))), "{painted:?}"),
        false => assert_eq!((painted, platform.standing()), (Ok(false), before)),
    }
}

async fn repeats_are_one(platform: &dyn Platform) {
    let (channel, asked) = (platform.channel(), Asked::deletion().keyed("conforms5"));
    let before = platform.standing().len();
    let first = channel.show(&platform.place(), &asked.showing()).await.expect("it can be shown");
    let second = channel.show(&platform.place(), &asked.showing()).await.expect("and again");
    let stand = platform.standing().len() - before;
    if platform.knows_repeats() {
        assert_eq!(first.posted.message, second.posted.message, "the same key is the same message");
        assert_eq!(stand, 1);
        return;
    }
    // Then two may stand there; but never more, and each is as good as the other.
    let same = first.posted.message == second.posted.message;
    assert_eq!(stand, if same { 1 } else { 2 });
    for shown in [first, second] {
        assert_eq!(pointers(platform, &shown.posted).is_empty(), !channel.has_buttons());
    }
}

async fn tells_each_step(platform: &dyn Platform) {
    let (channel, asked) = (platform.channel(), Asked::deletion().keyed("conforms7"));
    let shown = shown(platform, &asked).await;
    let before = platform.standing();
    let approved = asked.approved();
    let step = |kind, position| Step { kind, position, at: approved.hold.opened_at };
    let steps = [step(StepKind::Decided, 7), step(StepKind::Settled, 8)];
    for (number, step) in (1..).zip(&steps) {
        let told = channel.tell(&shown.posted, &approved.showing(), step).await;
        if !channel.every_step() {
            assert!(matches!(told, Err(ChannelError::Never(_))), "it claims no steps: {told:?}");
            assert_eq!(platform.standing(), before);
            continue;
        }
        assert_eq!(told, Ok(()));
        assert_eq!(platform.standing().len(), before.len() + number, "each is told by itself");
        let again = channel.tell(&shown.posted, &approved.showing(), step).await;
        assert_eq!(again, Ok(()), "and once more after a crash");
        assert_eq!(platform.standing().len(), before.len() + number, "under the same name");
    }
}

async fn says_what_it_is_told(platform: &dyn Platform) {
    let hostile = "plain, *bold* _low_ <b>&amp; `code` [link](https://example.com) @here";
    let saying =
        OutgoingText { key: "conforms-said", text: hostile, reply_to: None, whisper_to: None };
    let before = platform.standing();
    let spoken = platform.channel().say_piece(&platform.place(), &saying, 0).await;
    if !platform.channel().talks() {
        assert!(matches!(spoken, Err(ChannelError::Never(_))), "it claims not to talk: {spoken:?}");
        assert_eq!(platform.standing(), before);
        return;
    }
    assert_eq!(spoken, Ok(TextProgress::All), "a short text is one message");
    let said = platform.standing().pop().unwrap_or_default();
    assert!(said.contains("plain, ") && said.contains("code"), "{said}");
    says_a_long_text_piece_by_piece(platform).await;
}

/// Each call is one message: whoever speaks knows then which of them were said.
async fn says_a_long_text_piece_by_piece(platform: &dyn Platform) {
    let long: String = (1_000..2_400).map(|number| format!("word{number} ")).collect();
    let before = platform.standing().len();
    let mut said = String::new();
    let saying =
        OutgoingText { key: "conforms-long", text: &long, reply_to: None, whisper_to: None };
    for piece in 0.. {
        let spoken = platform.channel().say_piece(&platform.place(), &saying, piece).await;
        assert_eq!(platform.standing().len(), before + piece + 1, "one message for each piece");
        said.push_str(&platform.standing().pop().unwrap_or_default());
        match spoken.expect("it can be said") {
            TextProgress::More => assert!(piece < 100, "it never ends"),
            TextProgress::All => break,
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
        for path in ["events", "decisions", "", "no/such/path"] {
            let request = WebhookRequest {
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
    assert!(notebook.decisions().is_empty(), "it was believed");
}

async fn looks_at_its_own_settings(platform: &dyn Platform) {
    let checked = platform.channel().check().await;
    assert!(!checked.is_empty(), "`channels check` says nothing about it");
    assert!(checked.iter().all(|one| !one.what.trim().is_empty()), "{checked:?}");
}

async fn stops_when_told(platform: &dyn Platform) {
    let stop = tokio_util::sync::CancellationToken::new();
    stop.cancel();
    let listening = platform.channel().listen(std::sync::Arc::new(Notebook::default()), stop);
    let ended = tokio::time::timeout(Duration::from_secs(10), listening).await;
    assert!(ended.is_ok(), "it goes on listening after it was told to stop");
}
