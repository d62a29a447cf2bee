//! Where a person's own notes stand: snoozes, views, browsers that are told. Nobody else's are ever looked at.

use domain::person::PersonId;

/// The beginning of the keys of all of a person's notes on a shelf. Its length comes first, so that no id can be the
/// beginning of another's.
pub(crate) fn prefix_of_own(person: &PersonId) -> String {
    format!("{}:{person}/", person.as_str().len())
}
