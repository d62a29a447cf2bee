//! One warning of every kind that record version 6 knows.

use domain::policy::AskedByRule;
use domain::visible::Script;
use domain::warning::{
    Likeness, SecretGiven, WarningKind, WhyAskedAgain, WhyEstimated, WrapperRuns,
};

use super::at;

pub(super) fn every_kind() -> Vec<WarningKind> {
    let by_rule = AskedByRule {
        roles: vec!["dba".into()],
        people: vec!["ana".into()],
        quorum: 2,
        exclude_requester: true,
        refuse_made_logins: true,
        rule: Some("deletes need a dba".into()),
        line: 3,
        in_doubt: true,
    };
    let by_default = AskedByRule {
        roles: Vec::new(),
        people: Vec::new(),
        quorum: 1,
        exclude_requester: false,
        refuse_made_logins: false,
        rule: None,
        line: 0,
        in_doubt: false,
    };
    let given = SecretGiven {
        tool: "deploy".into(),
        secret: "secret:sec_1".into(),
        place: "/key".into(),
        by: "Ana".into(),
        field: "/password".into(),
        at: at(3),
    };
    let estimated = |because| WarningKind::EstimatedRows { because };
    let wrapper = |program: &str, runs| WarningKind::Wrapper { program: program.into(), runs };
    let denied = |likeness, minutes_ago, reason| WarningKind::DeniedBefore {
        likeness,
        by: "Bob".into(),
        minutes_ago,
        reason,
    };
    let asked_again = |because| WarningKind::AskedAgain { because };
    vec![
        WarningKind::NoWhere { table: "orders".into() },
        WarningKind::MoreRows { rows: 6 },
        estimated(WhyEstimated::HasTriggers),
        estimated(WhyEstimated::IsViewOrHasRules),
        wrapper("sh", WrapperRuns::Script),
        wrapper("ssh", WrapperRuns::Elsewhere),
        wrapper("sudo", WrapperRuns::AsAnotherUser),
        wrapper("xargs", WrapperRuns::OnFindings),
        wrapper("env", WrapperRuns::Command),
        WarningKind::NotBound { word: "$DIR/deploy.sh".into() },
        WarningKind::NewDefinition,
        WarningKind::ChangedDefinition,
        WarningKind::NoPreview { why: "the database \u{201c}shop\u{201d} is away\n".into() },
        WarningKind::SecretGiven(Box::new(given)),
        denied(Likeness::Same, 120, None),
        denied(Likeness::Similar, 0, Some("wrong table".into())),
        WarningKind::StricterPolicy(Box::new(by_rule)),
        WarningKind::StricterPolicy(Box::new(by_default)),
        asked_again(WhyAskedAgain::ToolChanged),
        asked_again(WhyAskedAgain::PolicyAsksNow),
        asked_again(WhyAskedAgain::GrantEnded),
        asked_again(WhyAskedAgain::ApprovalMissing),
        asked_again(WhyAskedAgain::ApprovalVoid),
        asked_again(WhyAskedAgain::OtherCallApproved),
        asked_again(WhyAskedAgain::ApproversNotEntitled),
        WarningKind::OutcomeUnknown,
        WarningKind::EarlierAttempt,
        WarningKind::LookAlike { word: "p\u{430}ypal".into(), scripts: Script::ALL.into() },
    ]
}
