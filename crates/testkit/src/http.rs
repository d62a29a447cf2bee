//! A small client for the native API that tells a lost connection from an answer.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use serde_json::Value;

/// On loopback everything but a long poll is answered in milliseconds, even by a debug build.
const PATIENCE: Duration = Duration::from_secs(15);

/// One caller of one server.
#[derive(Clone, Debug)]
pub struct Api {
    http: reqwest::Client,
    base: String,
    token: Option<String>,
    patience: Duration,
}

/// What the server said.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    /// Null if it was lost on the way; the status was seen all the same.
    pub body: Value,
}

/// Nobody knows whether the server did what it was asked.
#[derive(Clone, Debug)]
pub struct Lost(pub String);

impl Reply {
    pub fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// A text of the body; empty if there is none.
    pub fn text(&self, key: &str) -> &str {
        self.body[key].as_str().unwrap_or_default()
    }
}

impl Api {
    pub fn new(base: &str, token: Option<&str>) -> Api {
        // Whoever came first installed the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .expect("a client without settings");
        Api { http, base: base.to_owned(), token: token.map(str::to_owned), patience: PATIENCE }
    }

    /// The same caller, who waits only so long for an answer.
    pub fn who_waits(&self, patience: Duration) -> Api {
        Api { patience, ..self.clone() }
    }

    /// The same server, another caller.
    pub fn as_caller(&self, token: &str) -> Api {
        Api { token: Some(token.to_owned()), ..self.clone() }
    }

    pub async fn get(&self, path: &str) -> Result<Reply, Lost> {
        said(self.request(Method::GET, path)).await
    }

    /// `key` makes repeats of one request one.
    pub async fn post(&self, path: &str, body: &Value, key: &str) -> Result<Reply, Lost> {
        said(self.request(Method::POST, path).header("Idempotency-Key", key).json(body)).await
    }

    /// A whole body, as it is.
    pub async fn download(&self, path: &str) -> Result<Vec<u8>, Lost> {
        let reply = self.request(Method::GET, path).send().await.map_err(lost)?;
        let status = reply.status();
        let body = reply.bytes().await.map_err(lost)?.to_vec();
        if status.is_success() { Ok(body) } else { Err(Lost(format!("{path} said {status}"))) }
    }

    /// Every item of a list, over all of its pages.
    pub async fn list(&self, path: &str) -> Result<Vec<Value>, Lost> {
        let mut items = Vec::new();
        let mut cursor = String::new();
        loop {
            let sign = if path.contains('?') { '&' } else { '?' };
            let after = if cursor.is_empty() { String::new() } else { format!("&cursor={cursor}") };
            let reply = self.get(&format!("{path}{sign}limit=100{after}")).await?;
            let Some(page) = reply.body["items"].as_array().filter(|_| reply.status == 200) else {
                return Err(Lost(format!("{path} said {}: {}", reply.status, reply.body)));
            };
            items.extend_from_slice(page);
            match reply.body["next"].as_str() {
                Some(next) => cursor = next.to_owned(),
                None => return Ok(items),
            }
        }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request =
            self.http.request(method, format!("{}{path}", self.base)).timeout(self.patience);
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }
}

async fn said(request: RequestBuilder) -> Result<Reply, Lost> {
    let reply = request.send().await.map_err(lost)?;
    let status = reply.status().as_u16();
    // The status line alone is a promise: it counts even if the rest never arrives.
    let bytes = reply.bytes().await.unwrap_or_default();
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    Ok(Reply { status, body })
}

fn lost(error: reqwest::Error) -> Lost {
    Lost(error.to_string())
}
