//! `/mcp` of the server: the gate of `mcp_gate` over this process's own engine.

mod engine_holds;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::{Context as _, Result};
use engine::Engine;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::unfold;
use mcp_gate::config::{
    ToolNaming, UpstreamConfig, UpstreamProgram, UpstreamReach, UpstreamService,
};
use mcp_gate::definitions::SharedPins;
use mcp_gate::http::{
    DoorCaller, DoorMethod, DoorReply, DoorRequest, DoorRoute, DoorStream, McpDoor,
};
use ports::store::PutNote;
use server::{McpBody, McpCaller, McpEvent, McpGate, McpReply, McpRequest};
use tools::mcp::PinStore;
use tools::mcp::oauth::McpOauthDesk;

use crate::config::{McpGateConfig, McpReach};
use crate::wiring::mcp::read_headers;
use engine_holds::EngineHolds;

const SEEN_UPSTREAMS: &str = "mcp.gate.seen";

pub(crate) struct EngineGate {
    engine: Engine,
    door: Arc<McpDoor>,
}

impl EngineGate {
    /// `data` keeps what was pinned of the upstreams.
    pub(crate) async fn open(
        engine: Engine,
        config: &McpGateConfig,
        connections: &McpOauthDesk,
        data: &Path,
    ) -> Result<EngineGate> {
        let mut all = Vec::new();
        for (name, reach) in &config.upstreams {
            let reach = find_reach(name, reach, connections)?;
            let upstream = UpstreamConfig { name: name.clone(), reach };
            let pins = open_pins(&engine, &upstream.pin_file(), data).await?;
            all.push((upstream, Arc::new(Mutex::new(pins))));
        }
        let route = |naming, upstreams| DoorRoute {
            naming,
            upstreams,
            wait: config.wait,
            answer_in_client: config.answer_in_client,
        };
        let one = |upstream: &(UpstreamConfig, SharedPins)| {
            (upstream.0.name.clone(), route(ToolNaming::Own, vec![upstream.clone()]))
        };
        let mut routes: HashMap<String, DoorRoute> = all.iter().map(one).collect();
        routes.insert(String::new(), route(ToolNaming::Prefixed, all));
        Ok(EngineGate { engine, door: McpDoor::new(routes) })
    }
}

/// Pins that were there once and are gone are no first use: then each tool is asked about. That they were there is in the store.
async fn open_pins(engine: &Engine, file: &str, data: &Path) -> Result<PinStore> {
    let was_seen = engine.read_note(SEEN_UPSTREAMS, file).await?.is_some();
    let pins = PinStore::open(&data.join("mcp-gate"), file, was_seen)?;
    if !was_seen && !pins.is_first_use() {
        let (shelf, key, value) = (SEEN_UPSTREAMS.into(), file.into(), Some(Vec::new()));
        let put = PutNote { shelf, key, value, expected: None, due_at: None, forget_at: None };
        engine.write_note(put).await?;
    }
    Ok(pins)
}

fn find_reach(name: &str, reach: &McpReach, connections: &McpOauthDesk) -> Result<UpstreamReach> {
    let variable = |variable: &String| {
        std::env::var(variable).with_context(|| {
            format!("the environment variable `{variable}`, which the MCP server `{name}` names, is not set")
        })
    };
    Ok(match reach {
        McpReach::Program { argv, cwd, env, .. } => {
            let mut values: BTreeMap<String, String> = env.set.iter().cloned().collect();
            for inherited in &env.inherit {
                values.insert(inherited.clone(), variable(inherited)?);
            }
            let (program, args) = argv.split_first().context("its `argv` is empty")?;
            UpstreamReach::Program(UpstreamProgram {
                program: program.clone(),
                args: args.to_vec(),
                env: values,
                cwd: Some(cwd.clone()),
                inherits: false,
            })
        }
        McpReach::Service { url, headers_env, oauth } => {
            let headers = read_headers(&format!("the MCP server `{name}`"), headers_env)?;
            // Without tokens where they are wanted, nothing is sent.
            let authorizer = match oauth {
                Some(_) => Some(connections.authorizer(name).context("its tokens are not open")?),
                None => None,
            };
            UpstreamReach::Service(UpstreamService { url: url.clone(), headers, authorizer })
        }
    })
}

impl McpGate for EngineGate {
    fn has_upstream(&self, name: &str) -> bool {
        self.door.has_route(name)
    }

    fn take<'a>(
        &'a self,
        name: &'a str,
        caller: McpCaller,
        request: McpRequest,
    ) -> BoxFuture<'a, McpReply> {
        Box::pin(async move {
            let method = match request.method.as_str() {
                "POST" => DoorMethod::Post,
                "GET" => DoorMethod::Get,
                "DELETE" => DoorMethod::Delete,
                _ => return plain(405),
            };
            let request =
                DoorRequest { method, headers: request.headers, body: request.body.to_vec() };
            let token = caller.token;
            let service = Arc::new(EngineHolds::new(self.engine.clone(), caller, name));
            let caller = DoorCaller { token, service };
            write_reply(self.door.take(name, caller, request).await)
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.door.close())
    }
}

fn plain(status: u16) -> McpReply {
    McpReply { status, session: None, body: McpBody::Empty }
}

fn write_reply(reply: DoorReply) -> McpReply {
    match reply {
        DoorReply::Answer { status, session, body } => {
            McpReply { status, session, body: McpBody::Json(body) }
        }
        DoorReply::Stream(stream) => {
            let session = stream.session.clone();
            let next = |mut stream: DoorStream| async move {
                let event = stream.next().await?;
                Some((McpEvent { id: event.id, data: event.data }, stream))
            };
            let events = unfold(stream, next).boxed();
            McpReply { status: 200, session, body: McpBody::Events(events) }
        }
        DoorReply::Accepted => plain(202),
        DoorReply::Ended => plain(204),
        DoorReply::WrongMethod => plain(405),
    }
}
