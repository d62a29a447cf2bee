//! The demo's doors for clients of other systems: all of them, open to this machine without
//! credentials. Fit for trying things out and for nothing else.

use std::fmt::Write as _;

use domain::person::PersonId;
use serde_json::{Value, json};
use server::{
    AgentType, AiSdk, DoorSetup, DoorWords, Format, FrontendTools, NamedAgent, ToolWords, Ui, Wire,
    World, Worlds,
};

pub(super) const WARNING: &str = "the demo's doors are insecure: everything on this machine can answer their holds \
     as Ana; this is for trying things out only";

/// Where the front ends of these wires run while they are being written.
const ORIGINS: [&str; 6] = [
    "http://localhost:5173",
    "http://127.0.0.1:5173",
    "http://localhost:3000",
    "http://127.0.0.1:3000",
    "http://localhost:8080",
    "http://127.0.0.1:8080",
];

/// What the front end of the first wire lets people pick, and the type of its skills. All lead to the
/// same agent, in the three formats.
const AGENT_TYPES: [(&str, Format); 7] = [
    ("agent_frontend_tools", Format::Xml),
    ("agent_client_tools", Format::Xml),
    ("agent_no_tools", Format::Raw),
    ("agent_all_json", Format::Json),
    ("agent_subagents", Format::Json),
    ("agent_cowork", Format::Json),
    ("agent_skills", Format::Json),
];

/// Every door, leading to these agents.
pub(super) fn demo_doors(agents: &[&str], person: &str) -> Vec<DoorSetup> {
    let named = || agents.iter().map(|id| NamedAgent { name: (*id).into(), agent: (*id).into() });
    let first = agents.first().copied().unwrap_or_default();
    let kind = |name: &str, format| AgentType {
        name: name.into(),
        agent: first.into(),
        format,
        history: false,
    };
    let wires = [
        Wire::FrontendTools(FrontendTools {
            agents: AGENT_TYPES.map(|(name, format)| kind(name, format)).into(),
            bridge_approvals: true,
        }),
        Wire::Worlds(Worlds {
            worlds: vec![World { name: "demo-world".into(), agents: named().collect() }],
            files: None,
        }),
        Wire::AiSdk(AiSdk { prefix: "/api".into(), agents: named().collect(), ui: Ui::default() }),
    ];
    let open = |wire| DoorSetup {
        act_as: Some(PersonId::new(person)),
        origins: ORIGINS.map(str::to_owned).into(),
        wire,
    };
    wires.map(open).into()
}

/// The sentences of the front end that the demo's deployment comes from.
pub(super) fn demo_words() -> DoorWords {
    let words = ToolWords {
        approve_text: Some(
            "Yes, please proceed with deploying \"{projectName}\" to Shipper Cloud.".into(),
        ),
        deny_text: Some("No, I don't want to deploy to Shipper Cloud right now.".into()),
        approve_value: Some("Yes, deploy to Shipper Cloud".into()),
        deny_value: Some("No, cancel deployment".into()),
    };
    DoorWords::from([(tools::demo::DEPLOY.to_owned(), words)])
}

/// Each with the address that its clients put before their own paths, and the names to use there.
pub(super) fn listed(doors: &[DoorSetup], url: &str) -> Value {
    let one = |door: &DoorSetup| json!({"name": door.wire.name(), "url": url, "names": door.wire.names()});
    doors.iter().map(one).collect()
}

pub(super) fn welcome(ready: &Value) -> String {
    let mut text = String::new();
    let Some(doors) = ready["doors"].as_array() else { return text };
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "  Doors for clients of other systems, open to this machine (as Ana, insecure):"
    );
    for door in doors {
        let names: Vec<&str> =
            door["names"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let (name, url) = (&door["name"].as_str(), &door["url"].as_str());
        let _ = writeln!(
            text,
            "       {:<15} {:<32} {}",
            name.unwrap_or_default(),
            url.unwrap_or_default(),
            names.join(", ")
        );
    }
    let _ = writeln!(text);
    text
}
