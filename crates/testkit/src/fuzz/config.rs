//! The configuration file: taken whole, or refused with a line of it.

use holdpoint::config::Config;

use super::text;

pub(super) fn run(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let one = Config::parse(text, "fuzz.toml");
    let two = Config::parse(text, "fuzz.toml");
    match (one, two) {
        (Ok(one), Ok(two)) => {
            assert_eq!(one.policy.version(), two.policy.version(), "one text, one policy");
            assert_eq!(one.people, two.people);
        }
        (Err(one), Err(two)) => {
            assert_eq!(one.to_string(), two.to_string());
            assert!(one.to_string().len() <= 4_000 + 16 * bytes.len());
            for line in one.0.iter().filter_map(|mistake| mistake.line) {
                assert!((1..=text.lines().count() + 1).contains(&line), "line {line} is not there");
            }
        }
        _ => panic!("the same text is taken once and refused once"),
    }
}
