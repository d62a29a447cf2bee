//! A run, its calls and the grants of its session, as the documentation tells them.

use super::register::{Done, Register, read_refusal};
use super::{Circle, OK, Said, Shown, Told};
use crate::world::HOUR_MS;

pub(super) const DAY_MS: u64 = 24 * HOUR_MS;
/// How long the rules of the driver give people.
pub(super) const ASK_MS: u64 = HOUR_MS;
pub(super) const GRANT_MS: u64 = HOUR_MS;
pub(super) const GRANT_USES: u32 = 2;
/// Model calls in a run before somebody is asked.
pub(super) const TURNS: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Rule,
    Grant(usize),
    People(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Waiting(usize),
    Cleared(By, u64),
    Running { by: By, at: u64, attempt: u32, node: u32 },
    InDoubt(usize),
    Settled(&'static str),
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) tool: &'static str,
    pub(super) argument: u8,
    pub(super) attempts: u32,
    pub(super) state: State,
}

#[derive(Clone, Debug)]
pub(super) struct Grant {
    pub(super) tool: &'static str,
    pub(super) argument: u8,
    pub(super) by: &'static str,
    pub(super) ends: u64,
    pub(super) uses: u32,
    pub(super) revoked: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub(super) now: u64,
    pub(super) node: u32,
    pub(super) frozen: bool,
    pub(super) dbas: Vec<&'static str>,
    pub(super) run: &'static str,
    stopping: bool,
    spoke_last: bool,
    /// Model calls since the run began, or since somebody let it go on.
    turns: u32,
    /// The hold that asks whether the run may go on.
    leave: Option<usize>,
    /// The calls of the turn, until the model has their results.
    pub(super) turn: Vec<usize>,
    pub(super) calls: Vec<Call>,
    pub(super) holds: Vec<Register>,
    /// The call of each hold, if it is about one.
    about: Vec<Option<usize>>,
    /// How many runs have begun, and of which of them each hold is.
    runs: u32,
    of_run: Vec<u32>,
    pub(super) grants: Vec<Grant>,
}

/// What the rules say of a tool: `None` denies, a quorum of 0 allows.
pub(super) fn rule(tool: &str, argument: u8) -> Option<(Circle, usize)> {
    match (tool, argument) {
        ("nuke", _) => None,
        ("look" | "send", _) => Some((Circle::RequesterAndAdmins, 0)),
        ("wipe", 3) => Some((Circle::Admins, 1)),
        ("launch", _) => Some((Circle::Dbas, 2)),
        ("pay", _) => Some((Circle::DbasButNotTheRequester, 1)),
        _ => Some((Circle::Dbas, 1)),
    }
}

impl Reference {
    pub(super) fn new(now: u64) -> Reference {
        Reference {
            now,
            node: 0,
            frozen: false,
            dbas: vec!["ana", "bob", "cyd"],
            run: "none",
            stopping: false,
            spoke_last: false,
            turns: 0,
            leave: None,
            turn: Vec::new(),
            calls: Vec::new(),
            holds: Vec::new(),
            about: Vec::new(),
            runs: 0,
            of_run: Vec::new(),
            grants: Vec::new(),
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.run, "none" | "completed" | "failed" | "cancelled")
    }

    pub(super) fn needs_model_call(&self) -> bool {
        self.run == "running" && self.turn.is_empty() && !self.stopping
    }

    /// Every command: what is overdue expires first, and what follows by itself follows.
    pub(super) fn step(&mut self, act: impl FnOnce(&mut Reference) -> Told) -> Told {
        let now = self.now;
        let mut expired = false;
        for hold in &mut self.holds {
            expired |= hold.pass(now);
        }
        let told = act(self);
        if expired || told != "overtaken" {
            self.advance();
        }
        told
    }

    pub(super) fn say(&mut self) -> Told {
        if self.frozen {
            return "frozen";
        }
        (self.run, self.stopping, self.spoke_last) = ("running", false, false);
        (self.turns, self.leave) = (0, None);
        self.runs += 1;
        OK
    }

    pub(super) fn think(&mut self, calls: &[(&'static str, u8)]) -> Told {
        self.spoke_last = true;
        self.turns += 1;
        for (tool, argument) in calls {
            let id = self.calls.len();
            let (tool, argument) = (*tool, *argument);
            self.calls.push(Call { tool, argument, attempts: 0, state: State::Settled("denied") });
            self.turn.push(id);
            let covered = |grant: &Grant, circle: Circle| {
                !grant.revoked
                    && grant.uses > 0
                    && self.now < grant.ends
                    && (grant.tool, grant.argument) == (tool, argument)
                    && circle.admits(grant.by, &self.dbas)
            };
            self.calls[id].state = match rule(tool, argument) {
                None => State::Settled("denied"),
                Some((_, 0)) => State::Cleared(By::Rule, self.now),
                Some((circle, quorum)) => {
                    let grant = self.grants.iter().position(|grant| covered(grant, circle));
                    match grant.filter(|_| quorum == 1) {
                        Some(grant) => {
                            self.grants[grant].uses -= 1;
                            State::Cleared(By::Grant(grant), self.now)
                        }
                        None => State::Waiting(self.open(id, circle, quorum, false)),
                    }
                }
            };
        }
        OK
    }

    fn open(&mut self, call: usize, circle: Circle, quorum: usize, settles: bool) -> usize {
        self.open_about(Some(call), circle, quorum, settles)
    }

    fn open_about(
        &mut self,
        call: Option<usize>,
        circle: Circle,
        quorum: usize,
        settles: bool,
    ) -> usize {
        self.holds.push(Register {
            state: "pending",
            circle,
            quorum: quorum.max(1),
            deadline: (!settles).then_some(self.now + ASK_MS),
            settles,
            no_call: call.is_none(),
            revision: 0,
            argument: call.map_or(u8::MAX, |call| self.calls[call].argument),
            votes: Vec::new(),
            voters: Vec::new(),
            cancelled_by: "",
            in_session: true,
        });
        self.about.push(call);
        self.of_run.push(self.runs);
        self.holds.len() - 1
    }

    /// Proposed again, as something that nobody has approved yet.
    fn ask_again(&mut self, call: usize) {
        let Call { tool, argument, .. } = self.calls[call];
        if let Some((circle, quorum)) = rule(tool, argument) {
            self.calls[call].state = State::Waiting(self.open(call, circle, quorum, false));
        }
    }

    pub(super) fn answer(
        &mut self,
        hold: usize,
        who: &'static str,
        said: Said,
        shown: Shown,
    ) -> Told {
        let now = self.now;
        let Some(call) = self.about[hold] else { return self.answer_leave(hold, who, said, shown) };
        let tool = self.calls[call].tool;
        let dbas = self.dbas.clone();
        let after_edit = |argument| {
            let (circle, quorum) = rule(tool, argument).unwrap_or((Circle::Admins, 1));
            (circle, quorum.max(1))
        };
        let done = self.holds[hold].answer(who, said, shown, &dbas, after_edit);
        if let (Ok(Done::Counted | Done::Decided), Said::Edit(argument)) = (done, said) {
            self.calls[call].argument = argument;
        }
        if done != Ok(Done::Decided) {
            return read_refusal(&done);
        }
        let argument = self.calls[call].argument;
        if matches!(said, Said::ApproveForSession | Said::ApproveForSessionIf(_)) {
            let (ends, uses) = (now + GRANT_MS, GRANT_USES);
            self.grants.push(Grant { tool, argument, by: who, ends, uses, revoked: false });
        }
        match said {
            _ if self.holds[hold].state == "approved" => {
                self.calls[call].state = State::Cleared(By::People(hold), now);
            }
            // Its run was cancelled and has ended: the answer is on record, and changes nothing.
            Said::Succeeded | Said::Failed | Said::Retry
                if self.calls[call].state != State::InDoubt(hold) => {}
            Said::Succeeded => self.calls[call].state = State::Settled("output"),
            Said::Failed => self.calls[call].state = State::Settled("error"),
            Said::Retry => self.ask_again(call),
            // Of a run that has ended, what became of its other calls is still asked.
            Said::DenyAndStop if self.is_over() => {}
            // And whoever answers that late ends no later run by it.
            Said::DenyAndStop if self.of_run[hold] != self.runs => {}
            Said::DenyAndStop => self.stop(who),
            _ => {}
        }
        OK
    }

    /// Whether the run may go on: a yes gives it as many turns again.
    fn answer_leave(&mut self, hold: usize, who: &'static str, said: Said, shown: Shown) -> Told {
        let dbas = self.dbas.clone();
        let nobody = |_| (Circle::Admins, 1);
        let done = self.holds[hold].answer(who, said, shown, &dbas, nobody);
        if done == Ok(Done::Decided) && self.holds[hold].state == "approved" {
            (self.turns, self.leave) = (0, None);
        }
        read_refusal(&done)
    }

    pub(super) fn cancel_hold(&mut self, hold: usize, who: &'static str) -> Told {
        if self.holds[hold].state == "approved" {
            let Some(call) = self.about[hold] else { return "already decided" };
            let call = &mut self.calls[call];
            return match call.state {
                // Taken back before it could start.
                State::Cleared(..) => {
                    call.state = State::Settled("denied");
                    OK
                }
                _ => "already decided",
            };
        }
        read_refusal(&self.holds[hold].cancel(who))
    }

    pub(super) fn cancel_run(&mut self, who: &'static str) -> Told {
        match self.run {
            "cancelled" => OK,
            _ if self.is_over() => "out of turn",
            _ => {
                if !self.stopping {
                    self.stop(who);
                }
                OK
            }
        }
    }

    fn stop(&mut self, who: &'static str) {
        self.stopping = true;
        for hold in self.holds.iter_mut().filter(|hold| hold.is_open()) {
            (hold.state, hold.cancelled_by) = ("cancelled", who);
        }
    }

    pub(super) fn think_failed(&mut self) -> Told {
        self.run = "failed";
        OK
    }

    pub(super) fn retry_run(&mut self) -> Told {
        match self.run {
            _ if self.frozen => "frozen",
            "failed" => {
                self.run = "running";
                OK
            }
            _ => "out of turn",
        }
    }

    pub(super) fn revoke_grant(&mut self, grant: usize) -> Told {
        self.grants[grant].revoked = true;
        OK
    }

    pub(super) fn report(&mut self, call: usize, attempt: u32, how: &'static str) -> Told {
        match self.calls[call].state {
            State::Running { attempt: current, .. } if current == attempt => {
                self.ended(call, how);
                OK
            }
            _ => "overtaken",
        }
    }

    pub(super) fn recover(&mut self, call: usize, attempt: u32, how: &'static str) -> Told {
        match self.calls[call].state {
            State::Running { by, at, attempt: current, node }
                if current == attempt && node != self.node =>
            {
                match how {
                    "again" if self.stopping => {
                        self.calls[call].state = State::Settled("cancelled");
                    }
                    "again" => self.begin(call, by, at),
                    how => self.ended(call, how),
                }
                OK
            }
            _ => "overtaken",
        }
    }

    fn ended(&mut self, call: usize, how: &'static str) {
        let State::Running { by, .. } = self.calls[call].state else { return };
        self.calls[call].state = match (how, by) {
            ("unknown", By::People(hold)) => {
                let Register { circle, quorum, .. } = self.holds[hold];
                State::InDoubt(self.open(call, circle, quorum, true))
            }
            ("unknown", _) => State::InDoubt(self.open(call, Circle::RequesterAndAdmins, 1, true)),
            (how, _) => State::Settled(how),
        };
        // A cancelled run ends; what became of the call is still asked.
        if self.stopping && matches!(self.calls[call].state, State::InDoubt(_)) {
            self.calls[call].state = State::Settled("error");
        }
    }

    /// The last look, and the start if nothing stands against it.
    fn begin(&mut self, call: usize, by: By, at: u64) {
        if self.frozen {
            return;
        }
        if self.now >= at + DAY_MS {
            self.calls[call].state = State::Settled("expired");
            return;
        }
        let stands = match by {
            By::Rule => true,
            By::Grant(grant) => {
                let Grant { by, ends, revoked, .. } = self.grants[grant];
                let Call { tool, argument, .. } = self.calls[call];
                let circle = rule(tool, argument).map(|(circle, _)| circle);
                let entitled = circle.is_some_and(|circle| circle.admits(by, &self.dbas));
                !revoked && self.now < ends && entitled
            }
            By::People(hold) => {
                let hold = &self.holds[hold];
                let entitled = |who: &str| hold.circle.admits(who, &self.dbas);
                // Whose vote counted when it was decided must still be entitled.
                hold.voters.iter().filter(|who| entitled(who)).count() >= hold.quorum
            }
        };
        if !stands {
            return self.ask_again(call);
        }
        let attempt = self.calls[call].attempts + 1;
        self.calls[call].attempts = attempt;
        self.calls[call].state = State::Running { by, at, attempt, node: self.node };
    }

    fn advance(&mut self) {
        for call in self.turn.clone() {
            let hold = match self.calls[call].state {
                State::Waiting(hold) | State::InDoubt(hold) => hold,
                _ => continue,
            };
            let doubt = matches!(self.calls[call].state, State::InDoubt(_));
            let kind = match self.holds[hold].state {
                "denied" | "cancelled" if doubt => "error",
                "answered" if !doubt => "output",
                "denied" => "denied",
                "expired" => "expired",
                "cancelled" => "cancelled",
                _ => continue,
            };
            self.calls[call].state = State::Settled(kind);
        }
        for call in self.turn.clone() {
            let State::Cleared(by, at) = self.calls[call].state else { continue };
            let waits = |other: &usize| matches!(self.calls[*other].state, State::Waiting(_));
            let undecided = self.turn.iter().any(waits);
            if self.stopping {
                self.calls[call].state = State::Settled("cancelled");
            } else if !undecided || (by == By::Rule && self.calls[call].tool == "look") {
                self.begin(call, by, at);
            }
        }
        let settled = |call: &usize| matches!(self.calls[*call].state, State::Settled(_));
        if !self.turn.is_empty() && self.turn.iter().all(settled) {
            self.turn.clear();
            self.spoke_last = false;
        }
        // Nobody let it go on.
        let refused = self.leave.is_some_and(|hold| !self.holds[hold].is_open());
        if refused && !self.is_over() && !self.stopping {
            self.stop("nobody");
        }
        if !self.is_over() && self.turn.is_empty() {
            if self.stopping {
                self.run = "cancelled";
            } else if self.spoke_last {
                self.run = "completed";
            } else if self.leave.is_none() && self.turns >= TURNS {
                self.leave = Some(self.open_about(None, Circle::RequesterAndAdmins, 1, false));
            }
        }
        if !self.is_over() {
            let runs = |call: &usize| matches!(self.calls[*call].state, State::Running { .. });
            let waits = !self.turn.is_empty() && !self.turn.iter().any(runs);
            self.run = if waits || self.leave.is_some() { "paused" } else { "running" };
        }
    }
}
