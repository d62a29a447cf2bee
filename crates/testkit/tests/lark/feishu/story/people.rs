//! Whom the platform knows by several names, and whom two apps know by different ones.

use serde_json::{Value, json};
use testkit::fake_feishu::TENANT;

use super::world::{Setting, Story};

fn written_by(mut event: Value, ids: Value, tenant: &str) -> Value {
    event["event"]["sender"]["sender_id"] = ids;
    event["event"]["sender"]["tenant_key"] = tenant.into();
    event
}

#[tokio::test]
async fn people_are_known_by_any_of_their_three_names() {
    let people = [("ana", "feishu = \"ana.b\""), ("bob", "feishu = \"on_bob\"")];
    let keys = format!("tenant_key = \"{TENANT}\"");
    let setting = Setting { people: &people, keys: &keys, ..Setting::default() };
    let story = Story::begin(setting).await;
    // Each is asked in person, by the name that is known.
    story.asked_from_outside("one").await;
    let hers = story.asks(0, "user_id ana.b").await;
    let his = story.asks(0, "union_id on_bob").await;

    // Another organisation has an ana.b, too; and somebody whom the platform names with neither of the
    // two names that count is nobody.
    let elsewhere = json!({"open_id": "ou_9", "user_id": "ana.b", "tenant_key": "tenant_2"});
    for who in [elsewhere, json!({"union_id": "on_bob"}), json!({"open_id": "ou_9"})] {
        let told = story.press(0, who.clone(), &hers, "hp_allow").await;
        assert_eq!(told["toast"]["type"], "error", "{who}: {told}");
        assert!(told.get("card").is_none(), "nothing public changes");
    }
    let told = story.press(0, json!({"user_id": "ana.b"}), &hers, "hp_allow").await;
    assert_eq!(told["toast"]["type"], "success", "{told}");
    story.ends(0, "user_id ana.b", "ana 已批准").await;
    story.ends(0, "union_id on_bob", "ana 已批准").await;
    let both = json!({"open_id": "ou_bob", "union_id": "on_bob", "user_id": "bob.c"});
    let late = story.press(0, both.clone(), &his, "hp_deny").await;
    assert!(late["toast"]["content"].as_str().expect("a text").contains("ana 已批准"), "{late}");

    // In words, too.
    let ana = json!({"user_id": "ana.b", "union_id": "on_ana"});
    story.arrives(&written_by(story.message("om_a", "note two"), ana, TENANT)).await;
    let card = story.asks(0, "chat_id oc_1").await;
    let foreign = json!({"open_id": "ou_9", "user_id": "ana.b"});
    story.arrives(&written_by(story.message("om_b", "确认"), foreign, "tenant_2")).await;
    story.waits(&card, "said by somebody of another organisation").await;
    story.arrives(&written_by(story.message("om_c", "取消"), both, TENANT)).await;
    story.ends(0, "chat_id oc_1", "bob 已拒绝").await;
    story.said("Not noted.").await;
    story.noted(&[]).await;
}

#[tokio::test]
async fn i31_without_the_name_of_our_organisation_no_organisation_names_our_people() {
    let people = [("ana", "feishu = \"ana.b\""), ("bob", "feishu = \"ou_bob\"")];
    let story = Story::begin(Setting { people: &people, ..Setting::default() }).await;
    story.asked_from_outside("one").await;
    let card = story.asks(0, "open_id ou_bob").await;
    // The app is in another organisation, too, which has an ana.b of its own: everything about the event
    // is theirs. And an event that does not say whose it is.
    let pointer =
        crate::lark::whole::value(&card.content, "hp_allow").expect("the button is there");
    for (name, tenant) in [("theirs", json!("tenant_2")), ("nobodys", json!(null))] {
        let who = json!({"open_id": "ou_9", "user_id": "ana.b", "tenant_key": tenant});
        let mut event = super::world::pressed(name, who, &card, pointer.clone());
        event["header"]["tenant_key"] = tenant;
        let line = &story.fakes[0].line;
        let told = line.ack_of(&line.send(&event).await).await.reply.expect("a reply");
        assert_eq!(told["toast"]["type"], "error", "{name}: {told}");
    }
    story.waits(&card, "pressed by a stranger of the same name").await;
    let told = story.press(0, json!({"open_id": "ou_bob"}), &card, "hp_allow").await;
    assert_eq!(told["toast"]["type"], "success", "{told}");
    story.ends(0, "open_id ou_bob", "bob 已批准").await;
}

#[tokio::test]
async fn two_apps_know_one_person_by_two_names() {
    let links = "feishu = \"ou_ana\", lark = \"ou_ana_there\"";
    let setting =
        Setting { channels: &["feishu", "lark"], people: &[("ana", links)], ..Setting::default() };
    let story = Story::begin(setting).await;
    story.asked_from_outside("one").await;
    story.asks(0, "open_id ou_ana").await;
    let there = story.asks(1, "open_id ou_ana_there").await;
    // In the second app her name of the first is somebody else's.
    let told = story.press(1, json!({"open_id": "ou_ana"}), &there, "hp_allow").await;
    assert_eq!(told["toast"]["type"], "error", "{told}");
    let told = story.press(1, json!({"open_id": "ou_ana_there"}), &there, "hp_allow").await;
    assert_eq!(told["toast"]["type"], "success", "{told}");
    story.ends(0, "open_id ou_ana", "ana 已批准").await;
    story.ends(1, "open_id ou_ana_there", "ana 已批准").await;
    // A stranger is told under which name an account of this app is linked.
    let stranger = json!({"open_id": "ou_new"});
    let event = written_by(story.message("om_a", "hello"), stranger, TENANT);
    let line = &story.fakes[1].line;
    assert_eq!(line.ack_of(&line.send(&event).await).await.code, 200);
    let told = || story.fakes[1].messages().into_iter().find(|sent| sent.kind == "text");
    crate::lark::whole::until("a word", || told().is_some()).await;
    let told = told().expect("just seen");
    assert_eq!(told.to, "open_id ou_new", "for their eyes only");
    let text = told.content["text"].as_str().expect("a text").to_owned();
    assert!(text.contains("identities = { lark = \"ou_new\" }"), "{text}");
}
