//! Chats that several nodes serve.

use testkit::fake_chat::Fault;
use testkit::fake_telegram::{FakeTelegram, TOKEN};

use super::*;

/// A node dies while it sends: another one does so when that is known, and does not wait until the lease of the item is
/// over, which is a minute.
#[tokio::test(flavor = "multi_thread")]
async fn i35_what_a_dead_node_was_sending_is_sent_by_another_as_soon_as_it_is_gone() {
    let telegram = FakeTelegram::start().await;
    let cluster = Cluster::start_durable().await;
    let with_chat = || {
        let served = node(&cluster);
        let config = std::fs::read_to_string(served.path("holdpoint.toml")).unwrap();
        let channel = format!(
            "identities = {{ telegram = \"7\" }}\n\n[channels.telegram]\nagent = \"ops\"\n\
             token_file = \"token\"\nbase_url = \"{}\"\n",
            telegram.url()
        );
        served.write("holdpoint.toml", &format!("{config}{channel}"));
        served.write("token", TOKEN);
        served
    };
    let (mut one, mut two) = (with_chat(), with_chat());
    one.up().await;
    join(&one, &mut two).await;
    telegram.standing().set("sendMessage", Fault::Hangs);
    one.program().post("/v1/holds", &question()).await.must(201);
    let shop = cluster.shop().await;
    // The first that entered itself is the first one that was started.
    let sender = "SELECT (lease_owner = (SELECT id FROM holdpoint.nodes ORDER BY id LIMIT 1))::int::bigint \
                  FROM holdpoint.outbox WHERE lease_owner IS NOT NULL";
    let taken = async {
        loop {
            if let Some(is_one) = shop.numbers(sender).await.first() {
                return *is_one == 1;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let is_one = tokio::time::timeout(PATIENCE, taken).await.expect("one of them sends it");
    if is_one {
        one.kill().await
    } else {
        two.kill().await
    }
    telegram.standing().lift();
    let sent = async {
        while telegram.messages(7).is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, sent).await.expect("the other one sends it");
    let text = telegram.messages(7)[0]["text"].to_string();
    assert!(text.contains("Ship 1.4?"), "{text}");
}
