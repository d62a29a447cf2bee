//! How many to wait for. A sync costs the same for one commit and for a hundred. While a batch is
//! written the next one gathers by itself, and mostly nobody has to wait for company. But where many are
//! at work and few of them have come, everybody is waiting for a processor: then a little patience takes
//! nothing from anybody, and what a sync costs the processor is shared by more.

use std::collections::VecDeque;
use std::time::Duration;

use domain::id::StreamId;
use domain::id_map::IdMap;

/// Whoever is among the last so many commits is at work.
const REMEMBERED: usize = 256;
/// Below this, waiting costs more than it saves.
const AT_WORK_MIN: usize = 32;
/// So few may be those who are left over from busier times.
const CAME_MIN: usize = 4;
/// A batch of this part of all who are at work is a good one.
const PART: usize = 3;
/// How long the first to come waits for the others at most.
const PATIENCE: Duration = Duration::from_micros(200);

/// So many are worth waiting for, for so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) count: usize,
    pub(super) patience: Duration,
}

/// Who has committed lately.
#[derive(Default)]
pub(super) struct Company {
    last: VecDeque<StreamId>,
    commits: IdMap<StreamId, usize>,
}

impl Company {
    pub(super) fn came(&mut self, stream: StreamId) {
        self.last.push_back(stream);
        *self.commits.entry(stream).or_default() += 1;
        if self.last.len() > REMEMBERED
            && let Some(gone) = self.last.pop_front()
            && let Some(left) = self.commits.get_mut(&gone)
        {
            *left -= 1;
            if *left == 0 {
                self.commits.remove(&gone);
            }
        }
    }

    /// What to wait for when so many have come.
    pub(super) fn expected(&self, came: usize) -> Option<Expected> {
        let at_work = self.commits.len();
        let count = at_work / PART;
        let is_worth_it = at_work >= AT_WORK_MIN && (CAME_MIN..count).contains(&came);
        is_worth_it.then_some(Expected { count, patience: PATIENCE })
    }
}

#[cfg(test)]
mod tests {
    use domain::id::SessionId;

    use super::*;

    fn of(streams: usize) -> Company {
        let mut company = Company::default();
        for commit in 0..2 * REMEMBERED {
            company.came(StreamId::Session(SessionId::new(1, (commit % streams) as u128)));
        }
        assert_eq!(company.commits.len(), streams);
        company
    }

    #[test]
    fn only_few_of_many_wait_for_the_others() {
        let many = of(60);
        let for_twenty = Some(Expected { count: 20, patience: PATIENCE });
        let waits = |came| many.expected(came);
        assert_eq!([waits(4), waits(19)], [for_twenty, for_twenty]);
        assert_eq!([waits(1), waits(3), waits(20), waits(60)], [None; 4]);
        assert_eq!([of(1).expected(1), of(31).expected(5)], [None; 2], "few never wait");
    }

    #[test]
    fn those_who_went_are_forgotten() {
        let mut company = of(64);
        for _ in 0..REMEMBERED {
            company.came(StreamId::House);
        }
        assert_eq!((company.commits.len(), company.last.len()), (1, REMEMBERED));
    }
}
