//! Words that are true, and words that are not.

use domain::hold::{CancelReason, Question};
use domain::id::{GrantId, MessageId, RunId};
use domain::message::{Part, Role};
use domain::outcome::NotRun;
use domain::person::Actor;
use engine::MessageReceipt;

use super::*;
use crate::sim::checkers::fabricated::*;

fn asked() -> Hold {
    let wipe = call("wipe", 1);
    hold(1, Question::Approve, Some(&wipe))
}

fn done() -> Word {
    Word::Hold(Arc::new(asked()))
}

fn told(before: &[Event], since: &[Event], errand: &Errand, what: &Word) -> Fabricated {
    let story = story().then(before).then(since);
    story.told(1, errand.clone(), what.clone())
}

/// Exactly this event makes the word true: for the request or before it, and not after the word.
#[track_caller]
fn needs(errand: Errand, what: Word, event: Event, others: &[Event]) {
    let first = [opened_by("ana"), held(&asked())];
    told(&first, std::slice::from_ref(&event), &errand, &what).passes(check);
    told(std::slice::from_ref(&event), &first, &errand, &what).passes(check);
    let early = story().then(first.clone()).told(0, errand.clone(), what.clone());
    early.then([event]).breaks(check, "is not among");
    for other in others {
        told(&first, std::slice::from_ref(other), &errand, &what).breaks(check, "is not among");
    }
    told(&first, &[], &errand, &what).breaks(check, "is not among");
    told(&first, &[], &errand, &Word::TryLater).passes(check);
}

#[test]
fn an_answer_is_on_disk_as_it_was_given() {
    let hold = asked();
    let digest = Some(hold.digest());
    let errand = Errand::Answer { who: "ana", hold: hold.id, digest, answer: yes() };
    let votes = |who, answer| updated(&hold, HoldChange::Voted(vote(&hold, who, answer)));
    let another = crate::sim::checkers::fabricated::hold(2, Question::Approve, None);
    let elsewhere = decided(&another, approved(&another, &["ana"]));
    let mut unseen = Vote::clone(&vote(&hold, "ana", yes()));
    unseen.digest = another.digest();
    let unseen = updated(&hold, HoldChange::Voted(Arc::new(unseen)));
    let others = [votes("bob", yes()), votes("ana", no()), elsewhere, unseen];
    needs(errand.clone(), done(), decided(&hold, approved(&hold, &["ana"])), &others);
    needs(errand, done(), votes("ana", yes()), &others);
}

#[test]
fn what_was_opened_said_and_asked_is_on_disk() {
    let open = Errand::Open { who: "ana", agent: "ops", key: "session 1".into() };
    let begun = || story().then([opened_by("ana")]);
    begun().told(0, open.clone(), Word::Session(session())).passes(check);
    let spelled = StreamId::Session(session()).to_string().into_bytes();
    begun().told(0, open.clone(), Word::Again(spelled)).passes(check);
    story().told(0, open.clone(), Word::Session(session())).breaks(check, "is not among");
    begun().told(0, open, Word::Again(b"another".to_vec())).breaks(check, "is not among");

    let says = |text: &str| Errand::Say {
        who: "ana".into(),
        session: session(),
        text: text.into(),
        while_pending: None,
    };
    let word = |n| Word::Said(MessageReceipt { run: run(), message: MessageId::new(0, n) });
    let heard = said(1, Role::User, "message 1");
    needs(says("message 1"), word(1), heard.clone(), &[said(2, Role::User, "message 1")]);
    let again = Word::Again(MessageId::new(0, 1).to_string().into_bytes());
    needs(says("message 1"), again, heard.clone(), &[said(2, Role::User, "message 1")]);
    story().then([heard]).told(0, says("message 2"), word(1)).breaks(check, "is not among");

    let hold = asked();
    let ask = || Errand::Ask { tool: "wipe", key: "question 1".into() };
    let outside = || story().at(0, StreamId::ExternalHold(hold.id), [held(&hold)]);
    outside().told(0, ask(), done()).passes(check);
    let spelled = Word::Again(StreamId::ExternalHold(hold.id).to_string().into_bytes());
    outside().told(0, ask(), spelled.clone()).passes(check);
    story().told(0, ask(), done()).breaks(check, "is not among");
    story().told(0, ask(), spelled).breaks(check, "is not among");
}

#[test]
fn a_withdrawal_is_on_disk_as_such() {
    let hold = asked();
    let errand = || Errand::CancelHold { who: "root".into(), hold: hold.id };
    let cancelled = |who| {
        let by = Actor::Person(person(who));
        let at = domain::time::Timestamp::from_ms(0);
        decided(&hold, HoldState::Cancelled { by, reason: CancelReason::Unstated, at })
    };
    let wipe = call("wipe", 1);
    let ran = settled(&wipe, "did wipe in attempt 1.");
    needs(errand(), done(), cancelled("root"), &[cancelled("ana"), ran.clone()]);
    let revoked = || NotRun::Revoked { name: "root".into() }.result();
    let taken_back = Event::Session(SessionEvent::CallSettled { call: wipe.id, result: revoked() });
    let failed = |result| updated(&hold, HoldChange::Outcome(HoldOutcome::Failed(result)));
    let first = [held(&hold)];
    for event in [taken_back, failed(revoked())] {
        told(&first, std::slice::from_ref(&event), &errand(), &done()).passes(check);
        let before = [held(&hold), event];
        told(&before, &[], &errand(), &done()).breaks(check, "is not among");
    }
    for event in [ran, failed(ToolResult::error("it failed"))] {
        told(&first, &[event], &errand(), &done()).breaks(check, "is not among");
    }
}

#[test]
fn a_claim_stood_at_some_moment_of_the_request() {
    let hold = asked();
    let claimed = |who| updated(&hold, HoldChange::Claimed(person(who)));
    let let_go = || updated(&hold, HoldChange::Unclaimed);
    let claim = |on| Errand::Claim { who: "ana", hold: hold.id, on };
    told(&[claimed("ana")], &[], &claim(true), &done()).passes(check);
    told(&[], &[claimed("ana"), claimed("bob")], &claim(true), &done()).passes(check);
    let gone = told(&[claimed("ana"), claimed("bob")], &[], &claim(true), &done());
    gone.breaks(check, "is not among");
    told(&[], &[], &claim(false), &done()).passes(check);
    told(&[claimed("ana")], &[let_go()], &claim(false), &done()).passes(check);
    told(&[claimed("ana")], &[], &claim(false), &done()).breaks(check, "is not among");
}

#[test]
fn a_freeze_or_a_thaw_stood_at_some_moment_of_the_request() {
    let [freeze, thaw] = [Errand::Freeze, Errand::Thaw];
    told(&[], &[frozen()], &freeze, &Word::Done).passes(check);
    told(&[frozen()], &[thawed()], &freeze, &Word::Done).passes(check);
    told(&[frozen(), thawed()], &[], &freeze, &Word::Done).breaks(check, "is not among");
    told(&[], &[], &freeze, &Word::Done).breaks(check, "is not among");
    told(&[], &[], &thaw, &Word::Done).passes(check);
    told(&[frozen()], &[thawed(), frozen()], &thaw, &Word::Done).passes(check);
    told(&[frozen()], &[], &thaw, &Word::Done).breaks(check, "is not among");
}

#[test]
fn what_is_done_to_runs_grants_and_outcomes_is_on_disk() {
    let by = || Actor::Person(person("ana"));
    let stop = Errand::CancelRun { who: "ana".into(), run: run() };
    let stopping = |run| Event::Session(SessionEvent::RunStopping { run, by: by(), reason: None });
    let another = RunId::new(0, 2);
    needs(stop.clone(), Word::Done, stopping(run()), &[stopping(another)]);
    needs(
        stop,
        Word::Done,
        Event::Session(SessionEvent::RunCancelled { run: run() }),
        &[stopping(another)],
    );

    let retry = Errand::RetryRun { who: "ana".into(), run: run() };
    let resumed = |run| [Event::Session(SessionEvent::RunResumed { run })];
    told(&[], &resumed(run()), &retry, &Word::Done).passes(check);
    told(&resumed(run()), &[], &retry, &Word::Done).breaks(check, "is not among");
    told(&[], &resumed(another), &retry, &Word::Done).breaks(check, "is not among");

    let grant = |n| GrantId::new(0, n);
    let revoked = |n| Event::Session(SessionEvent::GrantRevoked { grant: grant(n), by: by() });
    let revoke = Errand::RevokeGrant { grant: grant(1) };
    needs(revoke, Word::Done, revoked(1), &[revoked(2)]);

    let hold = asked();
    let outcome = |outcome| updated(&hold, HoldChange::Outcome(outcome));
    let yes = || outcome(HoldOutcome::Succeeded(ToolResult::output("it ran")));
    let no = || outcome(HoldOutcome::Failed(ToolResult::error("it ran")));
    let report = |succeeded| Errand::Report { hold: hold.id, succeeded };
    needs(report(true), done(), yes(), &[no(), outcome(HoldOutcome::Executing)]);
    needs(report(false), done(), no(), &[yes(), outcome(HoldOutcome::Executing)]);
    needs(Errand::Begin { hold: hold.id }, done(), outcome(HoldOutcome::Executing), &[yes(), no()]);
}

#[test]
fn what_came_twice_under_one_key_is_found() {
    let twice = StreamId::Session(domain::id::SessionId::new(0, 2));
    let opened = story().then([opened_by("ana")]).at(0, twice, [opened_by("ana")]);
    opened.breaks(check, "was opened 2 times");
    let queued = |n| {
        let message = message(n, Role::User, vec![Part::Text("message 1".into())]);
        Event::Session(SessionEvent::MessageQueued { message, run: run(), join: false })
    };
    story().then([queued(1), said(1, Role::User, "message 1")]).passes(check);
    story().then([queued(1), queued(2)]).breaks(check, "became 2 messages");
}
