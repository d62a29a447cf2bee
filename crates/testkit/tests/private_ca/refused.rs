//! Whoever cannot show who they are gets nothing, and the operator is told what to do.

use serde_json::Value;
use testkit::binary::Binary;
use testkit::private_ca::{PrivateCa, Shows};
use testkit::served::{Served, run};

use crate::private_ca::site::{SCRIPT, Site, secrets};

/// What is wrong with each channel's server.
async fn wrong(site: &Site, binary: Binary) -> Vec<(String, String)> {
    let served = Served::prepare_with(binary, &site.config(), SCRIPT);
    secrets(&served);
    let folder = served.path("");
    let (code, said, log) = run(served.binary(), &["channels", "check", "--json"], &folder).await;
    assert_eq!(code, 1, "{said} {log}");
    let found: Value = serde_json::from_str(&said).unwrap_or_else(|why| panic!("{why}: {said}"));
    let channels = found["channels"].as_array().expect("a list").iter();
    channels
        .map(|channel| {
            let checks = channel["checks"].as_array().expect("a list");
            let wrong: Vec<&Value> = checks.iter().filter(|one| one["well"] == false).collect();
            assert_eq!(wrong.len(), 1, "only the server is wrong: {channel}");
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (text(&channel["name"]), text(&wrong[0]["wrong"]))
        })
        .collect()
}

async fn check(shows: Shows, known: bool, says: &str, remedy: &str) {
    let ca = PrivateCa::new();
    let site = Site::new(&ca, shows).await;
    let binary = Binary::find();
    // Somebody else's authority is as good as none.
    let other = PrivateCa::new();
    let knows = if known { &ca } else { &other };
    let wrong = wrong(&site, knows.believed_by(&binary)).await;
    let names: Vec<&str> = wrong.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["implicit", "program", "starttls"]);
    for (name, why) in &wrong {
        assert!(why.contains(says) && why.contains(remedy), "{shows:?} {name}: {why}");
    }
    for mail in [&site.starttls, &site.implicit] {
        assert!(mail.logins().is_empty() && mail.letters().is_empty(), "no password is shown");
    }
    assert!(site.program.asked().is_empty(), "and the program hears nothing");
}

#[tokio::test]
async fn a_certificate_for_another_name() {
    check(Shows::OtherName, true, "not valid for name", "write the name that it is for").await;
}

#[tokio::test]
async fn a_certificate_that_has_expired() {
    check(Shows::Expired, true, "expired", "renew it there").await;
}

#[tokio::test]
async fn a_certificate_that_vouches_for_itself() {
    check(Shows::SelfSigned, true, "invalid peer certificate", "signed by itself").await;
}

#[tokio::test]
async fn an_authority_that_nobody_told_us_of() {
    check(Shows::Good, false, "invalid peer certificate", "set SSL_CERT_FILE").await;
}
