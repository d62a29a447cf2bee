//! The long connection: asks where to connect, keeps the connection alive, and hands on what comes.
//! Each event is acknowledged when the inbox has it; the acknowledgement of a press is its reply. A press that takes
//! longer than Feishu waits is acknowledged before that: if this process ends then, it is lost, and the card still asks.

use std::time::Duration;

use domain::time::Timestamp;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use ports::channel::{ChannelError, Inbox};
use reqwest::Url;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

use super::channel::{EventOutcome, Feishu};
use super::event::FeishuEvent;
use super::frame::FeishuFrame;
use super::frame_assembler::FrameAssembler;
use super::gesture::{MESSAGE, PRESS};
use super::keepalive::KeepaliveConfig;
use super::late_reply::LatePressReply;
use super::press_reply;
use super::settings::FeishuSettings;
use crate::limits::{
    EVENTS_AT_ONCE_MAX, FEISHU_MESSAGE_OLD_MS, FEISHU_PRESS_WITHIN, SOCKET_OPEN_WITHIN,
};
use crate::wire::{
    ConnectionEnd, NoSocket, Socket, Work, WorkStep, beside, close, finish, open_socket, send,
};

pub(super) async fn listen(feishu: &Feishu, inbox: &dyn Inbox, stop: &CancellationToken) {
    let mut work: Work<'_, FeishuFrame> = Work::new();
    let mut tempo = KeepaliveConfig::default();
    let mut connection = 0;
    let mut failures = 0;
    while !stop.is_cancelled() {
        let ended = match beside(&mut work, stop, connect(feishu, &mut tempo)).await {
            None => ConnectionEnd::Stopped,
            Some(Err(why)) => {
                failures += 1;
                ConnectionEnd::Broken(why)
            }
            Some(Ok((socket, service))) => {
                tracing::info!(channel = feishu.settings.name, "connected");
                failures = 0;
                connection += 1;
                let line = FeishuConnection { feishu, inbox, socket, service, connection };
                line.run(&mut work, &mut tempo, stop).await
            }
        };
        let ConnectionEnd::Broken(why) = ended else { break };
        tracing::warn!(channel = feishu.settings.name, "not connected: {why}");
        let pause = tempo.pause(failures, &*feishu.rng);
        beside(&mut work, stop, feishu.clock.sleep(pause)).await;
    }
    finish(work, &*feishu.clock).await;
}

async fn connect(feishu: &Feishu, tempo: &mut KeepaliveConfig) -> Result<(Socket, i32), String> {
    let settings = &feishu.settings;
    let address = address(feishu, tempo).await.map_err(|error| error.to_string())?;
    let service = Url::parse(&address).ok().and_then(|url| {
        let (_, id) = url.query_pairs().find(|(key, _)| key == "service_id")?;
        id.parse().ok()
    });
    match open_socket(&address, &settings.base_url, &*feishu.clock, SOCKET_OPEN_WITHIN).await {
        Ok(socket) => Ok((socket, service.unwrap_or(0))),
        Err(NoSocket::Address(why)) => {
            Err(format!("Feishu gave an address that is not used: {why}"))
        }
        Err(NoSocket::Unreachable(why)) => Err(why),
        Err(NoSocket::Refused { status, headers }) => {
            let said = |name: &str| {
                let found = headers.iter().find(|(key, _)| key == name);
                found.map(|(_, value)| domain::visible::visible(value)).unwrap_or_default()
            };
            Err(format!(
                "Feishu refused the connection with {status}: {} {} {}",
                said("handshake-status"),
                said("handshake-autherrcode"),
                said("handshake-msg")
            ))
        }
    }
}

/// Where to connect; the answer also says how.
pub(super) async fn address(
    feishu: &Feishu,
    tempo: &mut KeepaliveConfig,
) -> Result<String, ChannelError> {
    let FeishuSettings { app_id, app_secret, .. } = &*feishu.settings;
    let body = json!({"AppID": app_id, "AppSecret": app_secret.expose()});
    let answer = feishu
        .api
        .open(
            &["callback", "ws", "endpoint"],
            ("locale", "zh"),
            &body,
            "Feishu wants a token for this",
        )
        .await?;
    let data = &answer["data"];
    tempo.apply(&data["ClientConfig"]);
    let address = data["URL"].as_str().filter(|url| !url.is_empty());
    address.map(str::to_owned).ok_or_else(|| {
        ChannelError::Never("Feishu does not say where to connect; is it a self-built app?".into())
    })
}

struct FeishuConnection<'a> {
    feishu: &'a Feishu,
    inbox: &'a dyn Inbox,
    socket: Socket,
    service: i32,
    connection: u64,
}

impl<'a> FeishuConnection<'a> {
    async fn run(
        mut self,
        work: &mut Work<'a, FeishuFrame>,
        tempo: &mut KeepaliveConfig,
        stop: &CancellationToken,
    ) -> ConnectionEnd {
        let clock = &*self.feishu.clock;
        let mut parts = FrameAssembler::default();
        let mut heard_at = clock.now();
        let mut ping = clock.sleep(Duration::ZERO);
        loop {
            let sent = tokio::select! {
                () = stop.cancelled() => {
                    close(&mut self.socket, clock).await;
                    return ConnectionEnd::Stopped;
                }
                () = &mut ping => {
                    let silent_ms = clock.now().ms_since(heard_at);
                    if u128::from(silent_ms) > tempo.silence().as_millis() {
                        return ConnectionEnd::Broken(format!("nothing was heard for {} s", silent_ms / 1_000));
                    }
                    ping = clock.sleep(tempo.ping());
                    self.send(&FeishuFrame::ping(self.service)).await
                }
                Some(step) = work.next(), if !work.is_empty() => match step {
                    WorkStep::Ack { connection, ack, rest } => {
                        work.extend(rest);
                        match connection == self.connection {
                            true => self.send(&ack).await,
                            false => Ok(()),
                        }
                    }
                    WorkStep::Done => Ok(()),
                },
                // With so much to do, what comes next waits in the line.
                message = self.socket.next(), if work.len() < EVENTS_AT_ONCE_MAX => {
                    heard_at = clock.now();
                    match message {
                        Some(Ok(Message::Binary(wire))) => {
                            self.take_frame(&wire, &mut parts, work, tempo);
                            Ok(())
                        }
                        // Pings of the WebSocket itself are answered below us.
                        Some(Ok(Message::Close(_))) | None => Err("Feishu closed the connection".into()),
                        Some(Ok(_)) => Ok(()),
                        Some(Err(error)) => Err(error.to_string()),
                    }
                }
            };
            if let Err(why) = sent {
                return ConnectionEnd::Broken(why);
            }
        }
    }

    fn take_frame(
        &self,
        wire: &[u8],
        parts: &mut FrameAssembler,
        work: &mut Work<'a, FeishuFrame>,
        tempo: &mut KeepaliveConfig,
    ) {
        let Ok(frame) = FeishuFrame::decode(wire) else {
            tracing::warn!(channel = self.feishu.settings.name, "something came that is no frame");
            return;
        };
        match (frame.method, frame.header("type")) {
            (0, Some("pong")) => {
                if let Some(config) = frame
                    .payload
                    .as_deref()
                    .and_then(|payload| serde_json::from_slice(payload).ok())
                {
                    tempo.apply(&config);
                }
            }
            (1, Some("event")) => {
                let now = self.feishu.clock.now();
                if let Some(payload) = parts.add(&frame, now) {
                    let (feishu, inbox, connection) = (self.feishu, self.inbox, self.connection);
                    work.push(Box::pin(handled(feishu, inbox, connection, frame, payload, now)));
                }
            }
            // Callbacks of the old kind come twice; the others are none of ours.
            _ => {}
        }
    }

    async fn send(&mut self, frame: &FeishuFrame) -> Result<(), String> {
        let message = Message::Binary(frame.encode().into());
        send(&mut self.socket, message, "Feishu", &*self.feishu.clock).await
    }
}

async fn handled<'a>(
    feishu: &'a Feishu,
    inbox: &'a dyn Inbox,
    connection: u64,
    frame: FeishuFrame,
    payload: Vec<u8>,
    began: Timestamp,
) -> WorkStep<'a, FeishuFrame> {
    let clock = &*feishu.clock;
    let acknowledged = |payload: Value, rest| {
        let took_ms = clock.now().ms_since(began);
        let ack = frame.ack(took_ms, payload.to_string().as_bytes());
        WorkStep::Ack { connection, ack, rest }
    };
    let Some(event) = ours(feishu, &payload, began) else {
        return acknowledged(json!({"code": 200}), None);
    };
    let is_press = event.kind == PRESS;
    let late = LatePressReply::of(&event, feishu);
    let mut taking: BoxFuture<'a, EventOutcome> =
        Box::pin(async move { feishu.take(&event, inbox).await });
    if !is_press {
        let taken = taking.await;
        return acknowledged(ack(taken), None);
    }
    tokio::select! {
        biased;
        taken = &mut taking => acknowledged(ack(taken), None),
        () = clock.sleep(FEISHU_PRESS_WITHIN) => {
            let rest: BoxFuture<'a, WorkStep<'a, FeishuFrame>> = Box::pin(async move {
                late.tell(feishu, taking.await).await;
                WorkStep::Done
            });
            acknowledged(ack(EventOutcome::Reply(press_reply::received(&feishu.settings))), Some(rest))
        }
    }
}

/// `None`: for another app, old, or not an event. It is acknowledged, so that it does not come again.
fn ours(feishu: &Feishu, payload: &[u8], now: Timestamp) -> Option<FeishuEvent> {
    let settings = &feishu.settings;
    let envelope: Value = serde_json::from_slice(payload).ok()?;
    let header = &envelope["header"];
    let tenant = settings.tenant_key.as_deref();
    if header["app_id"] != settings.app_id.as_str()
        || tenant.is_some_and(|tenant| header["tenant_key"] != tenant)
    {
        tracing::warn!(channel = settings.name, "an event is for another app or tenant");
        return None;
    }
    let event = FeishuEvent::read(envelope)?;
    let written = event.content["message"]["create_time"].as_str().and_then(|ms| ms.parse().ok());
    let old = event.kind == MESSAGE
        && written.is_some_and(|ms| now.ms_since(Timestamp::from_ms(ms)) > FEISHU_MESSAGE_OLD_MS);
    (!old).then_some(event)
}

fn ack(taken: EventOutcome) -> Value {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    match taken {
        EventOutcome::Ack => json!({"code": 200}),
        EventOutcome::Reply(reply) => {
            json!({"code": 200, "data": STANDARD.encode(reply.to_string())})
        }
        EventOutcome::Redeliver => json!({"code": 500}),
    }
}
