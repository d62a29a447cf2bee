//! What a child process learns about its surroundings: a short list, and never a secret of ours.

use std::collections::BTreeMap;

use super::tree::MARKER;

/// Inherited by every child: what programs need to find files, speak a language and tell the time.
const ALWAYS: [&str; 5] = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"];
const ALWAYS_PREFIX: &str = "LC_";

/// Set by us for each call, so nobody else may.
const PER_CALL: [&str; 4] = [MARKER, "CALL_ID", "IDEMPOTENCY_KEY", "CALL_ATTEMPT"];

/// Whether a variable belongs to Holdpoint itself (tokens, addresses): no tool ever sees one.
pub fn is_ours(name: &str) -> bool {
    name.as_bytes().get(..10).is_some_and(|start| start.eq_ignore_ascii_case(b"HOLDPOINT_"))
}

/// Which variables a child gets: the few above, the named ones of the server's, and fixed ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    inherit: Vec<String>,
    set: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEnvironment {
    #[error("`{0}` is Holdpoint's own and is never given to a tool; leave it out")]
    Ours(String),
    #[error("`{0}` is set for each call; leave it out")]
    PerCall(String),
    #[error("`{0}` cannot be the name of an environment variable")]
    NotAName(String),
    #[error("the value of `{0}` contains a NUL character; leave it out")]
    NotAValue(String),
}

impl Environment {
    pub fn new(
        inherit: Vec<String>,
        set: BTreeMap<String, String>,
    ) -> Result<Environment, BadEnvironment> {
        for name in inherit.iter().chain(set.keys()) {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(BadEnvironment::NotAName(name.escape_debug().to_string()));
            }
            if is_ours(name) {
                return Err(BadEnvironment::Ours(name.clone()));
            }
            if PER_CALL.contains(&name.as_str()) {
                return Err(BadEnvironment::PerCall(name.clone()));
            }
        }
        if let Some((name, _)) = set.iter().find(|(_, value)| value.contains('\0')) {
            return Err(BadEnvironment::NotAValue(name.clone()));
        }
        Ok(Environment { inherit, set })
    }

    /// What people are shown: names only, since values may be secrets.
    pub fn variable_names(&self) -> String {
        let fixed = ALWAYS.into_iter().chain(["LC_*"]);
        let mut names: Vec<&str> = fixed
            .chain(self.inherit.iter().map(String::as_str))
            .chain(self.set.keys().map(String::as_str))
            .collect();
        names.sort_unstable();
        names.dedup();
        names.join(", ")
    }

    /// Names and fixed values, for a tool's origin: another environment is another tool.
    pub(crate) fn digest(&self) -> domain::digest::Digest {
        let set: Vec<String> =
            self.set.iter().map(|(name, value)| format!("{name}={value}")).collect();
        domain::digest::Framed::new("holdpoint.environment.v1")
            .list("inherit", &self.inherit)
            .list("set", &set)
            .finish()
    }

    /// The values that this child gets and others do not: they may be secrets, and are kept out of
    /// logs. Short ones are words like `1` or `prod`, and hiding those would hide everything.
    pub(crate) fn own_values(&self, variables: &BTreeMap<String, String>) -> Vec<String> {
        let names = self.inherit.iter().chain(self.set.keys());
        names
            .filter_map(|name| variables.get(name))
            .filter(|value| value.len() >= 6)
            .cloned()
            .collect()
    }

    /// The variables of one child, out of the server's own.
    pub(crate) fn for_a_child(&self) -> BTreeMap<String, String> {
        self.select_variables(std::env::vars_os().filter_map(|(name, value)| {
            // A value that is not UTF-8 could not be shown or recorded; nothing on the list needs one.
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }))
    }

    fn select_variables(
        &self,
        ours: impl Iterator<Item = (String, String)>,
    ) -> BTreeMap<String, String> {
        let listed = |name: &str| {
            ALWAYS.contains(&name)
                || name.starts_with(ALWAYS_PREFIX)
                || self.inherit.iter().any(|wanted| wanted == name)
        };
        let mut chosen: BTreeMap<String, String> = ours.filter(|(name, _)| listed(name)).collect();
        chosen.extend(self.set.iter().map(|(name, value)| (name.clone(), value.clone())));
        // Refused when configured; dropped here too, since this is the last gate before a child.
        chosen.retain(|name, _| !is_ours(name));
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    #[test]
    fn only_listed_variables_reach_a_child() {
        let environment =
            Environment::new(vec!["DEPLOY_TOKEN".into()], text(&[("MODE", "ci"), ("LANG", "C")]))
                .unwrap();
        let ours = text(&[
            ("PATH", "/bin"),
            ("LANG", "de_DE"),
            ("LC_ALL", "C"),
            ("DEPLOY_TOKEN", "t"),
            ("ANTHROPIC_API_KEY", "secret"),
            ("HOLDPOINT_TOKEN", "secret"),
            ("LD_PRELOAD", "/tmp/x.so"),
        ]);
        assert_eq!(
            environment.select_variables(ours.into_iter()),
            text(&[
                ("PATH", "/bin"),
                ("LANG", "C"),
                ("LC_ALL", "C"),
                ("DEPLOY_TOKEN", "t"),
                ("MODE", "ci")
            ])
        );
        assert_eq!(
            environment.variable_names(),
            "DEPLOY_TOKEN, HOME, LANG, LC_*, MODE, PATH, TMPDIR, TZ"
        );
    }

    #[test]
    fn our_own_variables_never_reach_a_child_even_when_listed() {
        for name in ["HOLDPOINT_TOKEN", "holdpoint_token", "HOLDPOINT_"] {
            let listed = Environment::new(vec![name.into()], BTreeMap::new());
            assert_eq!(listed, Err(BadEnvironment::Ours(name.into())));
            assert!(Environment::new(vec![], text(&[(name, "x")])).is_err());
            // Even one that slipped past the constructor.
            let slipped = Environment { inherit: vec![name.into()], set: text(&[(name, "x")]) };
            assert_eq!(slipped.select_variables(text(&[(name, "y")]).into_iter()), BTreeMap::new());
        }
        assert!(!is_ours("HOLDPOIN"));
    }

    #[test]
    fn names_that_are_no_names_are_refused() {
        for name in ["", "A=B", "A\0"] {
            assert!(matches!(
                Environment::new(vec![name.into()], BTreeMap::new()),
                Err(BadEnvironment::NotAName(_))
            ));
        }
        assert!(Environment::new(vec!["CALL_TREE".into()], BTreeMap::new()).is_err());
        assert!(Environment::new(vec![], text(&[("A", "x\0y")])).is_err());
    }

    #[test]
    fn another_value_is_another_environment() {
        let of = |value| Environment::new(vec![], text(&[("A", value)])).unwrap().digest();
        assert_eq!(of("1"), of("1"));
        assert_ne!(of("1"), of("2"));
    }
}
