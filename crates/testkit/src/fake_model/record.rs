//! Every request that came, byte for byte, and how it ended.

use axum::body::Bytes;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::api::Api;

#[derive(Clone, Debug)]
pub struct Recorded {
    pub method: String,
    pub path: String,
    pub query: Option<String>,
    /// In the order in which they came, names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    pub at: Instant,
    /// None while nothing was answered.
    pub status: Option<u16>,
    pub ended: Ended,
}

/// How the answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It is still under way.
    Open,
    Whole,
    /// As the script said: cut, or ended before its time.
    Cut,
    /// The client went away.
    HungUp,
}

impl Recorded {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A request for a turn.
    pub fn api(&self) -> Option<Api> {
        Api::of_path(&self.path).filter(|_| self.method == "POST")
    }

    /// As the control door tells it. Times are milliseconds since the server started.
    pub(super) fn told(&self, since: Instant) -> Value {
        let headers: serde_json::Map<String, Value> =
            self.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({
            "method": self.method,
            "path": self.path,
            "query": self.query,
            "headers": headers,
            "body": String::from_utf8_lossy(&self.body),
            "at_ms": self.at.duration_since(since).as_millis() as u64,
            "status": self.status,
            "ended": format!("{:?}", self.ended).to_lowercase(),
        })
    }
}
