//! Bodies that no client sends: no fault of ours, and no change of state.

use reqwest::Method;
use serde_json::{Value, json};

use crate::prompts::STRATEGY;
use crate::stage::stage;

/// Small steps by which a good body becomes a bad one.
fn spoiled(good: &Value) -> Vec<Vec<u8>> {
    let mut bodies: Vec<Vec<u8>> = [
        "",
        "null",
        "[]",
        "\"x\"",
        "7",
        "{",
        "}",
        "[[[[",
        "{\"a\":}",
        "\u{feff}{}",
        "{}{}",
        "\0",
        "true",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    bodies.push(vec![0xff, 0xfe, 0x00]);
    bodies.push(format!("{}{}", "{\"a\":".repeat(5_000), "}".repeat(5_000)).into_bytes());
    let odd = [
        json!(null),
        json!(7),
        json!(-1e300),
        json!(true),
        json!([]),
        json!({}),
        json!([[]]),
        json!(""),
        json!("\u{0}"),
        json!("\u{202e}"),
        json!("x".repeat(100_000)),
        json!({"__proto__": 1}),
        json!(["x", 7]),
        json!({"toString": "x"}),
        json!("../../etc/passwd"),
        json!("hitl_'; DROP TABLE"),
    ];
    let fields = good.as_object().expect("an object");
    for name in fields.keys() {
        for value in &odd {
            let mut body = good.clone();
            body[name] = value.clone();
            bodies.push(body.to_string().into_bytes());
        }
        let mut body = good.clone();
        body.as_object_mut().expect("an object").remove(name);
        bodies.push(body.to_string().into_bytes());
        // Said twice: two readers would see two things.
        let twice = format!("{{\"{name}\":{},{}", fields[name], &good.to_string()[1..]);
        bodies.push(twice.into_bytes());
    }
    bodies
}

#[tokio::test(flavor = "multi_thread")]
async fn no_body_makes_a_fault_of_ours_or_changes_anything() {
    let stage = stage().await;
    let chat = stage.chat().await;
    let said = format!("call shell_cmd {{\"command\":\"ls\"}}\n{STRATEGY}");
    let prompts = stage.say(&chat, &said).await.asked();
    let good = [
        (
            "/worlds/my-world/tool-results",
            Method::POST,
            json!({
                "tool_call_id": prompts[0]["requestId"], "decision": "maybe", "scope": "unlimited",
                "toolName": "shell_cmd", "toolArgs": {"command": "rm"}, "agentId": "a1", "stream": false,
                "workingDirectory": "/", "choice": "x",
            }),
        ),
        (
            "/worlds/my-world/tool-results",
            Method::POST,
            json!({
                "tool_call_id": prompts[1]["requestId"], "choice": "Teal", "decision": "approve",
                "toolName": "client.humanIntervention", "agentId": "a1", "toolArgs": {"options": ["Teal"]},
            }),
        ),
        (
            "/worlds/my-world/hitl/respond",
            Method::POST,
            json!({
                "requestId": prompts[1]["requestId"], "answers": [{"questionId": "q", "optionIds": ["x"]}],
                "optionId": "x", "chatId": chat,
            }),
        ),
        ("/worlds/my-world/messages/stop", Method::POST, json!({"chatId": "chat-nowhere"})),
        ("/worlds/my-world/messages/msg_x", Method::DELETE, json!({"chatId": "chat-nowhere"})),
        (
            "/worlds/my-world/messages/msg_x",
            Method::PUT,
            json!({"chatId": "chat-nowhere", "newContent": "x"}),
        ),
    ];
    let before = stage.state().await;
    let mut sent = 0;
    for (path, method, good) in &good {
        for body in spoiled(good) {
            let shown = String::from_utf8_lossy(&body[..body.len().min(300)]).into_owned();
            let request = stage.request("", method.clone(), path).body(body);
            let reply = request.send().await.expect("a reply");
            let status = reply.status().as_u16();
            assert!(status < 500, "{status} {path} {shown}");
            let told: Value = reply.json().await.expect("JSON");
            let refused = told["code"].is_string() || told["accepted"] == false;
            assert!(refused, "{path} {shown}: {told}");
            sent += 1;
        }
    }
    assert!(sent > 400, "{sent}");
    assert_eq!((stage.state().await, stage.witness.ran().len()), (before, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn i05_a_body_that_says_two_things_says_nothing() {
    let stage = stage().await;
    let chat = stage.chat().await;
    let said = format!("call shell_cmd {{\"command\":\"ls\"}}\n{STRATEGY}");
    let prompts = stage.say(&chat, &said).await.asked();
    let (first, second) = (&prompts[0]["requestId"], &prompts[1]["requestId"]);
    let before = stage.state().await;
    for (path, body) in [
        (
            "tool-results",
            format!(
                r#"{{"tool_call_id":{first},"agentId":"a1","toolName":"shell_cmd","decision":"deny","decision":"approve"}}"#
            ),
        ),
        (
            "tool-results",
            format!(
                r#"{{"tool_call_id":{first},"tool_call_id":{first},"agentId":"a1","toolName":"shell_cmd","decision":"approve"}}"#
            ),
        ),
        (
            "tool-results",
            format!(
                r#"{{"tool_call_id":{second},"agentId":"a1","toolName":"client.humanIntervention","choice":"Canary","choice":"Blue-Green"}}"#
            ),
        ),
        ("hitl/respond", format!(r#"{{"requestId":{second},"optionId":"1","optionId":"2"}}"#)),
    ] {
        let path = format!("/worlds/my-world/{path}");
        let request = stage.request("", Method::POST, &path).body(body.clone());
        assert_eq!(request.send().await.expect("a reply").status(), 400, "{body}");
    }
    assert_eq!((stage.state().await, stage.witness.ran().len()), (before, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_message_body_makes_a_fault_of_ours() {
    let stage = stage().await;
    let chat = stage.chat().await;
    let good =
        json!({"message": "x", "chatId": "chat-nowhere", "stream": false, "sender": "human"});
    for body in spoiled(&good) {
        let shown = String::from_utf8_lossy(&body[..body.len().min(300)]).into_owned();
        let request = stage.request("", Method::POST, "/worlds/my-world/messages").body(body);
        let status = request.send().await.expect("a reply").status().as_u16();
        // Without a chat it is for the current one; everything else names none.
        let current = shown.contains("\"chatId\":null") || !shown.contains("chatId");
        assert!(matches!(status, 400 | 404) || (status == 200 && current), "{status} {shown}");
    }
    let path = "/worlds/my-world/messages";
    let blank = stage.post(path, json!({"message": "   ", "chatId": chat})).await;
    assert_eq!(blank.code(), (400, "VALIDATION_ERROR".into()));
    assert_eq!(stage.model.asked().len(), 2, "only what was said to the current chat was heard");
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_paths_and_methods_are_refused_and_looking_changes_nothing() {
    let stage = stage().await;
    let chat = stage.chat().await;
    stage.say(&chat, STRATEGY).await;
    let before = stage.state().await;
    for path in [
        "/worlds/%ff",
        "/worlds/..%2f..",
        "/worlds/my-world/agents/%00",
        "/worlds/my-world/setChat/%2e%2e",
        "/worlds//chats",
        "/worlds/my-world/nothing",
        "/nothing",
    ] {
        for method in [Method::GET, Method::POST, Method::DELETE, Method::PUT, Method::PATCH] {
            let reply = stage.ask("", method.clone(), path, json!({})).await;
            assert!((400..500).contains(&reply.status), "{method} {path}: {reply:?}");
        }
    }
    for path in [
        "/worlds",
        "/worlds/my-world",
        "/worlds/my-world/chats",
        "/worlds/my-world/status",
        "/worlds/my-world/agents",
        "/worlds/my-world/export",
        "/health",
        "/mcp/health",
    ] {
        stage.ask("", Method::GET, path, Value::Null).await;
    }
    assert_eq!(stage.state().await, before);
    let large = format!("{{\"requestId\":\"{}\"}}", "x".repeat(3 << 20));
    let request = stage.request("", Method::POST, "/worlds/my-world/hitl/respond").body(large);
    assert_eq!(request.send().await.expect("a reply").status(), 413);
}
