//! Nodes that stand still, or whose lease cannot be renewed.

use nix::sys::signal::Signal;

use super::*;

/// Until the database says so.
async fn until_number(shop: &Session, sql: &str, wanted: i64) {
    let asking = async {
        while shop.number(sql).await != wanted {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asking)
        .await
        .unwrap_or_else(|_| panic!("{sql} never is {wanted}"));
}

/// A pause of the machine, longer than the lease. The memory of the process is of no use then: it ends and says why, and a
/// service manager starts it again.
#[tokio::test(flavor = "multi_thread")]
async fn i17_a_node_that_stood_still_for_too_long_ends_and_is_whole_after_a_restart() {
    let cluster = Cluster::start_durable().await;
    let (mut one, two) = pair(&cluster).await;
    let mut server = one.take();
    server.signal(Signal::SIGSTOP).unwrap();
    let shop = cluster.shop().await;
    until_number(&shop, "SELECT count(*) FROM holdpoint.nodes WHERE gone", 1).await;
    server.signal(Signal::SIGCONT).unwrap();
    let ended = tokio::time::timeout(PATIENCE, server.ended()).await;
    let ended = ended.unwrap_or_else(|_| panic!("it does not end:\n{}", server.last_words()));
    assert_eq!(ended.code(), Some(75), "{}", server.last_words());
    let words = server.last_words();
    assert!(words.contains("took this one for gone") && words.contains("started again"), "{words}");
    one.up().await;
    let hold = one.program().post("/v1/holds", &question()).await.must(201);
    let shown = two.admin().hold(&hold["id"]).await;
    two.admin().approve(&shown).await;
    let path =
        format!("/v1/holds/{}/wait?until=decided&timeout_s=30", hold["id"].as_str().unwrap());
    assert_eq!(one.program().get(&path).await.must(200)["state"], "approved");
}

/// The database takes answers, and this node's lease cannot be renewed: nothing begins, and nothing is tried again and
/// again. When it is renewed the call begins, once.
#[tokio::test(flavor = "multi_thread")]
async fn i17_an_approved_call_waits_for_the_lease_and_the_log_does_not_grow_meanwhile() {
    let cluster = Cluster::start_durable().await;
    let mut one = node(&cluster);
    one.up().await;
    let session = one.admin().session("ops").await;
    one.admin().say(&session, "go").await;
    let hold = one.admin().held(&session, 1).await.remove(0);
    let (shop, blocker) = (cluster.shop().await, cluster.shop().await);
    blocker.run("BEGIN; SELECT 1 FROM holdpoint.nodes FOR UPDATE").await;
    let over = async {
        while one.stranger().get("/readyz").await.status != 503 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, over).await.expect("its lease runs out");
    one.admin().approve(&hold).await;
    let commits = "SELECT count(*) FROM holdpoint.journal";
    let before = shop.number(commits).await;
    for _ in 0..100 {
        one.admin().read(&session).await;
    }
    assert_eq!(shop.number(commits).await, before, "nothing happens without a lease");
    assert!(one.witness().lines().unwrap().is_empty(), "it has begun without a lease");
    blocker.run("COMMIT").await;
    let begun = async {
        while one.witness().lines().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, begun).await.expect("it begins when the lease is renewed");
    let events = one.audited().await;
    assert_eq!(count_events(&events, "call_started"), 1, "{events:?}");
    assert_eq!(one.witness().lines().unwrap().len(), 1);
}
