//! A hold, as somebody types it: by its id, or by the three letters that every card shows.

use std::fmt;
use std::str::FromStr;

use anyhow::bail;
use domain::id::HoldId;
use domain::visible::visible;
use serde_json::Value;

use super::client::Client;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HoldRef {
    Id(HoldId),
    /// In capital letters.
    Tag(String),
}

/// How many holds are looked through for a tag, 200 at a time.
const PAGES_MAX: usize = 25;

impl FromStr for HoldRef {
    type Err = String;

    fn from_str(text: &str) -> Result<HoldRef, String> {
        let tag = text.to_ascii_uppercase();
        if tag.len() == 3 && tag.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Ok(HoldRef::Tag(tag));
        }
        let id = text.parse::<HoldId>().map(HoldRef::Id);
        id.map_err(|why| format!("{why}, and a tag like `7Q2`"))
    }
}

impl fmt::Display for HoldRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HoldRef::Id(id) => id.fmt(f),
            HoldRef::Tag(tag) => f.write_str(tag),
        }
    }
}

impl HoldRef {
    /// The hold that is meant. A tag names a pending hold; one that is decided only if no pending one has
    /// it. Two with the same tag are told apart by their ids, and never by us.
    pub async fn resolve(&self, client: &Client) -> anyhow::Result<HoldId> {
        let tag = match self {
            HoldRef::Id(id) => return Ok(*id),
            HoldRef::Tag(tag) => tag,
        };
        for filter in ["state=pending&", ""] {
            let mut found = Vec::new();
            let mut path = format!("/v1/holds?{filter}limit=200");
            for _ in 0..PAGES_MAX {
                let page = client.get(&path).await?;
                found.extend(tagged(&page, tag));
                let Some(next) = super::token::next_cursor(&page) else { break };
                path = format!("/v1/holds?{filter}limit=200&cursor={next}");
            }
            match found.as_slice() {
                [] => {}
                [only] => return Ok(*only),
                several => {
                    let ids: Vec<String> = several.iter().map(ToString::to_string).collect();
                    bail!(
                        "several holds have the tag {tag}\n  → name one by its id: {}",
                        ids.join(", ")
                    );
                }
            }
        }
        bail!("no hold has the tag {tag}\n  → `holdpoint list` shows those that wait for an answer")
    }
}

fn tagged(page: &Value, tag: &str) -> Vec<HoldId> {
    let items = page["items"].as_array().into_iter().flatten();
    let tagged = items.filter(|hold| hold["tag"].as_str() == Some(tag));
    tagged.filter_map(|hold| visible(hold["id"].as_str()?).parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_tags_are_told_apart() {
        assert_eq!("7q2".parse(), Ok(HoldRef::Tag("7Q2".into())));
        let id = "hold_01jd3kq8v2m4x6z8a0c2e4g6j8";
        assert_eq!(id.parse::<HoldRef>().unwrap().to_string(), id);
        for nonsense in ["", "7Q", "7Q2X", "7\u{301}2", "ses_01jd3kq8v2m4x6z8a0c2e4g6j8"] {
            let why = nonsense.parse::<HoldRef>().unwrap_err();
            assert!(why.contains("hold_") && why.contains("`7Q2`"), "{nonsense}: {why}");
        }
    }
}
