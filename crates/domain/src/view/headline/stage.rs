//! Production or a place to try things, told from the names of targets.

use super::{HeadlineTarget, TargetRole};

/// The stage that a target's own name states, such as `shop-prod` or `staging.example.org`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeployStage {
    /// What real users see.
    Production,
    /// A rehearsal of production.
    Staging,
    /// For tests.
    Test,
    /// Where developers work.
    Development,
}

impl DeployStage {
    /// All of them, the one that needs most care first.
    pub const ALL: [DeployStage; 4] = [
        DeployStage::Production,
        DeployStage::Staging,
        DeployStage::Test,
        DeployStage::Development,
    ];

    /// In the API.
    pub fn name(self) -> &'static str {
        match self {
            DeployStage::Production => "production",
            DeployStage::Staging => "staging",
            DeployStage::Test => "test",
            DeployStage::Development => "development",
        }
    }

    fn of_word(word: &str) -> Option<DeployStage> {
        match word.to_ascii_lowercase().as_str() {
            "production" | "prod" | "prd" => Some(DeployStage::Production),
            "staging" | "stage" | "preprod" => Some(DeployStage::Staging),
            "test" | "testing" | "qa" => Some(DeployStage::Test),
            "development" | "dev" | "sandbox" => Some(DeployStage::Development),
            _ => None,
        }
    }

    /// Only names of places count, not those of tables, files or tools. Production wins: a wrong *test* would reassure.
    pub(super) fn among(targets: &[HeadlineTarget]) -> Option<DeployStage> {
        let places = targets.iter().filter(|target| {
            matches!(
                target.role,
                TargetRole::Database | TargetRole::Host | TargetRole::Platform | TargetRole::Server
            )
        });
        let stages = places.flat_map(|target| {
            let raw = target.text.raw();
            let words = raw.split(|c: char| !c.is_ascii_alphanumeric());
            words.filter_map(DeployStage::of_word).collect::<Vec<_>>()
        });
        stages.min_by_key(|stage| DeployStage::ALL.iter().position(|one| one == stage))
    }
}
