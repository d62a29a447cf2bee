//! Figures for admins.

use domain::person::PersonId;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::inbox::OutcomeCounts;
use super::text::Text;

/// Of the holds that were opened in the last days, today included. Days are in UTC.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Figures<'a> {
    days: u32,
    #[schemars(extend("format" = "date-time"))]
    since: Text<Timestamp>,
    total: OutcomeCounts,
    /// False: there were more than are looked at, and the oldest are missing.
    complete: bool,
    /// Oldest first.
    by_day: Vec<DayFigures<'a>>,
    /// From the opening of a hold until people decided it; null if they decided none.
    waiting_ms: Option<Quantiles>,
    /// From the opening of a hold until the first answer.
    first_answer_ms: Option<Quantiles>,
    /// By people, less than a second after the opening.
    approved_within_1s: u64,
    /// Who decided most is first.
    people: Vec<PersonFigures<'a>>,
    /// What was asked about most is first.
    tools: Vec<ToolFigures<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DayFigures<'a> {
    day: &'a str,
    #[serde(flatten)]
    counts: OutcomeCounts,
    /// Approved or denied by a rule or a grant.
    automatic: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Quantiles {
    p50: u64,
    p95: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PersonFigures<'a> {
    person: Text<&'a PersonId>,
    name: &'a str,
    /// Alone or with others.
    decided: u64,
    approved: u64,
    denied: u64,
    approved_within_1s: u64,
    waiting_ms: Option<Quantiles>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ToolFigures<'a> {
    tool: &'a str,
    #[serde(flatten)]
    counts: OutcomeCounts,
}

impl<'a> Figures<'a> {
    pub(crate) fn of(figures: &'a engine::Figures, days: u32) -> Figures<'a> {
        Figures {
            days,
            since: Text(figures.since),
            total: OutcomeCounts::of(&figures.total),
            complete: figures.is_complete,
            by_day: figures
                .by_day
                .iter()
                .map(|(day, figures)| DayFigures {
                    day,
                    counts: OutcomeCounts::of(&figures.counts),
                    automatic: figures.automatic,
                })
                .collect(),
            waiting_ms: figures.waiting.map(Quantiles::of),
            first_answer_ms: figures.first_answer.map(Quantiles::of),
            approved_within_1s: figures.hasty_approvals,
            people: figures
                .people
                .iter()
                .map(|person| PersonFigures {
                    person: Text(&person.person),
                    name: &person.name,
                    decided: person.decided,
                    approved: person.approved,
                    denied: person.denied,
                    approved_within_1s: person.hasty_approvals,
                    waiting_ms: person.waiting.map(Quantiles::of),
                })
                .collect(),
            tools: figures
                .tools
                .iter()
                .map(|(tool, counts)| ToolFigures { tool, counts: OutcomeCounts::of(counts) })
                .collect(),
        }
    }
}

impl Quantiles {
    fn of(quantiles: engine::Quantiles) -> Quantiles {
        Quantiles { p50: quantiles.p50_ms, p95: quantiles.p95_ms }
    }
}
