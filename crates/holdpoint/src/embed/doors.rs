//! Doors of our own server for clients that were written for other systems.

use domain::person::People;
use server::{DoorSetup, DoorWords, ToolWords, Wire};

use crate::checks;
use crate::near_names::listed;

/// The doors that [`crate::Holdpoint::serve`] opens, and what means yes and no on wires that know only words.
#[derive(Default)]
pub(super) struct Doors {
    pub(super) open: Vec<DoorSetup>,
    pub(super) words: DoorWords,
}

impl Doors {
    pub(super) fn say(&mut self, tool: &str, words: ToolWords) {
        self.words.insert(tool.to_owned(), words);
    }

    /// What the builder refuses. `reaching` are tools that could call a door of this machine themselves.
    pub(super) fn mistakes(
        &self,
        people: &People,
        agents: &[&str],
        reaching: &[String],
    ) -> Vec<String> {
        let mut found = Vec::new();
        for door in &self.open {
            let name = door.wire.name();
            let of_door = |why: String| format!("door `{name}`: {why}");
            for agent in agents_of(&door.wire) {
                let known = checks::known("agent", agent, agents, "give it to the builder");
                found.extend(known.err().map(of_door));
            }
            let Some(person) = &door.act_as else { continue };
            let who = person.as_str();
            let known = checks::person(who, people, "add it to the builder");
            found.extend(known.err().map(of_door));
            if !reaching.is_empty() {
                found.push(of_door(format!(
                    "the tools {} could call it and approve their own calls as `{who}`; take `act_as` out, \
                     and let clients send a token",
                    listed(reaching)
                )));
            }
        }
        found
    }
}

fn agents_of(wire: &Wire) -> Vec<&str> {
    match wire {
        Wire::FrontendTools(door) => door.agents.iter().map(|named| &*named.agent).collect(),
        Wire::Worlds(door) => {
            door.worlds.iter().flat_map(|world| &world.agents).map(|named| &*named.agent).collect()
        }
        Wire::AiSdk(door) => door.agents.iter().map(|named| &*named.agent).collect(),
    }
}
