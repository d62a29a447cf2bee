//! A view of the inbox under a name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedViewBody {
    #[schemars(length(max = 60), regex(pattern = r"\S"))]
    pub(crate) name: String,
    /// What stands behind the path of the inbox, from `?` on.
    #[schemars(length(max = 500), regex(pattern = r#"^\?[!"$-~]*$"#))]
    pub(crate) query: String,
    /// The name that it had until now.
    pub(crate) was: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SavedView {
    name: String,
    query: String,
}

impl SavedView {
    pub(crate) fn of(view: engine::SavedView) -> SavedView {
        SavedView { name: view.name, query: view.query }
    }
}
