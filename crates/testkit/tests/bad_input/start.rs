//! Servers that cannot start: each says why and what to do, ends with 1, and harms nothing.

use std::net::TcpListener;
use std::path::Path;

use rusqlite::Connection;
use testkit::served::{Served, run};

use crate::bad_input::namespace::Namespace;
use crate::bad_input::{CONFIG, SCRIPT, nothing_was_lost, one_hold};

/// Expects that a server with these settings ends with 1 and these words.
async fn ends_with(served: &Served, says: &[&str]) {
    let config = served.path("holdpoint.toml").display().to_string();
    let (code, out, said) =
        run(served.binary(), &["serve", "--config", &config], Path::new("/")).await;
    assert_eq!((code, &*out), (1, ""), "{said}");
    for words in says {
        assert!(said.contains(words), "{words:?} is not in: {said}");
    }
    assert!(!said.contains("panicked"), "{said}");
}

#[tokio::test]
async fn a_port_that_is_taken_is_named() {
    let mut served = Served::start(CONFIG, SCRIPT).await;
    let (_, session, hold) = one_hold(&served, "note a").await;
    served.stop().await;
    let address = format!("127.0.0.1:{}", served.port());
    let taken = TcpListener::bind(&address).expect("the port was free");
    ends_with(&served, &[&address, "in use", "listen"]).await;
    drop(taken);
    served.up().await;
    nothing_was_lost(&served, &session, &hold).await;
}

#[tokio::test]
async fn a_second_server_on_the_same_data_is_refused_and_the_first_goes_on() {
    let served = Served::start(CONFIG, SCRIPT).await;
    let (_, session, hold) = one_hold(&served, "note a").await;
    // On a port of its own, so that only the data stands in the way.
    let other = CONFIG.replace("127.0.0.1:@PORT@", "127.0.0.1:0");
    served.write("holdpoint.toml", &other);
    let data = served.path("data").display().to_string();
    ends_with(&served, &["another Holdpoint server is using", &data, "another data directory"])
        .await;
    nothing_was_lost(&served, &session, &hold).await;
}

#[tokio::test]
async fn a_database_from_a_newer_version_is_left_alone() {
    let mut served = Served::start(CONFIG, SCRIPT).await;
    let (_, session, hold) = one_hold(&served, "note a").await;
    served.stop().await;
    let version = |change: Option<i64>| {
        let database = Connection::open(served.database()).expect("a database");
        if let Some(version) = change {
            database.pragma_update(None, "user_version", version).expect("a version");
        }
        database.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a version")
    };
    let known: i64 = version(None);
    version(Some(known + 1));
    let bytes = std::fs::read(served.database()).expect("a file");
    let says = ["newer version of Holdpoint", "run that version, or restore a backup"];
    ends_with(&served, &says).await;
    assert!(std::fs::read(served.database()).expect("a file") == bytes, "it was touched");
    version(Some(known));
    served.up().await;
    nothing_was_lost(&served, &session, &hold).await;
}

#[tokio::test]
async fn somebody_elses_database_is_left_alone() {
    let served = Served::prepare(CONFIG, SCRIPT);
    std::fs::create_dir(served.path("data")).expect("a folder");
    let theirs = Connection::open(served.database()).expect("a database");
    theirs
        .execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")
        .expect("a table");
    drop(theirs);
    let bytes = std::fs::read(served.database()).expect("a file");
    ends_with(&served, &["is not a database of Holdpoint", "move it away"]).await;
    assert!(std::fs::read(served.database()).expect("a file") == bytes, "it was touched");
}

#[tokio::test]
async fn a_data_directory_that_is_a_file_is_told_with_the_remedy() {
    let served = Served::prepare(CONFIG, SCRIPT);
    std::fs::write(served.path("data"), "not a folder").expect("a file");
    ends_with(&served, &["data", "cannot be written to", "choose another data directory"]).await;
    assert_eq!(std::fs::read(served.path("data")).expect("a file"), b"not a folder");
}

#[tokio::test]
async fn a_read_only_data_directory_is_told_with_the_remedy() {
    let mut served = Served::start(CONFIG, SCRIPT).await;
    let (_, session, hold) = one_hold(&served, "note a").await;
    served.stop().await;
    let data = served.path("data");
    let config = served.path("holdpoint.toml").display().to_string();
    let words = ["serve", "--config", &config];
    let mut command = Namespace::here().read_only(&data, served.binary(), &words);
    let ended = command.output().await.expect("it starts");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    for words in ["cannot be written to", "make it writable", &data.display().to_string()] {
        assert!(said.contains(words), "{words:?} is not in: {said}");
    }
    Namespace::here().writable(&data);
    served.up().await;
    nothing_was_lost(&served, &session, &hold).await;
}
