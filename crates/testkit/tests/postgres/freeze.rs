//! What has no connection yet when all is frozen does not begin when the connection comes (I-52).

use domain::outcome::Outcome;
use ports::start_gate::StartGate;
use ports::tool_host::{Recovery, ToolHost};
use testkit::cleared::cleared;
use tokio_util::sync::CancellationToken;
use tools::sql::postgres::{PgModify, PgModifyConfig, PgQuery, PgQueryConfig};

use super::proxy::{Fault, Proxy};
use super::stage::{SELL, Shop, announce, call, run};

#[tokio::test]
async fn i52_a_change_that_waits_for_its_connection_does_not_begin_after_a_freeze() {
    let shop = Shop::open().await;
    let proxy = Proxy::start(shop.cluster.port(), Fault::HoldGreeting("holdpoint call_")).await;
    let host = PgModify::new(PgModifyConfig::new(shop.target_at(proxy.port))).unwrap();
    let [sale, crashed] = [1, 2].map(|number| call(&host, SELL, number));
    for call in [&sale, &crashed] {
        announce(&shop, call, 1).await;
    }
    let (gate, stop) = (StartGate::default(), CancellationToken::new());
    let refused = host.run(cleared(sale.clone(), 1), gate.start(stop.clone()), stop.clone());
    let freezing = async {
        proxy.struck().await;
        gate.close();
        gate.idle().await;
        proxy.let_go();
    };
    let (refused, ()) = tokio::join!(refused, freezing);
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(shop.sold_and_marked().await, (0, 0));
    let again = host.run(cleared(crashed.clone(), 1), gate.start(stop.clone()), stop).await;
    assert!(again.is_err(), "{again:?}");
    let found = host.recover(&crashed, 1).await;
    assert_eq!(found, Recovery::NeverHappened, "its traces say that it did not begin");
    gate.open();
    announce(&shop, &sale, 2).await;
    assert!(matches!(run(&host, &sale, 2).await, Outcome::Succeeded(_)));
    assert_eq!(shop.sold_and_marked().await, (1, 1));
}

#[tokio::test]
async fn i52_a_query_that_waits_for_its_connection_does_not_begin_after_a_freeze() {
    let shop = Shop::open().await;
    for sql in ["SELECT count(*) FROM orders", "EXPLAIN SELECT 1"] {
        let proxy = Proxy::start(shop.cluster.port(), Fault::HoldGreeting("holdpoint query")).await;
        let host = PgQuery::new(PgQueryConfig::new(shop.target_at(proxy.port))).unwrap();
        let (gate, stop) = (StartGate::default(), CancellationToken::new());
        let count = call(&host, sql, 1);
        let refused = host.run(cleared(count.clone(), 1), gate.start(stop.clone()), stop.clone());
        let freezing = async {
            proxy.struck().await;
            gate.close();
            gate.idle().await;
            proxy.let_go();
        };
        let (refused, ()) = tokio::join!(refused, freezing);
        assert!(refused.is_err(), "{sql}: {refused:?}");
        assert!(matches!(run(&host, &count, 2).await, Outcome::Succeeded(_)), "{sql}");
    }
}
