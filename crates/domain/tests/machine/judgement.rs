//! How a hold judges answers: what counts as the same answer, as agreement, as a repeat; and what a hold tells
//! those who watch it.

use std::sync::Arc;

use holdpoint_domain::answer::{Answer, ApprovalScope, Settlement};
use holdpoint_domain::call::{Call, Proposal};
use holdpoint_domain::caption::CaptionKind;
use holdpoint_domain::digest::Digest;
use holdpoint_domain::external_hold::{ExternalHold, ExternalHoldCommand};
use holdpoint_domain::hold::{
    CancelReason, Hold, HoldCommand, HoldOrigin, Preview, Question, Risk, tag_of,
};
use holdpoint_domain::id::{CallId, HoldId, MessageId, SecretId, TokenId};
use holdpoint_domain::json::Arguments;
use holdpoint_domain::person::{Actor, Audience, PersonId};
use holdpoint_domain::policy::{AskSpec, Then};
use holdpoint_domain::refusal::Refusal;
use holdpoint_domain::secret::reference;
use holdpoint_domain::session::{
    Command, HoldSpec, Recovered, RuledCall, RuledTurn, Ruling, Written, default_audience,
};
use serde_json::{Value, json};

use crate::world::{HOUR_MS, World, approve, ask, deny, logged_in, perform, policy, rule};

fn cancel_hold(id: HoldId, by: Actor) -> Command {
    Command::Hold { id, command: HoldCommand::Cancel { by, reason: CancelReason::Unstated } }
}

/// A call of the model that asks this of the dbas, so many of whom must say the same.
fn asked(question: Question, quorum: u32) -> World {
    asked_with(question, quorum, json!({}))
}

fn asked_with(question: Question, quorum: u32, arguments: Value) -> World {
    let mut world = World::new();
    world.say("x");
    let id = CallId::new(world.now.as_ms(), world.bits());
    let (tool_use_id, input) = ("toolu_1".to_owned(), arguments.to_string());
    let proposal = Proposal {
        id,
        tool_use_id: tool_use_id.clone(),
        agent: "ops".into(),
        session: Some(world.session.id),
        arguments: Arguments::from_value(arguments).expect("sound arguments"),
        context: Default::default(),
        policy: world.policy.version(),
    };
    let call = Arc::new(Call::propose(proposal, &world.tools["wipe"]));
    let everybody = default_audience(world.session.requester_and_login_makers());
    let audience = Audience { roles: ["dba".into()].into(), quorum, ..everybody };
    let spec = HoldSpec {
        question,
        risk: Risk::Medium,
        title: CaptionKind::RunTool { tool: "wipe".into(), arguments: None }.into(),
        preview: Preview::default(),
        shown: Value::Null,
        rationale: None,
        audience: audience.into(),
        rule: None,
        expires_in_ms: Some(HOUR_MS),
    };
    let written = Written { id, tool_use_id, tool: "wipe".into(), input };
    let ruling = Ruling::Ask { call, spec: Box::new(spec) };
    let message = MessageId::new(world.now.as_ms(), world.bits());
    let calls = vec![RuledCall { written, ruling }];
    let thought = RuledTurn { message, parts: Vec::new(), calls, usage: world.usage };
    let seen = world.session.transcript.len();
    world.tell(&Command::RecordTurn { seen, turn: thought }).expect("the turn is taken");
    world
}

fn options(labels: &[&str], multiple: bool, allow_other: bool) -> Question {
    let labels = labels.iter().map(|label| ((*label).to_owned(), None));
    Question::choose(labels, multiple, allow_other).expect("sound options")
}

fn choose(texts: &[&str]) -> Answer {
    Answer::Choose(texts.iter().map(|text| (*text).to_owned()).collect())
}

fn text(text: &str) -> Answer {
    Answer::Fill(json!({ "text": text }))
}

fn state(world: &World) -> (&'static str, usize) {
    let hold = world.hold(0);
    (hold.state.name(), hold.votes.len())
}

#[test]
fn i12_two_different_forms_are_no_agreement() {
    let mut world = asked(Question::Fill { schema: None }, 2);
    world.answer_as("ana", 0, text("yes")).unwrap();
    world.answer_as("bob", 0, text("no")).unwrap();
    assert_eq!(state(&world), ("pending", 2), "they do not say the same");
    let mut world = asked(Question::Fill { schema: None }, 2);
    world.answer_as("ana", 0, text("yes")).unwrap();
    world.answer_as("bob", 0, text("yes")).unwrap();
    assert_eq!(state(&world), ("answered", 2));
    assert_eq!(world.results(), ["yes"]);
}

#[test]
fn i12_two_choices_agree_by_what_they_name_and_not_by_how() {
    let question = || options(&["Blue-Green", "Canary", "Rolling"], true, false);
    for (other, agrees) in [(["Canary", "1"], true), (["1", "3"], false)] {
        let mut world = asked(question(), 2);
        world.answer_as("ana", 0, choose(&["1", "2"])).unwrap();
        world.answer_as("bob", 0, choose(&other)).unwrap();
        assert_eq!(state(&world).0 == "answered", agrees, "{other:?}");
    }
}

#[test]
fn what_people_chose_or_filled_in_reaches_the_model_in_their_words() {
    let read_answer = |question: Question, answer: Answer| {
        let mut world = asked(question, 1);
        world.answer_as("ana", 0, answer).expect("it counts");
        world.results().pop().expect("a result")
    };
    let labels = &["Blue-Green", "Canary"];
    assert_eq!(read_answer(options(labels, false, false), choose(&["2"])), "Canary");
    assert_eq!(read_answer(options(labels, false, true), choose(&["by hand"])), "by hand");
    assert_eq!(read_answer(options(labels, true, false), choose(&["2"])), r#"["Canary"]"#);
    assert_eq!(
        read_answer(options(labels, true, false), choose(&["2", "1"])),
        r#"["Canary","Blue-Green"]"#
    );
    assert_eq!(read_answer(Question::Fill { schema: None }, text("at noon")), "at noon");
    let form = Question::Fill { schema: Some(json!({"type": "object"})) };
    assert_eq!(read_answer(form, Answer::Fill(json!({"n": 3}))), r#"{"n":3}"#);
}

#[test]
fn i01_an_edit_that_was_not_ruled_on_approves_nothing() {
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({"n": 1}))]);
    let arguments = Arguments::from_value(json!({"n": 2})).unwrap();
    let edit =
        Answer::Approve { scope: ApprovalScope::Once, arguments: Some(arguments), note: None };
    let digest = Some(world.hold(0).digest());
    let refused = world.answer_with("ana", 0, digest, edit, None);
    assert!(matches!(refused, Err(Refusal::Overtaken)), "{refused:?}");
    assert_eq!(state(&world), ("pending", 0));
    assert!(world.running().is_empty(), "neither the edit nor what was there before it");
}

#[test]
fn i09_the_same_answer_to_something_else_is_no_repeat() {
    let mut world = World::new();
    world.say("x").think("", &[("launch", json!({}))]);
    world.approve("ana", 0);
    let again = world.answer_with("ana", 0, Some(world.hold(0).digest()), approve(), None);
    assert!(again.is_ok(), "{again:?}");
    let unnamed = world.answer_with("ana", 0, None, approve(), None);
    assert!(unnamed.is_ok(), "a retry that lost its digest changes nothing either: {unnamed:?}");
    let of_another = Some(Digest::of(b"another call"));
    let refused = world.answer_with("ana", 0, of_another, approve(), None);
    assert!(matches!(refused, Err(Refusal::VersionConflict { .. })), "{refused:?}");
    assert_eq!(state(&world), ("pending", 1));
}

#[test]
fn i02_what_is_asked_is_part_of_what_is_answered() {
    // Two worlds that differ in nothing but the question: the hold has the same id in both.
    let digest = |question: Question| {
        let world = asked(question, 1);
        (world.hold(0).id, world.hold(0).digest())
    };
    let questions = [
        options(&["Blue-Green", "Canary"], false, false),
        options(&["Blue-Green", "Rolling"], false, false),
        options(&["Blue-Green", "Canary"], true, false),
        options(&["Blue-Green", "Canary"], false, true),
        Question::Fill { schema: None },
        Question::Fill { schema: Some(json!({"type": "object"})) },
        Question::Fill { schema: Some(json!({"type": "array"})) },
        Question::Perform { deny_values: vec!["no".into()] },
        Question::Perform { deny_values: Vec::new() },
        Question::Approve,
    ];
    for (n, one) in questions.iter().enumerate() {
        for other in &questions[n + 1..] {
            let ((id, one), (same, other)) = (digest(one.clone()), digest(other.clone()));
            assert_eq!(id, same);
            assert_ne!(one, other);
        }
    }
}

#[test]
fn those_who_may_not_answer_are_told_who_may() {
    let mut world = World::new();
    let others = ask(&["dba"], 1).map(|ask| AskSpec { exclude_requester: true, ..ask });
    world.policy = policy(vec![rule("not oneself", "wipe", Then::Ask, others)]);
    world.say("x").think("", &[("wipe", json!({}))]);
    let why = |world: &mut World, who: &str| match world.answer_as(who, 0, approve()) {
        Err(Refusal::NotEntitled { why }) => why,
        other => panic!("{other:?}"),
    };
    let own = "the rule does not let the requester approve their own request";
    assert_eq!(why(&mut world, "ana"), own);
    assert_eq!(why(&mut world, "eve"), "this hold is for role `dba`");
}

#[test]
fn every_change_of_a_hold_is_another_version_of_it() {
    let mut world = World::new();
    world.say("x").think("", &[("launch", json!({}))]);
    let mut versions = vec![world.hold(0).version];
    for who in ["ana", "bob"] {
        world.approve(who, 0);
        versions.push(world.hold(0).version);
    }
    world.finish();
    versions.push(world.hold(0).version);
    assert_eq!(versions, [1, 2, 4, 5], "a vote; the decision and the start; the end");
    assert_eq!(world.session.version as usize, world.events.len(), "one for each event");
}

#[test]
fn i53_a_vote_by_a_login_that_the_audience_refuses_decides_nothing() {
    let mut world = asked(Question::Approve, 2);
    // Nothing says who made this login.
    world.approve("ana", 0);
    let mut hold = Hold::clone(&world.hold(0));
    let audience = Audience { quorum: 1, ..(*hold.audience).clone() };
    hold.audience = audience.clone().into();
    assert!(hold.decided_by_votes(&world.people).is_some(), "by any login");
    hold.audience = Audience { refuse_made_logins: true, ..audience }.into();
    assert!(hold.decided_by_votes(&world.people).is_none());
}

#[test]
fn a_hold_is_finished_when_nothing_more_can_come_of_it() {
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({"n": 1})), ("wipe", json!({"n": 2}))]);
    assert!(!world.hold(0).is_finished() && !world.hold(1).is_finished(), "nobody has answered");
    world.deny("ana", 1, "no");
    assert!(world.hold(1).is_finished(), "nothing runs");
    world.approve("ana", 0);
    assert!(!world.hold(0).is_finished(), "its call runs");
    world.finish();
    let hold = world.hold(0);
    assert!(hold.is_finished());
    assert_eq!(hold.outcome().map(|outcome| outcome.name()), Some("succeeded"));
    let mut world = World::new();
    world.budgets.turns = 1;
    world.say("go").think("", &[("look", json!({}))]).finish();
    world.approve("ana", 0);
    assert!(world.hold(0).is_finished(), "it gated no call");
}

#[test]
fn i52_of_an_outside_hold_only_what_starts_something_waits_for_the_thaw() {
    let decided = |question: Question, answer: Answer| {
        let mut world = asked(question, 1);
        let mut hold: Hold = (*world.hold(0)).clone();
        hold.origin = HoldOrigin::Program { callback: None };
        let digest = Some(hold.digest());
        let mut outside = ExternalHold::begin(hold.into());
        world.frozen = Some("incident".into());
        let by = logged_in("ana");
        let command =
            ExternalHoldCommand::Hold(HoldCommand::Answer { digest, answer, by, edited: None });
        let (events, told) = world.within(|_, context| outside.decide(&command, context));
        told.expect("it is taken");
        events.iter().for_each(|event| outside.apply(event));
        outside.hold.state.name()
    };
    let in_its_place = Answer::Respond { content: "use the archive".into() };
    assert_eq!(decided(Question::Approve, in_its_place), "answered", "nothing starts by it");
    assert_eq!(decided(Question::Approve, deny("no")), "denied");
    assert_eq!(decided(Question::Approve, approve()), "pending");
    let blue_green = || options(&["Blue-Green", "Canary"], false, false);
    assert_eq!(decided(blue_green(), choose(&["1"])), "pending", "the program goes on by it");
}

/// People type these, and the command line takes one in place of an id.
#[test]
fn tags_have_three_characters_of_which_each_counts() {
    let tag = |rng: u128| tag_of(HoldId::new(1, rng));
    assert_eq!(tag(0), "222");
    assert_eq!(tag(1 + 2 * 30 + 3 * 900), "345");
    assert_eq!(tag(29 + 29 * 30 + 29 * 900), "ZZZ");
    let world = asked(Question::Approve, 1);
    assert_eq!(world.hold(0).tag, tag_of(world.hold(0).id));
}

#[test]
fn i45_a_session_knows_whether_anybody_gave_it_a_secret() {
    let secret = reference(SecretId::new(1, 1));
    let has = |world: &World| world.session.has_secrets();
    let schema = || json!({"properties": {"pin": {"type": "string", "writeOnly": true}}});
    let form = || Question::Fill { schema: Some(schema()) };
    let mut world = asked(form(), 1);
    assert!(!has(&world));
    let filled = Answer::Fill(json!({"pin": secret, "note": "x"}));
    world.answer_as("ana", 0, filled).unwrap();
    assert!(has(&world), "in a form");
    world.think("", &[("look", json!({}))]).finish().think("done", &[]);
    assert!(has(&world), "and it stays so");

    let mut world = asked(form(), 1);
    world.answer_as("ana", 0, Answer::Fill(json!({"note": "secret:nothing"}))).unwrap();
    assert!(!has(&world), "words that only look like one");

    let performed = |content: &str| {
        let mut world = asked(Question::Perform { deny_values: Vec::new() }, 1);
        world.answer_as("ana", 0, perform(content)).unwrap();
        has(&world)
    };
    assert!(performed(&json!({"list": [{"token": secret}]}).to_string()), "deep in a result");
    assert!(!performed("a text that is no JSON"));

    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({"n": 1}))]);
    assert!(!has(&world));
    world.edit("ana", 0, json!({"n": 1, "token": secret})).unwrap();
    assert!(has(&world), "in an edit");
}

/// An edit whose editor may not approve it leaves no vote: the secret is in the call alone.
#[test]
fn i45_a_secret_in_a_call_is_known_only_where_the_schema_says_that_it_is_one() {
    let secret = reference(SecretId::new(1, 1));
    let proposed = |schema: Value| {
        let mut world = World::new();
        let place = holdpoint_domain::tool::Place::Server;
        let effects = holdpoint_domain::tool::Effects::AtMostOnce;
        let tool =
            holdpoint_domain::tool::Tool::new("wipe", "a tool", schema, effects, place, "test");
        world.tools.insert("wipe".into(), tool.expect("a sound schema"));
        world.say("x").think("", &[("wipe", json!({"token": secret}))]);
        world.session.has_secrets()
    };
    let open = json!({"type": "object"});
    let marked = json!({
        "type": "object", "properties": {"token": {"type": "string", "writeOnly": true}},
    });
    assert!(proposed(marked));
    assert!(!proposed(open), "a text that a model wrote");
}

#[test]
fn the_same_program_is_known_by_its_token_whatever_it_calls_itself() {
    let program = |token: u128, name: &str| Actor::Program {
        token: TokenId::new(1, token),
        name: name.into(),
        minted_by: Some(PersonId::new("ana")),
    };
    let ana = || Actor::Person(PersonId::new("ana"));
    assert!(program(1, "ci").is_same(&program(1, "ci again")));
    assert!(!program(1, "ci").is_same(&program(2, "ci")));
    assert!(!program(1, "ci").is_same(&ana()) && !ana().is_same(&program(1, "ci")));
    assert!(!Actor::Runtime.is_same(&Actor::Runtime), "nobody in particular");
    assert!(ana().is_same(&ana()) && !ana().is_same(&Actor::Person(PersonId::new("bob"))));
    let names = [program(1, "ci"), ana(), Actor::Runtime].map(|actor| actor.to_string());
    assert_eq!(names, ["ci", "ana", "runtime"], "as the log knows them");
    // Whoever withdrew a question may say so again; others are told that it is decided.
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({}))]);
    let hold = world.hold(0).id;
    let mut cancel = |by: Actor| world.tell(&cancel_hold(hold, by));
    cancel(program(1, "ci")).unwrap();
    cancel(program(1, "ci")).unwrap();
    let refused = cancel(program(2, "ci"));
    assert!(matches!(refused, Err(Refusal::AlreadyDecided { .. })), "{refused:?}");
}

#[test]
fn an_admin_is_who_has_the_role_and_nobody_else() {
    let people = World::new().people;
    let is_admin = |who: &str| people.is_admin(&PersonId::new(who));
    assert!(is_admin("root"));
    assert!(!is_admin("ana") && !is_admin("eve"));
    assert!(!is_admin("admin"), "nobody is called so");
}

#[test]
fn i12_a_text_in_the_calls_place_takes_one_person_however_many_must_agree() {
    let mut world = World::new();
    world.say("x").think("", &[("launch", json!({}))]);
    world.answer_as("ana", 0, Answer::Respond { content: "not needed".into() }).unwrap();
    assert_eq!(state(&world), ("answered", 1), "nothing runs by it");
    assert_eq!(world.results(), ["not needed"]);
}

#[test]
fn i11_what_has_ended_cannot_be_withdrawn() {
    let cancel = |world: &mut World| {
        let (hold, by) = (world.hold(0).id, Actor::Person(PersonId::new("ana")));
        world.tell(&cancel_hold(hold, by))
    };
    let outcome = |world: &World| world.hold(0).outcome().map(|outcome| outcome.name());
    let mut held = World::new();
    held.say("x").think("", &[("wipe", json!({}))]).approve("ana", 0).finish();
    let mut two_phase = World::new();
    two_phase.say("x").think("", &[("deploy", json!({"n": 1}))]).approve("ana", 0);
    two_phase.think("", &[("deploy", json!({"n": 1, "confirmed": true}))]).finish();
    for world in [&mut held, &mut two_phase] {
        assert_eq!(outcome(world), Some("succeeded"));
        let refused = cancel(world);
        assert!(matches!(refused, Err(Refusal::AlreadyDecided { .. })), "{refused:?}");
        assert_eq!(outcome(world), Some("succeeded"), "what came of it stands");
    }
    let mut expired = World::new();
    expired.say("x").think("", &[("wipe", json!({}))]).later(25 * HOUR_MS);
    let refused = cancel(&mut expired);
    assert!(matches!(refused, Err(Refusal::Expired { .. })), "{refused:?}");
}

#[test]
fn a_call_that_is_proposed_again_keeps_the_title_that_surfaces_translate() {
    let mut world = asked(Question::Approve, 1);
    world.approve("ana", 0).crash(&Recovered::Unknown { evidence: String::new() });
    let how = Settlement::Retry;
    world.answer_as("ana", 1, Answer::Settle { how, content: None }).unwrap();
    assert!(world.hold(2).title.kind().is_some());
    assert_eq!(world.hold(2).title, world.hold(0).title);
}
