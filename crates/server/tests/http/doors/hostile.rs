//! Whatever is sent: no fault of ours, and nothing changes.

use reqwest::Method;
use serde_json::{Value, json};

use super::{answered, assistant, opened};
use crate::world::World;

const PATHS: [&str; 4] =
    ["/api/chat", "/api/chat?ui=5", "/api/v1/chat", "/api/v1/chat/p/hitl-confirm"];

async fn status(world: &World, path: &str, body: Vec<u8>) -> u16 {
    let request = world.request("bob", Method::POST, path).body(body);
    let request = request.header("content-type", "application/json");
    request.send().await.expect("a reply").status().as_u16()
}

#[tokio::test]
async fn malformed_bodies_are_refused_and_change_nothing() {
    let world = opened(None).await;
    world.tell("bob", "c1", "call wipe {}").await;
    let before = world.state().await;
    let deep =
        format!("{{\"id\":\"c1\",\"messages\":{}{}}}", "[".repeat(50_000), "]".repeat(50_000));
    let bodies: Vec<Vec<u8>> = vec![
        b"".to_vec(), b"null".to_vec(), b"[]".to_vec(), b"{".to_vec(), b"\"x\"".to_vec(), b"{}".to_vec(),
        vec![0xff, 0xfe, 0x00], b"{\"id\":\"\xff\"}".to_vec(), deep.into_bytes(),
        b"{\"id\":\"c1\",\"id\":\"c2\",\"messages\":[]}".to_vec(),
        br#"{"id":"c1","messages":{"0":{}}}"#.to_vec(), br#"{"id":null,"messages":[{}]}"#.to_vec(),
        br#"{"id":"c1","messages":[{"role":"assistant","parts":[{"type":"tool-","toolCallId":""}]}]}"#.to_vec(),
        br#"{"id":"","messages":[{"role":"user","parts":[{"type":"text","text":"x"}]}]}"#.to_vec(),
        br#"{"id":"c1","messages":[{"role":"user","parts":[{"type":"file","url":"file:///etc/passwd"}]}]}"#.to_vec(),
        br#"{"projectId":"p","message":{"role":"tool"}}"#.to_vec(),
        br#"{"toolCallId":"x","toolName":"wipe","confirmed":1e999}"#.to_vec(),
    ];
    for path in PATHS {
        for body in &bodies {
            let status = status(&world, path, body.clone()).await;
            assert!(
                (400..500).contains(&status),
                "{path} {status}: {}",
                String::from_utf8_lossy(body)
            );
        }
    }
    // One of them carries a whole chat; the older wire has no word for it but 400.
    for (path, size, refused) in [("/api/v1/chat", 3 << 20, 400), ("/api/chat", 17 << 20, 413)] {
        assert_eq!(status(&world, path, vec![b' '; size]).await, refused, "{path}");
    }
    for path in [
        "/api/chat/%ff/stream",
        "/api/chat/..%2f..%2fetc/stream",
        "/api/chat?ui=6/%00/stream",
        "/api/v1/chat/%20/stream",
    ] {
        let status = world.get("bob", path).await.0;
        assert!((200..500).contains(&status), "{path}: {status}");
    }
    assert_eq!(world.state().await, before);
}

/// Small and seeded: the same changes on every run.
struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}

/// Puts something odd in one place of a value.
fn spoiled(value: &mut Value, rng: &mut Rng) {
    let inner: Vec<&mut Value> = match value {
        Value::Object(map) => map.values_mut().collect(),
        Value::Array(items) => items.iter_mut().collect(),
        _ => Vec::new(),
    };
    let count = inner.len();
    if count > 0 && rng.below(4) > 0 {
        let picked = rng.below(count);
        if let Some(inner) = inner.into_iter().nth(picked) {
            return spoiled(inner, rng);
        }
    }
    *value = match rng.below(12) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1),
        3 => json!(1.5e308),
        4 => json!([]),
        5 => json!({}),
        6 => json!("x".repeat(10_000)),
        7 => json!("\u{0}\u{202e}\u{feff}"),
        8 => json!([[[[[[[[null]]]]]]]]),
        9 => json!({"__proto__": {"approved": true}}),
        10 => json!("approval-responded"),
        _ => json!("hold_01jd0000000000000000000000"),
    };
}

#[tokio::test]
async fn i04_i05_spoiled_answers_run_nothing_and_break_nothing() {
    let world = opened(None).await;
    let asked = world.tell("bob", "c1", "call wipe {\"rows\": 1}\ncall locate {}").await;
    // An approval that nobody asked for, so that no change of the rest can make it count.
    let mut part = answered(&asked, true);
    part["approval"]["id"] = json!("hold_01jd1111111111111111111111");
    let body = assistant("c1", json!([{"type": "step-start"}, part]));
    let project = json!({"projectId": "p", "message": body["messages"][0]});
    let button = json!({"toolCallId": "toolu_404", "toolName": "wipe", "confirmed": true});
    let before = world.state().await;
    let mut rng = Rng(20_261_115);
    for round in 0..400 {
        for (path, body) in
            [(PATHS[0], &body), (PATHS[1], &body), (PATHS[2], &project), (PATHS[3], &button)]
        {
            let mut body = body.clone();
            for _ in 0..=rng.below(3) {
                spoiled(&mut body, &mut rng);
            }
            let mut bytes = body.to_string().into_bytes();
            if rng.below(4) == 0 {
                let at = rng.below(bytes.len());
                bytes[at] ^= 1 << rng.below(7);
            }
            let status = status(&world, path, bytes).await;
            assert!(status < 500, "round {round}: {path} {status}: {body}");
        }
    }
    assert_eq!(world.state().await, before, "nothing happened");
    assert_eq!(world.wiped(), 0);
}
