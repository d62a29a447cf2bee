//! Socket Mode: Slack's envelopes over a WebSocket of ours. Each is acknowledged when the inbox has it.

use std::sync::Arc;

use futures_util::{SinkExt as _, StreamExt as _};
use ports::backoff::Backoff;
use ports::channel::Inbox;
use ports::secret_string::SecretString;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

use super::channel::SlackApp;
use super::inbound::SlackAck;
use crate::limits::{
    EVENTS_AT_ONCE_MAX, RECONNECT_FIRST, RECONNECT_MOST, SLACK_PING_EVERY, SLACK_SILENT_PINGS_MAX,
    SOCKET_OPEN_WITHIN, STOP_WITHIN,
};
use crate::wire::{Lanes, NoSocket, Socket, open_socket};

impl SlackApp {
    /// Until we are to stop. When Slack announces that it will close a connection, the next one is
    /// opened first.
    pub(super) async fn socket_mode(
        self: &Arc<Self>,
        app_token: &SecretString,
        inbox: Arc<dyn Inbox>,
        stop: &CancellationToken,
    ) {
        let name = &self.settings.name;
        let mut lines = JoinSet::new();
        let mut backoff = Backoff::new(RECONNECT_FIRST, RECONNECT_MOST);
        'connecting: loop {
            let opened = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                opened = self.connect(app_token) => opened,
            };
            let broken = match opened {
                Err(why) => why,
                Ok(socket) => {
                    tracing::info!(channel = name, "connected");
                    let leaving = Arc::new(Notify::new());
                    let connection = SlackConnection {
                        app: self.clone(),
                        inbox: inbox.clone(),
                        stop: stop.clone(),
                        leaving: leaving.clone(),
                    };
                    let current = lines.spawn(connection.run(socket)).id();
                    loop {
                        tokio::select! {
                            biased;
                            () = stop.cancelled() => break 'connecting,
                            () = leaving.notified() => {
                                backoff.reset();
                                continue 'connecting;
                            }
                            Some(ended) = lines.join_next_with_id() => match ended {
                                Ok((id, _)) if id != current => {}
                                Ok((_, SocketEnd { lived, why })) => {
                                    if lived {
                                        backoff.reset();
                                    }
                                    break why;
                                }
                                Err(error) if error.id() != current => {}
                                Err(_) => break "its task failed".into(),
                            },
                        }
                    }
                }
            };
            tracing::warn!(channel = name, "not connected: {broken}");
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                () = self.clock.sleep(backoff.wait(self.rng.bits())) => {}
            }
        }
        // What has begun may end; what is not acknowledged by then comes again.
        tokio::select! {
            biased;
            () = async { while lines.join_next().await.is_some() {} } => {}
            () = self.clock.sleep(STOP_WITHIN) => {}
        }
    }

    async fn connect(&self, app_token: &SecretString) -> Result<Socket, String> {
        let told = self.api.call(app_token, "apps.connections.open", &json!({})).await;
        let told = told.map_err(|failed| failed.to_string())?;
        let url = told["url"].as_str().unwrap_or_default();
        let opened =
            open_socket(url, &self.settings.base_url, &*self.clock, SOCKET_OPEN_WITHIN).await;
        opened.map_err(|no_socket| match no_socket {
            NoSocket::Address(why) => format!("Slack gave an address that is not used: {why}"),
            NoSocket::Unreachable(why) => why,
            NoSocket::Refused { status, .. } => format!("Slack refused the connection: {status}"),
        })
    }
}

/// One connection.
struct SlackConnection {
    app: Arc<SlackApp>,
    inbox: Arc<dyn Inbox>,
    stop: CancellationToken,
    /// Said when Slack is about to close it.
    leaving: Arc<Notify>,
}

struct SocketEnd {
    /// It was a connection, and not just a door that closed.
    lived: bool,
    why: String,
}

impl SlackConnection {
    async fn run(self, mut socket: Socket) -> SocketEnd {
        let mut lanes = Lanes::new();
        let mut lived = false;
        let why = self.serve(&mut socket, &mut lanes, &mut lived).await;
        // A press does not come again, so what has begun is finished, acknowledged or not.
        while lanes.next().await.is_some() {}
        SocketEnd { lived, why }
    }

    async fn serve(
        &self,
        socket: &mut Socket,
        lanes: &mut Lanes<Option<Value>>,
        lived: &mut bool,
    ) -> String {
        let mut silent = 0;
        loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => {
                    // Acknowledged as far as it is done.
                    while let Some(done) = lanes.next().await {
                        if let Some(ack) = done {
                            let _ = socket.send(Message::text(ack.to_string())).await;
                        }
                    }
                    let _ = socket.close(None).await;
                    return "stopped".into();
                }
                Some(done) = lanes.next() => {
                    if let Some(ack) = done
                        && let Err(error) = socket.send(Message::text(ack.to_string())).await
                    {
                        return error.to_string();
                    }
                }
                frame = socket.next(), if lanes.len() < EVENTS_AT_ONCE_MAX => {
                    silent = 0;
                    match frame {
                        Some(Ok(Message::Text(text))) => {
                            *lived = true;
                            self.take_frame(&text, lanes);
                        }
                        Some(Ok(Message::Close(_))) | None => return "Slack closed the connection".into(),
                        // Pings are answered below us.
                        Some(Ok(_)) => {}
                        Some(Err(error)) => return error.to_string(),
                    }
                }
                () = self.app.clock.sleep(SLACK_PING_EVERY) => {
                    silent += 1;
                    if silent > SLACK_SILENT_PINGS_MAX {
                        return "Slack has fallen silent".into();
                    }
                    if let Err(error) = socket.send(Message::Ping(Vec::new().into())).await {
                        return error.to_string();
                    }
                }
            }
        }
    }

    fn take_frame(&self, text: &str, lanes: &mut Lanes<Option<Value>>) {
        let Ok(mut envelope) = serde_json::from_str::<Value>(text) else {
            tracing::warn!(
                channel = self.app.settings.name,
                "Slack sent something that is no JSON"
            );
            return;
        };
        match envelope["type"].as_str() {
            Some("disconnect") => {
                if envelope["reason"] == "link_disabled" {
                    let name = &self.app.settings.name;
                    tracing::warn!(channel = name, "Socket Mode is switched off for this app");
                }
                self.leaving.notify_one();
            }
            Some(kind @ ("events_api" | "interactive")) => {
                let is_event = kind == "events_api";
                let Some(id) = envelope["envelope_id"].as_str().map(str::to_owned) else { return };
                let payload = envelope["payload"].take();
                let chat = match is_event {
                    true => &payload["event"]["channel"],
                    false => &payload["channel"]["id"],
                };
                let chat = chat.as_str().unwrap_or_default().to_owned();
                let (app, inbox) = (self.app.clone(), self.inbox.clone());
                lanes.push(&chat, async move {
                    let reply = match is_event {
                        true => app.event(&payload, &*inbox).await,
                        false => app.interaction(&payload, &*inbox).await,
                    };
                    match reply {
                        SlackAck::Quietly | SlackAck::Wrong => Some(json!({"envelope_id": id})),
                        SlackAck::Payload(payload) => {
                            Some(json!({"envelope_id": id, "payload": payload}))
                        }
                        SlackAck::NotNow => None,
                    }
                });
            }
            // `hello`, and envelopes of kinds that we do not know: acknowledged, so that they do not
            // come again.
            _ => {
                if let Some(id) = envelope["envelope_id"].as_str() {
                    let ack = json!({"envelope_id": id});
                    lanes.push("", async move { Some(ack) });
                }
            }
        }
    }
}
