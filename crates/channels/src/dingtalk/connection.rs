//! The stream: asks where to connect, keeps the connection alive, hands on what comes and acknowledges
//! it. When the platform says goodbye, the next connection stands before the old one ends.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use ports::channel::{ChannelError, Inbox};
use reqwest::Url;
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

use super::channel::{Dingtalk, DingtalkEventOutcome};
use super::gesture::{MESSAGE, PRESS};
use super::press_reply;
use super::stream::{Ack, DingTalkFrame, FrameKind};
use crate::limits::{
    DINGTALK_PING, DINGTALK_PRESS_WITHIN, DINGTALK_RECONNECT, DINGTALK_SILENCE_MS,
    EVENTS_AT_ONCE_MAX, SOCKET_OPEN_WITHIN,
};
use crate::wire::{
    ConnectionEnd, NoSocket, Socket, Work, WorkStep, beside, between, close, finish, open_socket,
    send,
};

pub(super) async fn listen(dingtalk: &Dingtalk, inbox: &dyn Inbox, stop: &CancellationToken) {
    let mut work: Work<'_, String> = Work::new();
    let mut connection = 0;
    while !stop.is_cancelled() {
        let ended = match beside(&mut work, stop, connect(dingtalk)).await {
            None => ConnectionEnd::Stopped,
            Some(Err(why)) => ConnectionEnd::Broken(why),
            Some(Ok(socket)) => {
                tracing::info!(channel = dingtalk.settings.name, "connected");
                connection += 1;
                let line =
                    DingtalkConnection { dingtalk, inbox, socket, connection, leaving: None };
                let (ended, last) = line.run(&mut work, stop).await;
                connection = last;
                ended
            }
        };
        let ConnectionEnd::Broken(why) = ended else { break };
        tracing::warn!(channel = dingtalk.settings.name, "not connected: {why}");
        let (least, most) = DINGTALK_RECONNECT;
        let pause = between(least, most, &*dingtalk.rng);
        beside(&mut work, stop, dingtalk.clock.sleep(pause)).await;
    }
    finish(work, &*dingtalk.clock).await;
}

async fn connect(dingtalk: &Dingtalk) -> Result<Socket, String> {
    let address = invitation(dingtalk).await.map_err(|error| error.to_string())?;
    let base = &dingtalk.settings.base_url;
    match open_socket(address.as_str(), base, &*dingtalk.clock, SOCKET_OPEN_WITHIN).await {
        Ok(socket) => Ok(socket),
        Err(NoSocket::Address(why)) => {
            Err(format!("DingTalk gave an address that is not used: {why}"))
        }
        Err(NoSocket::Unreachable(why)) => Err(why),
        Err(NoSocket::Refused { status, .. }) => {
            Err(format!("DingTalk refused the connection with {status}"))
        }
    }
}

/// Where to connect, with a ticket that is good once.
pub(super) async fn invitation(dingtalk: &Dingtalk) -> Result<Url, ChannelError> {
    let settings = &dingtalk.settings;
    let body = json!({
        "clientId": settings.client_id,
        "clientSecret": settings.client_secret.expose(),
        "subscriptions": [
            {"type": "CALLBACK", "topic": MESSAGE},
            {"type": "CALLBACK", "topic": PRESS},
        ],
        "ua": concat!("holdpoint/", env!("CARGO_PKG_VERSION")),
        "localIp": "127.0.0.1",
    });
    let answer = dingtalk.api.open("/v1.0/gateway/connections/open", &body).await?;
    let text = |key: &str| answer[key].as_str().filter(|text| !text.is_empty());
    let (Some(endpoint), Some(ticket)) = (text("endpoint"), text("ticket")) else {
        return Err(ChannelError::Never("DingTalk does not say where to connect".into()));
    };
    let mut url = Url::parse(endpoint)
        .map_err(|_| ChannelError::Never("DingTalk gave an address that is not one".into()))?;
    url.query_pairs_mut().append_pair("ticket", ticket);
    Ok(url)
}

struct DingtalkConnection<'a> {
    dingtalk: &'a Dingtalk,
    inbox: &'a dyn Inbox,
    socket: Socket,
    connection: u64,
    /// The one before, until the platform closes it.
    leaving: Option<(u64, Socket)>,
}

impl<'a> DingtalkConnection<'a> {
    async fn run(
        mut self,
        work: &mut Work<'a, String>,
        stop: &CancellationToken,
    ) -> (ConnectionEnd, u64) {
        let dingtalk = self.dingtalk;
        let clock = &*dingtalk.clock;
        let mut heard_at = clock.now();
        let mut ping = clock.sleep(DINGTALK_PING);
        let mut joining: Option<BoxFuture<'a, Result<Socket, String>>> = None;
        loop {
            let done = tokio::select! {
                () = stop.cancelled() => {
                    close(&mut self.socket, clock).await;
                    return (ConnectionEnd::Stopped, self.connection);
                }
                () = &mut ping => {
                    let silent_ms = clock.now().ms_since(heard_at);
                    ping = clock.sleep(DINGTALK_PING);
                    match silent_ms > DINGTALK_SILENCE_MS {
                        true => Err(format!("nothing was heard for {} s", silent_ms / 1_000)),
                        false => self.send(self.connection, Message::Ping(Default::default())).await,
                    }
                }
                Some(step) = work.next(), if !work.is_empty() => match step {
                    WorkStep::Ack { connection, ack, rest } => {
                        work.extend(rest);
                        self.send(connection, Message::Text(ack.into())).await
                    }
                    WorkStep::Done => Ok(()),
                },
                joined = async { joining.as_mut().expect("asked before").await }, if joining.is_some() => {
                    joining = None;
                    match joined {
                        Ok(socket) => {
                            let old = std::mem::replace(&mut self.socket, socket);
                            self.leaving = Some((self.connection, old));
                            self.connection += 1;
                            heard_at = clock.now();
                            Ok(())
                        }
                        // The old one may still last a while; when it ends, we begin anew.
                        Err(why) => {
                            tracing::warn!(channel = dingtalk.settings.name, "not connected: {why}");
                            Ok(())
                        }
                    }
                }
                message = next(&mut self.leaving), if self.leaving.is_some() && work.len() < EVENTS_AT_ONCE_MAX => {
                    match message {
                        Some((connection, Message::Text(text))) => {
                            self.take_frame(connection, text.as_str(), work);
                        }
                        Some(_) => {}
                        None => self.leaving = None,
                    }
                    Ok(())
                }
                message = self.socket.next(), if work.len() < EVENTS_AT_ONCE_MAX => {
                    heard_at = clock.now();
                    match message {
                        Some(Ok(Message::Text(text))) => {
                            let connection = self.connection;
                            if self.take_frame(connection, text.as_str(), work) && joining.is_none() {
                                joining = Some(Box::pin(connect(dingtalk)));
                            }
                            Ok(())
                        }
                        Some(Ok(Message::Close(_))) | None => Err("DingTalk closed the connection".into()),
                        // Pings of the WebSocket itself are answered below us.
                        Some(Ok(_)) => Ok(()),
                        Some(Err(error)) => Err(error.to_string()),
                    }
                }
            };
            let Err(why) = done else { continue };
            // The next one is under way: it takes over, if it comes.
            match joining.take() {
                None => return (ConnectionEnd::Broken(why), self.connection),
                Some(joining) => match beside(work, stop, joining).await {
                    Some(Ok(socket)) => {
                        self.socket = socket;
                        self.connection += 1;
                        heard_at = clock.now();
                    }
                    Some(Err(why)) => return (ConnectionEnd::Broken(why), self.connection),
                    None => return (ConnectionEnd::Stopped, self.connection),
                },
            }
        }
    }

    /// Says whether the platform wants us to connect anew.
    fn take_frame(&self, connection: u64, text: &str, work: &mut Work<'a, String>) -> bool {
        let (dingtalk, inbox) = (self.dingtalk, self.inbox);
        let Ok(frame) = DingTalkFrame::read(text) else {
            tracing::warn!(channel = dingtalk.settings.name, "something came that is no frame");
            return false;
        };
        let leaves = frame.kind == FrameKind::System && frame.topic() == "disconnect";
        work.push(Box::pin(handled(dingtalk, inbox, connection, frame)));
        leaves
    }

    async fn send(&mut self, connection: u64, message: Message) -> Result<(), String> {
        let clock = &*self.dingtalk.clock;
        if let Some((old, socket)) = &mut self.leaving
            && *old == connection
        {
            // It ends in any case.
            let _ = send(socket, message, "DingTalk", clock).await;
            return Ok(());
        }
        if connection != self.connection {
            return Ok(());
        }
        send(&mut self.socket, message, "DingTalk", clock).await
    }
}

/// The next message of a connection that is being left; `None` when it is over.
async fn next(leaving: &mut Option<(u64, Socket)>) -> Option<(u64, Message)> {
    let (connection, socket) = leaving.as_mut()?;
    match socket.next().await {
        Some(Ok(Message::Close(_)) | Err(_)) | None => None,
        Some(Ok(message)) => Some((*connection, message)),
    }
}

async fn handled<'a>(
    dingtalk: &'a Dingtalk,
    inbox: &'a dyn Inbox,
    connection: u64,
    frame: DingTalkFrame,
) -> WorkStep<'a, String> {
    let acknowledged = |ack: Ack, rest| WorkStep::Ack { connection, ack: frame.ack(&ack), rest };
    let data = frame.data();
    match (frame.kind, frame.topic(), data) {
        (FrameKind::Callback, MESSAGE, Ok(data)) => match dingtalk.message(&data, inbox).await {
            DingtalkEventOutcome::Redeliver => acknowledged(Ack::Failed, None),
            DingtalkEventOutcome::Ack | DingtalkEventOutcome::Reply(_) => {
                acknowledged(Ack::Done, None)
            }
        },
        (FrameKind::Callback, PRESS, Ok(data)) => {
            let event = frame.keys().pop().unwrap_or_default();
            let mut taking: BoxFuture<'a, DingtalkEventOutcome> =
                Box::pin(async move { dingtalk.press(&data, event, inbox).await });
            let limit: Duration = DINGTALK_PRESS_WITHIN;
            tokio::select! {
                biased;
                taken = &mut taking => match taken {
                    DingtalkEventOutcome::Reply(reply) => acknowledged(Ack::Response(reply), None),
                    DingtalkEventOutcome::Ack => acknowledged(Ack::Done, None),
                    DingtalkEventOutcome::Redeliver => acknowledged(Ack::Failed, None),
                },
                () = dingtalk.clock.sleep(limit) => {
                    let rest: BoxFuture<'a, WorkStep<'a, String>> = Box::pin(async move {
                        taking.await;
                        WorkStep::Done
                    });
                    let reply = press_reply::received(&dingtalk.settings);
                    acknowledged(Ack::Response(reply), Some(rest))
                }
            }
        }
        // What cannot be read would come again and again.
        (FrameKind::Callback, MESSAGE | PRESS, Err(_)) => acknowledged(Ack::Done, None),
        (FrameKind::Callback | FrameKind::Other, ..) => acknowledged(Ack::NoHandler, None),
        (FrameKind::System | FrameKind::Event, ..) => acknowledged(Ack::Done, None),
    }
}
