//! How many holds wait, and what became of those like one of them.

use domain::id::HoldId;
use domain::person::PersonId;
use domain::time::Timestamp;
use engine::EXPIRING_SOON_MS;
use schemars::JsonSchema;
use serde::Serialize;

use super::text::Text;

/// Open holds that the caller sees.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InboxCounts {
    open: usize,
    /// What the caller may answer now.
    mine: usize,
    sections: SectionCounts,
    decided_today: usize,
    expiring_within_s: u64,
    /// When the day began.
    #[schemars(extend("format" = "date-time"))]
    today_since: Text<Timestamp>,
    /// False: there are more than are counted.
    exact: bool,
}

/// Each open hold is counted in the first of these that fits it.
#[derive(Debug, Serialize, JsonSchema)]
struct SectionCounts {
    /// The caller may answer, and it expires within `expiring_within_s`.
    expiring_soon: usize,
    /// The caller may answer, and the risk is critical.
    critical: usize,
    /// The caller may answer.
    mine: usize,
    /// Others may answer, or the caller has voted.
    others: usize,
}

impl InboxCounts {
    pub(crate) fn of(counts: &engine::InboxCounts, since: Timestamp) -> InboxCounts {
        let engine::InboxCounts { open, mine, expiring_soon, critical, decided, is_exact } =
            *counts;
        InboxCounts {
            open,
            mine,
            sections: SectionCounts {
                expiring_soon,
                critical,
                mine: mine.saturating_sub(expiring_soon + critical),
                others: open.saturating_sub(mine),
            },
            decided_today: decided,
            expiring_within_s: EXPIRING_SOON_MS / 1000,
            today_since: Text(since),
            exact: is_exact,
        }
    }
}

/// How often calls like this one were asked about, as far as the caller may see it. The hold itself is not counted.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AskedBefore<'a> {
    /// Calls of the same tool by the same agent or program.
    alike: RecentCounts,
    /// Of these, the same calls.
    same: RecentCounts,
    /// The newest denial of the same call, or else of one alike.
    last_denial: Option<LastDenial<'a>>,
    /// False: there were more than are looked at, and the oldest are not counted.
    complete: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RecentCounts {
    days_7: OutcomeCounts,
    days_30: OutcomeCounts,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OutcomeCounts {
    asked: u64,
    approved: u64,
    denied: u64,
    answered: u64,
    expired: u64,
    cancelled: u64,
    open: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LastDenial<'a> {
    hold: Text<HoldId>,
    /// Of the same call.
    same: bool,
    by: Text<&'a PersonId>,
    by_name: &'a str,
    #[schemars(extend("format" = "date-time"))]
    at: Text<Timestamp>,
    /// Foreign text, and not all of a long one.
    reason: Option<&'a str>,
}

impl<'a> AskedBefore<'a> {
    pub(crate) fn of(before: &'a engine::AskedBefore) -> AskedBefore<'a> {
        AskedBefore {
            alike: RecentCounts::of(&before.alike),
            same: RecentCounts::of(&before.same),
            last_denial: before.last_denial.as_ref().map(|denial| LastDenial {
                hold: Text(denial.hold),
                same: denial.is_same,
                by: Text(&denial.by),
                by_name: &denial.by_name,
                at: Text(denial.at),
                reason: denial.reason.as_deref(),
            }),
            complete: before.is_complete,
        }
    }
}

impl RecentCounts {
    fn of(counts: &engine::RecentCounts) -> RecentCounts {
        let engine::RecentCounts { days_7, days_30 } = counts;
        RecentCounts { days_7: OutcomeCounts::of(days_7), days_30: OutcomeCounts::of(days_30) }
    }
}

impl OutcomeCounts {
    pub(super) fn of(counts: &engine::OutcomeCounts) -> OutcomeCounts {
        let engine::OutcomeCounts { asked, approved, denied, answered, expired, cancelled, open } =
            *counts;
        OutcomeCounts { asked, approved, denied, answered, expired, cancelled, open }
    }
}
