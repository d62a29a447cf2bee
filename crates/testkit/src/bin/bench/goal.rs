//! What a figure should be.

use crate::report::number;

#[derive(Clone, Copy)]
pub(crate) struct Goal {
    is_least: bool,
    must: Option<f64>,
    aim: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    AimMet,
    Met,
    AimMissed,
    Missed,
}

impl Verdict {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Verdict::AimMet => "aim met",
            Verdict::Met => "met",
            Verdict::AimMissed => "aim missed",
            Verdict::Missed => "MISSED",
        }
    }
}

impl Goal {
    pub(crate) fn at_most(must: f64) -> Goal {
        Goal { is_least: false, must: Some(must), aim: None }
    }

    pub(crate) fn at_least(must: f64) -> Goal {
        Goal { is_least: true, must: Some(must), aim: None }
    }

    /// Nothing is demanded, only wished for.
    pub(crate) fn wish_at_most(aim: f64) -> Goal {
        Goal { is_least: false, must: None, aim: Some(aim) }
    }

    pub(crate) fn aim(self, aim: f64) -> Goal {
        Goal { aim: Some(aim), ..self }
    }

    /// What could not be measured (`NaN`) is missed.
    pub(crate) fn verdict(&self, figure: f64) -> Verdict {
        let reaches = |bound: f64| if self.is_least { figure >= bound } else { figure <= bound };
        match (self.must.map(reaches), self.aim.map(reaches)) {
            (Some(false), _) => Verdict::Missed,
            (_, Some(true)) => Verdict::AimMet,
            (Some(true), _) => Verdict::Met,
            (None, _) => Verdict::AimMissed,
        }
    }

    pub(crate) fn misses(&self, figure: f64) -> bool {
        self.verdict(figure) == Verdict::Missed
    }

    pub(crate) fn must_text(&self) -> Option<String> {
        self.must.map(|bound| self.text(bound))
    }

    pub(crate) fn aim_text(&self) -> Option<String> {
        self.aim.map(|bound| self.text(bound))
    }

    fn text(&self, bound: f64) -> String {
        let sign = if self.is_least { "≥" } else { "≤" };
        format!("{sign} {}", short(bound))
    }
}

/// A goal has as many digits as somebody wrote.
fn short(bound: f64) -> String {
    let text = number(bound);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_judged_by_what_it_must_be_and_then_by_what_it_should_be() {
        let judged = |goal: Goal, figure| goal.verdict(figure).name();
        let fast = Goal::at_least(0.12).aim(0.3);
        assert_eq!([0.11, 0.12, 0.3].map(|rate| judged(fast, rate)), ["MISSED", "met", "aim met"]);
        let small = Goal::at_most(10.0);
        assert_eq!([10.0, 10.1].map(|time| judged(small, time)), ["met", "MISSED"]);
        assert_eq!(judged(small, f64::NAN), "MISSED");
        let wish = Goal::wish_at_most(200.0);
        assert_eq!([200.0, 201.0].map(|size| judged(wish, size)), ["aim met", "aim missed"]);
        assert!(!wish.misses(201.0));
    }

    #[test]
    fn goals_read_as_they_were_written() {
        let goal = Goal::at_most(2.5).aim(0.12);
        assert_eq!(goal.must_text().as_deref(), Some("≤ 2.5"));
        assert_eq!(goal.aim_text().as_deref(), Some("≤ 0.12"));
        assert_eq!(Goal::at_least(120.0).must_text().as_deref(), Some("≥ 120"));
        assert_eq!(Goal::at_most(0.0).must_text().as_deref(), Some("≤ 0"));
    }
}
