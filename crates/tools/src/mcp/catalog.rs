//! What a server says its tools are, in its own words and with a digest of them.

use std::collections::BTreeMap;

use domain::digest::{Digest, Framed};
use domain::json::canonical;
use domain::phrase::{PhraseCode, RunDetail, SERVER_CLAIMS};
use serde_json::Value;

use super::limits::{DEFINITION_BYTES_MAX, TOOL_NAME_MAX, TOOLS_MAX};
use super::link::ServerIdentity;

/// One tool, word for word: also what we do not understand, since the server may.
#[derive(Clone, Debug, PartialEq)]
pub struct McpDefinition {
    pub name: String,
    pub whole: Value,
}

impl McpDefinition {
    /// The error says which tool is left out, and why.
    pub fn parse(whole: Value) -> Result<McpDefinition, String> {
        let name = whole["name"].as_str().unwrap_or_default().to_owned();
        let shown = domain::visible::visible(&name.chars().take(80).collect::<String>());
        let sound = (1..=TOOL_NAME_MAX).contains(&name.len())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        if !sound {
            return Err(format!("`{shown}` cannot be the name of a tool"));
        }
        if !whole["inputSchema"].is_object() {
            return Err(format!("`{shown}` has no schema"));
        }
        let bytes = canonical(&whole).len();
        if bytes > DEFINITION_BYTES_MAX {
            return Err(format!("the definition of `{shown}` has {bytes} bytes"));
        }
        Ok(McpDefinition { name, whole })
    }

    pub fn description(&self) -> &str {
        let text = self.whole["description"].as_str().filter(|text| !text.trim().is_empty());
        text.or_else(|| self.whole["title"].as_str()).unwrap_or(&self.name)
    }

    pub fn input_schema(&self) -> &Value {
        &self.whole["inputSchema"]
    }

    /// What the server claims about its effects. For people to read; it decides nothing.
    pub fn describe_claims(&self, detail: &mut RunDetail) {
        let claims = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        let worded = SERVER_CLAIMS.as_chunks::<2>().0.iter();
        let said: Vec<&str> = claims
            .into_iter()
            .zip(worded)
            .filter_map(|(key, [yes, no])| {
                let said = self.whole["annotations"][key].as_bool()?;
                Some(if said { *yes } else { *no })
            })
            .collect();
        match said.is_empty() {
            true => detail.push(PhraseCode::ServerSaysNothing, &[]),
            false => detail.push(PhraseCode::ServerSays, &[&said.join(", ")]),
        }
    }

    /// Of every word of the definition, and of who said it.
    pub fn pin_digest(&self, identity: &ServerIdentity) -> Digest {
        Framed::new("holdpoint.mcp.definition.v1")
            .field("server", identity.name.as_bytes())
            .field("version", identity.version.as_bytes())
            .field("definition", &canonical(&self.whole))
            .finish()
    }
}

/// One look at all tools of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct McpCatalog {
    pub identity: ServerIdentity,
    definitions: BTreeMap<String, McpDefinition>,
    /// In the server's order.
    pub order: Vec<String>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

impl McpCatalog {
    pub fn new(identity: ServerIdentity) -> McpCatalog {
        McpCatalog { identity, definitions: BTreeMap::new(), order: Vec::new(), notes: Vec::new() }
    }

    pub fn add_definition(&mut self, definition: McpDefinition) -> Result<(), String> {
        let name = definition.name.clone();
        // Two tools of one name: a call could mean either.
        if self.definitions.insert(name.clone(), definition).is_some() {
            return Err(format!("it has two tools of the name `{name}`"));
        }
        self.order.push(name);
        Ok(())
    }

    /// One page of a list, and the cursor of the next one if there is one. The error is why the list is not used.
    pub fn add_page(&mut self, page: &mut Value) -> Result<Option<Value>, String> {
        let Value::Array(tools) = page["tools"].take() else {
            return Err("its list of tools is no list".into());
        };
        for tool in tools {
            match McpDefinition::parse(tool) {
                Ok(definition) => self.add_definition(definition)?,
                Err(why) => self.add_note(why),
            }
            if self.len() > TOOLS_MAX {
                return Err(format!("it has more than {TOOLS_MAX} tools"));
            }
        }
        Ok(Some(page["nextCursor"].take()).filter(|cursor| !cursor.is_null()))
    }

    fn add_note(&mut self, why: String) {
        self.notes.push(why);
    }

    fn len(&self) -> usize {
        self.definitions.len() + self.notes.len()
    }

    pub fn find_definition(&self, name: &str) -> Option<&McpDefinition> {
        self.definitions.get(name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str) -> Value {
        json!({"name": name, "description": "d", "inputSchema": {"type": "object"}})
    }

    #[test]
    fn any_other_word_is_another_definition() {
        let who = ServerIdentity { name: "s".into(), version: "1".into() };
        let first = McpDefinition::parse(tool("a")).unwrap().pin_digest(&who);
        for (key, value) in [
            ("description", json!("e")),
            ("annotations", json!({"readOnlyHint": true})),
            ("inputSchema", json!({"type": "object", "properties": {}})),
            ("outputSchema", json!({})),
            ("unheard_of", json!(1)),
        ] {
            let mut other = tool("a");
            other[key] = value;
            assert_ne!(McpDefinition::parse(other).unwrap().pin_digest(&who), first, "{key}");
        }
        let later = ServerIdentity { version: "2".into(), ..who };
        assert_ne!(McpDefinition::parse(tool("a")).unwrap().pin_digest(&later), first);
    }

    #[test]
    fn what_is_no_tool_is_left_out_with_a_reason() {
        for (bad, why) in [
            (tool(""), "cannot be the name"),
            (tool("a b"), "cannot be the name"),
            (tool("../x"), "cannot be the name"),
            (tool(&"x".repeat(200)), "cannot be the name"),
            (json!({"name": "a"}), "no schema"),
            (json!("a"), "cannot be the name"),
            (json!({"name": "a", "inputSchema": {}, "x": "y".repeat(200_000)}), "bytes"),
        ] {
            let told = McpDefinition::parse(bad).unwrap_err();
            assert!(told.contains(why), "{told}");
        }
        let mut catalog = McpCatalog::new(ServerIdentity::default());
        catalog.add_definition(McpDefinition::parse(tool("a")).unwrap()).unwrap();
        assert!(catalog.add_definition(McpDefinition::parse(tool("a")).unwrap()).is_err());
    }
}
