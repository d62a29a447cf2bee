//! `[doors.NAME]`: what opens, and what is refused.

use server::{Format, Ui, Wire};

use crate::config::Config;

const BASE: &str = r#"
[models.m]
provider = "scripted"
script = "builtin:demo"
[[tools]]
name = "sh"
kind = "command"
description = "d"
argv = ["true"]
input_schema = { type = "object" }
[[tools]]
name = "ask"
kind = "human"
[[agents]]
id = "ops"
model = "m"
tools = ["ask"]
[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]
"#;

/// Without the tool that starts processes.
fn harmless() -> String {
    let (before, rest) = BASE.split_once("[[tools]]").expect("a tool");
    let (_, after) = rest.split_once("[[tools]]").expect("another");
    format!("{before}[[tools]]{after}")
}

fn parse(base: &str, door: &str) -> Result<Config, String> {
    Config::parse(&format!("{base}{door}"), "h.toml").map_err(|errors| errors.0[0].message.clone())
}

fn refused(base: &str, door: &str, why: &str) {
    let told = parse(base, door).err().unwrap_or_else(|| panic!("{door} was taken"));
    assert!(told.contains(why), "{told}");
}

#[test]
fn doors_are_shut_unless_the_file_opens_them() {
    assert!(parse(BASE, "").expect("sound").doors.is_empty());
    assert!(parse(BASE, "[doors.worlds]\n").expect("sound").doors.is_empty());
    let config = parse(BASE, "[doors.ai_sdk]\nenabled = true\n").expect("sound");
    let [door] = config.doors.as_slice() else { panic!("{:?}", config.doors) };
    let Wire::AiSdk(wire) = &door.setup.wire else { panic!("{door:?}") };
    assert_eq!((wire.prefix.as_str(), wire.ui), ("/api", Ui::Six));
    assert_eq!((&*wire.agents[0].name, &*wire.agents[0].agent), ("ops", "ops"));
    assert_eq!((&door.setup.act_as, &door.warning), (&None, &None));
}

#[test]
fn names_on_the_wire_lead_to_agents() {
    let door = "[doors.frontend_tools]\nenabled = true\nbridge_approvals = false\n\
                agents = { one = \"ops\", two = { agent = \"ops\", format = \"xml\", history = true } }\n";
    let config = parse(BASE, door).expect("sound");
    let Wire::FrontendTools(wire) = &config.doors[0].setup.wire else { panic!("{config:?}") };
    assert!(!wire.bridge_approvals);
    let seen: Vec<_> = wire.agents.iter().map(|it| (&*it.name, it.format, it.history)).collect();
    assert_eq!(seen, [("one", Format::Json, false), ("two", Format::Xml, true)]);
    let door = "[doors.worlds]\nenabled = true\nagents = { a1 = \"ops\" }\nworlds = { \"My World\" = [\"a1\"] }\n";
    let config = parse(BASE, door).expect("sound");
    let Wire::Worlds(wire) = &config.doors[0].setup.wire else { panic!("{config:?}") };
    assert_eq!((&*wire.worlds[0].name, &*wire.worlds[0].agents[0].agent), ("My World", "ops"));
}

#[test]
fn acting_for_a_person_is_refused_beside_tools_that_could_call_the_door() {
    let door = "[doors.ai_sdk]\nenabled = true\nact_as = \"ana\"\n";
    refused(BASE, door, "the tool `sh` could call this door and approve their own calls as `ana`");
    let config = parse(&harmless(), door).expect("sound");
    assert_eq!(config.doors[0].setup.act_as.as_ref().map(|who| who.as_str()), Some("ana"));
    assert!(config.warnings.is_empty(), "{:?}", config.warnings);
    let config = parse(BASE, &format!("{door}insecure = true\n")).expect("sound");
    assert!(config.warnings[0].contains("the door `ai_sdk` is insecure"), "{:?}", config.warnings);
    assert!(config.warnings[0].contains("also the tool `sh`"), "{:?}", config.warnings);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let open = "[server]\nlisten = \"0.0.0.0:80\"\n";
    refused(
        &format!("{open}{}", harmless()),
        "[doors.worlds]\nact_as = \"ana\"\n",
        "only on a loopback listener",
    );
    for (door, why) in [
        ("[doors.world]\n", "unknown key `world`; did you mean `worlds`?"),
        ("[doors.worlds]\nact_as = \"joe\"\n", "there is no person `joe`"),
        ("[doors.worlds]\ninsecure = true\n", "`insecure` goes with `act_as`"),
        ("[doors.worlds]\norigins = [\"*\"]\n", "`*` is not an origin"),
        ("[doors.worlds]\nagents = [\"opz\"]\n", "there is no agent `opz`; did you mean `ops`?"),
        ("[doors.worlds]\nagents = []\n", "`agents` is empty"),
        (
            "[doors.worlds]\nagents = { a = { agent = \"ops\", format = \"xml\" } }\n",
            "`format` of `a` makes no sense here",
        ),
        ("[doors.worlds]\nworlds = { w = [\"nobody\"] }\n", "there is no agent `nobody`"),
        ("[doors.worlds]\nui = 6\n", "only the door `ai_sdk` has `ui`"),
        (
            "[doors.ai_sdk]\nbridge_approvals = true\n",
            "only the door `frontend_tools` has `bridge_approvals`",
        ),
        ("[doors.ai_sdk]\nui = 4\n", "`ui` is 5, 6 or 7"),
        ("[doors.ai_sdk]\nprefix = \"api/\"\n", "cannot stand before `/chat`"),
        (
            "[doors.frontend_tools]\nagents = { a = { agent = \"ops\", format = \"yaml\" } }\n",
            "`format` cannot be `yaml`",
        ),
        (
            "[doors.frontend_tools]\nagents = { a = { format = \"xml\" } }\n",
            "`agent` is missing for `a`",
        ),
        (
            "[doors.frontend_tools]\nagents = { \"a b\" = \"ops\" }\n",
            "`a b` cannot be the name of an agent",
        ),
    ] {
        refused(BASE, door, why);
    }
}
