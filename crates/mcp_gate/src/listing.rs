//! Our own look at the tools of an upstream.

use anyhow::Context as _;
use serde::Serialize;
use serde_json::Value;
use tools::mcp::limits::{LIST_WITHIN, PAGES_MAX};
use tools::mcp::{McpCatalog, RawObject, RpcMessage};

use crate::era::SERVER_INFO_KEY;
use crate::session::ProxySession;
use crate::upstream::Upstream;

/// What a request of ours says about itself: what the client's own says, since it is made for the client.
pub(crate) type OwnMeta = Option<RawObject>;

#[derive(Serialize)]
struct OwnParams<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a str>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RawObject>,
}

impl ProxySession {
    /// Makes sure that what we know of an upstream's tools is what it last said.
    pub(crate) async fn refresh_definitions(
        &self,
        upstream: &Upstream,
        meta: &OwnMeta,
    ) -> anyhow::Result<()> {
        let definitions = &upstream.definitions;
        let look = async {
            let _turn = definitions.looking.lock().await;
            if !definitions.is_stale() {
                return Ok(());
            }
            definitions.begin_look();
            let listed = self.list_tools(upstream, meta).await;
            let set = listed.and_then(|listed| Ok(definitions.set_listed(listed)?));
            if set.is_err() {
                definitions.mark_stale();
            }
            set
        };
        let name = upstream.name();
        let looked = tokio::time::timeout(LIST_WITHIN, look).await.unwrap_or_else(|_| {
            definitions.mark_stale();
            Err(anyhow::anyhow!("it took too long"))
        });
        looked.with_context(|| format!("the MCP server `{name}` did not say what its tools are"))
    }

    async fn list_tools(&self, upstream: &Upstream, meta: &OwnMeta) -> anyhow::Result<McpCatalog> {
        if upstream.definitions.identity().is_none() && meta.is_some() {
            let found = self.ask_upstream(upstream, "server/discover", None, meta).await?;
            upstream.definitions.set_identity(&found["_meta"][SERVER_INFO_KEY]);
        }
        let mut catalog = McpCatalog::new(upstream.definitions.identity().unwrap_or_default());
        let mut cursors: Vec<String> = Vec::new();
        for _ in 0..PAGES_MAX {
            let cursor = cursors.last().map(String::as_str);
            let mut page = self.ask_upstream(upstream, "tools/list", cursor, meta).await?;
            match catalog.add_page(&mut page).map_err(anyhow::Error::msg)? {
                None => return Ok(catalog),
                Some(Value::String(next)) if !cursors.contains(&next) => cursors.push(next),
                Some(_) => anyhow::bail!("its list of tools goes in a circle"),
            }
        }
        anyhow::bail!("its list of tools has more than {PAGES_MAX} pages")
    }

    async fn ask_upstream(
        &self,
        upstream: &Upstream,
        method: &str,
        cursor: Option<&str>,
        meta: &OwnMeta,
    ) -> anyhow::Result<Value> {
        let answer =
            self.request_own(upstream, method, &OwnParams { cursor, meta: meta.as_ref() }).await?;
        let result = answer.object.get("result").with_context(|| {
            let error = answer.object.get("error").map(|error| error.get()).unwrap_or_default();
            domain::visible::visible(&error.chars().take(300).collect::<String>())
        })?;
        Ok(serde_json::from_str(result.get())?)
    }

    /// A request of our own, and its answer as it came.
    pub(crate) async fn request_own(
        &self,
        upstream: &Upstream,
        method: &str,
        params: &impl Serialize,
    ) -> anyhow::Result<RpcMessage> {
        let id = self.own_id();
        let mut object = RawObject::default();
        object.set_value("jsonrpc", &"2.0")?;
        object.set_value("id", &id)?;
        object.set_value("method", &method)?;
        object.set_value("params", params)?;
        let object = self.in_upstream_era(upstream, object);
        let answer = upstream.request(&id, &object).await;
        answer.map_err(|error| anyhow::anyhow!(error.into_why()))
    }
}

/// The part of a request's `_meta` that says which era and client it is of.
pub(crate) fn own_meta(params: &RawObject) -> OwnMeta {
    let mut meta = params.get_object("_meta")?;
    meta.get("io.modelcontextprotocol/protocolVersion")?;
    meta.remove("progressToken");
    Some(meta)
}
