//! What must hold of a set-up, however it was written down: in the configuration file, which adds the
//! line to each message, or in the code of a program that embeds us.

use domain::limits::TURNS_PER_RUN_MAX;
use domain::person::{ADMIN, People};
use domain::visible::visible;
use serde_json::Value;

use crate::near_names::{listed, nearest};

/// Doors for clients of other systems. Sessions know where they live by these names, so no channel has one.
#[cfg(any(feature = "chats", feature = "program"))]
pub(crate) const DOORS: [&str; 3] = ["frontend_tools", "worlds", "ai_sdk"];

/// A name that people and programs type: letters, digits, and these.
pub(crate) fn name(what: &str, text: &str, also: &str) -> Result<(), String> {
    let sound = (1..=64).contains(&text.len())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || also.contains(c));
    if sound {
        return Ok(());
    }
    let shown = visible(text);
    Err(format!(
        "`{shown}` cannot be the name of {what}: use 1 to 64 letters and digits, and any of `{also}`"
    ))
}

pub(crate) fn agent_name(text: &str) -> Result<(), String> {
    name("an agent", text, "._-")
}

pub(crate) fn tool_name(text: &str) -> Result<(), String> {
    name("a tool", text, "._-")
}

/// What stands between the name of an MCP server and its tool's.
#[cfg(feature = "mcp")]
pub(crate) const BETWEEN: &str = "__";

/// No tool may look like one of a server's.
#[cfg(feature = "mcp")]
pub(crate) fn server_name<'a>(
    name: &str,
    mut tools: impl Iterator<Item = &'a str>,
) -> Result<(), String> {
    if name.contains(BETWEEN) {
        return Err(no_between(name));
    }
    let prefix = format!("{name}{BETWEEN}");
    match tools.find(|tool| tool.starts_with(&prefix)) {
        Some(tool) => Err(looks_like_a_server(tool, name)),
        None => Ok(()),
    }
}

#[cfg(feature = "mcp")]
pub(crate) fn no_between(name: &str) -> String {
    let name = visible(name);
    format!(
        "the tools of an MCP server are called `{name}{BETWEEN}TOOL`, so its own name has no `{BETWEEN}`"
    )
}

#[cfg(feature = "mcp")]
pub(crate) fn looks_like_a_server(tool: &str, server: &str) -> String {
    let (tool, server) = (visible(tool), visible(server));
    format!("`{tool}` would look like a tool of the MCP server `{server}`; rename one")
}

pub(crate) fn person_name(text: &str) -> Result<(), String> {
    name("a person", text, "._@-")
}

pub(crate) fn role_name(text: &str) -> Result<(), String> {
    name("a role", text, "._-")
}

/// Something that must have been named elsewhere.
pub(crate) fn known(what: &str, name: &str, known: &[&str], remedy: &str) -> Result<(), String> {
    if known.contains(&name) {
        return Ok(());
    }
    let shown = visible(name);
    Err(match nearest(name, known) {
        Some(near) => format!("there is no {what} `{shown}`; did you mean `{near}`?"),
        None if known.is_empty() => format!("there is no {what} `{shown}`; {remedy}"),
        None => format!("there is no {what} `{shown}`; {remedy} (there are {})", listed(known)),
    })
}

pub(crate) fn turns(turns: u32) -> Result<(), String> {
    match (1..=TURNS_PER_RUN_MAX).contains(&turns) {
        true => Ok(()),
        false => Err(format!("`turns` is between 1 and {TURNS_PER_RUN_MAX}")),
    }
}

/// A budget of nothing would stop every run before its first word.
pub(crate) fn more_than_nothing(key: &str, amount: Option<u64>) -> Result<(), String> {
    match amount {
        Some(0) => Err(format!("`{key}` is more than nothing; leave it out for no bound")),
        _ => Ok(()),
    }
}

pub(crate) fn has_admin(people: &People) -> Result<(), String> {
    match people.iter().any(|person| person.roles.contains(ADMIN)) {
        true => Ok(()),
        false => Err(
            "nobody has the role `admin`; give it to somebody, who then gets the first login link"
                .into(),
        ),
    }
}

/// The domain would find these too, but not say what was probably meant.
pub(crate) fn role_of_somebody(role: &str, people: &People, remedy: &str) -> Result<(), String> {
    let roles: Vec<&str> =
        people.iter().flat_map(|person| &person.roles).map(String::as_str).collect();
    let nobody = |shown: &str| format!("nobody has the role `{shown}`");
    somebody(role, &roles, remedy, nobody)
}

pub(crate) fn person(id: &str, people: &People, remedy: &str) -> Result<(), String> {
    let ids: Vec<&str> = people.iter().map(|person| person.id.as_str()).collect();
    somebody(id, &ids, remedy, |shown| format!("there is no person `{shown}`"))
}

fn somebody(
    name: &str,
    known: &[&str],
    remedy: &str,
    nobody: impl Fn(&str) -> String,
) -> Result<(), String> {
    if known.contains(&name) {
        return Ok(());
    }
    let remedy = match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => remedy.into(),
    };
    Err(format!("{}; {remedy}", nobody(&visible(name))))
}

/// Arguments are always an object.
pub(crate) fn takes_an_object(schema: &Value) -> bool {
    schema.get("type") == Some(&Value::from("object"))
}

/// A two-phase tool gets the argument `confirmed` from us.
pub(crate) fn leaves_confirmed_to_us(schema: &Value) -> bool {
    schema.pointer("/properties/confirmed").is_none()
}
