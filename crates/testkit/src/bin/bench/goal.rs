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
