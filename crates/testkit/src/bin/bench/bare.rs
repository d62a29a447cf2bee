//! What HTTP costs by itself: the same clients send the same requests over the same loopback, and are answered
//! at once with as many bytes. Nothing is read closely, decided or kept.

use std::time::Duration;

use domain::digest::Digest;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::cycle::Begun;
use crate::http;
use crate::report::Measured;

/// Bytes of our own replies, heads included.
const OPENED: usize = 465;
const ASKS: usize = 2_875;
const COUNTED: usize = 1_831;
const SETTLED: usize = 1_845;

pub(crate) async fn run(
    at_once: usize,
    time: Duration,
) -> Result<Measured, Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    let answering = tokio::spawn(async move {
        let mut connections = tokio::task::JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            connections.spawn(answer(stream));
        }
    });
    let measured = http::drive(&address, "nobody", &Begun::default(), at_once, time).await;
    answering.abort();
    measured
}

async fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let replies = Replies::new();
    let mut request = Vec::with_capacity(8 << 10);
    loop {
        request.clear();
        // A request of these clients is written at once, and so it comes.
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
        stream.write_all(replies.to(&request)).await?;
    }
}

struct Replies {
    opened: Vec<u8>,
    asks: Vec<u8>,
    counted: Vec<u8>,
    settled: Vec<u8>,
}

impl Replies {
    fn new() -> Replies {
        let json = |total| reply("content-type: application/json", r#"{"id":"ses_1""#, total);
        let digest = Digest::of(b"nothing");
        let hold = format!(
            "event: hold.opened\ndata: {{\"hold\":{{\"id\":\"hold_1\",\"digest\":\"{digest}\""
        );
        Replies {
            opened: json(OPENED),
            asks: reply("content-type: text/event-stream", &hold, ASKS),
            counted: json(COUNTED),
            settled: json(SETTLED),
        }
    }

    fn to(&self, request: &[u8]) -> &[u8] {
        let path = request.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
        match path {
            b"/v1/sessions" => &self.opened,
            path if path.ends_with(b"/messages") => &self.asks,
            path if path.ends_with(b"/answer") => &self.counted,
            _ => &self.settled,
        }
    }
}

/// A reply of so many bytes in all.
fn reply(more: &str, begin: &str, total: usize) -> Vec<u8> {
    let head = |length| format!("HTTP/1.1 200 OK\r\n{more}\r\ncontent-length: {length:4}\r\n\r\n");
    let length = total - head(0).len();
    (head(length) + &filled(begin, length)).into_bytes()
}

/// With the end of a line at its end.
fn filled(begin: &str, length: usize) -> String {
    format!("{begin}{}\n", "-".repeat(length - begin.len() - 1))
}
