//! I-1, I-2, I-14: before every effect the journal has a start by that process, and leave for exactly
//! those bytes: a rule that allows the tool, people who are entitled, or a grant that one of them gave.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::answer::Answer;
use domain::call::{Call, Clearance};
use domain::event::{Event, HoldEvent, SessionEvent};
use domain::grant::{ClearedBy, Grant};
use domain::hold::{CallOnHold, Decision, Hold, HoldChange, HoldState, Question};
use domain::id::{CallId, GrantId, HoldId};
use domain::person::PersonId;

use super::{Evidence, Verdict};
use crate::sim::records::Effect;
use crate::sim::settings::{Gate, gate, role_of};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    for effect in &evidence.records.effects {
        judge(evidence, effect).map_err(|why| {
            format!(
                "{} ran for {} (revision {}, attempt {}): {why}",
                effect.tool, effect.call, effect.revision, effect.attempt
            )
        })?;
    }
    Ok(())
}

/// What the journal of a session says about leave, folded by itself.
#[derive(Default)]
struct Leave {
    calls: BTreeMap<CallId, (Arc<Call>, Option<Clearance>)>,
    holds: BTreeMap<HoldId, Arc<Hold>>,
    approved: BTreeMap<HoldId, (Answer, domain::digest::Digest, Vec<PersonId>)>,
    grants: BTreeMap<GrantId, (Arc<Grant>, u32)>,
    used: BTreeMap<CallId, GrantId>,
    revoked: BTreeSet<GrantId>,
}

fn judge(evidence: &Evidence<'_>, effect: &Effect) -> Verdict {
    let session = effect.session.ok_or("it belongs to no session")?;
    let mut leave = Leave::default();
    for (index, entry) in evidence.session(session) {
        if index >= effect.journal {
            break;
        }
        for event in entry.events.iter() {
            leave.apply(event);
            let Event::Session(SessionEvent::CallStarted { call, attempt, node }) = event else {
                continue;
            };
            let Some((stored, clearance)) = leave.calls.get(call) else { continue };
            if *attempt != effect.attempt
                || *node != effect.node
                || stored.id != effect.call
                || stored.revision != effect.revision
            {
                continue;
            }
            if stored.digest() != effect.digest || stored.arguments.bytes() != effect.arguments {
                return Err("not the bytes that are stored".into());
            }
            let requester = evidence.requester(session);
            return leave.covers(
                effect,
                *call,
                stored,
                clearance.as_ref(),
                requester.as_ref(),
                entry.at,
            );
        }
    }
    Err(format!("no start of it was among the {} commits on disk", effect.journal))
}

impl Leave {
    fn apply(&mut self, event: &Event) {
        match event {
            Event::Session(SessionEvent::CallProposed { id, call, clearance }) => {
                self.calls.insert(*id, (call.clone(), clearance.clone()));
            }
            Event::Session(SessionEvent::Hold(HoldEvent::Opened { hold }))
            | Event::ExternalHold(HoldEvent::Opened { hold }) => {
                self.holds.insert(hold.id, hold.clone());
                if let Some(call) = hold.call()
                    && !hold.two_phase
                    && hold.question != Question::Settle
                {
                    self.calls.insert(call.id, (call.clone(), None));
                }
            }
            Event::Session(SessionEvent::Hold(HoldEvent::Updated {
                hold,
                change: HoldChange::Revised { call, .. },
            }))
            | Event::ExternalHold(HoldEvent::Updated {
                hold,
                change: HoldChange::Revised { call, .. },
            }) => {
                if let Some(held) = self.holds.get_mut(hold) {
                    Arc::make_mut(held).call_on_hold = Some(CallOnHold::new(call.clone()));
                }
                if let Some(known) = self.calls.get_mut(&call.id) {
                    known.0 = call.clone();
                }
            }
            Event::Session(SessionEvent::Hold(HoldEvent::Decided {
                hold,
                state: HoldState::Approved(Decision::People { vote, voters }),
            }))
            | Event::ExternalHold(HoldEvent::Decided {
                hold,
                state: HoldState::Approved(Decision::People { vote, voters }),
            }) => {
                let approval = (vote.answer.clone(), vote.digest, voters.clone());
                self.approved.insert(*hold, approval);
            }
            Event::Session(SessionEvent::GrantMade { grant }) => {
                self.grants.insert(grant.id, (grant.clone(), 0));
            }
            Event::Session(SessionEvent::GrantUsed { grant, call }) => {
                self.used.insert(*call, *grant);
                if let Some((_, uses)) = self.grants.get_mut(grant) {
                    *uses += 1;
                }
            }
            Event::Session(SessionEvent::GrantRevoked { grant, .. }) => {
                self.revoked.insert(*grant);
            }
            _ => {}
        }
    }

    fn covers(
        &self,
        effect: &Effect,
        id: CallId,
        stored: &Call,
        clearance: Option<&Clearance>,
        requester: Option<&PersonId>,
        at: domain::time::Timestamp,
    ) -> Verdict {
        let gate = gate(&effect.tool);
        let by_rule = matches!(clearance.map(|it| &it.by), Some(ClearedBy::Rule(_)));
        match gate {
            Gate::Never => return Err("a rule forbids this tool".into()),
            Gate::Open if by_rule => return Ok(()),
            _ => {}
        }
        let approvals = self.holds.values().filter(|hold| {
            hold.question == Question::Approve
                && hold.call().is_some_and(|call| call.digest() == effect.digest)
        });
        for hold in approvals {
            let Some((Answer::Approve { .. }, digest, voters)) = self.approved.get(&hold.id) else {
                continue;
            };
            if *digest == effect.digest && enough(gate, voters, requester) {
                return Ok(());
            }
        }
        let granted = self.used.get(&id).and_then(|grant| self.grants.get(grant));
        match granted {
            None => Err("nobody who may has approved exactly this".into()),
            Some((grant, _)) if self.revoked.contains(&grant.id) => {
                Err("the grant had been revoked".into())
            }
            Some((grant, _)) if grant.expires_at <= at => Err("the grant had ended".into()),
            Some((grant, uses)) if *uses > 2 => {
                Err(format!("{} was used {uses} times, and was given for 2", grant.id))
            }
            Some((grant, _)) => self.same_as_granted(grant, gate, stored, requester),
        }
    }

    /// A grant covers the very same call again, and only what one person may allow.
    fn same_as_granted(
        &self,
        grant: &Grant,
        gate: Gate,
        stored: &Call,
        requester: Option<&PersonId>,
    ) -> Verdict {
        if !enough(gate, std::slice::from_ref(&grant.by), requester) {
            return Err(format!("{} alone may not allow it", grant.by));
        }
        let seen = self.holds.get(&grant.hold).and_then(|hold| hold.call());
        match seen {
            Some(seen)
                if seen.tool == stored.tool
                    && seen.arguments.value() == stored.arguments.value() =>
            {
                Ok(())
            }
            _ => Err("the grant was given for another call".into()),
        }
    }
}

fn enough(gate: Gate, voters: &[PersonId], requester: Option<&PersonId>) -> bool {
    let distinct: BTreeSet<&PersonId> = voters.iter().collect();
    let (quorum, admitted) = match gate {
        Gate::People { quorum, not_requester } => {
            let counts = |who: &&&PersonId| {
                role_of(who) == "dba" && !(not_requester && Some(**who) == requester)
            };
            (quorum, distinct.iter().filter(counts).count())
        }
        // A tool that asks by itself is for the requester and the admins.
        Gate::Open => {
            let counts = |who: &&&PersonId| role_of(who) == "admin" || Some(**who) == requester;
            (1, distinct.iter().filter(counts).count())
        }
        Gate::Never => return false,
    };
    admitted >= quorum
}

impl Evidence<'_> {
    fn requester(&self, session: domain::id::SessionId) -> Option<PersonId> {
        self.session(session).find_map(|(_, entry)| match entry.events.first() {
            Some(Event::Session(SessionEvent::SessionOpened { creator, .. })) => {
                creator.accountable().cloned()
            }
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use domain::id::{NodeId, StreamId};

    use super::*;
    use crate::sim::checkers::fabricated::*;

    const RULE: Option<ClearedBy> = Some(ClearedBy::Rule(None));

    /// Whether these people's approval lets the tool run in a session of Ana's.
    fn approved_by(tool: &str, voters: &[&str]) -> Fabricated {
        let it = call(tool, 1);
        let asked = hold(1, Question::Approve, Some(&it));
        let opens = story().then([opened_by("ana")]).then([proposed(&it, None), held(&asked)]);
        let answered = opens.then([decided(&asked, approved(&asked, voters))]);
        answered.then([started(&it, 1)]).effect(effect(&it, 1))
    }

    #[test]
    fn an_effect_without_a_start_of_just_that_is_found() {
        let look = call("look", 1);
        let begun = || story().then([opened_by("ana"), proposed(&look, RULE), started(&look, 1)]);
        begun().effect(effect(&look, 1)).passes(check);
        let unstarted = || story().then([opened_by("ana"), proposed(&look, RULE)]);
        unstarted().effect(effect(&look, 1)).breaks(check, "no start of it");
        let late = unstarted().effect(effect(&look, 1)).then([started(&look, 1)]);
        late.breaks(check, "no start of it");
        for other in [
            effect(&look, 2),
            effect(&revised(&look), 1),
            Effect { node: NodeId::new(0, 2), ..effect(&look, 1) },
        ] {
            begun().effect(other).breaks(check, "no start of it");
        }
        for other in [
            Effect { arguments: b"{}".to_vec(), ..effect(&look, 1) },
            Effect { digest: revised(&look).digest(), ..effect(&look, 1) },
        ] {
            begun().effect(other).breaks(check, "not the bytes");
        }
        let homeless = Effect { session: None, ..effect(&look, 1) };
        begun().effect(homeless).breaks(check, "no session");
    }

    #[test]
    fn a_tool_that_nobody_allowed_is_found() {
        for (tool, found) in
            [("look", None), ("wipe", Some("nobody who may")), ("scrap", Some("forbids"))]
        {
            let it = call(tool, 1);
            let story = story().then([opened_by("ana"), proposed(&it, RULE), started(&it, 1)]);
            let story = story.effect(effect(&it, 1));
            match found {
                None => story.passes(check),
                Some(words) => story.breaks(check, words),
            }
        }
        for (tool, voters) in
            [("wipe", &["ana"][..]), ("nuke", &["bob", "cat"]), ("post", &["ana"])]
        {
            approved_by(tool, voters).passes(check);
        }
        for (tool, voters) in [
            ("wipe", &["eve"][..]),
            ("wipe", &["root"]),
            ("nuke", &["bob"]),
            ("nuke", &["bob", "bob"]),
            ("nuke", &["ana", "bob"]),
            ("post", &["bob"]),
        ] {
            approved_by(tool, voters).breaks(check, "nobody who may");
        }
        approved_by("scrap", &["ana"]).breaks(check, "forbids");
    }

    #[test]
    fn an_approval_of_other_bytes_is_found() {
        let wipe = call("wipe", 1);
        let edited = revised(&wipe);
        let asked = hold(1, Question::Approve, Some(&wipe));
        let revision = HoldChange::Revised {
            title: "may it?".into(),
            call: edited.clone(),
            audience: asked.audience.clone(),
            rule: None,
            risk: asked.risk,
            preview: Default::default(),
            votes: Vec::new(),
        };
        let asks_again =
            Hold { call_on_hold: Some(CallOnHold::new(edited.clone())), ..asked.clone() };
        let with = |seen: &Hold| {
            let opens = story().then([opened_by("ana"), proposed(&wipe, None), held(&asked)]);
            let edits = opens.then([updated(&asked, revision.clone())]);
            let answered = edits.then([decided(&asked, approved(seen, &["bob"]))]);
            answered.then([started(&edited, 1)]).effect(effect(&edited, 1))
        };
        with(&asks_again).passes(check);
        with(&asked).breaks(check, "nobody who may has approved exactly this");
    }

    #[test]
    fn a_grant_that_does_not_hold_is_found() {
        let (first, again) = (call("wipe", 1), call("wipe", 1));
        let mut parts = again.parts();
        parts.id = CallId::new(0, 2);
        let again = Arc::new(Call::fixed(parts));
        let other = call("wipe", 3);
        let asked = hold(1, Question::Approve, Some(&first));
        let used = |it: &Arc<Call>, by: &str, at: i64, uses: u32, revoked: bool| {
            let given = grant(&asked, &first, by);
            let mut events = vec![opened_by("ana"), held(&asked)];
            events.push(Event::Session(SessionEvent::GrantMade { grant: Arc::new(given.clone()) }));
            events.push(proposed(it, Some(ClearedBy::Grant(given.id))));
            events.extend(
                (0..uses).map(|_| {
                    Event::Session(SessionEvent::GrantUsed { grant: given.id, call: it.id })
                }),
            );
            if revoked {
                let by = domain::person::Actor::Runtime;
                events.push(Event::Session(SessionEvent::GrantRevoked { grant: given.id, by }));
            }
            let starts = [started(it, 1)];
            let story = story().then(events).at(at, StreamId::Session(session()), starts);
            story.effect(effect(it, 1))
        };
        used(&again, "ana", 0, 1, false).passes(check);
        used(&again, "ana", 0, 0, false).breaks(check, "nobody who may");
        used(&again, "ana", 0, 1, true).breaks(check, "revoked");
        used(&again, "ana", DEADLINE_MS, 1, false).breaks(check, "had ended");
        used(&again, "ana", 0, 3, false).breaks(check, "used 3 times");
        used(&again, "eve", 0, 1, false).breaks(check, "alone may not allow");
        used(&other, "ana", 0, 1, false).breaks(check, "given for another call");
    }
}
