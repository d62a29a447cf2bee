//! How a hold is put to people on this wire, in both of its generations: as a `client.*` call in a
//! message, and as a list of questions with options. Everything is made from what is stored, and
//! nothing that a model wrote can make it say anything else.

use std::collections::BTreeMap;

use domain::answer::{Answer, ApprovalScope, GrantTerms, Settlement};
use domain::hold::{Choice, Hold, HoldState, Question};
use domain::questionnaire::{Chosen, Questionnaire, QuestionnaireItem};
use domain::schema::redact;
use domain::view;
use domain::visible::{visible, visible_multiline};
use serde::Serialize;
use serde_json::{Map, Value};

use super::event::{EventSource, WorldMessage};
use super::name::{call_id, prompt_id};
use super::wire::{
    ApprovalArguments, CallStatus, ChoiceArguments, FunctionCall, HitlOption, HitlPrompt,
    HitlQuestion, OriginalCall, PromptContext,
};

/// Names of the calls that clients of the first generation look for.
pub(super) const REQUEST_APPROVAL: &str = "client.requestApproval";
pub(super) const HUMAN_INTERVENTION: &str = "client.humanIntervention";

const YES_ONCE: &str = "yes_once";
const YES_IN_SESSION: &str = "yes_in_session";
const NO: &str = "no";

/// A hold in the form that clients of the second generation ask it in. The first generation knows only
/// one question with texts to choose from, which is the same with less around it.
#[derive(Clone, Debug)]
pub(super) struct WorldPrompt {
    pub(super) multiple: bool,
    pub(super) allow_skip: bool,
    pub(super) questions: Vec<QuestionnaireItem>,
    pub(super) allow_other: bool,
    metadata: PromptContext,
    kind: PromptKind,
}

#[derive(Clone, Debug)]
enum PromptKind {
    Approve,
    Choose,
    Settle,
    Questionnaire(Questionnaire),
}

impl WorldPrompt {
    /// `None`: what is asked has no options, so this wire cannot say it. It is answered elsewhere.
    pub(super) fn of(hold: &Hold) -> Option<WorldPrompt> {
        if let Some(questionnaire) = Questionnaire::of(hold) {
            return Some(WorldPrompt {
                multiple: questionnaire.multiple,
                allow_skip: questionnaire.allow_skip,
                questions: questionnaire.questions.iter().map(visible_question).collect(),
                allow_other: false,
                metadata: PromptContext::Stated(questionnaire.metadata.clone()),
                kind: PromptKind::Questionnaire(questionnaire),
            });
        }
        let (options, multiple, allow_other, kind) = match &hold.question {
            Question::Approve => (approval(hold), false, false, PromptKind::Approve),
            Question::Choose { options, multiple, allow_other } => {
                (options.clone(), *multiple, *allow_other, PromptKind::Choose)
            }
            Question::Settle => (settlements(), false, false, PromptKind::Settle),
            Question::Fill { .. } | Question::Perform { .. } => return None,
        };
        let header = match kind {
            PromptKind::Approve => "Approval",
            PromptKind::Settle => "What happened?",
            _ => "Question",
        };
        // The text is made safe to show where it is put together.
        let options = options.iter().map(labelled).collect();
        let asked = QuestionnaireItem {
            id: "question-1".into(),
            header: header.into(),
            question: question_text(hold),
            options,
        };
        Some(WorldPrompt {
            multiple,
            allow_skip: false,
            questions: vec![asked],
            allow_other,
            metadata: context(hold),
            kind,
        })
    }

    /// The prompt as the second generation reads it.
    pub(super) fn shown(&self, hold: &Hold, source: &EventSource) -> HitlPrompt {
        HitlPrompt {
            request_id: prompt_id(hold),
            kind: if self.multiple { "multiple-select" } else { "single-select" },
            allow_skip: self.allow_skip,
            questions: self.questions.iter().map(question).collect(),
            metadata: self.metadata.clone(),
            agent_name: source.agent.clone(),
            chat_id: source.chat.clone(),
            tool_name: tool_name(hold).to_owned(),
            tool_call_id: call_id(hold),
        }
    }

    /// What choices by id mean for the hold; they were found to be among the options before.
    pub(super) fn answer(&self, chosen: &[Chosen]) -> Answer {
        let first = chosen.first().and_then(|chosen| chosen.options.first());
        let first = first.map_or("", String::as_str);
        match &self.kind {
            PromptKind::Questionnaire(questionnaire) => questionnaire.answer(chosen),
            PromptKind::Choose => {
                Answer::Choose(chosen.iter().flat_map(|chosen| chosen.options.clone()).collect())
            }
            PromptKind::Approve if first == YES_ONCE => approved(false),
            PromptKind::Approve if first == YES_IN_SESSION => approved(true),
            PromptKind::Approve => Answer::Deny { reason: None, stop: false },
            PromptKind::Settle => match Settlement::parse(first) {
                Some(how) => Answer::Settle { how, content: None },
                None => Answer::Deny { reason: None, stop: false },
            },
        }
    }
}

/// What has no options to choose from: a question that says where it is answered.
pub(super) fn elsewhere(hold: &Hold, source: &EventSource, link: &str) -> HitlPrompt {
    let prompt = WorldPrompt {
        multiple: false,
        allow_skip: false,
        questions: vec![QuestionnaireItem {
            id: "question-1".into(),
            header: "Answer".into(),
            question: format!("{} is answered on its page: {link}", visible(&hold.title)),
            options: Vec::new(),
        }],
        allow_other: false,
        metadata: PromptContext::Page { url: link.to_owned() },
        kind: PromptKind::Choose,
    };
    prompt.shown(hold, source)
}

pub(super) fn approved(for_session: bool) -> Answer {
    let scope = if for_session {
        ApprovalScope::Session(GrantTerms::default())
    } else {
        ApprovalScope::Once
    };
    Answer::Approve { scope, arguments: None, note: None }
}

/// The option that a text names: by id, by label, or by the label as it was shown.
pub(super) fn find<'a>(options: &'a [Choice], text: &str) -> Option<&'a Choice> {
    options
        .iter()
        .find(|option| option.id == text || option.label == text || visible(&option.label) == text)
}

/// The message that carries a hold's prompt to clients of the first generation; `None` where those
/// cannot ask it: several questions, a form, a task.
pub(super) fn message(hold: &Hold, link: &str) -> Option<WorldMessage> {
    let prompt = WorldPrompt::of(hold).filter(|prompt| prompt.questions.len() == 1)?;
    let (name, arguments) = match prompt.kind {
        PromptKind::Approve => (REQUEST_APPROVAL, approval_arguments(hold, link)),
        _ => (HUMAN_INTERVENTION, choice_arguments(hold, &prompt)),
    };
    let id = prompt_id(hold);
    Some(WorldMessage {
        id: format!("prompt-{id}"),
        sender: String::new(),
        role: "assistant",
        content: String::new(),
        at: hold.opened_at,
        reply_to: None,
        tool_calls: vec![FunctionCall::new(id.clone(), name, arguments)],
        tool_call_status: Some(BTreeMap::from([(id, status(hold))])),
        tool_call_id: None,
    })
}

fn approval_arguments(hold: &Hold, link: &str) -> String {
    let mut options = vec!["deny", "approve_once"];
    if may_stand(hold) {
        options.push("approve_session");
    }
    let message = format!("{}\nIn full: {link}", question_text(hold));
    json_text(&ApprovalArguments { original: original(hold), message, options })
}

fn choice_arguments(hold: &Hold, prompt: &WorldPrompt) -> String {
    let options = prompt.questions.iter().flat_map(|asked| &asked.options);
    let labels: Vec<&str> = options.map(|option| option.label.as_str()).collect();
    let question = prompt.questions.first().map_or("", |asked| asked.question.as_str());
    json_text(&ChoiceArguments {
        original: original(hold),
        prompt: question,
        options: labels,
        context: &prompt.metadata,
        multiple: prompt.multiple,
        allow_other: prompt.allow_other,
    })
}

/// Strings and JSON values only: writing them cannot fail.
fn json_text<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn original(hold: &Hold) -> OriginalCall {
    let directory = hold.call().and_then(|call| call.context.working_directory.as_deref());
    OriginalCall {
        id: call_id(hold),
        name: tool_name(hold).to_owned(),
        args: arguments(hold),
        working_directory: directory.map(str::to_owned),
    }
}

/// The arguments as they may be shown.
pub(super) fn arguments(hold: &Hold) -> Value {
    match hold.call() {
        // mutant: worlds-secrets-in-prompts
        Some(call) => redact(call.arguments.value(), &call.secrets),
        None => Value::Object(Map::new()),
    }
}

/// Whether the prompt is still to be answered, and how it was.
fn status(hold: &Hold) -> CallStatus {
    let at = match &hold.state {
        HoldState::Pending => return CallStatus::open(),
        HoldState::Expired { at } | HoldState::Cancelled { at, .. } => Some(*at),
        state => state.decision().map(domain::hold::Decision::at),
    };
    let answer = hold.state.decision().and_then(|decision| Some(&decision.vote()?.answer));
    let choice = match answer {
        Some(Answer::Choose(chosen)) => choice_text(hold, chosen),
        Some(Answer::Approve { scope: ApprovalScope::Session(_), .. }) => "approve_session".into(),
        Some(Answer::Approve { .. }) => "approve_once".into(),
        Some(Answer::Deny { .. }) => "deny".into(),
        Some(Answer::Settle { how, .. }) => how.name().into(),
        _ => hold.state.name().to_owned(),
    };
    let at = at.map(|at| at.to_string());
    CallStatus::complete(choice, at)
}

/// What was chosen as it was offered: clients show it to people.
fn choice_text(hold: &Hold, chosen: &[String]) -> String {
    let prompt = WorldPrompt::of(hold);
    let options = || prompt.iter().flat_map(|prompt| &prompt.questions).flat_map(|it| &it.options);
    let label = |id: &String| match options().find(|option| option.id == *id) {
        Some(option) => option.label.clone(),
        None => visible(id),
    };
    chosen.iter().map(label).collect::<Vec<_>>().join(", ")
}

fn tool_name(hold: &Hold) -> &str {
    hold.call().map_or("continue", |call| &call.tool)
}

/// What people read: a question in its own words, with options and context beside it; anything else as
/// every surface shows it, with all that would run.
fn question_text(hold: &Hold) -> String {
    let asked = hold.call().and_then(|call| call.arguments.value().get("prompt"));
    match (asked.and_then(Value::as_str), &hold.question) {
        (Some(prompt), Question::Choose { .. }) => visible_multiline(prompt),
        _ => view::render(hold).trim_end().to_owned(),
    }
}

/// What stands beside the question: what the model said, or the call that is asked about.
fn context(hold: &Hold) -> PromptContext {
    match (&hold.question, arguments(hold).get("context")) {
        (Question::Choose { .. }, Some(context)) if context.is_object() => {
            PromptContext::Stated(context.clone())
        }
        (Question::Choose { .. }, _) => PromptContext::Nothing {},
        _ => PromptContext::Call { original_tool_call: original(hold) },
    }
}

/// A standing grant needs a call of a session, and a rule that one person satisfies.
fn may_stand(hold: &Hold) -> bool {
    hold.call().is_some() && hold.session().is_some() && hold.audience.quorum <= 1
}

fn approval(hold: &Hold) -> Vec<Choice> {
    let mut options = vec![option(YES_ONCE, "Yes, once"), option(NO, "No")];
    if may_stand(hold) {
        options.insert(1, option(YES_IN_SESSION, "Yes, for the same call in this chat"));
    }
    options
}

fn settlements() -> Vec<Choice> {
    [Settlement::Succeeded, Settlement::Failed, Settlement::Retry]
        .map(|how| option(how.name(), how.name()))
        .into()
}

fn option(id: &str, label: &str) -> Choice {
    Choice { id: id.into(), label: label.into(), description: None }
}

/// A question as it is shown: marks in place of what would hide something.
fn visible_question(asked: &QuestionnaireItem) -> QuestionnaireItem {
    QuestionnaireItem {
        id: asked.id.clone(),
        header: visible(&asked.header),
        question: visible_multiline(&asked.question),
        options: asked.options.iter().map(labelled).collect(),
    }
}

fn labelled(option: &Choice) -> Choice {
    Choice {
        id: option.id.clone(),
        // mutant: worlds-hidden-marks
        label: visible(&option.label),
        description: option.description.as_deref().map(visible_multiline),
    }
}

fn question(asked: &QuestionnaireItem) -> HitlQuestion {
    let option = |option: &Choice| HitlOption {
        id: option.id.clone(),
        label: option.label.clone(),
        description: option.description.clone(),
    };
    HitlQuestion {
        id: asked.id.clone(),
        header: asked.header.clone(),
        question: asked.question.clone(),
        options: asked.options.iter().map(option).collect(),
    }
}
