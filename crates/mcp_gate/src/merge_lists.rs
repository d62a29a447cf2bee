//! The lists of several upstreams as one: tools and prompts under `server__name`, resources as they are.

use serde::Serialize;
use serde_json::value::RawValue;
use tools::mcp::limits::{LIST_WITHIN, PAGES_MAX};
use tools::mcp::{RawObject, RpcId};

use crate::era::ClientEra;
use crate::listing::OwnMeta;
use crate::session::ProxySession;
use crate::translate::shapes::as_modern_result;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MergedList {
    Tools,
    Prompts,
    Resources,
    ResourceTemplates,
}

#[derive(Serialize)]
struct PageParams {
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: OwnMeta,
}

impl MergedList {
    pub(crate) fn of_method(method: &str) -> Option<MergedList> {
        let all = [
            MergedList::Tools,
            MergedList::Prompts,
            MergedList::Resources,
            MergedList::ResourceTemplates,
        ];
        all.into_iter().find(|list| list.method() == method)
    }

    fn method(self) -> &'static str {
        match self {
            MergedList::Tools => "tools/list",
            MergedList::Prompts => "prompts/list",
            MergedList::Resources => "resources/list",
            MergedList::ResourceTemplates => "resources/templates/list",
        }
    }

    /// What upstreams that have it announce.
    fn capability(self) -> &'static str {
        match self {
            MergedList::Tools => "tools",
            MergedList::Prompts => "prompts",
            MergedList::Resources | MergedList::ResourceTemplates => "resources",
        }
    }

    fn key(self) -> &'static str {
        match self {
            MergedList::Tools => "tools",
            MergedList::Prompts => "prompts",
            MergedList::Resources => "resources",
            MergedList::ResourceTemplates => "resourceTemplates",
        }
    }
}

impl ProxySession {
    /// One page with everything. An upstream that does not answer has nothing in it.
    pub(crate) async fn reply_list(
        &self,
        id: &RpcId,
        list: MergedList,
        era: ClientEra,
        meta: &OwnMeta,
    ) {
        let mut all: Vec<Box<RawValue>> = Vec::new();
        for index in 0..self.upstreams.len() {
            if self.merge.offers(index, list.capability()) {
                let listed =
                    tokio::time::timeout(LIST_WITHIN, self.list_one(index, list, meta)).await;
                all.extend(listed.ok().and_then(Result::ok).unwrap_or_default());
            }
        }
        let mut result = RawObject::default();
        // Raw values can always be written.
        let _ = result.set_value(list.key(), &all);
        if era == ClientEra::Modern {
            as_modern_result(list.method(), &mut result);
        }
        self.reply(id, &result).await;
    }

    async fn list_one(
        &self,
        index: usize,
        list: MergedList,
        meta: &OwnMeta,
    ) -> anyhow::Result<Vec<Box<RawValue>>> {
        let upstream = &self.upstreams[index];
        let mut params = PageParams { cursor: None, meta: meta.clone() };
        let mut items = Vec::new();
        if list == MergedList::Tools {
            upstream.definitions.begin_showing();
        }
        for _ in 0..PAGES_MAX {
            let answer = self.request_own(upstream, list.method(), &params).await?;
            let Some(result) = answer.object.get("result") else { break };
            if list == MergedList::Tools {
                upstream.definitions.note_shown(result);
            }
            let page = RawObject::parse(result.get())?;
            let Some(listed) = page.get(list.key()) else { break };
            for item in serde_json::from_str::<Vec<RawObject>>(listed.get())? {
                items.push(self.merged_item(index, list, item)?);
            }
            params.cursor = page.get_text("nextCursor");
            if params.cursor.is_none() {
                break;
            }
        }
        Ok(items)
    }

    fn merged_item(
        &self,
        index: usize,
        list: MergedList,
        mut item: RawObject,
    ) -> anyhow::Result<Box<RawValue>> {
        match list {
            MergedList::Tools | MergedList::Prompts => {
                let own = item.get_text("name").unwrap_or_default();
                item.set_value("name", &format!("{}__{own}", self.upstreams[index].name()))?;
            }
            MergedList::Resources | MergedList::ResourceTemplates => {
                let key = if list == MergedList::Resources { "uri" } else { "uriTemplate" };
                if let Some(uri) = item.get_text(key) {
                    self.merge.note_resource(uri, index);
                }
            }
        }
        Ok(item.to_raw()?)
    }
}
