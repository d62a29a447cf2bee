//! A platform that is slow, overloaded, broken or gone.

use std::sync::Arc;
use std::time::Duration;

use channels::telegram::{BotToken, Telegram, TelegramSettings};
use engine::SystemClock;
use ports::channel::{Channel, ChannelError};
use serde_json::json;
use testkit::asked::Asked;
use testkit::fake_chat::NoRandomness;
use testkit::fake_telegram::TOKEN;
use testkit::faults::Fault;

use crate::telegram::stage::{ANA, GROUP, Stage, group, number, saying};

#[tokio::test]
async fn every_fault_has_its_remedy() {
    let stage = Stage::polling().await;
    let asked = Asked::deletion();
    let posted = stage.show(&asked).await;
    let settled = asked.clone().approved();
    let wait = |error: &ChannelError, seconds| matches!(error, ChannelError::Again { after: Some(after), .. } if *after == Duration::from_secs(seconds));
    for (fault, sending, painting) in [
        (Fault::Wait(3), "again", "again"),
        (Fault::Status(500), "unknown", "again"),
        (Fault::Garbage, "unknown", "again"),
        (Fault::Lost, "unknown", "again"),
    ] {
        stage.fake.faults().plan("sendMessage", fault);
        let error = stage.bot.show(&group(), &asked.showing()).await.unwrap_err();
        assert_eq!(kind(&error), sending, "{fault:?}: {error}");
        stage.fake.faults().plan("sendMessage", fault);
        let said = stage.bot.say(&group(), &saying("hello")).await.unwrap_err();
        assert_eq!(kind(&said), sending, "{fault:?}: {said}");
        stage.fake.faults().plan("editMessageText", fault);
        let painted = stage.bot.repaint(&posted, &settled.showing()).await.unwrap_err();
        assert_eq!(kind(&painted), painting, "{fault:?}: {painted}");
        assert_eq!(wait(&error, 3), fault == Fault::Wait(3));
        for error in [error, said, painted] {
            assert!(!error.to_string().contains("FAKE"), "the address is a secret: {error}");
        }
    }
}

fn kind(error: &ChannelError) -> &'static str {
    match error {
        ChannelError::Again { .. } => "again",
        ChannelError::Unknown(_) => "unknown",
        ChannelError::Never(_) => "never",
        ChannelError::Gone(_) => "gone",
        ChannelError::Moved(_) => "moved",
    }
}

#[tokio::test]
async fn a_message_that_is_gone_is_gone_and_a_chat_that_is_closed_stays_so() {
    let stage = Stage::polling().await;
    let asked = Asked::deletion();
    let posted = stage.show(&asked).await;
    stage.fake.delete(GROUP, number(&posted.message));
    let gone = stage.bot.repaint(&posted, &asked.showing()).await.unwrap_err();
    assert_eq!(kind(&gone), "gone", "{gone}");
    stage.fake.closed(GROUP);
    let closed = stage.bot.show(&group(), &asked.showing()).await.unwrap_err();
    assert_eq!(kind(&closed), "never", "{closed}");
    assert!(closed.to_string().contains("the bot must be in that chat"), "{closed}");
}

#[tokio::test]
async fn nobody_there_and_a_wrong_token_are_told_apart() {
    let clock = Arc::new(SystemClock::new(None));
    let token = BotToken::new(TOKEN).unwrap();
    let settings = TelegramSettings::new("tg", token, "http://127.0.0.1:9".parse().unwrap());
    let bot = Telegram::new(settings, clock.clone(), Arc::new(NoRandomness));
    let error = bot.show(&group(), &Asked::deletion().showing()).await.unwrap_err();
    assert_eq!(kind(&error), "again", "it never left: {error}");
    assert!(!error.to_string().contains("FAKE"), "{error}");
    let checked = bot.check().await;
    assert!(checked[0].wrong.as_deref().unwrap().contains("cannot be reached"), "{checked:?}");

    let stage = Stage::polling().await;
    let token = BotToken::new("424242:wrong-token").unwrap();
    let settings = TelegramSettings::new("tg", token, stage.fake.url().parse().unwrap());
    let bot = Telegram::new(settings, clock, Arc::new(NoRandomness));
    let error = bot.show(&group(), &Asked::deletion().showing()).await.unwrap_err();
    assert!(
        matches!(&error, ChannelError::Never(why) if why.contains("is the bot's token right?"))
    );
    let checked = bot.check().await;
    assert!(checked[0].wrong.as_deref().unwrap().contains("@BotFather"), "{checked:?}");
    assert!(!format!("{checked:?}").contains("wrong-token"));
}

#[tokio::test]
async fn a_bot_that_is_well_says_so() {
    let stage = Stage::polling().await;
    let checked = stage.bot.check().await;
    assert_eq!(checked[0].what, "token: @hold_bot");
    assert!(checked.iter().all(|one| one.wrong.is_none()), "{checked:?}");
}

#[tokio::test]
async fn polling_goes_on_after_every_fault() {
    let mut stage = Stage::polling().await;
    for fault in [Fault::Status(502), Fault::Garbage, Fault::Lost] {
        stage.fake.faults().plan("getUpdates", fault);
    }
    stage.fake.faults().plan("getMe", Fault::Status(500));
    stage.fake.write(ANA.directly(), "hello", json!({}));
    // Waits of seconds between the tries: here nobody waits.
    stage.clock = Arc::new(Hurried);
    stage.restart(channels::telegram::TelegramMode::Polling).await;
    assert_eq!(stage.inbox.written(1).await[0].text, "hello");
    stage.stop().await;
}

/// Time passes a thousand times as fast.
struct Hurried;

#[async_trait::async_trait]
impl ports::clock::Clock for Hurried {
    fn now(&self) -> domain::time::Timestamp {
        domain::time::Timestamp::from_ms(1_794_700_000_000)
    }

    async fn sleep(&self, duration: Duration) {
        // But a request has the time that it has.
        let time = if duration >= Duration::from_secs(10) { duration } else { duration / 1000 };
        tokio::time::sleep(time).await;
    }
}

#[tokio::test]
async fn an_answer_that_was_turned_away_is_given_again_and_a_lost_one_is_not() {
    let mut stage = Stage::polling().await;
    let posted = stage.show(&Asked::deletion()).await;
    stage.fake.faults().plan("answerCallbackQuery", Fault::Wait(1));
    stage.fake.faults().plan("answerCallbackQuery", Fault::Lost);
    stage.clock = Arc::new(Hurried);
    stage.restart(channels::telegram::TelegramMode::Polling).await;
    let query = stage.fake.press(ANA, GROUP, number(&posted.message), "Approve once");
    while stage.fake.requests("answerCallbackQuery").len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    while stage.fake.pending() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(stage.fake.answers(&query).len(), 1, "it counted, although nobody heard");
    stage.stop().await;
    assert_eq!(stage.fake.requests("answerCallbackQuery").len(), 2);
}
