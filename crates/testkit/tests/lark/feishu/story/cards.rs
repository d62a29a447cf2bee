//! Cards: several in one chat, such as outlive what can be done to them, and a platform that takes few at
//! once.

use serde_json::{Value, json};

use super::world::{Setting, Story};
use crate::lark::whole::{until, value};

fn ana() -> Value {
    json!({"open_id": "ou_ana"})
}

#[tokio::test]
async fn a_question_that_waits_for_weeks_has_a_link_and_no_buttons() {
    let story = Story::begin(Setting { ask: ", expires = \"30d\"", ..Setting::default() }).await;
    story.write("om_a", "note one").await;
    let card = story.card(0, "chat_id oc_1", |card| card.to_string().contains("没有按钮")).await;
    let text = card.content.to_string();
    assert!(!text.contains("callback"), "in two weeks nobody could take it away: {text}");
    assert!(text.contains("open_url") && text.contains("/holds/"), "{text}");
    // Words cannot become stale: they are judged when they arrive.
    story.write("om_b", "确认").await;
    let over = story.ends(0, "chat_id oc_1", "ana 已批准").await;
    assert_eq!(over.id, card.id, "the same message, repainted");
    assert!(!over.content.to_string().contains("没有按钮"));
    story.said("Noted.").await;
    story.noted(&["one"]).await;
}

#[tokio::test]
async fn two_cards_in_one_chat_are_answered_each_by_its_own_buttons() {
    let story = Story::begin(Setting { keys: "ask = [\"oc_1\"]", ..Setting::default() }).await;
    story.asked_from_outside("one").await;
    story.asked_from_outside("two").await;
    let asking = || {
        let cards = story.cards(0, "chat_id oc_1").into_iter();
        cards.filter(|card| value(&card.content, "hp_allow").is_some()).count()
    };
    until("two questions", || asking() == 2).await;
    let cards = story.cards(0, "chat_id oc_1");
    let told = story.press(0, ana(), &cards[1], "hp_deny").await;
    assert!(told["card"]["data"]["header"].to_string().contains("ana 已拒绝"), "{told}");
    until("its end", || asking() == 1).await;
    let first = &story.cards(0, "chat_id oc_1")[0];
    assert!(value(&first.content, "hp_allow").is_some(), "the other one still asks");
    // The buttons of one do nothing on the other.
    let stolen = value(&cards[0].content, "hp_allow").expect("a button").clone();
    let forged = super::world::pressed("e9", ana(), &cards[1], stolen);
    let line = &story.fake().line;
    let told = line.ack_of(&line.send(&forged).await).await.reply.expect("a reply");
    assert_eq!(told["toast"]["type"], "error", "{told}");
    let told = story.press(0, ana(), &cards[0], "hp_allow").await;
    assert_eq!(told["toast"]["type"], "success", "{told}");
    until("its end", || asking() == 0).await;
    let ends: Vec<Value> = story
        .cards(0, "chat_id oc_1")
        .iter()
        .map(|card| card.content["header"]["template"].clone())
        .collect();
    assert_eq!(ends, [json!("green"), json!("red")]);
}

#[tokio::test]
async fn a_platform_that_takes_five_a_second_gets_everything_once() {
    let story = Story::begin(Setting { keys: "ask = [\"oc_1\"]", ..Setting::default() }).await;
    story.fake().limit(5);
    let mut holds = Vec::new();
    for number in 0..12 {
        holds.push(story.asked_from_outside(&format!("n{number}")).await);
    }
    let places = ["chat_id oc_1", "open_id ou_ana"];
    let count = || places.map(|place| story.cards(0, place).len());
    until("all questions", || count() == [12, 12]).await;
    assert!(story.fake().refusals() > 0, "the limit was never met");
    let admin = story.served.admin();
    for hold in &holds {
        let hold = admin.hold(&hold["id"]).await;
        admin.answer(&hold, json!({"verdict": "deny"})).await.must(200);
    }
    let over = || {
        let cards = places.iter().flat_map(|place| story.cards(0, place));
        cards.filter(|card| card.content["header"]["template"] == "red").count()
    };
    until("all ends", || over() == 24).await;
    assert_eq!(count(), [12, 12], "none came twice");
    let mut titles: Vec<String> = story
        .cards(0, "chat_id oc_1")
        .iter()
        .map(|card| card.content["config"]["summary"].to_string())
        .collect();
    titles.sort();
    titles.dedup();
    assert_eq!(titles.len(), 12);
}
