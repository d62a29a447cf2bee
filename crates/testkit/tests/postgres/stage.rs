//! A shop on a cluster, and hosts for it.

use domain::call::{Call, Proposal};
use domain::digest::Digest;
use domain::id::CallId;
use domain::json::Arguments;
use domain::outcome::Outcome;
use ports::tool_host::{PrepareError, Prepared, ToolHost};
use serde_json::json;
use testkit::cleared::{cleared, open};
use testkit::postgres::{Cluster, PASSWORD};
use tokio_util::sync::CancellationToken;
use tools::sql::postgres::{PgModify, PgModifyConfig, PgQuery, PgQueryConfig, PgTarget};

pub(crate) const SELL: &str = "INSERT INTO orders (customer, status) VALUES ('new', 2)";

pub(crate) struct Shop {
    pub(crate) cluster: Cluster,
}

impl Shop {
    pub(crate) async fn open() -> Shop {
        let cluster = Cluster::start().await;
        let shop = cluster.shop().await;
        shop.run(
            "CREATE TABLE orders (id serial PRIMARY KEY, customer text NOT NULL, status int NOT NULL);
             INSERT INTO orders (customer, status) SELECT 'c' || n, n % 5 FROM generate_series(1, 100) n;
             CREATE TABLE lines (id serial PRIMARY KEY, order_id int REFERENCES orders ON DELETE CASCADE);
             INSERT INTO lines (order_id) SELECT n FROM generate_series(1, 30) n;
             CREATE TABLE secrets (word text);
             INSERT INTO secrets VALUES ('hush');
             ANALYZE",
        )
        .await;
        Shop { cluster }
    }

    pub(crate) fn target(&self) -> PgTarget {
        PgTarget::parse(&self.cluster.url()).unwrap()
    }

    pub(crate) fn target_at(&self, port: u16) -> PgTarget {
        // The same server to whoever reads the context: only the way to it differs.
        PgTarget::parse(&self.cluster.url_at(port)).unwrap()
    }

    pub(crate) fn modify(&self, change: impl FnOnce(&mut PgModifyConfig)) -> PgModify {
        let mut config = PgModifyConfig::new(self.target());
        change(&mut config);
        PgModify::new(config).unwrap()
    }

    pub(crate) fn query(&self, change: impl FnOnce(&mut PgQueryConfig)) -> PgQuery {
        let mut config = PgQueryConfig::new(self.target());
        change(&mut config);
        PgQuery::new(config).unwrap()
    }

    pub(crate) async fn number(&self, sql: &str) -> i64 {
        self.cluster.shop().await.number(sql).await
    }

    /// Effects and markers, which must always be the same.
    pub(crate) async fn sold_and_marked(&self) -> (i64, i64) {
        let shop = self.cluster.shop().await;
        let sold = shop.number("SELECT count(*) FROM orders WHERE customer = 'new'").await;
        let there = "SELECT count(*) FROM pg_class WHERE relname = 'holdpoint_marker'";
        let marked = match shop.number(there).await {
            0 => 0,
            _ => shop.number("SELECT count(*) FROM holdpoint_marker WHERE rows IS NOT NULL").await,
        };
        (sold, marked)
    }
}

pub(crate) fn arguments(sql: &str) -> Arguments {
    Arguments::from_value(json!({"sql": sql})).unwrap()
}

pub(crate) async fn prepare(host: &dyn ToolHost, sql: &str) -> Result<Prepared, PrepareError> {
    let prepared = host.prepare(&arguments(sql)).await;
    assert!(!format!("{prepared:?}").contains(PASSWORD), "{prepared:?}");
    prepared
}

/// Why a statement is refused for good.
pub(crate) async fn unsound(host: &dyn ToolHost, sql: &str) -> String {
    match prepare(host, sql).await {
        Err(PrepareError::Unsound(why)) => why,
        other => panic!("{sql}: {other:?}"),
    }
}

/// A call that nobody could count: it runs whatever it would change.
pub(crate) fn call(host: &dyn ToolHost, sql: &str, number: u128) -> Call {
    let proposal = Proposal {
        id: CallId::new(1, number),
        tool_use_id: format!("toolu_{number}"),
        agent: "ops".into(),
        session: None,
        arguments: arguments(sql),
        context: domain::call::ExecutionContext::default(),
        policy: Digest::of(b""),
    };
    Call::propose(proposal, host.tool())
}

pub(crate) async fn run(host: &dyn ToolHost, call: &Call, attempt: u32) -> Outcome {
    let outcome =
        host.run(cleared(call.clone(), attempt), open(), CancellationToken::new()).await.unwrap();
    assert!(!format!("{outcome:?}").contains(PASSWORD), "{outcome:?}");
    outcome
}

/// As the engine does before it writes its intent down.
pub(crate) async fn announce(shop: &Shop, call: &Call, attempt: u32) {
    shop.modify(|_| {}).announce(call, attempt).await.unwrap();
}

pub(crate) async fn done(host: &dyn ToolHost, sql: &str, number: u128) -> serde_json::Value {
    let context = prepare(host, sql).await.unwrap().context;
    let mut parts = call(host, sql, number).parts();
    parts.context = context;
    match run(host, &Call::fixed(parts), 1).await {
        Outcome::Succeeded(output) => serde_json::from_str(&output.text).unwrap(),
        other => panic!("{sql}: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn failed(outcome: Outcome) -> String {
    match outcome {
        Outcome::Failed(output) => output.whole(),
        other => panic!("wanted a failure, got {other:?}"),
    }
}
