//! Which lines are logged: `HOLDPOINT_LOG`, or else `RUST_LOG`, as other Rust programs read it. A directive for
//! `holdpoint` is meant for all of our crates; one that names a crate is more exact and wins.

use tracing_subscriber::EnvFilter;

/// Our crates as they stand in the log. What others log they log under their own names.
const CRATES: [&str; 11] = [
    "agent",
    "channels",
    "egress",
    "engine",
    "models",
    "ports",
    "replies",
    "server",
    "stores",
    "switchboard",
    "tools",
];

/// The filter, and what is wrong with the one that the environment wants.
pub(crate) fn from_environment(default: &str) -> (EnvFilter, Option<String>) {
    let wanted = ["HOLDPOINT_LOG", "RUST_LOG"]
        .into_iter()
        .find_map(|name| Some((name, std::env::var(name).ok().filter(|text| !text.is_empty())?)));
    let Some((name, text)) = wanted else { return (EnvFilter::new(default), None) };
    match EnvFilter::try_new(for_all_crates(&text)) {
        Ok(filter) => (filter, None),
        Err(error) => {
            let complaint = format!("{name} is not understood ({error}); logging at `{default}`");
            (EnvFilter::new(default), Some(complaint))
        }
    }
}

/// `holdpoint=debug` once for each crate that has no directive of its own.
fn for_all_crates(text: &str) -> String {
    let directives: Vec<&str> = text.split(',').map(str::trim).collect();
    let is_named = |name: &str| {
        directives.iter().any(|directive| {
            directive
                .strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    };
    let mut all: Vec<String> = Vec::new();
    for directive in &directives {
        let level = match directive.strip_prefix("holdpoint") {
            Some(level) if level.is_empty() || level.starts_with('=') => level,
            _ => continue,
        };
        let others = CRATES.iter().filter(|name| !is_named(name));
        all.extend(others.map(|name| format!("{name}{level}")));
    }
    all.extend(directives.into_iter().map(str::to_owned));
    all.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directive_for_the_program_is_meant_for_all_of_its_crates() {
        assert_eq!(for_all_crates("debug"), "debug");
        assert_eq!(for_all_crates("hyper=warn,engine=trace"), "hyper=warn,engine=trace");
        let all = for_all_crates("info, holdpoint=debug,engine=trace");
        let mut directives: Vec<&str> = all.split(',').collect();
        assert!(directives.contains(&"server=debug") && directives.contains(&"stores=debug"));
        assert!(!directives.contains(&"engine=debug"), "what is more exact wins: {all}");
        directives
            .retain(|directive| !CRATES.iter().any(|name| directive == &format!("{name}=debug")));
        assert_eq!(directives, ["info", "holdpoint=debug", "engine=trace"]);
        for text in ["debug", "holdpoint=debug,engine=trace", "holdpoint", "off"] {
            assert!(EnvFilter::try_new(for_all_crates(text)).is_ok(), "{text}");
        }
    }
}
