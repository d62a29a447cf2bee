//! Figures for admins: how much people are asked, how long it takes them, and who carries it.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::hold::HoldStateName;
use domain::id::HoldId;
use domain::person::PersonId;
use domain::time::Timestamp;
use ports::store::{HoldFacts, HoldQuery, Viewer};

use crate::accounts::Caller;
use crate::limits::{FIGURES_LOOKED_AT, GLANCE_MS};
use crate::reports::asked_before::{DAY_MS, OutcomeCounts};
use crate::{Engine, Error};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    pub since: Timestamp,
    pub total: OutcomeCounts,
    /// The newest were looked at, and there are more.
    pub is_complete: bool,
    /// By the day on which they were opened, in UTC, oldest first; a day without any is there too.
    pub by_day: Vec<(String, DayFigures)>,
    /// From the opening of a hold until people decided it.
    pub waiting: Option<Quantiles>,
    /// From the opening of a hold until the first answer.
    pub first_answer: Option<Quantiles>,
    /// Approvals by people less than a second after the opening: nobody reads a card that fast.
    pub hasty_approvals: u64,
    pub people: Vec<PersonFigures>,
    pub tools: Vec<(Arc<str>, OutcomeCounts)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DayFigures {
    pub counts: OutcomeCounts,
    /// Of the decided ones, those that a rule or a grant decided.
    pub automatic: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantiles {
    pub p50_ms: u64,
    pub p95_ms: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonFigures {
    pub person: PersonId,
    pub name: String,
    pub decided: u64,
    pub approved: u64,
    pub denied: u64,
    pub hasty_approvals: u64,
    pub waiting: Option<Quantiles>,
}

impl Engine {
    /// Of the holds that were opened in the last days, for admins.
    pub async fn figures(&self, caller: &Caller, days: u32) -> Result<Figures, Error> {
        caller.must_be_admin()?;
        let now = self.now();
        // Whole days, of which today is the last.
        let today = now.minus_ms(now.as_ms().unsigned_abs() % DAY_MS);
        let since = today.minus_ms(u64::from(days.saturating_sub(1)) * DAY_MS);
        let query = HoldQuery {
            from: Some(HoldId::new(since.as_ms(), 0)),
            ..HoldQuery::all(Viewer::Everything, FIGURES_LOOKED_AT)
        };
        let found = self.0.store.hold_facts(query).await?;
        let mut figures = figures_of(&found, since, days);
        figures.is_complete = found.len() < FIGURES_LOOKED_AT;
        for person in &mut figures.people {
            person.name = self.0.people.name_of(&person.person).to_owned();
        }
        Ok(figures)
    }
}

#[derive(Default)]
struct PersonTally {
    counts: OutcomeCounts,
    hasty: u64,
    waits: Vec<u64>,
}

fn figures_of(found: &[HoldFacts], since: Timestamp, days: u32) -> Figures {
    let day_of = |at: Timestamp| at.to_string().chars().take(10).collect::<String>();
    let mut by_day: BTreeMap<String, DayFigures> = (0..u64::from(days))
        .map(|day| (day_of(since.plus_ms(day * DAY_MS)), DayFigures::default()))
        .collect();
    let mut total = OutcomeCounts::default();
    let (mut waits, mut first_answers, mut hasty_approvals) = (Vec::new(), Vec::new(), 0);
    let mut people = BTreeMap::<PersonId, PersonTally>::new();
    let mut tools = BTreeMap::<Arc<str>, OutcomeCounts>::new();
    for facts in found {
        total.add(facts.state);
        let day = by_day.entry(day_of(facts.opened_at)).or_default();
        day.counts.add(facts.state);
        let by_people = !facts.decided_by.is_empty();
        let is_ruled = matches!(facts.state, HoldStateName::Approved | HoldStateName::Denied);
        day.automatic += u64::from(is_ruled && !by_people);
        if let Some(tool) = &facts.tool {
            tools.entry(tool.clone()).or_default().add(facts.state);
        }
        first_answers.extend(facts.answered_at.map(|at| at.ms_since(facts.opened_at)));
        let Some(wait) = facts.decided_at.map(|at| at.ms_since(facts.opened_at)) else { continue };
        let hasty =
            u64::from(by_people && facts.state == HoldStateName::Approved && wait < GLANCE_MS);
        hasty_approvals += hasty;
        if by_people {
            waits.push(wait);
        }
        for person in &facts.decided_by {
            let tally = people.entry(person.clone()).or_default();
            tally.counts.add(facts.state);
            tally.hasty += hasty;
            tally.waits.push(wait);
        }
    }
    let mut people: Vec<PersonFigures> = people
        .into_iter()
        .map(|(person, tally)| PersonFigures {
            name: String::new(),
            person,
            decided: tally.counts.asked,
            approved: tally.counts.approved,
            denied: tally.counts.denied,
            hasty_approvals: tally.hasty,
            waiting: quantiles(tally.waits),
        })
        .collect();
    people.sort_by_key(|person| std::cmp::Reverse(person.decided));
    let mut tools: Vec<_> = tools.into_iter().collect();
    tools.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.asked));
    Figures {
        since,
        total,
        is_complete: true,
        by_day: by_day.into_iter().collect(),
        waiting: quantiles(waits),
        first_answer: quantiles(first_answers),
        hasty_approvals,
        people,
        tools,
    }
}

/// By the nearest rank: a time that was really measured.
fn quantiles(mut times: Vec<u64>) -> Option<Quantiles> {
    times.sort_unstable();
    let at = |percent: usize| {
        let rank = (times.len() * percent).div_ceil(100).max(1);
        times.get(rank - 1).copied()
    };
    Some(Quantiles { p50_ms: at(50)?, p95_ms: at(95)? })
}

#[cfg(test)]
mod tests {
    use domain::hold::Risk;

    use super::*;

    const NOON: i64 = 1_763_467_200_000;

    fn facts(opened: i64, state: HoldStateName, decided: Option<i64>, by: &[&str]) -> HoldFacts {
        let at = |ms: i64| Timestamp::from_ms(NOON + ms);
        HoldFacts {
            id: HoldId::new(NOON + opened, 1),
            state,
            risk: Risk::Low,
            tool: Some("wipe".into()),
            source: Some("ops".into()),
            likeness: Some(1),
            opened_at: at(opened),
            answered_at: decided.filter(|_| !by.is_empty()).map(at),
            decided_at: decided.map(at),
            decided_by: by.iter().map(|id| PersonId::new(id)).collect(),
        }
    }

    #[test]
    fn quantiles_are_times_that_were_measured() {
        assert_eq!(quantiles(Vec::new()), None);
        let of = |times: std::ops::RangeInclusive<u64>| quantiles(times.collect()).unwrap();
        assert_eq!(of(7..=7), Quantiles { p50_ms: 7, p95_ms: 7 });
        assert_eq!(of(1..=100), Quantiles { p50_ms: 50, p95_ms: 95 });
        assert_eq!(of(1..=3), Quantiles { p50_ms: 2, p95_ms: 3 });
    }

    #[test]
    fn only_people_wait_decide_and_are_hasty() {
        use HoldStateName::{Approved, Denied, Expired, Pending};
        let day = DAY_MS as i64;
        let found = [
            facts(0, Approved, Some(999), &["ana"]),
            facts(0, Approved, Some(1_000), &["ana", "bob"]),
            facts(0, Approved, Some(1), &[]),
            facts(-day, Denied, Some(5_000 - day), &["bob"]),
            facts(-day, Expired, Some(60_000 - day), &[]),
            facts(-day, Pending, None, &[]),
        ];
        let since = Timestamp::from_ms(NOON - NOON % day - 2 * day);
        let figures = figures_of(&found, since, 3);
        assert_eq!(figures.hasty_approvals, 1);
        assert_eq!(figures.waiting, Some(Quantiles { p50_ms: 1_000, p95_ms: 5_000 }));
        assert_eq!((figures.total.asked, figures.total.expired, figures.total.open), (6, 1, 1));
        let days: Vec<(&str, u64, u64)> = figures
            .by_day
            .iter()
            .map(|(day, figures)| (&**day, figures.counts.asked, figures.automatic))
            .collect();
        assert_eq!(days, [("2025-11-16", 0, 0), ("2025-11-17", 3, 0), ("2025-11-18", 3, 1)]);
        let load: Vec<_> = figures
            .people
            .iter()
            .map(|one| (one.person.as_str(), one.decided, one.approved, one.hasty_approvals))
            .collect();
        assert_eq!(load, [("ana", 2, 2, 1), ("bob", 2, 1, 0)]);
    }
}
