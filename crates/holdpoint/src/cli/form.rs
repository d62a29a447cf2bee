//! A form by JSON Schema, walked through field by field.
//!
//! The fields that people meet (text, numbers, yes or no, one or several of a list) have their own
//! prompts; whatever else a schema can say is typed as JSON. What is valid is decided by the same
//! code as on the server.

use domain::schema;
use domain::visible::visible;
use serde_json::{Map, Value};

use super::menu::{Menu, MenuEntry};

/// Asks until the whole form is valid.
pub fn fill(menu: &mut Menu<'_>, form: Option<&Value>) -> anyhow::Result<Value> {
    let Some(form) = form else {
        let text = menu.text("Your answer:")?;
        return Ok(Value::Object(Map::from_iter([("text".to_owned(), Value::String(text))])));
    };
    loop {
        let value = match form["properties"].as_object().filter(|fields| !fields.is_empty()) {
            Some(fields) => walk(menu, form, fields)?,
            None => typed_json(menu, "The answer, as JSON:")?,
        };
        match schema::check(form, &value) {
            Ok(()) => return Ok(value),
            Err(errors) => {
                menu.say(&format!("This does not fit yet: {errors}."))?;
            }
        }
    }
}

/// What is needed comes first, in the order in which the schema names it: that is the nearest to
/// the author's own order that survives, since an object has none.
fn walk(menu: &mut Menu<'_>, form: &Value, fields: &Map<String, Value>) -> anyhow::Result<Value> {
    let needed: Vec<&str> =
        form["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let place = |name: &str| needed.iter().position(|known| *known == name);
    let mut ordered: Vec<(&String, &Value)> = fields.iter().collect();
    ordered.sort_by_key(|(name, _)| place(name).unwrap_or(needed.len()));
    let mut filled = Map::new();
    for (name, schema) in ordered {
        let field = FormEntry { name, schema, required: place(name).is_some() };
        if let Some(value) = field.ask(menu)? {
            filled.insert(name.clone(), value);
        }
    }
    Ok(Value::Object(filled))
}

struct FormEntry<'a> {
    name: &'a str,
    schema: &'a Value,
    required: bool,
}

impl FormEntry<'_> {
    /// Nothing: an optional field was left out.
    fn ask(&self, menu: &mut Menu<'_>) -> anyhow::Result<Option<Value>> {
        menu.say("")?;
        menu.say_foreign("", &self.heading())?;
        loop {
            let Some(value) = self.typed(menu)? else {
                match self.schema.get("default") {
                    Some(default) => return Ok(Some(default.clone())),
                    None if self.required => {
                        menu.say("This one is needed (Ctrl-D gives up).")?;
                        continue;
                    }
                    None => return Ok(None),
                }
            };
            // A part of a schema may lean on the rest of it; then only the whole can be checked.
            let wrong = match schema::Validator::new(self.schema) {
                Ok(validator) => validator.check(&value).err(),
                Err(_) => None,
            };
            match wrong {
                None => return Ok(Some(value)),
                // In words of ours: what the schema says of itself is the asker's.
                Some(errors) => menu.say(&format!("This {errors}."))?,
            }
        }
    }

    fn heading(&self) -> String {
        let title = self.schema["title"].as_str().unwrap_or(self.name);
        let mut text = visible(title);
        if let Some(description) = self.schema["description"].as_str() {
            text.push_str(&format!(" — {}", visible(description)));
        }
        match self.schema.get("default") {
            Some(default) => {
                text.push_str(&format!(" (empty: {})", visible(&default.to_string())));
            }
            None if !self.required => text.push_str(" (may be left empty)"),
            None => {}
        }
        text
    }

    /// What was typed; nothing for an empty line.
    fn typed(&self, menu: &mut Menu<'_>) -> anyhow::Result<Option<Value>> {
        if let Some(values) = self.schema["enum"].as_array().filter(|values| !values.is_empty()) {
            return self.one_of(menu, values);
        }
        let items = &self.schema["items"];
        match kind(self.schema) {
            "array" if items["enum"].as_array().is_some_and(|values| !values.is_empty()) => {
                let values = items["enum"].as_array().map_or(&[][..], Vec::as_slice);
                self.some_of(menu, values)
            }
            "array" if matches!(kind(items), "string" | "integer" | "number") => {
                self.list(menu, kind(items))
            }
            simple @ ("string" | "integer" | "number" | "boolean") => {
                let hint = match simple {
                    "integer" => "whole number>",
                    "number" => "number>",
                    "boolean" => "yes/no>",
                    _ => ">",
                };
                loop {
                    let text = menu.line(hint)?;
                    if text.is_empty() {
                        return Ok(None);
                    }
                    match parse_field(simple, &text) {
                        Ok(value) => return Ok(Some(value)),
                        Err(why) => menu.say(&why)?,
                    }
                }
            }
            _ => loop {
                let text = menu.line("JSON>")?;
                if text.is_empty() {
                    return Ok(None);
                }
                match serde_json::from_str(&text) {
                    Ok(value) => return Ok(Some(value)),
                    Err(error) => menu.say(&format!("That is not JSON: {error}."))?,
                }
            },
        }
    }

    fn may_skip(&self) -> bool {
        !self.required || self.schema.get("default").is_some()
    }

    fn one_of(&self, menu: &mut Menu<'_>, values: &[Value]) -> anyhow::Result<Option<Value>> {
        let mut entries = entries(values);
        if self.may_skip() {
            entries.push(MenuEntry::new(SKIP, "(leave empty)"));
        }
        let chosen = menu.choose_one(&entries)?;
        Ok(position(&chosen).and_then(|index| values.get(index)).cloned())
    }

    fn some_of(&self, menu: &mut Menu<'_>, values: &[Value]) -> anyhow::Result<Option<Value>> {
        let mut entries = entries(values);
        if self.may_skip() {
            entries.push(MenuEntry::new(SKIP, "(leave empty)"));
        }
        let chosen = menu.choose(&entries, true, false)?;
        if chosen.iter().any(|id| id == SKIP) {
            return Ok(None);
        }
        let picks = chosen.iter().filter_map(|id| position(id));
        Ok(Some(picks.filter_map(|index| values.get(index)).cloned().collect()))
    }

    fn list(&self, menu: &mut Menu<'_>, of: &str) -> anyhow::Result<Option<Value>> {
        loop {
            let text = menu.line("separated by commas>")?;
            if text.is_empty() {
                return Ok(None);
            }
            let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
            match parts.map(|part| parse_field(of, part)).collect::<Result<Vec<_>, _>>() {
                Ok(values) => return Ok(Some(Value::Array(values))),
                Err(why) => menu.say(&why)?,
            }
        }
    }
}

const SKIP: &str = "@skip";

/// The ids are positions with a mark, because a bare number is the menu's own.
fn entries(values: &[Value]) -> Vec<MenuEntry> {
    let label = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let entry = |(index, value)| MenuEntry::new(&format!("@{index}"), &label(value));
    values.iter().enumerate().map(entry).collect()
}

fn position(id: &str) -> Option<usize> {
    id.strip_prefix('@').and_then(|index| index.parse().ok())
}

/// The type of a schema, where it names one that is not null.
fn kind(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(kind) => kind,
        Value::Array(kinds) => {
            let mut named = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
            match (named.next(), named.next()) {
                (Some(only), None) => only,
                _ => "",
            }
        }
        _ => "",
    }
}

fn parse_field(kind: &str, text: &str) -> Result<Value, String> {
    let number = || serde_json::from_str::<Value>(text).ok().filter(Value::is_number);
    match kind {
        "integer" => number()
            .filter(|value| !value.is_f64())
            .ok_or_else(|| format!("`{}` is not a whole number.", visible(text))),
        "number" => number().ok_or_else(|| format!("`{}` is not a number.", visible(text))),
        "boolean" => match text.to_lowercase().as_str() {
            "y" | "yes" | "true" => Ok(Value::Bool(true)),
            "n" | "no" | "false" => Ok(Value::Bool(false)),
            _ => Err("Please type yes or no.".into()),
        },
        _ => Ok(Value::String(text.to_owned())),
    }
}

fn typed_json(menu: &mut Menu<'_>, prompt: &str) -> anyhow::Result<Value> {
    loop {
        match serde_json::from_str(&menu.text(prompt)?) {
            Ok(value) => return Ok(value),
            Err(error) => menu.say(&format!("That is not JSON: {error}."))?,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::exit::Abandoned;
    use super::*;

    fn typed(schema: Option<&Value>, lines: &str) -> (anyhow::Result<Value>, String) {
        let mut shown = Vec::new();
        let mut input = lines.as_bytes();
        let filled = fill(&mut Menu::new(&mut input, &mut shown), schema);
        (filled, String::from_utf8(shown).unwrap())
    }

    fn release() -> Value {
        json!({
            "type": "object",
            "required": ["region", "replicas", "tls"],
            "properties": {
                "region": {"enum": ["eu", "us"], "title": "Region"},
                "replicas": {"type": "integer", "minimum": 1, "maximum": 9, "description": "how many"},
                "a_share": {"type": ["number", "null"]},
                "tls": {"type": "boolean"},
                "b_notes": {"type": "string", "default": "none"},
                "c_zones": {"type": "array", "items": {"enum": ["a", "b", "c"]}},
                "d_hosts": {"type": "array", "items": {"type": "string"}},
                "e_extra": {"type": "object"},
            },
        })
    }

    #[test]
    fn every_kind_of_field_is_asked_in_its_own_way() {
        let lines = "1\n3\nyes\n0.5\nfirst try\n1,3\nx, y\n{\"k\":1}\n";
        let (filled, shown) = typed(Some(&release()), lines);
        assert_eq!(
            filled.unwrap(),
            json!({
                "region": "eu", "replicas": 3, "a_share": 0.5, "tls": true, "b_notes": "first try",
                "c_zones": ["a", "c"], "d_hosts": ["x", "y"], "e_extra": {"k": 1},
            })
        );
        assert!(shown.contains("replicas — how many"), "{shown}");
    }

    #[test]
    fn optional_fields_may_be_left_out_and_defaults_stand() {
        let (filled, shown) = typed(Some(&release()), "2\n1\nno\n\n\n4\n\n\n");
        assert_eq!(
            filled.unwrap(),
            json!({"region": "us", "replicas": 1, "tls": false, "b_notes": "none"})
        );
        assert!(shown.contains("b_notes (empty: \"none\")"), "{shown}");
    }

    #[test]
    fn a_field_is_asked_again_until_it_fits() {
        let schema = json!({
            "type": "object", "required": ["n"],
            "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 9}},
        });
        let (filled, shown) = typed(Some(&schema), "\nx\n1.5\n12\n3\n");
        assert_eq!(filled.unwrap(), json!({"n": 3}));
        assert_eq!(shown.matches("whole number>").count(), 5, "{shown}");
        assert!(shown.contains("This one is needed"), "{shown}");
    }

    #[test]
    fn what_only_the_whole_form_can_refuse_is_asked_again() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "minProperties": 1,
        });
        let (filled, shown) = typed(Some(&schema), "\n\nx\n\n");
        assert_eq!(filled.unwrap(), json!({"a": "x"}));
        assert!(shown.contains("This does not fit yet"), "{shown}");
    }

    #[test]
    fn without_a_schema_it_is_free_text_and_without_fields_json() {
        assert_eq!(typed(None, "\nall good\n").0.unwrap(), json!({"text": "all good"}));
        let list = json!({"type": "array", "items": {"type": "integer"}});
        assert_eq!(typed(Some(&list), "nonsense\n[\"x\"]\n[1,2]\n").0.unwrap(), json!([1, 2]));
    }

    #[test]
    fn giving_up_fills_in_nothing() {
        let (filled, _) = typed(Some(&release()), "1\n");
        assert!(filled.unwrap_err().is::<Abandoned>());
    }

    #[test]
    fn i47_what_a_form_says_of_its_own_rules_is_no_line_of_ours() {
        const FORGED: &str = "FORGED\ndigest     │ sha256:00\u{202e}\u{200b}";
        let far = format!("{}FORGED", " ".repeat(2_000));
        let forged_field =
            |rule: Value| json!({"type": "object", "properties": {"a": rule}, "required": ["a"]});
        for rule in [
            json!({"type": "string", "pattern": FORGED}),
            json!({"type": "string", "pattern": far}),
            json!({"type": "string", "const": FORGED}),
            json!({"type": "string", "not": {"const": "x"}, "description": "a"}),
            json!({"type": "string", "anyOf": [{"enum": [FORGED, far]}, {"pattern": far}]}),
            json!({"enum": [], "const": FORGED}),
        ] {
            let (_, shown) = typed(Some(&forged_field(rule.clone())), "x\n\"x\"\n");
            assert!(shown.contains("This "), "{rule} is refused: {shown}");
            assert!(!shown.contains("FORGED") && !shown.contains("sha256"), "{rule}: {shown}");
        }
        // Only the whole can refuse these; names are the asker's, too.
        for (schema, lines) in [
            (
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": [FORGED]}),
                "x\n",
            ),
            (
                json!({"type": "object", "properties": {"a": {}}, "propertyNames": {"const": FORGED}}),
                "1\n",
            ),
            (json!({"type": "object", "required": [FORGED, far]}), "{}\n"),
        ] {
            let (_, shown) = typed(Some(&schema), lines);
            assert!(shown.contains("This does not fit yet: "), "{schema}: {shown}");
            assert!(!shown.contains("FORGED") && !shown.contains("sha256"), "{schema}: {shown}");
        }
    }

    #[test]
    fn a_form_cannot_draw_on_the_terminal() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string", "title": "\u{1b}[2J"}}});
        let (_, shown) = typed(Some(&schema), "x\n");
        assert!(!shown.contains('\u{1b}') && shown.contains("⟦U+001B⟧[2J"), "{shown}");
    }
}
