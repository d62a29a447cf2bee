//! The real program on a real database: asked, approved, killed in between, and done once.

use serde_json::{Value, json};
use testkit::postgres::PASSWORD;
use testkit::served::{Served, results, unsound};

use super::proxy::{Fault, Proxy};
use super::stage::Shop;

const CONFIG: &str = r#"
@SERVER@
@SCRIPTED@

[[agents]]
id = "clerk"
model = "scripted"
tools = ["sql_modify"]

[[tools]]
name = "sql_modify"
kind = "sql"
database_file = "shop"
access = "modify"
tables = ["orders", "lines"]
rows_max = 50

[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]
"#;

const SCRIPT: &str = r#"
[[turn]]
when = { says = "clean up" }
calls = [{ tool = "sql_modify", arguments = { sql = "DELETE FROM orders WHERE status = 1" } }]

[[turn]]
when = { says = "clean up", after_tools = ["sql_modify"] }
text = "Done."

[[turn]]
when = { says = "sweep" }
calls = [{ tool = "sql_modify", arguments = { sql = "DELETE FROM orders" } }]

[[turn]]
when = { says = "sweep", after_tools = ["sql_modify"] }
text = "Then not."
"#;

async fn served(shop: &Shop, port: u16) -> Served {
    let mut served = Served::prepare(CONFIG, SCRIPT);
    served.write("shop", &format!("{}\n", shop.cluster.url_at(port)));
    served.up().await;
    served
}

fn result(session: &Value) -> Value {
    serde_json::from_str(&results(session)[0].1).unwrap()
}

fn log_keeps_the_password(served: &Served) {
    let log = std::fs::read_to_string(served.log()).unwrap();
    assert!(!log.contains(PASSWORD), "{log}");
}

#[tokio::test]
async fn rows_change_once_after_an_approval_and_not_before() {
    let shop = Shop::open().await;
    let served = served(&shop, shop.cluster.port()).await;
    let ana = served.admin();
    let session = ana.session("clerk").await;
    ana.say(&session, "clean up").await;
    let hold = ana.held(&session, 1).await.remove(0);
    assert_eq!(hold["title"], "Delete 20 rows from orders");
    assert!(!hold.to_string().contains(PASSWORD));
    assert_eq!(shop.number("SELECT count(*) FROM orders").await, 100);
    ana.approve(&hold).await;
    let read = ana.run_is(&session, "completed").await;
    assert_eq!(result(&read), json!({"rows": 20, "also_changed": 6}));
    assert_eq!(shop.number("SELECT count(*) FROM orders").await, 80);
    assert_eq!(unsound(&read), Vec::<String>::new());

    // More than may ever change is not even asked about.
    let session = ana.session("clerk").await;
    ana.say(&session, "sweep").await;
    let read = ana.run_is(&session, "completed").await;
    assert!(results(&read)[0].1.contains("no more than 50 are allowed"), "{read}");
    assert_eq!(shop.number("SELECT count(*) FROM orders").await, 80);
    log_keeps_the_password(&served);
    let log = served.audited().await;
    assert!(!json!(log).to_string().contains(PASSWORD));
}

#[tokio::test]
async fn i19_a_server_that_is_killed_around_the_commit_makes_the_change_once() {
    for fault in [Fault::HoldCommit, Fault::HoldAnswer] {
        let shop = Shop::open().await;
        let proxy = Proxy::start(shop.cluster.port(), fault).await;
        let mut served = served(&shop, proxy.port).await;
        let ana = served.admin();
        let session = ana.session("clerk").await;
        ana.say(&session, "clean up").await;
        let hold = ana.held(&session, 1).await.remove(0);
        ana.approve(&hold).await;
        proxy.struck().await;
        served.kill().await;
        let there = shop.number("SELECT count(*) FROM orders").await;
        assert_eq!(there, if fault == Fault::HoldCommit { 100 } else { 80 }, "{fault:?}");
        served.up().await;
        let read = ana.run_is(&session, "completed").await;
        assert_eq!(result(&read), json!({"rows": 20, "also_changed": 6}), "{fault:?}");
        // What the dead server had sent comes late, and to nobody.
        proxy.let_go();
        assert_eq!(shop.number("SELECT count(*) FROM orders").await, 80, "{fault:?}");
        let marked = "SELECT count(*) FROM holdpoint_marker WHERE rows IS NOT NULL";
        assert_eq!(shop.number(marked).await, 1, "{fault:?}");
        assert_eq!(unsound(&read), Vec::<String>::new());
        log_keeps_the_password(&served);
    }
}
