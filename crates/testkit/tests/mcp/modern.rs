//! Servers made with the official Python package, of the modern era: their questions come as results.

use serde_json::json;

use crate::mcp::world::{
    ALLOW, Service, call, last_words, prepare, program, python, question, service,
};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/servers/modern.py");

async fn signs(server: &str) {
    let mut served = prepare(server, ALLOW, &["sign"]);
    served.up().await;
    let ana = served.admin();
    let session = call(&ana, "sign", &json!({"letter": "Dear all."})).await;
    let asked = question(&ana).await;
    assert_eq!(
        (&asked["kind"], &asked["title"]),
        (&json!("choose"), &json!("mcp asks: Who signs?"))
    );
    ana.answer(&asked, json!({"choose": ["Ben"]})).await.must(200);
    assert_eq!(
        last_words(&ana, &session).await,
        "Done: Dear all. Yours, Ben\n{\"result\":\"Dear all. Yours, Ben\"}"
    );

    let session = call(&ana, "sign", &json!({"letter": "Dear all."})).await;
    let asked = question(&ana).await;
    ana.answer(&asked, json!({"verdict": "deny"})).await.must(200);
    let said = last_words(&ana, &session).await;
    assert!(said.starts_with("Failed: "), "{said}");
    served.stop().await;
}

#[tokio::test]
async fn over_pipes() {
    signs(&program(&[&python(), "-B", SERVER], "")).await;
}

#[tokio::test]
async fn over_http() {
    let letters = Service::start(|port| {
        let mut command = std::process::Command::new(python());
        command.args(["-B", SERVER, &port.to_string()]);
        command
    })
    .await;
    signs(&service(&letters.url("/mcp"), "")).await;
}
