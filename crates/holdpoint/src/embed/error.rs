//! Why a set-up did not become a running Holdpoint.

use std::fmt;

/// A variant for each remedy.
///
/// ```
/// # #[tokio::main]
/// # async fn main() {
/// use std::sync::Arc;
///
/// use holdpoint::prelude::*;
///
/// let model = Arc::new(ScriptedModel::parse("").unwrap());
/// let error = Holdpoint::builder()
///     .person(Person::new("ana").admin())
///     .tool(Tool::human())
///     .agent(Agent::new("ops", model).uses("human_intervention.reqest"))
///     .build()
///     .await
///     .err()
///     .unwrap();
/// assert_eq!(
///     error.to_string(),
///     "agent `ops`: there is no tool `human_intervention.reqest`; \
///      did you mean `human_intervention.request`?"
/// );
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The set-up contradicts itself, or could never work. Each text says what to change in the code;
    /// there is at least one, and nothing was opened.
    Mistakes(Vec<String>),
    /// The data or the surroundings are not as they should be: the folder cannot be written, another
    /// process has it open, a variable of the environment is missing.
    Unready(anyhow::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Mistakes(mistakes) => f.write_str(&mistakes.join("\n")),
            BuildError::Unready(error) => write!(f, "{error:#}"),
        }
    }
}

impl std::error::Error for BuildError {}
