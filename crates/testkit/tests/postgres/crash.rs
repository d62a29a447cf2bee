//! I-19: whatever ends, and whenever, there are as many effects as markers, one at the most, and
//! recovery tells the truth.

use domain::outcome::Outcome;
use ports::tool_host::{Recovery, ToolHost};
use testkit::cleared::{cleared, open};
use tokio_util::sync::CancellationToken;
use tools::sql::postgres::{PgModify, PgModifyConfig};

use super::proxy::{Fault, Proxy};
use super::stage::{SELL, Shop, announce, call, failed, run};

fn through(shop: &Shop, proxy: &Proxy) -> PgModify {
    PgModify::new(PgModifyConfig::new(shop.target_at(proxy.port))).unwrap()
}

/// Looks back as the next server would, and brings the call to its end.
async fn recovered(shop: &Shop, number: u128, before: i64, what: &str) {
    let host = shop.modify(|_| {});
    let call = call(&host, SELL, number);
    let found = host.recover(&call, 1).await;
    let (sold, marked) = shop.sold_and_marked().await;
    assert_eq!(sold, marked, "{what}");
    match found {
        Recovery::Done(Outcome::Succeeded(output)) => {
            assert_eq!((sold, output.text.as_str()), (before + 1, r#"{"rows":1}"#), "{what}");
        }
        Recovery::NeverHappened => {
            assert_eq!(sold, before, "{what}");
            assert!(failed(run(&host, &call, 1).await).contains("given up"), "{what}");
            assert_eq!(shop.sold_and_marked().await, (before, before), "{what}");
            let again = run(&host, &call, 2).await;
            assert!(matches!(again, Outcome::Succeeded(_)), "{what}: {again:?}");
        }
        other => panic!("{what}: {other:?}"),
    }
    assert_eq!(shop.sold_and_marked().await, (before + 1, before + 1), "{what}");
}

#[tokio::test]
async fn i19_the_client_dies_before_any_message_of_a_change() {
    let shop = Shop::open().await;
    let mut cuts = 0;
    for cut in 1.. {
        let proxy = Proxy::start(shop.cluster.port(), Fault::CutBefore(cut)).await;
        let host = through(&shop, &proxy);
        let call = call(&host, SELL, cut.into());
        announce(&shop, &call, 1).await;
        let before = shop.sold_and_marked().await.0;
        let died = tokio::select! {
            biased;
            // The whole client is gone: nothing of it runs on.
            () = proxy.struck() => true,
            outcome = host.run(cleared(call, 1), open(), CancellationToken::new()) => {
                assert!(proxy.has_struck() || matches!(outcome, Ok(Outcome::Succeeded(_))), "{outcome:?}");
                proxy.has_struck()
            }
        };
        drop(host);
        recovered(&shop, cut.into(), before, &format!("cut before message {cut}")).await;
        if !died {
            // All that was left to cut was the goodbye.
            assert!(proxy.messages() <= cut, "{} messages, and no cut", proxy.messages());
            break;
        }
        cuts += 1;
    }
    assert!(cuts > 40, "a change has more messages than {cuts}");
}

#[tokio::test]
async fn i19_i38_the_line_is_cut_before_any_message_and_the_client_finds_out() {
    let shop = Shop::open().await;
    let (mut made, mut not_made) = (0, 0);
    for cut in 1.. {
        let proxy = Proxy::start(shop.cluster.port(), Fault::CutBefore(cut)).await;
        let host = through(&shop, &proxy);
        let call = call(&host, SELL, cut.into());
        announce(&shop, &call, 1).await;
        let before = shop.sold_and_marked().await.0;
        let outcome = run(&host, &call, 1).await;
        let (sold, marked) = shop.sold_and_marked().await;
        assert_eq!(sold, marked, "cut before message {cut}");
        match outcome {
            Outcome::Succeeded(_) => {
                assert_eq!(sold, before + 1, "cut before message {cut}");
                made += 1;
            }
            Outcome::Failed(output) => {
                assert_eq!(sold, before, "cut before message {cut}: {}", output.text);
                assert!(output.text.starts_with("Nothing was changed: "), "{}", output.text);
                not_made += 1;
            }
            Outcome::Unknown { evidence } => panic!("the database could be asked: {evidence}"),
        }
        if !proxy.has_struck() {
            break;
        }
    }
    assert!(made >= 2, "an answer to COMMIT that was lost is found again");
    assert!(not_made > 40, "{not_made}");
}

#[tokio::test]
async fn i19_the_server_dies_around_the_commit() {
    let mut shop = Shop::open().await;
    let mut number = 1_000;
    for (fault, happens) in [(Fault::HoldCommit, false), (Fault::HoldAnswer, true)] {
        number += 1;
        let proxy = Proxy::start(shop.cluster.port(), fault).await;
        let host = through(&shop, &proxy);
        let call = call(&host, SELL, number);
        announce(&shop, &call, 1).await;
        let before = shop.sold_and_marked().await.0;
        let dying = async {
            proxy.struck().await;
            shop.cluster.kill();
            proxy.let_go();
            shop.cluster.up().await;
        };
        let (outcome, ()) = tokio::join!(run(&host, &call, 1), dying);
        let (sold, marked) = shop.sold_and_marked().await;
        assert_eq!(
            (sold, marked),
            (before + i64::from(happens), before + i64::from(happens)),
            "{fault:?}"
        );
        match happens {
            true => assert!(matches!(outcome, Outcome::Succeeded(_)), "{fault:?}: {outcome:?}"),
            false => assert!(failed(outcome).contains("did not happen"), "{fault:?}"),
        }
    }
}

#[tokio::test]
async fn i19_a_backend_that_is_ended_around_the_commit_leaves_all_or_nothing() {
    let shop = Shop::open().await;
    for (number, fault, happens) in [(1, Fault::HoldCommit, 0), (2, Fault::HoldAnswer, 1)] {
        let proxy = Proxy::start(shop.cluster.port(), fault).await;
        let host = through(&shop, &proxy);
        let call = call(&host, SELL, number);
        announce(&shop, &call, 1).await;
        let ending = async {
            proxy.struck().await;
            let admin = shop.cluster.connect("postgres", "shop").await;
            let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE 'holdpoint call_%'";
            assert_eq!(admin.number(end).await, 1);
            proxy.let_go();
        };
        let (outcome, ()) = tokio::join!(run(&host, &call, 1), ending);
        assert_eq!(matches!(outcome, Outcome::Succeeded(_)), happens == 1, "{outcome:?}");
        assert_eq!(shop.sold_and_marked().await, (happens, happens));
    }
}

#[tokio::test]
async fn i17_a_client_that_slept_through_its_recovery_commits_nothing() {
    let shop = Shop::open().await;
    let proxy = Proxy::start(shop.cluster.port(), Fault::HoldCommit).await;
    let sleeper = through(&shop, &proxy);
    let awake = shop.modify(|_| {});
    let call = call(&awake, SELL, 1);
    announce(&shop, &call, 1).await;
    let meanwhile = async {
        proxy.struck().await;
        // Its COMMIT is on the way, and somebody looks into the call.
        let found = awake.recover(&call, 1).await;
        assert_eq!(found, Recovery::NeverHappened);
        assert_eq!(shop.sold_and_marked().await, (0, 0));
        proxy.let_go();
    };
    let (late, ()) = tokio::join!(run(&sleeper, &call, 1), meanwhile);
    assert!(failed(late).starts_with("Nothing was changed: "));
    assert_eq!(shop.sold_and_marked().await, (0, 0));
    assert!(matches!(run(&awake, &call, 2).await, Outcome::Succeeded(_)));
    assert_eq!(shop.sold_and_marked().await, (1, 1));
}

#[tokio::test]
async fn i19_racing_attempts_change_once_and_a_server_that_is_away_is_unknown() {
    let mut shop = Shop::open().await;
    let host = shop.modify(|_| {});
    let call = call(&host, SELL, 1);
    announce(&shop, &call, 1).await;
    let (a, b, c) = tokio::join!(run(&host, &call, 1), run(&host, &call, 2), run(&host, &call, 3));
    for outcome in [a, b, c] {
        // One that was too late for its turn says so; it changed nothing.
        if !matches!(outcome, Outcome::Succeeded(_)) {
            assert!(failed(outcome).starts_with("Nothing was changed: "));
        }
    }
    assert_eq!(shop.sold_and_marked().await, (1, 1));
    assert!(matches!(run(&host, &call, 4).await, Outcome::Succeeded(_)), "what was recorded");
    assert_eq!(shop.sold_and_marked().await, (1, 1));
    shop.cluster.kill();
    let Recovery::Unknown { evidence } = host.recover(&call, 1).await else { panic!("no proof") };
    assert!(evidence.contains("cannot be reached"), "{evidence}");
    assert!(failed(run(&host, &call, 5).await).contains("cannot be reached"));
}
