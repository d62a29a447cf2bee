//! A tool that is an HTTP request, on the real program: shown, approved, sent once.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use testkit::served::{Served, results, unsound};

const TOKEN: &str = "Bearer canary-of-the-operator";

const CONFIG: &str = r#"
@SERVER@
@SCRIPTED@

[[agents]]
id = "clerk"
model = "scripted"
tools = ["open_ticket"]

[[tools]]
name = "open_ticket"
kind = "http"
description = "Opens a ticket."
method = "POST"
url = "http://127.0.0.1:@SERVICE@/v1/{project}/tickets"
headers_file = { Authorization = "token" }
body = { title = "{title}" }
allow_private_addresses = true
input_schema = { type = "object", required = ["project", "title"], properties = { project = { type = "string" }, title = { type = "string" } } }

[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]
"#;

const SCRIPT: &str = r#"
[[turn]]
when = { says = "help" }
calls = [{ tool = "open_ticket", arguments = { project = "a b", title = "on \"fire\"" } }]

[[turn]]
when = { says = "help", after_tools = ["open_ticket"] }
text = "Done."
"#;

/// Tells of every request, and answers it with what it was sent.
fn service() -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (told, heard) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut request, mut length) = (String::new(), 0);
            while stream.read_line(&mut request).unwrap() > 2 {
                let last = request.lines().last().unwrap().to_ascii_lowercase();
                if let Some(value) = last.strip_prefix("content-length: ") {
                    length = value.parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            request.push_str(std::str::from_utf8(&body).unwrap());
            let answer =
                format!("HTTP/1.1 201 Created\r\ncontent-length: {}\r\n\r\n", request.len());
            stream.get_mut().write_all(format!("{answer}{request}").as_bytes()).unwrap();
            if told.send(request).is_err() {
                return;
            }
        }
    });
    (port, heard)
}

#[tokio::test]
async fn a_request_is_shown_approved_and_sent_once_and_its_secret_stays() {
    let (port, heard) = service();
    let mut served = Served::prepare(&CONFIG.replace("@SERVICE@", &port.to_string()), SCRIPT);
    served.write("token", &format!("{TOKEN}\n"));
    served.up().await;
    let ana = served.admin();
    let session = ana.session("clerk").await;
    ana.say(&session, "help").await;
    let hold = ana.held(&session, 1).await.remove(0);
    let line = format!("POST http://127.0.0.1:{port}/v1/a%20b/tickets");
    assert_eq!(hold["title"], line);
    let shown = hold.to_string();
    assert!(shown.contains("‹secret ") && !shown.contains("canary-of-the-operator"), "{shown}");
    assert!(heard.try_recv().is_err(), "nobody has approved it yet");

    served.kill().await;
    served.up().await;
    ana.approve(&hold).await;
    let read = ana.run_is(&session, "completed").await;
    let request = heard.recv().unwrap();
    assert!(request.starts_with("POST /v1/a%20b/tickets HTTP/1.1\r\n"), "{request}");
    assert!(
        request.to_ascii_lowercase().contains("authorization: bearer canary-of-the-operator\r\n")
    );
    assert!(request.ends_with(r#"{"title":"on \"fire\""}"#), "{request}");
    assert!(heard.try_recv().is_err(), "once");
    // The service repeated everything; the model was told all but the secret.
    let result = &results(&read)[0].1;
    assert!(result.contains("‹secret ") && result.contains("POST /v1/a%20b/tickets"), "{result}");
    let everything = format!(
        "{read} {} {}",
        serde_json::Value::from(served.audited().await),
        std::fs::read_to_string(served.log()).unwrap()
    );
    assert!(!everything.contains("canary-of-the-operator"));
    assert_eq!(unsound(&read), Vec::<String>::new());
}
