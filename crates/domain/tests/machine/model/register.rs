//! A hold is a register that is set once: compare and set, with a quorum and a deadline.

use super::{Circle, OK, PEOPLE, Said, Shown, Told};

#[derive(Clone, Debug)]
pub(super) struct Register {
    pub(super) state: &'static str,
    pub(super) circle: Circle,
    pub(super) quorum: usize,
    pub(super) deadline: Option<u64>,
    /// Asks what became of a call, and not whether it may run.
    pub(super) settles: bool,
    /// Asks whether the run may go on: there is no call.
    pub(super) no_call: bool,
    /// Edits since it was opened.
    pub(super) revision: usize,
    pub(super) argument: u8,
    /// Who said what about which revision.
    pub(super) votes: Vec<(&'static str, Said, usize)>,
    /// Those whose votes made the decision.
    pub(super) voters: Vec<&'static str>,
    pub(super) cancelled_by: &'static str,
    pub(super) in_session: bool,
}

/// What an answer did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    Nothing,
    Counted,
    Decided,
}

impl Register {
    pub(super) fn is_open(&self) -> bool {
        self.state == "pending"
    }

    pub(super) fn pass(&mut self, now: u64) -> bool {
        let over = self.is_open() && self.deadline.is_some_and(|deadline| now >= deadline);
        if over {
            self.state = "expired";
        }
        over
    }

    /// `after_edit` says whom the edited call would be put to.
    pub(super) fn answer(
        &mut self,
        who: &'static str,
        said: Said,
        shown: Shown,
        dbas: &[&str],
        after_edit: impl Fn(u8) -> (Circle, usize),
    ) -> Result<Done, Told> {
        let edits = matches!(said, Said::Edit(_));
        let fits = |revision: usize| match shown {
            Shown::Nothing => true,
            Shown::Revision(shown) => shown == revision,
            Shown::Another => false,
        };
        let again = |(by, earlier, revision): &(&str, Said, usize)| {
            *by == who && *earlier == said && (edits || fits(*revision) || fits(self.revision))
        };
        if self.votes.iter().any(again) {
            return Ok(Done::Nothing);
        }
        match self.state {
            "pending" => {}
            "expired" => return Err("expired"),
            _ => return Err("already decided"),
        }
        if !self.circle.admits(who, dbas) {
            return Err("not entitled");
        }
        let approves = matches!(
            said,
            Said::Approve(_)
                | Said::ApproveForSession
                | Said::ApproveForSessionIf(_)
                | Said::Edit(_)
        );
        let settles = matches!(said, Said::Succeeded | Said::Failed | Said::Retry);
        let suits = match said {
            Said::Deny | Said::DenyAndStop => true,
            Said::Respond if self.no_call => false,
            _ => settles == self.settles,
        };
        if !suits || (approves && shown == Shown::Nothing) {
            return Err("answer invalid");
        }
        if shown != Shown::Nothing && !fits(self.revision) {
            return Err("version conflict");
        }
        if self.votes.iter().any(|(by, _, _)| *by == who) {
            return Err("already voted");
        }
        let stands = matches!(said, Said::ApproveForSession | Said::ApproveForSessionIf(_));
        if stands && (self.quorum > 1 || !self.in_session || self.no_call) {
            return Err("answer invalid");
        }
        if let Said::ApproveForSessionIf(argument) = said
            && argument != self.argument
        {
            return Err("answer invalid");
        }
        if let Said::Edit(argument) = said {
            self.revision += 1;
            self.argument = argument;
            self.votes.clear();
            (self.circle, self.quorum) = after_edit(argument);
            if !self.circle.admits(who, dbas) {
                return Ok(Done::Counted);
            }
        }
        self.votes.push((who, said, self.revision));
        self.state = match said {
            Said::Deny | Said::DenyAndStop => "denied",
            Said::Respond => "answered",
            _ => {
                let agree = |(by, other, revision): &&(&'static str, Said, usize)| {
                    *revision == self.revision
                        && (approves || *other == said)
                        && self.circle.admits(by, dbas)
                };
                self.voters = self.votes.iter().filter(agree).map(|(by, _, _)| *by).collect();
                if self.voters.len() < self.quorum {
                    let has_said = |who: &&str| self.votes.iter().any(|(by, _, _)| by == who);
                    let asked = || PEOPLE.iter().filter(|who| self.circle.admits(who, dbas));
                    let enough = asked().count() >= self.quorum;
                    if self.settles && enough && asked().all(has_said) {
                        (self.state, self.cancelled_by) = ("cancelled", "the runtime");
                    }
                    return Ok(Done::Counted);
                }
                if approves { "approved" } else { "answered" }
            }
        };
        Ok(Done::Decided)
    }

    pub(super) fn cancel(&mut self, who: &'static str) -> Result<Done, Told> {
        match self.state {
            "pending" => {
                self.state = "cancelled";
                self.cancelled_by = who;
                Ok(Done::Decided)
            }
            "cancelled" if self.cancelled_by == who => Ok(Done::Nothing),
            "expired" => Err("expired"),
            _ => Err("already decided"),
        }
    }
}

pub(super) fn read_refusal<T>(result: &Result<T, Told>) -> Told {
    result.as_ref().err().copied().unwrap_or(OK)
}
