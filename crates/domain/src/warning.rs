//! What people should not overlook before they decide: a sentence, and what it says as a type.
//!
//! The English sentence is made from the kind once and then kept: it is under the digest of the view, so a later
//! wording does not change what somebody saw. Surfaces in other languages word the kind. A warning of a tool that we do not
//! know, and one that was stored before there were kinds, is only its text.

use std::fmt;

use crate::phrase::NoPreviewReason;
use crate::policy::AskedByRule;
use crate::scrub::Scrubber;
use crate::time::Timestamp;
use crate::visible::Script;

/// ```
/// use holdpoint_domain::warning::{Warning, WarningKind};
///
/// let warning = Warning::new(WarningKind::NoWhere { table: "orders".into() });
/// assert_eq!(warning.text(), "there is no WHERE: every row of `orders` is meant");
/// assert_eq!(Warning::from("this order was refunded before").kind(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    text: String,
    kind: Option<WarningKind>,
}

/// What a warning says. Texts in it are safe to show or made so when they are drawn, as the sentence is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WarningKind {
    /// An UPDATE or DELETE of a whole table.
    NoWhere {
        /// The table's name, as the statement spells it.
        table: String,
    },
    /// Beyond the rows of the statement itself.
    MoreRows {
        /// How many rows beyond those of the statement.
        rows: u64,
    },
    /// The statement was not tried.
    EstimatedRows {
        /// Why it was not tried.
        because: WhyEstimated,
    },
    /// A program that runs other programs.
    Wrapper {
        /// The program's name.
        program: String,
        /// What it does with the command.
        runs: WrapperRuns,
    },
    /// A variable in the place of a script.
    NotBound {
        /// The word in place of a script.
        word: String,
    },
    /// An MCP server offers a tool that it did not offer when it was first seen.
    NewDefinition,
    /// An MCP server describes a tool in another way than before.
    ChangedDefinition,
    /// The tool could not look.
    NoPreview {
        /// In the tool's words, or in ours for it.
        why: NoPreviewReason,
    },
    /// The tool gets a secret that a person gave for something else.
    SecretGiven(Box<SecretGiven>),
    /// A person denied the same call, or one like it.
    DeniedBefore {
        /// How alike the two calls are.
        likeness: Likeness,
        /// The name of the person who denied it.
        by: String,
        /// In whole minutes, when the warning was made.
        minutes_ago: u64,
        /// In their words, if they gave any; cut.
        reason: Option<String>,
    },
    /// The policy is stricter than when the call was asked about.
    StricterPolicy(Box<AskedByRule>),
    /// An earlier permission does not let the call start.
    AskedAgain {
        /// What is missing.
        because: WhyAskedAgain,
    },
    /// The call was started, and what came of it is not known.
    OutcomeUnknown,
    /// The call was started before, and is proposed again.
    EarlierAttempt,
    /// A word that is not written in the letters it seems to be written in.
    LookAlike {
        /// As it was written.
        word: String,
        /// In order of appearance.
        scripts: Vec<Script>,
    },
}

/// Why a statement was not tried to count its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyEstimated {
    /// A trial would run its table's triggers.
    HasTriggers,
    /// It names a view, or a table with rules, and a trial could do something else.
    IsViewOrHasRules,
}

/// What a wrapper does with the command that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrapperRuns {
    /// It is a script.
    Script,
    /// On another host or in a container, or at another time.
    Elsewhere,
    /// As root, or as another user.
    AsAnotherUser,
    /// On what it finds or reads.
    OnFindings,
    /// As it is.
    Command,
}

/// A secret that a tool would get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretGiven {
    /// The tool's name.
    pub tool: String,
    /// Its reference, never its value.
    pub secret: String,
    /// Where in the arguments it goes.
    pub place: String,
    /// The name of the person who gave it.
    pub by: String,
    /// The field of the form that it was given in.
    pub field: String,
    /// When they gave it.
    pub at: Timestamp,
}

/// How alike two calls are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// Tool, arguments and working directory are the same.
    Same,
    /// At least three fifths of all words of both are the same.
    Similar,
}

/// Why an earlier permission is not enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyAskedAgain {
    /// The tool is defined otherwise than when it was approved.
    ToolChanged,
    /// A rule asks that did not ask before.
    PolicyAsksNow,
    /// The grant expired, was used up or was revoked.
    GrantEnded,
    /// The call is cleared, and no approval of it is on record.
    ApprovalMissing,
    /// The approval is there, and no longer good.
    ApprovalVoid,
    /// The approval is for a call with another digest.
    OtherCallApproved,
    /// Those who approved would not be asked today.
    ApproversNotEntitled,
}

impl Warning {
    /// With the sentence that the kind has in English.
    pub fn new(kind: WarningKind) -> Warning {
        Warning { text: kind.to_string(), kind: Some(kind) }
    }

    /// As it was shown and stored: the sentence is not made anew.
    pub fn stored(text: String, kind: Option<WarningKind>) -> Warning {
        Warning { text, kind }
    }

    /// The sentence in English.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// `None` for words of somebody else, and for what was stored without a kind.
    pub fn kind(&self) -> Option<&WarningKind> {
        self.kind.as_ref()
    }

    /// Without the secrets that `scrubber` knows, in the sentence and in every value.
    #[must_use]
    pub fn scrubbed(self, scrubber: &Scrubber) -> Warning {
        let text = scrubber.scrub(&self.text);
        let scrubbed = self.kind.map(|kind| kind.scrubbed(scrubber));
        // A secret may also stand where only the sentence shows it: as a number, or over the end of a value.
        let kind = scrubbed.filter(|kind| kind.to_string() == text);
        Warning { text, kind }
    }
}

/// Words of somebody else: they have no kind.
impl From<String> for Warning {
    fn from(text: String) -> Warning {
        Warning { text, kind: None }
    }
}

impl From<&str> for Warning {
    fn from(text: &str) -> Warning {
        Warning::from(text.to_owned())
    }
}

impl From<WarningKind> for Warning {
    fn from(kind: WarningKind) -> Warning {
        Warning::new(kind)
    }
}

/// By its sentence.
impl PartialEq<&str> for Warning {
    fn eq(&self, text: &&str) -> bool {
        self.text == *text
    }
}

impl WarningKind {
    /// Every code that there is, so that surfaces can be tested and described.
    pub const CODES: [&str; 27] = [
        "no_where",
        "more_rows",
        "estimated_rows_triggers",
        "estimated_rows_rules",
        "wrapper_script",
        "wrapper_elsewhere",
        "wrapper_another_user",
        "wrapper_findings",
        "wrapper_command",
        "not_bound",
        "new_definition",
        "changed_definition",
        "no_preview",
        "secret_given",
        "denied_before_same",
        "denied_before_similar",
        "stricter_policy",
        "tool_changed",
        "policy_asks_now",
        "grant_ended",
        "approval_missing",
        "approval_void",
        "other_call_approved",
        "approvers_not_entitled",
        "outcome_unknown",
        "earlier_attempt",
        "look_alike",
    ];

    /// In the API. Each code stands for one sentence, with the values of the kind in it.
    pub fn code(&self) -> &'static str {
        match self {
            WarningKind::NoWhere { .. } => "no_where",
            WarningKind::MoreRows { .. } => "more_rows",
            WarningKind::EstimatedRows { because } => match because {
                WhyEstimated::HasTriggers => "estimated_rows_triggers",
                WhyEstimated::IsViewOrHasRules => "estimated_rows_rules",
            },
            WarningKind::Wrapper { runs, .. } => match runs {
                WrapperRuns::Script => "wrapper_script",
                WrapperRuns::Elsewhere => "wrapper_elsewhere",
                WrapperRuns::AsAnotherUser => "wrapper_another_user",
                WrapperRuns::OnFindings => "wrapper_findings",
                WrapperRuns::Command => "wrapper_command",
            },
            WarningKind::NotBound { .. } => "not_bound",
            WarningKind::NewDefinition => "new_definition",
            WarningKind::ChangedDefinition => "changed_definition",
            WarningKind::NoPreview { .. } => "no_preview",
            WarningKind::SecretGiven(_) => "secret_given",
            WarningKind::DeniedBefore { likeness: Likeness::Same, .. } => "denied_before_same",
            WarningKind::DeniedBefore { likeness: Likeness::Similar, .. } => {
                "denied_before_similar"
            }
            WarningKind::StricterPolicy(_) => "stricter_policy",
            WarningKind::AskedAgain { because } => match because {
                WhyAskedAgain::ToolChanged => "tool_changed",
                WhyAskedAgain::PolicyAsksNow => "policy_asks_now",
                WhyAskedAgain::GrantEnded => "grant_ended",
                WhyAskedAgain::ApprovalMissing => "approval_missing",
                WhyAskedAgain::ApprovalVoid => "approval_void",
                WhyAskedAgain::OtherCallApproved => "other_call_approved",
                WhyAskedAgain::ApproversNotEntitled => "approvers_not_entitled",
            },
            WarningKind::OutcomeUnknown => "outcome_unknown",
            WarningKind::EarlierAttempt => "earlier_attempt",
            WarningKind::LookAlike { .. } => "look_alike",
        }
    }

    /// Every text that is not a word of ours goes through the scrubber.
    fn scrubbed(self, scrubber: &Scrubber) -> WarningKind {
        let scrub = |text: String| scrubber.scrub(&text);
        let scrub_all = |texts: Vec<String>| texts.into_iter().map(scrub).collect();
        match self {
            WarningKind::NoWhere { table } => WarningKind::NoWhere { table: scrub(table) },
            WarningKind::Wrapper { program, runs } => {
                WarningKind::Wrapper { program: scrub(program), runs }
            }
            WarningKind::NotBound { word } => WarningKind::NotBound { word: scrub(word) },
            WarningKind::NoPreview { why } => {
                WarningKind::NoPreview { why: why.scrubbed(scrubber) }
            }
            WarningKind::SecretGiven(given) => {
                let SecretGiven { tool, secret, place, by, field, at } = *given;
                WarningKind::SecretGiven(Box::new(SecretGiven {
                    tool: scrub(tool),
                    secret: scrub(secret),
                    place: scrub(place),
                    by: scrub(by),
                    field: scrub(field),
                    at,
                }))
            }
            WarningKind::DeniedBefore { likeness, by, minutes_ago, reason } => {
                let (by, reason) = (scrub(by), reason.map(scrub));
                WarningKind::DeniedBefore { likeness, by, minutes_ago, reason }
            }
            WarningKind::StricterPolicy(asked) => {
                WarningKind::StricterPolicy(Box::new(AskedByRule {
                    roles: scrub_all(asked.roles),
                    people: scrub_all(asked.people),
                    rule: asked.rule.map(scrub),
                    quorum: asked.quorum,
                    exclude_requester: asked.exclude_requester,
                    refuse_made_logins: asked.refuse_made_logins,
                    line: asked.line,
                    in_doubt: asked.in_doubt,
                }))
            }
            WarningKind::LookAlike { word, scripts } => {
                WarningKind::LookAlike { word: scrub(word), scripts }
            }
            WarningKind::MoreRows { .. }
            | WarningKind::EstimatedRows { .. }
            | WarningKind::NewDefinition
            | WarningKind::ChangedDefinition
            | WarningKind::AskedAgain { .. }
            | WarningKind::OutcomeUnknown
            | WarningKind::EarlierAttempt => self,
        }
    }
}

/// The sentence in English.
impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WarningKind::NoWhere { table } => {
                write!(f, "there is no WHERE: every row of `{table}` is meant")
            }
            WarningKind::MoreRows { rows } => {
                write!(f, "{rows} more rows change through triggers and foreign keys")
            }
            WarningKind::EstimatedRows { because } => {
                write!(f, "the number of rows is an estimate: {because}")
            }
            WarningKind::Wrapper { program, runs } => write!(f, "`{program}` runs {runs}"),
            WarningKind::NotBound { word } => write!(
                f,
                "not bound: what `{word}` means is known only when it runs, so a script that it leads to is not checked"
            ),
            WarningKind::NewDefinition => f.write_str(
                "this tool was not there when its server was first seen; whoever approves this call accepts the new \
                 definition",
            ),
            WarningKind::ChangedDefinition => f.write_str(
                "the server has changed what it says about this tool; whoever approves this call accepts the new \
                 definition",
            ),
            WarningKind::NoPreview { why } => write!(f, "no preview: {why}"),
            WarningKind::SecretGiven(given) => {
                let SecretGiven { tool, secret, place, by, field, at } = &**given;
                write!(f, "{tool} gets the secret {secret} as {place}: {by} gave it as {field} at {at}")
            }
            WarningKind::DeniedBefore { likeness, by, minutes_ago, reason } => {
                let likeness = match likeness {
                    Likeness::Same => "the same as",
                    Likeness::Similar => "similar to",
                };
                write!(f, "{likeness} a call that {by} denied {}", ago(*minutes_ago))?;
                match reason {
                    Some(reason) => write!(f, ": \"{reason}\""),
                    None => Ok(()),
                }
            }
            WarningKind::StricterPolicy(asked) => write!(
                f,
                "the policy has changed since it was asked about, and now says: {}",
                asked.explain()
            ),
            WarningKind::AskedAgain { because } => write!(f, "{because}"),
            WarningKind::OutcomeUnknown => f.write_str(
                "Nobody knows whether this call was carried out. It was not run again.",
            ),
            WarningKind::EarlierAttempt => f.write_str(
                "An earlier attempt was interrupted, and a person wants the call proposed again. Make sure that it did \
                 not happen.",
            ),
            WarningKind::LookAlike { word, scripts } => match scripts.as_slice() {
                [only] => write!(f, "`{word}` looks Latin, but is written in {only} letters"),
                scripts => {
                    let names: Vec<String> = scripts.iter().map(Script::to_string).collect();
                    write!(f, "`{word}` mixes letters: {}", names.join(", "))
                }
            },
        }
    }
}

impl fmt::Display for WhyEstimated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WhyEstimated::HasTriggers => "the table has triggers, which were not fired",
            WhyEstimated::IsViewOrHasRules => "it is a view, or has rules, which were not followed",
        })
    }
}

impl fmt::Display for WrapperRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WrapperRuns::Script => "a script: read all of it, since that is what you approve",
            WrapperRuns::Elsewhere => {
                "a command in another place, where its rules and yours may differ"
            }
            WrapperRuns::AsAnotherUser => "a command with another user's rights",
            WrapperRuns::OnFindings => {
                "a command on whatever it finds or reads, which is not shown here"
            }
            WrapperRuns::Command => "the command that follows it",
        })
    }
}

impl fmt::Display for WhyAskedAgain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WhyAskedAgain::ToolChanged => "the tool has changed since this call was proposed",
            WhyAskedAgain::PolicyAsksNow => "the policy has changed and now asks about this call",
            WhyAskedAgain::GrantEnded => "the standing grant no longer holds",
            WhyAskedAgain::ApprovalMissing => "the approval cannot be found",
            WhyAskedAgain::ApprovalVoid => "the approval does not stand",
            WhyAskedAgain::OtherCallApproved => "what was approved is not this call",
            WhyAskedAgain::ApproversNotEntitled => {
                "those who approved it are no longer entitled to"
            }
        })
    }
}

fn ago(minutes: u64) -> String {
    let (count, unit) = match minutes {
        0 => return "less than a minute ago".into(),
        1..60 => (minutes, "minute"),
        60..1_440 => (minutes / 60, "hour"),
        _ => (minutes / 1_440, "day"),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_told_in_one_unit() {
        for (minutes, text) in [
            (0, "less than a minute ago"),
            (1, "1 minute ago"),
            (3, "3 minutes ago"),
            (60, "1 hour ago"),
            (1_440 * 2, "2 days ago"),
        ] {
            assert_eq!(ago(minutes), text);
        }
    }

    fn secret() -> String {
        "say hunter2".to_owned()
    }

    /// With a secret in every text.
    fn every_kind() -> Vec<WarningKind> {
        let asked = AskedByRule {
            roles: vec![secret()],
            people: vec![secret()],
            quorum: 2,
            exclude_requester: true,
            refuse_made_logins: true,
            rule: Some(secret()),
            line: 3,
            in_doubt: true,
        };
        let given = SecretGiven {
            tool: secret(),
            secret: secret(),
            place: secret(),
            by: secret(),
            field: secret(),
            at: Timestamp::from_ms(0),
        };
        let estimated = |because| WarningKind::EstimatedRows { because };
        let wrapper = |runs| WarningKind::Wrapper { program: secret(), runs };
        let denied = |likeness| WarningKind::DeniedBefore {
            likeness,
            by: secret(),
            minutes_ago: 5,
            reason: Some(secret()),
        };
        let asked_again = |because| WarningKind::AskedAgain { because };
        vec![
            WarningKind::NoWhere { table: secret() },
            WarningKind::MoreRows { rows: 3 },
            estimated(WhyEstimated::HasTriggers),
            estimated(WhyEstimated::IsViewOrHasRules),
            wrapper(WrapperRuns::Script),
            wrapper(WrapperRuns::Elsewhere),
            wrapper(WrapperRuns::AsAnotherUser),
            wrapper(WrapperRuns::OnFindings),
            wrapper(WrapperRuns::Command),
            WarningKind::NotBound { word: secret() },
            WarningKind::NewDefinition,
            WarningKind::ChangedDefinition,
            WarningKind::NoPreview { why: secret().into() },
            WarningKind::SecretGiven(Box::new(given)),
            denied(Likeness::Same),
            denied(Likeness::Similar),
            WarningKind::StricterPolicy(Box::new(asked)),
            asked_again(WhyAskedAgain::ToolChanged),
            asked_again(WhyAskedAgain::PolicyAsksNow),
            asked_again(WhyAskedAgain::GrantEnded),
            asked_again(WhyAskedAgain::ApprovalMissing),
            asked_again(WhyAskedAgain::ApprovalVoid),
            asked_again(WhyAskedAgain::OtherCallApproved),
            asked_again(WhyAskedAgain::ApproversNotEntitled),
            WarningKind::OutcomeUnknown,
            WarningKind::EarlierAttempt,
            WarningKind::LookAlike { word: secret(), scripts: vec![Script::Greek] },
        ]
    }

    #[test]
    fn every_kind_has_a_code_of_its_own() {
        let codes: Vec<&str> = every_kind().iter().map(WarningKind::code).collect();
        assert_eq!(codes, WarningKind::CODES);
        let different: std::collections::BTreeSet<&str> = codes.into_iter().collect();
        assert_eq!(different.len(), WarningKind::CODES.len());
    }

    fn scrubbed(kind: WarningKind) -> Warning {
        Warning::new(kind).scrubbed(&Scrubber::new(&[json!("hunter2"), json!(4711)]))
    }

    #[test]
    fn i45_a_secret_leaves_the_sentence_and_every_value() {
        for kind in every_kind() {
            let (code, told) = (kind.code(), format!("{kind:?}").contains("hunter2"));
            let scrubbed = scrubbed(kind);
            assert_eq!(scrubbed.kind().map(WarningKind::code), Some(code), "it keeps its kind");
            let said = format!("{scrubbed:?}");
            assert!(!said.contains("hunter2"), "{said}");
            assert_eq!(said.contains("say ‹secret›"), told, "{said}");
        }
    }

    #[test]
    fn i45_a_kind_that_would_still_tell_a_secret_is_dropped() {
        let scrubbed = scrubbed(WarningKind::MoreRows { rows: 4_711 });
        assert_eq!(scrubbed.kind(), None);
        assert_eq!(scrubbed, "‹secret› more rows change through triggers and foreign keys");
    }
}
