//! What our own server and the routes that a program mounts have in common, on top of a running engine.

use std::io::BufRead;
use std::net::SocketAddr;
use std::sync::Arc;

#[cfg(feature = "chats")]
use chat::ChatService;
#[cfg(feature = "chats")]
use domain::person::PersonId;
use engine::Engine;
#[cfg(feature = "chats")]
use futures_util::future::BoxFuture;
#[cfg(feature = "chats")]
use ports::channel::{ChannelError, HookReply, WebhookRequest};
use ports::store::AuditEntry;
use server::{AuditLines, AuditVerdict, HttpLimits, Server, ServerSetup};
#[cfg(feature = "chats")]
use server::{ChannelBoard, ChannelInfo, Hooks, LinkSender, TestNotSent};

use crate::assembly::RunningEngine;

/// A plain server in front of this engine.
pub(crate) fn setup(engine: Engine, listen: SocketAddr) -> ServerSetup {
    ServerSetup {
        engine,
        listen,
        public_url: None,
        tls: None,
        trusts: None,
        demo: None,
        warnings: Vec::new(),
        limits: HttpLimits::default(),
        audit: Some(Arc::new(ExportLines)),
        doors: Vec::new(),
        words: Default::default(),
    }
}

/// Listens, takes the requests of chat platforms, and lets chats begin.
pub(crate) async fn bind(
    setup: ServerSetup,
    running: &RunningEngine,
) -> Result<Server, server::BindError> {
    let server = server::bind(setup).await?;
    #[cfg(feature = "mcp")]
    let server = match running.mcp_connections.is_empty() {
        true => server,
        false => server.with_mcp_connections(running.mcp_connections.clone()),
    };
    #[cfg(feature = "chats")]
    let server = match &running.board {
        Some(board) => {
            let mut server = server.with_hooks(Arc::new(ChannelHooks(board.clone())));
            server = server.with_channels(Arc::new(ConfiguredChannels(board.clone())));
            if board.can_write_directly() {
                server = server.with_links(Arc::new(ChannelLinks(board.clone())));
            }
            running.start_chats(server.origin());
            server
        }
        None => server,
    };
    #[cfg(not(feature = "chats"))]
    let _ = running;
    Ok(server)
}

/// The same for routes that a program mounts. The API alone takes no requests of platforms.
#[cfg(feature = "chats")]
pub(crate) fn with_chats(
    mounted: server::Mounted,
    extent: server::Extent,
    running: &RunningEngine,
    origin: &str,
) -> server::Mounted {
    let Some(board) = &running.board else { return mounted };
    let mut mounted = mounted.with_channels(Arc::new(ConfiguredChannels(board.clone())));
    if extent == server::Extent::Everything {
        mounted = mounted.with_hooks(Arc::new(ChannelHooks(board.clone())));
        if board.can_write_directly() {
            mounted = mounted.with_links(Arc::new(ChannelLinks(board.clone())));
        }
    }
    running.start_chats(origin);
    mounted
}

pub(crate) async fn asked_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut hang_up)) =
        (signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    else {
        return std::future::pending().await;
    };
    loop {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => return,
            _ = terminate.recv() => return,
            _ = hang_up.recv() => {
                tracing::info!("SIGHUP ignored: the configuration is read at the next start");
            }
        }
    }
}

/// Requests of platforms go from the server's door to the chat service's.
#[cfg(feature = "chats")]
pub(crate) struct ChannelHooks(pub(crate) ChatService);

#[cfg(feature = "chats")]
impl Hooks for ChannelHooks {
    fn hook<'a>(
        &'a self,
        channel: &'a str,
        request: WebhookRequest,
    ) -> BoxFuture<'a, Option<HookReply>> {
        Box::pin(self.0.hook(channel, request))
    }
}

/// Login links go from the server's door to the person's own account in a chat.
#[cfg(feature = "chats")]
pub(crate) struct ChannelLinks(pub(crate) ChatService);

#[cfg(feature = "chats")]
impl LinkSender for ChannelLinks {
    fn channel_of(&self, person: &PersonId) -> Option<String> {
        self.0.direct_channel(person)
    }

    fn send<'a>(
        &'a self,
        person: &'a PersonId,
        channel: &'a str,
        url: &'a str,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let sent = self.0.send_login_link(person, channel, url).await;
            sent.map_err(|error| error.to_string())
        })
    }
}

/// Channels, as admins see them.
#[cfg(feature = "chats")]
struct ConfiguredChannels(ChatService);

#[cfg(feature = "chats")]
impl ChannelBoard for ConfiguredChannels {
    fn channels(&self) -> Vec<ChannelInfo> {
        let told = self.0.channel_list().into_iter();
        told.map(|(name, platform, talks)| ChannelInfo { name, platform, talks }).collect()
    }

    fn send_test<'a>(
        &'a self,
        person: &'a PersonId,
        channel: &'a str,
    ) -> BoxFuture<'a, Result<(), TestNotSent>> {
        Box::pin(async move {
            self.0.send_test(person, channel).await.map_err(|error| match error {
                ChannelError::Never(why) => TestNotSent::SetUp(why),
                error => TestNotSent::Later(error.to_string()),
            })
        })
    }
}

/// The lines of an audit export, as the offline verifier wants them.
pub(crate) struct ExportLines;

impl AuditLines for ExportLines {
    fn header(&self, public_key: &[u8]) -> Option<String> {
        let key: audit::PublicKey = std::str::from_utf8(public_key).ok()?.parse().ok()?;
        Some(audit::header_line(&key))
    }

    fn entry(&self, entry: &AuditEntry) -> String {
        audit::entry_line(entry.seq, audit::Hash::from_bytes(entry.hash), &entry.bytes)
    }

    fn checkpoint(&self, stored: &[u8]) -> Option<(u64, String)> {
        let checkpoint: audit::Checkpoint = std::str::from_utf8(stored).ok()?.parse().ok()?;
        Some((checkpoint.count, audit::checkpoint_line(&checkpoint)))
    }

    fn verify(&self, export: &mut dyn BufRead, public_key: &[u8]) -> Option<AuditVerdict> {
        let key: audit::PublicKey = std::str::from_utf8(public_key).ok()?.parse().ok()?;
        Some(match audit::verify(export, Some(key), None) {
            Ok(report) => AuditVerdict::Sound {
                entries: report.entries,
                checkpoints: report.checkpoints,
                head: report.head.to_string(),
            },
            Err(audit::VerifyError::Tampered(tampered)) => {
                AuditVerdict::Tampered { entry: tampered.index, why: tampered.to_string() }
            }
            Err(_) => AuditVerdict::Unreadable,
        })
    }
}
