//! Delivery to a webhook: until it says 2xx, and whatever it says in its reply is done.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::methods;
use super::server::Shared;

/// The platform waits longer; a test does not.
const AGAIN: Duration = Duration::from_millis(50);

pub(super) async fn deliver(shared: Arc<Shared>) {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    loop {
        let next = {
            let state = shared.state();
            state.webhook.clone().zip(state.updates.front().cloned())
        };
        let Some((webhook, update)) = next else {
            shared.changed.notified().await;
            continue;
        };
        let mut request = client.post(&webhook.url).json(&update);
        if !webhook.secret.is_empty() {
            request = request.header("X-Telegram-Bot-Api-Secret-Token", &webhook.secret);
        }
        match request.send().await {
            Ok(reply) if reply.status().is_success() => {
                let said = reply.bytes().await.unwrap_or_default();
                let mut state = shared.state();
                state.updates.retain(|kept| kept["update_id"] != update["update_id"]);
                if let Ok(said) = serde_json::from_slice::<Value>(&said)
                    && let Some(method) = said["method"].as_str()
                {
                    let _ = methods::call(&mut state, method, &said);
                }
            }
            failed => {
                let told = match failed {
                    Ok(reply) => format!("Wrong response from the webhook: {}", reply.status()),
                    Err(_) => "Connection failed".to_owned(),
                };
                shared.state().last_error = Some(told);
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
}
