//! Verb, amount and target of what is asked, for the first line of a card.

use domain::view::{HeadlineAmount, foreign_json};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::view::ForeignText;

/// What is asked, in codes that every surface words itself. Made here from what is stored, and no word of it is anybody
/// else's but the texts of the targets.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Headline {
    /// With `call_tool` and `permit` the effect is unknown.
    #[schemars(extend("examples" = domain::view::HeadlineVerb::ALL.iter().map(|verb| verb.name()).collect::<Vec<_>>()))]
    verb: &'static str,
    amount: Option<Amount>,
    /// Where it acts, the nearest first.
    targets: Vec<Target>,
    /// What the name of a target says: where it would be run.
    #[schemars(extend("enum" = ["production", "staging", "test", "development", null]))]
    stage: Option<&'static str>,
    /// How the server knows. `elsewhere`: read from the exact call, which a program, a client or another server carries out.
    #[schemars(extend("enum" = ["measured", "estimated", "parsed", "elsewhere", "unknown"]))]
    effect: &'static str,
    #[schemars(extend("enum" = ["changes_nothing", "cannot_be_undone", "not_known"]))]
    undo: &'static str,
    /// What a command line does, read from its text: `read`, `write`, `delete`, `network`, …
    shell: Vec<&'static str>,
    /// The question is whether it happened, not whether it may.
    in_question: bool,
}

/// How much.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "HeadlineAmount")]
struct Amount {
    #[schemars(extend("examples" = ["rows", "commands", "files", "options", "fields", "method", "turns", "tokens", "money", "time"]))]
    unit: &'static str,
    /// Of a budget: how much is used. None for a method.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    /// Of a budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    /// Rows: also through triggers and foreign keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    estimated: bool,
    /// Lines of the files, counted in the diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<u64>,
    /// Of a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "HeadlineTarget")]
struct Target {
    #[schemars(extend("examples" = domain::view::TargetRole::ALL.iter().map(|role| role.name()).collect::<Vec<_>>()))]
    role: &'static str,
    /// Of an argument.
    #[schemars(with = "Option<ForeignText>")]
    name: Option<Value>,
    #[schemars(with = "ForeignText")]
    text: Value,
}

impl Headline {
    pub(super) fn of(hold: &domain::hold::Hold) -> Headline {
        let headline = domain::view::Headline::of(hold);
        Headline {
            verb: headline.verb.name(),
            amount: headline.amount.as_ref().map(Amount::of),
            targets: headline
                .targets
                .iter()
                .map(|target| Target {
                    role: target.role.name(),
                    name: target.name.as_ref().map(foreign_json),
                    text: foreign_json(&target.text),
                })
                .collect(),
            stage: headline.stage.map(domain::view::DeployStage::name),
            effect: headline.effect.name(),
            undo: headline.undo.name(),
            shell: headline.shell.iter().map(|kind| kind.name()).collect(),
            in_question: headline.in_question,
        }
    }
}

impl Amount {
    fn of(amount: &HeadlineAmount) -> Amount {
        let mut spoken = Amount {
            unit: amount.unit(),
            count: None,
            limit: None,
            more: None,
            estimated: false,
            added: None,
            removed: None,
            method: None,
        };
        match amount {
            HeadlineAmount::Rows { rows, more, estimated } => {
                (spoken.count, spoken.more) = (Some(*rows), Some(*more));
                spoken.estimated = *estimated;
            }
            HeadlineAmount::Files { count, lines } => {
                spoken.count = Some(*count);
                (spoken.added, spoken.removed) =
                    (lines.map(|lines| lines.added), lines.map(|lines| lines.removed));
            }
            HeadlineAmount::Commands { count }
            | HeadlineAmount::Options { count }
            | HeadlineAmount::Fields { count } => spoken.count = Some(*count),
            HeadlineAmount::Budget(used_up) => {
                (spoken.count, spoken.limit) = (Some(used_up.used), Some(used_up.limit));
            }
            HeadlineAmount::Method { method } => spoken.method = Some(method),
        }
        spoken
    }
}

#[cfg(test)]
mod tests {
    use domain::view::{HeadlineVerb, TargetRole};

    #[test]
    fn the_page_words_every_verb_in_both_languages() {
        for page in [
            include_str!("../../../../web/src/text/headline_en.ts"),
            include_str!("../../../../web/src/text/headline_zh.ts"),
        ] {
            for verb in HeadlineVerb::ALL {
                assert!(page.contains(&format!("  {}:", verb.name())), "{}", verb.name());
            }
            for role in TargetRole::ALL {
                assert!(page.contains(&format!("  {}:", role.name())), "{}", role.name());
            }
        }
    }
}
