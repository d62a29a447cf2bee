//! Which lines are logged: `HOLDPOINT_LOG`, or else `RUST_LOG`, as other Rust programs read it. A directive for
//! `holdpoint` is meant for all of our crates; one that names a crate (`engine=debug`) is more exact and wins.

use tracing_subscriber::EnvFilter;

/// Our crates by their short names. In the log each stands with `holdpoint_` in front of it.
const CRATES: [&str; 11] = [
    "agent",
    "channels",
    "chat",
    "egress",
    "engine",
    "models",
    "ports",
    "reply_parser",
    "server",
    "stores",
    "tools",
];

/// The filter, and what is wrong with the one that the environment wants.
pub(crate) fn from_environment(default: &str) -> (EnvFilter, Option<String>) {
    let wanted = ["HOLDPOINT_LOG", "RUST_LOG"]
        .into_iter()
        .find_map(|name| Some((name, std::env::var(name).ok().filter(|text| !text.is_empty())?)));
    let Some((name, text)) = wanted else { return (EnvFilter::new(default), None) };
    match EnvFilter::try_new(with_whole_names(&text)) {
        Ok(filter) => (filter, None),
        Err(error) => {
            let complaint = format!("{name} is not understood ({error}); logging at `{default}`");
            (EnvFilter::new(default), Some(complaint))
        }
    }
}

/// `engine=debug` is meant for our crate `holdpoint_engine`. `holdpoint=debug` needs no help: a directive is for every
/// target that begins with its name.
fn with_whole_names(text: &str) -> String {
    let whole = |directive: &str| {
        let directive = directive.trim();
        let name = directive.split(['=', ':', '[']).next().unwrap_or_default();
        match CRATES.contains(&name) {
            true => format!("holdpoint_{directive}"),
            false => directive.to_owned(),
        }
    };
    text.split(',').map(whole).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directive_may_name_a_crate_by_its_short_name() {
        assert_eq!(with_whole_names("debug"), "debug");
        assert_eq!(
            with_whole_names("hyper=warn, engine=trace"),
            "hyper=warn,holdpoint_engine=trace"
        );
        assert_eq!(with_whole_names("chat::send=debug"), "holdpoint_chat::send=debug");
        assert_eq!(with_whole_names("holdpoint=debug"), "holdpoint=debug");
        for text in ["debug", "holdpoint=debug,engine=trace", "holdpoint", "off", "engine"] {
            assert!(EnvFilter::try_new(with_whole_names(text)).is_ok(), "{text}");
        }
    }
}
