//! Ordered rules: allow, deny, or ask. The first that matches decides; if none does, the default.
//!
//! **In doubt, stricter.** A condition can be met, not met, or impossible to tell: the value has
//! another type than the rule expects (`"1"` for `1`), a path has `..` in it, a negative condition
//! finds nothing there. If a rule cannot be told, the verdict is the stricter of what it would be if
//! the rule matched and what it would be if it did not. So an `allow` rule never lets a call through
//! in doubt, a `deny` rule denies in doubt, and an `ask` rule in doubt asks, unless a later rule
//! denies.
//!
//! **A missing value** (or `null`) meets no positive condition (`equals`, `in`, `glob`, `regex`, the
//! comparisons, `contains`, the lengths): what is not there does not equal anything. For the negative
//! ones (`not_equals`, `not_in`) it is a doubt, since the tool's own default could be any value. A
//! rule about absence says `exists = false`.
//!
//! **Facts of the tool.** A rule about SQL asks for what the SQL tool found out (`sql.kind`, `sql.tables`,
//! `sql.has_where`, `sql.rows`) and not for the text of the statement. A fact that is not known cannot
//! be told.
//!
//! **Shell commands.** `shell.kind` is told from the text of the command itself (`crate::shell`). A command line
//! has the kinds of all its commands: an `allow` rule needs every one of them to be named, an `ask` or `deny` rule
//! any. What cannot be read, or is not known, never allows.
//!
//! Nothing here can panic or take long: patterns are compiled when the policy is read, run in linear
//! time, and have bounded size.

mod advice;
mod audience;
mod compare;
mod condition;
mod decider;
mod explain;
mod pattern;
mod place;
mod rules;
mod shell_match;
mod spec;
mod sql_match;
mod verdict;

pub use advice::DoubtfulRule;
pub use audience::{Directory, Unsatisfiable};
pub use condition::Conditions;
pub use decider::{Decider, Opinion};
pub use rules::{BadPolicy, Facts, Policy};
pub use shell_match::{ShellCondition, hook_input, shell_facts};
pub use spec::{AskSpec, ConditionSpec, MatchSpec, Op, PolicySpec, RuleSpec, Then};
pub use sql_match::SqlCondition;
pub use verdict::{Ask, AskedByRule, PolicyDecision, Verdict};
