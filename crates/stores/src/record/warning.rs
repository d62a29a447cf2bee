//! What a warning says. Its text stands in the preview, where it always stood.

use std::borrow::Cow;

use domain::hold::Preview;
use domain::phrase::{NoPreviewReason, PhraseCode};
use domain::policy::AskedByRule;
use domain::visible::Script;
use domain::warning::{
    Likeness, SecretGiven, Warning, WarningKind, WhyAskedAgain, WhyEstimated, WrapperRuns,
};
use serde::{Deserialize, Serialize};

use super::caption::version_of_caption;
use super::{Broken, FIRST, Ms, damaged, is_false};

/// The record version that first tells what a warning says.
const TELLS_KINDS_OF_WARNINGS: u32 = 6;

pub(super) fn version_of_preview(preview: &Preview) -> u32 {
    let summary = preview.summary.as_ref().map_or(FIRST, version_of_caption);
    match preview.codes_look_alikes || preview.warnings.iter().any(|one| one.kind().is_some()) {
        true => TELLS_KINDS_OF_WARNINGS.max(summary),
        false => summary,
    }
}

/// One for each warning, or none at all: what has no kind is written as it always was.
pub(super) fn stored_kinds(warnings: &[Warning]) -> Vec<Option<StoredWarningKind<'_>>> {
    match warnings.iter().any(|one| one.kind().is_some()) {
        true => warnings.iter().map(|one| one.kind().map(StoredWarningKind::from)).collect(),
        false => Vec::new(),
    }
}

pub(super) fn read_warnings(
    texts: Vec<Cow<'_, str>>,
    kinds: Vec<Option<StoredWarningKind<'_>>>,
) -> Result<Vec<Warning>, Broken> {
    if kinds.is_empty() {
        return Ok(texts.into_iter().map(|text| text.into_owned().into()).collect());
    }
    if kinds.len() != texts.len() {
        return damaged("a preview has not as many kinds as warnings");
    }
    let read = |(text, kind): (Cow<'_, str>, Option<StoredWarningKind<'_>>)| {
        Ok(Warning::stored(text.into_owned(), kind.map(StoredWarningKind::kind).transpose()?))
    };
    texts.into_iter().zip(kinds).map(read).collect()
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StoredWarningKind<'a> {
    NoWhere {
        #[serde(borrow)]
        table: Cow<'a, str>,
    },
    MoreRows {
        rows: u64,
    },
    EstimatedRows(StoredWhyEstimated),
    Wrapper {
        #[serde(borrow)]
        program: Cow<'a, str>,
        runs: StoredWrapperRuns,
    },
    NotBound {
        #[serde(borrow)]
        word: Cow<'a, str>,
    },
    NewDefinition,
    ChangedDefinition,
    NoPreview {
        #[serde(borrow)]
        why: Cow<'a, str>,
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        phrases: Vec<Cow<'a, str>>,
    },
    SecretGiven {
        #[serde(borrow)]
        tool: Cow<'a, str>,
        #[serde(borrow)]
        secret: Cow<'a, str>,
        #[serde(borrow)]
        place: Cow<'a, str>,
        #[serde(borrow)]
        by: Cow<'a, str>,
        #[serde(borrow)]
        field: Cow<'a, str>,
        at: Ms,
    },
    DeniedBefore {
        likeness: StoredLikeness,
        #[serde(borrow)]
        by: Cow<'a, str>,
        minutes_ago: u64,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        reason: Option<Cow<'a, str>>,
    },
    StricterPolicy {
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        roles: Vec<Cow<'a, str>>,
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        people: Vec<Cow<'a, str>>,
        quorum: u32,
        #[serde(default, skip_serializing_if = "is_false")]
        exclude_requester: bool,
        #[serde(default, skip_serializing_if = "is_false")]
        refuse_made_logins: bool,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        rule: Option<Cow<'a, str>>,
        line: usize,
        #[serde(default, skip_serializing_if = "is_false")]
        in_doubt: bool,
    },
    AskedAgain(StoredWhyAskedAgain),
    OutcomeUnknown,
    EarlierAttempt,
    LookAlike {
        #[serde(borrow)]
        word: Cow<'a, str>,
        #[serde(borrow)]
        scripts: Vec<Cow<'a, str>>,
    },
}

/// A plain sum, each of whose names is on both sides the same.
macro_rules! stored_names {
    ($stored:ident, $of:ident: $($name:ident),+) => {
        #[derive(Clone, Copy, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub(super) enum $stored {
            $($name),+
        }

        impl From<$of> for $stored {
            fn from(one: $of) -> $stored {
                match one {
                    $($of::$name => $stored::$name),+
                }
            }
        }

        impl From<$stored> for $of {
            fn from(stored: $stored) -> $of {
                match stored {
                    $($stored::$name => $of::$name),+
                }
            }
        }
    };
}

stored_names!(StoredWhyEstimated, WhyEstimated: HasTriggers, IsViewOrHasRules);
stored_names!(StoredWrapperRuns, WrapperRuns: Script, Elsewhere, AsAnotherUser, OnFindings, Command);
stored_names!(StoredLikeness, Likeness: Same, Similar);
stored_names!(
    StoredWhyAskedAgain, WhyAskedAgain: ToolChanged, PolicyAsksNow, GrantEnded, ApprovalMissing,
    ApprovalVoid, OtherCallApproved, ApproversNotEntitled
);

impl<'a> From<&'a WarningKind> for StoredWarningKind<'a> {
    fn from(kind: &'a WarningKind) -> StoredWarningKind<'a> {
        match kind {
            WarningKind::NoWhere { table } => StoredWarningKind::NoWhere { table: table.into() },
            WarningKind::MoreRows { rows } => StoredWarningKind::MoreRows { rows: *rows },
            WarningKind::EstimatedRows { because } => {
                StoredWarningKind::EstimatedRows((*because).into())
            }
            WarningKind::Wrapper { program, runs } => {
                StoredWarningKind::Wrapper { program: program.into(), runs: (*runs).into() }
            }
            WarningKind::NotBound { word } => StoredWarningKind::NotBound { word: word.into() },
            WarningKind::NewDefinition => StoredWarningKind::NewDefinition,
            WarningKind::ChangedDefinition => StoredWarningKind::ChangedDefinition,
            WarningKind::NoPreview { why } => StoredWarningKind::NoPreview {
                why: (&**why).into(),
                phrases: why.codes().iter().map(|code| code.name().into()).collect(),
            },
            WarningKind::SecretGiven(given) => StoredWarningKind::SecretGiven {
                tool: (&given.tool).into(),
                secret: (&given.secret).into(),
                place: (&given.place).into(),
                by: (&given.by).into(),
                field: (&given.field).into(),
                at: given.at.into(),
            },
            WarningKind::DeniedBefore { likeness, by, minutes_ago, reason } => {
                StoredWarningKind::DeniedBefore {
                    likeness: (*likeness).into(),
                    by: by.into(),
                    minutes_ago: *minutes_ago,
                    reason: reason.as_deref().map(Cow::from),
                }
            }
            WarningKind::StricterPolicy(asked) => StoredWarningKind::StricterPolicy {
                roles: asked.roles.iter().map(Cow::from).collect(),
                people: asked.people.iter().map(Cow::from).collect(),
                quorum: asked.quorum,
                exclude_requester: asked.exclude_requester,
                refuse_made_logins: asked.refuse_made_logins,
                rule: asked.rule.as_deref().map(Cow::from),
                line: asked.line,
                in_doubt: asked.in_doubt,
            },
            WarningKind::AskedAgain { because } => StoredWarningKind::AskedAgain((*because).into()),
            WarningKind::OutcomeUnknown => StoredWarningKind::OutcomeUnknown,
            WarningKind::EarlierAttempt => StoredWarningKind::EarlierAttempt,
            WarningKind::LookAlike { word, scripts } => StoredWarningKind::LookAlike {
                word: word.into(),
                scripts: scripts.iter().map(|script| script.name().into()).collect(),
            },
        }
    }
}

impl StoredWarningKind<'_> {
    fn kind(self) -> Result<WarningKind, Broken> {
        Ok(match self {
            StoredWarningKind::NoWhere { table } => {
                WarningKind::NoWhere { table: table.into_owned() }
            }
            StoredWarningKind::MoreRows { rows } => WarningKind::MoreRows { rows },
            StoredWarningKind::EstimatedRows(because) => {
                WarningKind::EstimatedRows { because: because.into() }
            }
            StoredWarningKind::Wrapper { program, runs } => {
                WarningKind::Wrapper { program: program.into_owned(), runs: runs.into() }
            }
            StoredWarningKind::NotBound { word } => {
                WarningKind::NotBound { word: word.into_owned() }
            }
            StoredWarningKind::NewDefinition => WarningKind::NewDefinition,
            StoredWarningKind::ChangedDefinition => WarningKind::ChangedDefinition,
            StoredWarningKind::NoPreview { why, phrases } => {
                let codes = phrases.iter().map(|name| PhraseCode::parse(name)).collect();
                let why = |codes| NoPreviewReason::stored(why.into_owned(), codes);
                let Some(why) = Option::and_then(codes, why) else {
                    return damaged("a warning is not made of the phrases that it names");
                };
                WarningKind::NoPreview { why }
            }
            StoredWarningKind::SecretGiven { tool, secret, place, by, field, at } => {
                WarningKind::SecretGiven(Box::new(SecretGiven {
                    tool: tool.into_owned(),
                    secret: secret.into_owned(),
                    place: place.into_owned(),
                    by: by.into_owned(),
                    field: field.into_owned(),
                    at: at.into(),
                }))
            }
            StoredWarningKind::DeniedBefore { likeness, by, minutes_ago, reason } => {
                WarningKind::DeniedBefore {
                    likeness: likeness.into(),
                    by: by.into_owned(),
                    minutes_ago,
                    reason: reason.map(Cow::into_owned),
                }
            }
            StoredWarningKind::StricterPolicy {
                roles,
                people,
                quorum,
                exclude_requester,
                refuse_made_logins,
                rule,
                line,
                in_doubt,
            } => WarningKind::StricterPolicy(Box::new(AskedByRule {
                roles: roles.into_iter().map(Cow::into_owned).collect(),
                people: people.into_iter().map(Cow::into_owned).collect(),
                quorum,
                exclude_requester,
                refuse_made_logins,
                rule: rule.map(Cow::into_owned),
                line,
                in_doubt,
            })),
            StoredWarningKind::AskedAgain(because) => {
                WarningKind::AskedAgain { because: because.into() }
            }
            StoredWarningKind::OutcomeUnknown => WarningKind::OutcomeUnknown,
            StoredWarningKind::EarlierAttempt => WarningKind::EarlierAttempt,
            StoredWarningKind::LookAlike { word, scripts } => {
                let scripts: Option<Vec<Script>> =
                    scripts.iter().map(|name| Script::parse(name)).collect();
                let Some(scripts) = scripts else {
                    return damaged("a warning names an unknown script");
                };
                WarningKind::LookAlike { word: word.into_owned(), scripts }
            }
        })
    }
}
