//! One client of our MCP server: what it sends, and who answers it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use ports::unpoisoned::Unpoisoned as _;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tools::mcp::{INVALID_PARAMS, INVALID_REQUEST, LEGACY, MODERN, RpcId, RpcKind, RpcMessage};

use super::{ask_person, definitions};
use crate::cli::args::McpServeArgs;
use crate::cli::client::Client;
use crate::cli::hook::{PermissionDecision, PermissionPrompt, decide_permission};
use mcp_gate::era::{RequestMeta, UNSUPPORTED_VERSION};
use mcp_gate::limits::CALLS_MAX;
use mcp_gate::peer::PeerOut;
use mcp_gate::reply::{CallReply, RpcFailure, error_line, result_line};
use mcp_gate::waiting::with_progress;

const METHOD_NOT_FOUND: i64 = -32601;

pub(super) struct ServeSession {
    client: Client,
    out: PeerOut,
    wait: Duration,
    permission_wait: Duration,
    /// Tells calls of this process from those of another.
    key: String,
    calls: Mutex<HashMap<RpcId, CancellationToken>>,
}

/// A call of one of our tools.
struct ToolCall {
    id: RpcId,
    name: String,
    arguments: Value,
    meta: RequestMeta,
}

impl ServeSession {
    pub(super) fn new(
        client: Client,
        out: PeerOut,
        args: &McpServeArgs,
        key: String,
    ) -> ServeSession {
        ServeSession {
            client,
            out,
            wait: args.wait,
            permission_wait: args.permission_wait,
            key,
            calls: Mutex::default(),
        }
    }

    pub(super) fn out(&self) -> &PeerOut {
        &self.out
    }

    fn lock_calls(&self) -> MutexGuard<'_, HashMap<RpcId, CancellationToken>> {
        self.calls.lock().unpoisoned()
    }

    pub(super) async fn take(self: Arc<Self>, message: RpcMessage, tasks: &TaskTracker) {
        match &message.kind {
            RpcKind::Request { id, method } => {
                let replied = self.clone().reply_to(id, method, &message, tasks);
                match replied {
                    Ok(None) => {}
                    Ok(Some(result)) => self.out.send_line(result_line(id, &result)).await,
                    Err(failure) => self.out.send_line(error_line(Some(id), failure)).await,
                }
            }
            RpcKind::Notification { method } if method == "notifications/cancelled" => {
                self.cancel_call(&message);
            }
            // We ask the client nothing, so it has nothing to answer.
            RpcKind::Notification { .. } | RpcKind::Response { .. } => {}
        }
    }

    /// `None`: a task answers later.
    fn reply_to(
        self: Arc<Self>,
        id: &RpcId,
        method: &str,
        message: &RpcMessage,
        tasks: &TaskTracker,
    ) -> Result<Option<Value>, RpcFailure> {
        let meta = RequestMeta::parse(message).map_err(|requested| RpcFailure {
            data: Some(json!({"supported": [MODERN], "requested": requested})),
            ..RpcFailure::new(UNSUPPORTED_VERSION, "this version of the protocol is not spoken")
        })?;
        let params = message
            .params()
            .ok_or_else(|| RpcFailure::new(INVALID_PARAMS, "`params` must be an object"))?;
        Ok(Some(match method {
            "initialize" => {
                let wanted = params.get_text("protocolVersion").unwrap_or_default();
                let spoken = LEGACY.iter().find(|version| **version == wanted);
                definitions::handshake(spoken.unwrap_or(&LEGACY[0]))
            }
            "server/discover" => definitions::discovery(),
            "ping" => json!({}),
            "tools/list" => definitions::tool_list(meta.era),
            "tools/call" => {
                let arguments = params.get("arguments").map_or("{}", RawValue::get);
                let call = ToolCall {
                    id: id.clone(),
                    name: params.get_text("name").unwrap_or_default(),
                    arguments: strict_arguments(arguments)?,
                    meta,
                };
                self.start_call(call, tasks)?;
                return Ok(None);
            }
            other => {
                let what = domain::visible::visible(other);
                return Err(RpcFailure::new(METHOD_NOT_FOUND, format!("`{what}` is not offered")));
            }
        }))
    }

    fn start_call(self: Arc<Self>, call: ToolCall, tasks: &TaskTracker) -> Result<(), RpcFailure> {
        let cancelled = CancellationToken::new();
        {
            let mut calls = self.lock_calls();
            if calls.contains_key(&call.id) {
                return Err(RpcFailure::new(INVALID_REQUEST, "this id is in use"));
            }
            if calls.len() >= CALLS_MAX {
                let why = "too many calls wait already; wait for one of them";
                return Err(RpcFailure::new(INVALID_REQUEST, why));
            }
            calls.insert(call.id.clone(), cancelled.clone());
        }
        tasks.spawn(async move {
            let era = call.meta.era;
            let reply = self.run_call(&call, &cancelled).await;
            let is_wanted = self.lock_calls().remove(&call.id).is_some();
            if let Some(reply) = reply.filter(|_| is_wanted) {
                self.out.send_line(result_line(&call.id, &reply.in_era(era))).await;
            }
        });
        Ok(())
    }

    /// `None`: the client does not want it any more.
    async fn run_call(&self, call: &ToolCall, cancelled: &CancellationToken) -> Option<CallReply> {
        let token = call.meta.progress_token.as_deref();
        let work = async {
            match call.name.as_str() {
                definitions::ASK_PERSON => {
                    let wait = self.wait;
                    ask_person::ask(&self.client, &call.arguments, wait, cancelled).await
                }
                definitions::CHECK_ANSWER => {
                    ask_person::check(&self.client, &call.arguments, self.wait, cancelled).await
                }
                definitions::PERMISSION => Some(self.ask_permission(&call.arguments).await),
                other => Some(CallReply::failed(format!(
                    "there is no tool `{}`",
                    domain::visible::visible(other)
                ))),
            }
        };
        let work = with_progress(&self.out, &call.id, token, "waiting for a person", work);
        // `ask_person` withdraws its question by itself; the permission prompt's expires.
        match call.name == definitions::PERMISSION {
            true => tokio::select! {
                reply = work => reply,
                () = cancelled.cancelled() => None,
            },
            false => work.await,
        }
    }

    /// One text block with the JSON that Claude Code reads.
    async fn ask_permission(&self, arguments: &Value) -> CallReply {
        let decided = match serde_json::from_value::<PermissionPrompt>(arguments.clone()) {
            Ok(prompt) => {
                decide_permission(&self.client, &self.key, prompt, self.permission_wait).await
            }
            Err(error) => {
                PermissionDecision::Deny(format!("this is no permission prompt: {error}"))
            }
        };
        let said = match decided {
            PermissionDecision::Allow(input) => json!({"behavior": "allow", "updatedInput": input}),
            PermissionDecision::Deny(why) => json!({"behavior": "deny", "message": why}),
        };
        CallReply::text(said.to_string())
    }

    fn cancel_call(&self, message: &RpcMessage) {
        let id = message.params().and_then(|params| {
            let id = params.get("requestId")?;
            serde_json::from_str::<RpcId>(id.get()).ok()
        });
        if let Some(cancelled) = id.and_then(|id| self.lock_calls().remove(&id)) {
            cancelled.cancel();
        }
    }
}

/// No repeated keys, no broken text: what we read is what the client meant.
fn strict_arguments(text: &str) -> Result<Value, RpcFailure> {
    domain::json::Arguments::parse(text.as_bytes())
        .map(|arguments| arguments.value().clone())
        .map_err(|why| RpcFailure::new(INVALID_PARAMS, why.to_string()))
}
