use serde_json::{Value, json};

use super::*;
use crate::answer::DenyReason;
use crate::call::{Call, ExecutionContext, Proposal};
use crate::digest::Digest;
use crate::hold::{
    CallOnHold, CancelReason, Decision, HoldOrigin, HoldState, Preview, Risk, Vote, tag_of,
};
use crate::id::{CallId, HoldId, RunId, SessionId};
use crate::json::Arguments;
use crate::outcome::ResultKind;
use crate::person::{Actor, Audience, PersonId, Proof};
use crate::time::Timestamp;
use crate::tool::{Effects, Tool};

fn two() -> Value {
    json!({"allowSkip": true, "questions": [
        {"id": "where", "header": "Place", "question": "Where to?",
         "options": [{"id": "eu", "label": "Europe", "description": "slow"}, {"id": "us", "label": "America"}]},
        {"id": "when", "header": "Time", "question": "When?", "options": ["now", "later"]},
    ]})
}

fn hold(arguments: Value) -> Hold {
    let tool = Tool::new("ask", "", json!({}), Effects::ReadOnly, Place::Person, "person").unwrap();
    let question = Questionnaire::read(&arguments).unwrap().question();
    let call = Call::propose(
        Proposal {
            id: CallId::new(1, 1),
            tool_use_id: "toolu_1".into(),
            agent: "ops".into(),
            session: Some(SessionId::new(1, 1)),
            arguments: Arguments::from_value(arguments).unwrap(),
            context: ExecutionContext::default(),
            policy: Digest::of(b""),
        },
        &tool,
    );
    let id = HoldId::new(1, 1);
    Hold {
        id,
        version: 1,
        question,
        state: HoldState::Pending,
        risk: Risk::Medium,
        tag: tag_of(id),
        title: "?".into(),
        origin: HoldOrigin::Session {
            session: SessionId::new(1, 1),
            run: RunId::new(1, 1),
            agent: "ops".into(),
        },
        parent: None,
        opener: Actor::Runtime,
        requester: None,
        call_on_hold: Some(CallOnHold::new(call)),
        preview: Preview::default(),
        context: json!({}),
        rationale: None,
        audience: Audience {
            people: [PersonId::new("ana")].into(),
            roles: [].into(),
            quorum: 1,
            exclude_requester: false,
            refuse_made_logins: false,
            login_makers: Default::default(),
        }
        .into(),
        rule: None,
        policy: Digest::of(b""),
        opened_at: Timestamp::from_ms(0),
        expires_at: None,
        claimed_by: None,
        votes: Vec::new(),
        comments: Vec::new(),
        two_phase: false,
    }
}

fn decided(arguments: Value, answer: Answer) -> Hold {
    let mut hold = hold(arguments);
    let denies = matches!(answer, Answer::Deny { .. });
    let by = PersonId::new("ana");
    let vote = Vote {
        answer,
        by: by.clone(),
        at: Timestamp::from_ms(0),
        via: "api".into(),
        proof: Proof::Login,
        digest: hold.digest(),
        view: Digest::of(b""),
    };
    let decision = Decision::People { vote: vote.into(), voters: vec![by] };
    hold.state = if denies { HoldState::Denied(decision) } else { HoldState::Answered(decision) };
    hold
}

fn read_result(hold: &Hold) -> (Value, bool, ResultKind) {
    let result = Questionnaire::of(hold).unwrap().build_result(hold).unwrap();
    (serde_json::from_str(&result.content).unwrap(), result.is_error, result.kind)
}

fn chosen(question: &str, options: &[&str]) -> Chosen {
    Chosen {
        question: question.into(),
        options: options.iter().map(|id| (*id).to_owned()).collect(),
    }
}

#[test]
fn choices_by_id_become_an_answer_that_fits_and_are_told_by_id() {
    let questionnaire = Questionnaire::read(&two()).unwrap();
    let answer = questionnaire.answer(&[chosen("where", &["eu"]), chosen("when", &["opt_2"])]);
    assert_eq!(answer, Answer::Fill(json!({"where": "Europe", "when": "later"})));
    questionnaire.question().fits(&answer).unwrap();
    let (told, is_error, kind) = read_result(&decided(two(), answer));
    assert_eq!((is_error, kind), (false, ResultKind::Output));
    assert_eq!(
        told,
        json!({"ok": true, "status": "confirmed", "confirmed": true, "skipped": false,
               "answers": [{"questionId": "where", "optionIds": ["eu"]},
                           {"questionId": "when", "optionIds": ["opt_2"]}],
               "selectedOption": "Europe", "source": "user", "requestId": "toolu_1"})
    );
}

#[test]
fn one_question_with_several_choices() {
    let one = json!({"type": "multiple-select", "question": "Which?", "options": ["a", "b", "c"]});
    let questionnaire = Questionnaire::read(&one).unwrap();
    let answer = questionnaire.answer(&[chosen("question-1", &["opt_1", "opt_3"])]);
    questionnaire.question().fits(&answer).unwrap();
    // The same, said on the page by labels.
    let by_label = Answer::Choose(vec!["a".into(), "c".into()]);
    for answer in [answer, by_label] {
        let (told, ..) = read_result(&decided(one.clone(), answer));
        assert_eq!(told["answers"][0]["optionIds"], json!(["opt_1", "opt_3"]));
        assert_eq!(told["selectedOption"], "a");
    }
}

#[test]
fn an_answer_that_leaves_a_question_out_does_not_fit() {
    let questionnaire = Questionnaire::read(&two()).unwrap();
    let question = questionnaire.question();
    for answer in [
        questionnaire.answer(&[chosen("where", &["eu"])]),
        questionnaire.answer(&[chosen("where", &["eu", "us"]), chosen("when", &["opt_1"])]),
        questionnaire.answer(&[chosen("where", &["mars"]), chosen("when", &["opt_1"])]),
    ] {
        assert!(question.fits(&answer).is_err());
    }
}

#[test]
fn skipping_declining_silence_and_withdrawal_are_told_apart_and_choose_nothing() {
    let deny =
        |reason: DenyReason| decided(two(), Answer::Deny { reason: Some(reason), stop: false });
    let with = |state| Hold { state, ..hold(two()) };
    let at = Timestamp::from_ms(0);
    for (hold, status, skipped, source, kind) in [
        (deny(DenyReason::Skipped), "canceled", true, "user", ResultKind::Denied),
        (deny("no time".into()), "canceled", false, "user", ResultKind::Denied),
        (with(HoldState::Expired { at }), "timeout", false, "timeout", ResultKind::Expired),
        (
            with(HoldState::Cancelled { by: Actor::Runtime, reason: CancelReason::Unstated, at }),
            "canceled",
            false,
            "system",
            ResultKind::Cancelled,
        ),
    ] {
        let (told, is_error, told_kind) = read_result(&hold);
        assert_eq!((told["status"].as_str(), told_kind), (Some(status), kind), "{told}");
        assert_eq!((told["skipped"].as_bool(), is_error), (Some(skipped), true), "{told}");
        assert_eq!(told["source"], source, "{told}");
        assert_eq!((&told["answers"], &told["selectedOption"]), (&json!([]), &Value::Null));
        assert_eq!((&told["ok"], &told["confirmed"]), (&json!(false), &json!(false)));
    }
}

#[test]
fn a_hold_is_a_questionnaire_only_if_its_arguments_make_its_question() {
    assert!(Questionnaire::of(&hold(two())).is_some());
    let other = Hold { question: Question::Fill { schema: None }, ..hold(two()) };
    assert!(Questionnaire::of(&other).is_none(), "another form with the same arguments");
    let gate = Hold { question: Question::Approve, ..hold(two()) };
    assert!(Questionnaire::of(&gate).is_none());
}

#[test]
fn two_questions_need_two_ids_and_options_that_differ() {
    for (wrong, why) in [
        (
            json!({"questions": [{"id": "a", "question": "x", "options": ["1x"]},
                              {"id": "a", "question": "y", "options": ["1x"]}]}),
            "two questions",
        ),
        (
            json!({"question": "x", "options": [{"id": "a", "label": "b"}, {"id": "b", "label": "a"}]}),
            "cannot be told apart",
        ),
        (json!({"question": "x", "options": ["a"], "questions": []}), "not both"),
        (json!({"question": "x", "options": [{"id": "a"}]}), "`id` and `label`"),
        (json!({"questions": "x"}), "must be a list"),
    ] {
        let refused = Questionnaire::read(&wrong).unwrap_err();
        assert!(refused.contains(why), "{wrong}: {refused}");
    }
}
