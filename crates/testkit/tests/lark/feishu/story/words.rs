//! What people write: in threads, as posts, and what Feishu marks as no answer.

use serde_json::{Value, json};
use testkit::fake_feishu::BOT;

use super::world::{Setting, Story};

fn change(mut event: Value, key: &str, value: Value) -> Value {
    event["event"]["message"][key] = value;
    event
}

#[tokio::test]
async fn a_thread_is_a_conversation_of_its_own() {
    let story = Story::begin(Setting::default()).await;
    // The first message of a thread names the thread; those behind it name the first message.
    let first = change(story.message("om_t", "note one"), "thread_id", json!("omt_1"));
    story.arrives(&first).await;
    let card = story.asks(0, "reply om_t").await;
    let sent = story.fake().asked_of("/om_t/reply");
    assert_eq!(sent[0].json()["reply_in_thread"], true);
    assert!(story.cards(0, "chat_id oc_1").is_empty());

    // Outside of it the same word is something for the agent of the group.
    story.write("om_b", "确认").await;
    story.waits(&card, "said elsewhere").await;
    let mut within = change(story.message("om_c", "确认"), "thread_id", json!("omt_1"));
    within = change(within, "root_id", json!("om_t"));
    within = change(within, "parent_id", json!("om_t"));
    story.arrives(&within).await;
    let over = story.ends(0, "reply om_t", "ana 已批准").await;
    assert_eq!(over.id, card.id);
    story.noted(&["one"]).await;
}

#[tokio::test]
async fn a_post_answers_like_a_text() {
    let story = Story::begin(Setting::default()).await;
    story.write("om_a", "note one").await;
    let card = story.asks(0, "chat_id oc_1").await;
    let post = |pieces: Value| {
        let content = json!({"title": "", "content": [pieces]}).to_string();
        let event = change(story.message("om_p", ""), "message_type", json!("post"));
        change(event, "content", json!(content))
    };
    let at = |id: &str| json!({"tag": "at", "user_id": id, "user_name": "x"});
    let text = |text: &str| json!({"tag": "text", "text": text});
    let named = |mut event: Value, id: &str| {
        event["event"]["message"]["message_id"] = id.into();
        event
    };
    // A picture beside the word says more than the word; somebody else may be meant.
    let picture = post(json!([at("@_user_1"), text(" 确认"), {"tag": "img", "image_key": "i"}]));
    story.arrives(&named(picture, "om_p1")).await;
    story.waits(&card, "with a picture").await;
    let others = post(json!([at("@_user_1"), at("ou_bob"), text(" 确认")]));
    story.arrives(&named(others, "om_p2")).await;
    story.waits(&card, "said to others").await;
    let plain = post(json!([at("@_user_1"), text(" 确认")]));
    story.arrives(&named(plain, "om_p3")).await;
    story.ends(0, "chat_id oc_1", "ana 已批准").await;
    story.noted(&["one"]).await;
}

#[tokio::test]
async fn i31_what_feishu_marks_as_no_answer_is_none() {
    let story = Story::begin(Setting::default()).await;
    let before = story.now();
    story.write("om_a", "note one").await;
    let card = story.asks(0, "chat_id oc_1").await;
    let says = |id: &str| story.message(id, "确认");
    let later = story.now().plus_ms(60_000).as_ms().to_string();
    let earlier = before.as_ms().to_string();
    let mut robot = says("om_4");
    robot["event"]["sender"]["sender_type"] = "app".into();
    let mut nobody = says("om_5");
    nobody["event"]["sender"]["sender_id"] = json!({});
    let mut all = says("om_8");
    all["event"]["message"]["content"] = json!({"text": "@_all 确认"}).to_string().into();
    let mut others = says("om_9");
    let name = |key: &str, id: &str| json!({"key": key, "id": {"open_id": id}, "name": id});
    others["event"]["message"]["mentions"] =
        json!([name("@_user_1", BOT), name("@_user_2", "ou_bob")]);
    others["event"]["message"]["content"] =
        json!({"text": "@_user_1 @_user_2 确认"}).to_string().into();
    let unmentioned = {
        let event = change(says("om_7"), "mentions", json!([]));
        change(event, "content", json!(json!({"text": "确认"}).to_string()))
    };
    let mut written_before = change(says("om_2"), "create_time", json!(earlier));
    written_before = change(written_before, "update_time", json!(earlier));
    for (what, event) in [
        ("edited", change(says("om_1"), "update_time", json!(later))),
        ("written before the question", written_before),
        ("forwarded", change(says("om_3"), "message_type", json!("merge_forward"))),
        ("of a robot", robot),
        ("of nobody", nobody),
        ("in another chat", change(says("om_6"), "chat_id", json!("oc_2"))),
        ("not to us", unmentioned),
        ("to everybody", all),
        ("to others", others),
        ("a picture", change(says("om_10"), "message_type", json!("image"))),
    ] {
        story.arrives(&event).await;
        story.waits(&card, what).await;
    }
    story.noted(&[]).await;
    story.arrives(&says("om_11")).await;
    story.ends(0, "chat_id oc_1", "ana 已批准").await;
    story.noted(&["one"]).await;
}
