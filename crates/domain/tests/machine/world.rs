//! A small world around one session: people, a policy, tools, a clock that is set by hand. It does
//! what the engine does between a model and the domain, without any I/O.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use holdpoint_domain::answer::{Answer, ApprovalScope};
use holdpoint_domain::budget::{Budgets, Usage};
use holdpoint_domain::call::{Call, ExecutionContext, Proposal};
use holdpoint_domain::context::{Context, Renewal, WhilePending};
use holdpoint_domain::digest::Digest;
use holdpoint_domain::event::{HoldEvent, SessionEvent};
use holdpoint_domain::grant::ClearedBy;
use holdpoint_domain::hold::{Edited, Hold, HoldCommand, Preview, Question};
use holdpoint_domain::id::{CallId, MessageId, NodeId, RunId, SessionId};
use holdpoint_domain::json::Arguments;
use holdpoint_domain::message::{Message, Origin, Part, Role};
use holdpoint_domain::outcome::{Outcome, Output};
use holdpoint_domain::person::{Actor, People, Person, PersonId};
use holdpoint_domain::policy::{
    AskSpec, Facts, MatchSpec, Policy, PolicyDecision, PolicySpec, RuleSpec, Then,
};
use holdpoint_domain::refusal::Refusal;
use holdpoint_domain::session::{
    CallState, Command, HoldSpec, PendingWork, Recovered, RuledCall, RuledTurn, Ruling, Session,
    SessionReply, Written, audience_for, default_audience,
};
use holdpoint_domain::sql_facts::SqlFacts;
use holdpoint_domain::time::Timestamp;
use holdpoint_domain::tool::{Confirm, Effects, Place, Tool};
use serde_json::{Value, json};

pub(crate) use crate::answers::{approve, approve_for_session, deny, logged_in, perform};

pub(crate) const HOUR_MS: u64 = 3_600_000;

/// What became of a command.
pub(crate) type Decided = Result<SessionReply, Refusal>;

pub(crate) struct World {
    pub(crate) session: Session,
    pub(crate) events: Vec<SessionEvent>,
    pub(crate) now: Timestamp,
    pub(crate) node: NodeId,
    pub(crate) people: People,
    pub(crate) policy: Policy,
    /// What the tool says about the next call.
    pub(crate) sql: Option<SqlFacts>,
    pub(crate) tools: HashMap<String, Tool>,
    pub(crate) frozen: Option<String>,
    pub(crate) run_as_decided: bool,
    pub(crate) closing: bool,
    pub(crate) budgets: Budgets,
    /// What each turn of the model costs.
    pub(crate) usage: Usage,
    pub(crate) while_pending: WhilePending,
    rng: Cell<u128>,
}

pub(crate) fn person(id: &str, roles: &[&str]) -> Person {
    Person {
        id: PersonId::new(id),
        name: format!("{}{}", id[..1].to_uppercase(), &id[1..]),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        identities: BTreeMap::new(),
    }
}

pub(crate) fn rule(name: &str, tool: &str, then: Then, ask: Option<AskSpec>) -> RuleSpec {
    RuleSpec {
        name: name.into(),
        line: 1,
        matcher: MatchSpec { tool: Some(tool.into()), ..MatchSpec::default() },
        then,
        risk: None,
        ask,
    }
}

pub(crate) fn policy(rules: Vec<RuleSpec>) -> Policy {
    Policy::compile(PolicySpec { rules, ..PolicySpec::default() })
        .expect("the test's policy is sound")
}

pub(crate) fn ask(roles: &[&str], quorum: u32) -> Option<AskSpec> {
    Some(AskSpec {
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        quorum,
        ..AskSpec::default()
    })
}

pub(crate) fn tool(name: &str, effects: Effects, place: Place) -> Tool {
    Tool::new(name, "a tool", json!({"type": "object"}), effects, place, "test")
        .expect("a sound schema")
}

/// Ana and Bob are dbas, Eve is a guest, Root an admin. `look` is allowed and only reads, `send`
/// is allowed, `wipe` asks one dba, `launch` asks two, `nuke` is denied, the rest asks.
impl World {
    pub(crate) fn new() -> World {
        let people = People::new([
            person("ana", &["dba"]),
            person("bob", &["dba"]),
            person("eve", &["guest"]),
            person("root", &["admin"]),
        ]);
        let policy = policy(vec![
            rule("reading is fine", "look", Then::Allow, None),
            rule("mails are fine", "send", Then::Allow, None),
            rule("wiping needs a dba", "wipe", Then::Ask, ask(&["dba"], 1)),
            rule("launching needs two", "launch", Then::Ask, ask(&["dba"], 2)),
            rule("never", "nuke", Then::Deny, None),
        ]);
        let mut tools = HashMap::new();
        for (name, effects, place) in [
            ("look", Effects::ReadOnly, Place::Server),
            ("send", Effects::AtMostOnce, Place::Server),
            ("wipe", Effects::AtMostOnce, Place::Server),
            ("launch", Effects::AtMostOnce, Place::Server),
            ("nuke", Effects::AtMostOnce, Place::Server),
            ("deploy", Effects::AtMostOnce, Place::Server),
            ("confirm", Effects::AtMostOnce, Place::Client),
        ] {
            tools.insert(name.to_owned(), tool(name, effects, place));
        }
        if let Some(deploy) = tools.get_mut("deploy") {
            deploy.confirm = Confirm::TwoPhase;
        }
        if let Some(confirm) = tools.get_mut("confirm") {
            confirm.deny_values = vec!["no".into()];
        }
        let mut world = World {
            session: Session::begin(SessionId::new(1, 1)),
            events: Vec::new(),
            now: Timestamp::from_ms(1_800_000_000_000),
            node: NodeId::new(1, 1),
            people,
            policy,
            sql: None,
            tools,
            frozen: None,
            run_as_decided: false,
            closing: false,
            budgets: Budgets::default(),
            usage: Usage::default(),
            while_pending: WhilePending::Queue,
            rng: Cell::new(1),
        };
        let opened = SessionEvent::SessionOpened {
            agent: "ops".into(),
            creator: Actor::Person(PersonId::new("ana")),
            title: None,
            metadata: Value::Null,
            home: None,
        };
        world.session.apply(&opened, world.now);
        world.events.push(opened);
        world
    }

    pub(crate) fn bits(&self) -> u128 {
        self.rng.set(self.rng.get() + 1);
        // Spread over the whole width, as real chance is.
        self.rng.get().wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)
    }

    /// What hosts say of calls whose tool has changed, as the engine asks them.
    fn renewals(&self) -> BTreeMap<CallId, Renewal> {
        let changed = self.session.calls.iter().filter_map(|(id, record)| {
            let tool = self.tools.get(&*record.tool)?;
            let call = record.call.as_ref().filter(|call| call.definition != tool.definition())?;
            Some((
                *id,
                match tool.validator().check(call.arguments.value()) {
                    Ok(()) => Renewal::Prepared {
                        context: Default::default(),
                        preview: Box::default(),
                        title: None,
                        risk: None,
                    },
                    Err(errors) => Renewal::Unsound(errors.to_string()),
                },
            ))
        });
        changed.collect()
    }

    pub(crate) fn tell(&mut self, command: &Command) -> Decided {
        let decided = self.within(|session, context| session.decide(command, context));
        // What was decided and what replaying its events gives must be one and the same (I-42).
        let mut replayed = self.session.clone();
        for event in &decided.events {
            replayed.apply(event, self.now);
        }
        assert_eq!(replayed, decided.next, "replay differs from the decision");
        // Nothing begins while all is frozen (I-52): a call for a client begins when it is shown.
        let begins = |event: &SessionEvent| match event {
            SessionEvent::Hold(HoldEvent::Opened { hold }) => {
                matches!(hold.question, Question::Perform { .. })
            }
            SessionEvent::CallStarted { .. } => true,
            _ => false,
        };
        assert!(self.frozen.is_none() || !decided.events.iter().any(begins), "begun while frozen");
        self.events.extend(decided.events);
        self.session = decided.next;
        self.check();
        decided.reply
    }

    /// Everything that a decision may know, as this world is now.
    pub(crate) fn within<T>(&self, act: impl FnOnce(&Session, &Context<'_>) -> T) -> T {
        let tools = &self.tools;
        let tool_of = |name: &str| tools.get(name);
        let rng = || self.bits();
        let context = Context {
            now: self.now,
            node: self.node,
            frozen: self.frozen.as_deref(),
            people: &self.people,
            policy: &self.policy,
            closing: self.closing,
            tool_of: &tool_of,
            renewals: &self.renewals(),
            run_as_decided: self.run_as_decided,
            budgets: self.budgets,
            while_pending: self.while_pending,
            expires_ms: self.policy.default_expires_ms(),
            rng: &rng,
        };
        act(&self.session, &context)
    }

    /// What must hold after every step, whatever happened.
    fn check(&self) {
        let mut open: Vec<CallId> = Vec::new();
        for message in &self.session.transcript {
            match message.role {
                Role::Assistant => {
                    assert!(
                        open.is_empty(),
                        "i22: a turn follows before the results of the last one"
                    );
                    open = message.parts.iter().filter_map(call_of).collect();
                }
                Role::Tool => {
                    let results: Vec<CallId> = message.parts.iter().filter_map(result_of).collect();
                    assert_eq!(results, open, "i22: exactly one result per call, in order");
                    open.clear();
                }
                Role::User => {
                    assert!(open.is_empty(), "i22: a message stands between calls and results")
                }
            }
        }
        let turn: Vec<CallId> = self.session.run.iter().flat_map(|run| run.turn.clone()).collect();
        assert_eq!(turn, open, "the open calls are those of the turn");
        if let Some(over) = self.session.run.as_ref().and_then(|run| run.over_budget())
            && self.session.holds[&over.hold].is_pending()
        {
            assert!(turn.is_empty(), "nothing of the run is left while it waits for leave");
            assert_eq!(self.session.pending_work(), [], "and nothing is done for it");
            assert_eq!(self.status(), "paused");
        }
        for record in self.session.calls.values() {
            if let (CallState::Running { clearance, .. }, Some(call)) =
                (&record.state, &record.call)
                && let ClearedBy::People(hold) = &clearance.by
            {
                let hold = &self.session.holds[hold];
                let vote = hold.state.decision().and_then(|decision| decision.vote());
                assert_eq!(
                    vote.map(|vote| vote.digest),
                    Some(call.digest()),
                    "i01: exactly what was approved runs"
                );
            }
        }
    }

    pub(crate) fn say_with(&mut self, text: &str, while_pending: Option<WhilePending>) -> Decided {
        let message = Message {
            id: MessageId::new(self.now.as_ms(), self.bits()),
            role: Role::User,
            origin: Origin::Own,
            by: None,
            login_makers: Default::default(),
            parts: vec![Part::Text(text.into())],
            at: self.now,
        };
        let run = RunId::new(self.now.as_ms(), self.bits());
        self.tell(&Command::Say { message: Arc::new(message), run, while_pending })
    }

    pub(crate) fn say(&mut self, text: &str) -> &mut World {
        self.say_with(text, None).expect("the message is taken");
        self
    }

    /// The model speaks and calls.
    pub(crate) fn think(&mut self, text: &str, calls: &[(&str, Value)]) -> &mut World {
        self.try_think(text, calls).expect("the turn is taken");
        self
    }

    /// A turn that may be refused.
    pub(crate) fn try_think(&mut self, text: &str, calls: &[(&str, Value)]) -> Decided {
        let ruled = calls.iter().map(|(name, arguments)| self.ruled(name, arguments)).collect();
        let parts = if text.is_empty() { Vec::new() } else { vec![Part::Text(text.into())] };
        let message = MessageId::new(self.now.as_ms(), self.bits());
        let thought = RuledTurn { message, parts, calls: ruled, usage: self.usage };
        let seen = self.session.transcript.len();
        self.tell(&Command::RecordTurn { seen, turn: thought })
    }

    fn ruled(&self, name: &str, arguments: &Value) -> RuledCall {
        let id = CallId::new(self.now.as_ms(), self.bits());
        let input = arguments.to_string();
        let tool_use_id = format!("toolu_{id}");
        let written = Written {
            id,
            tool_use_id: tool_use_id.clone(),
            tool: name.into(),
            input: input.clone(),
        };
        let Some(tool) = self.tools.get(name) else {
            return RuledCall {
                written,
                ruling: Ruling::Malformed { why: format!("There is no tool `{name}`.") },
            };
        };
        let arguments = Arguments::parse(input.as_bytes()).expect("sound arguments");
        let confirmed = arguments.value().get("confirmed") == Some(&json!(true));
        let arguments = if tool.confirm == Confirm::TwoPhase {
            arguments.without("confirmed")
        } else {
            arguments
        };
        let call = Arc::new(Call::propose(
            Proposal {
                id,
                tool_use_id,
                agent: "ops".into(),
                session: Some(self.session.id),
                arguments,
                context: ExecutionContext { sql: self.sql.clone(), ..Default::default() },
                policy: self.policy.version(),
            },
            tool,
        ));
        let ruling = self.ruling(tool, call);
        let ruling = match tool.confirm {
            Confirm::Held => ruling,
            Confirm::TwoPhase => Ruling::TwoPhase { confirmed, otherwise: Box::new(ruling) },
        };
        RuledCall { written, ruling }
    }

    fn ruling(&self, tool: &Tool, call: Arc<Call>) -> Ruling {
        let verdict = self.policy.rule(&Facts::of(&call));
        let requester = self.session.requester_and_login_makers();
        let (audience, expires_ms) = match &verdict.decision {
            PolicyDecision::Deny => {
                return Ruling::Denied { call, rule: verdict.rule().map(str::to_owned) };
            }
            PolicyDecision::Allow if tool.place == Place::Server => {
                return Ruling::Allowed {
                    call,
                    by: ClearedBy::Rule(verdict.rule().map(str::to_owned)),
                };
            }
            PolicyDecision::Allow => (default_audience(requester), HOUR_MS),
            PolicyDecision::Ask(ask) => (audience_for(ask, requester), ask.expires_ms),
        };
        let question = match tool.place {
            Place::Client => Question::Perform { deny_values: tool.deny_values.clone() },
            _ => Question::Approve,
        };
        let spec = HoldSpec {
            question,
            risk: verdict.risk,
            title: format!("Run {}", call.tool).into(),
            preview: Preview::default(),
            shown: Value::Null,
            rationale: None,
            audience: audience.into(),
            rule: verdict.rule().map(str::to_owned),
            expires_in_ms: Some(expires_ms),
        };
        Ruling::Ask { call, spec: Box::new(spec) }
    }

    /// The n-th hold of the session, counted from 0.
    pub(crate) fn hold(&self, n: usize) -> Arc<Hold> {
        let opened: Vec<&Arc<Hold>> = self
            .events
            .iter()
            .filter_map(|event| match event {
                SessionEvent::Hold(HoldEvent::Opened { hold }) => Some(hold),
                _ => None,
            })
            .collect();
        self.session.holds[&opened[n].id].clone()
    }

    pub(crate) fn answer_as(&mut self, who: &str, n: usize, answer: Answer) -> Decided {
        let digest = self.hold(n).digest();
        self.answer_with(who, n, Some(digest), answer, None)
    }

    pub(crate) fn answer_with(
        &mut self,
        who: &str,
        n: usize,
        digest: Option<Digest>,
        answer: Answer,
        edited: Option<Edited>,
    ) -> Decided {
        let by = logged_in(who);
        let hold = self.hold(n).id;
        self.tell(&Command::Hold {
            id: hold,
            command: HoldCommand::Answer { digest, answer, by, edited },
        })
    }

    pub(crate) fn approve(&mut self, who: &str, n: usize) -> &mut World {
        self.answer_as(who, n, approve()).expect("the approval counts");
        self
    }

    pub(crate) fn deny(&mut self, who: &str, n: usize, reason: &str) -> &mut World {
        self.answer_as(who, n, deny(reason)).expect("the denial counts");
        self
    }

    /// An edit, ruled on anew as the engine does.
    pub(crate) fn edit(&mut self, who: &str, n: usize, arguments: Value) -> Decided {
        let arguments = Arguments::from_value(arguments).expect("sound arguments");
        let answer =
            Answer::Approve { scope: ApprovalScope::Once, arguments: Some(arguments), note: None };
        self.answer_edited(who, n, answer)
    }

    /// An approval with changed arguments.
    pub(crate) fn answer_edited(&mut self, who: &str, n: usize, answer: Answer) -> Decided {
        let Answer::Approve { arguments: Some(arguments), .. } = &answer else {
            panic!("not an edit")
        };
        let edited = self.edited(n, arguments.clone());
        let digest = self.hold(n).digest();
        self.answer_with(who, n, Some(digest), answer, Some(edited))
    }

    /// The call of a hold with other arguments, ruled on anew.
    pub(crate) fn edited(&self, n: usize, arguments: Arguments) -> Edited {
        let hold = self.hold(n);
        let call = hold.call().expect("a call");
        let revised =
            call.revised(arguments, call.context.clone(), call.definition, self.policy.version());
        let verdict = self.policy.rule(&Facts::of(&revised));
        let audience = match &verdict.decision {
            PolicyDecision::Ask(ask) => audience_for(ask, hold.requester_and_login_makers()).into(),
            _ => hold.audience.clone(),
        };
        Edited {
            title: hold.title.clone(),
            call: Arc::new(revised),
            audience,
            rule: verdict.rule().map(str::to_owned),
            risk: verdict.risk,
            preview: Preview::default(),
        }
    }

    /// Calls that this node is to run now, by tool and arguments.
    pub(crate) fn running(&self) -> Vec<String> {
        self.session
            .pending_work()
            .into_iter()
            .filter_map(|owed| match owed {
                PendingWork::Execute { call, node } => self.session.started(call, node),
                _ => None,
            })
            .map(|cleared| {
                let call = cleared.call();
                format!("{} {}", call.tool, String::from_utf8_lossy(call.arguments.bytes()))
            })
            .collect()
    }

    /// Every call that runs now ends well, saying what it was.
    pub(crate) fn finish(&mut self) -> &mut World {
        for owed in self.session.pending_work() {
            if let PendingWork::Execute { call, .. } | PendingWork::Stop { call, .. } = owed {
                let output = format!("did {}", self.session.calls[&call].tool);
                self.report(call, Outcome::Succeeded(Output::text(output)))
                    .expect("the report is taken");
            }
        }
        self
    }

    pub(crate) fn report(&mut self, call: CallId, outcome: Outcome) -> Decided {
        let attempt = match self.session.calls.get(&call).map(|record| &record.state) {
            Some(CallState::Running { attempt, .. }) => *attempt,
            _ => 1,
        };
        self.tell(&Command::Report { call, attempt, outcome })
    }

    /// The process dies and another takes over, which finds this about every call that ran.
    pub(crate) fn crash(&mut self, found: &Recovered) -> &mut World {
        self.node = NodeId::new(self.now.as_ms(), self.bits());
        let interrupted: Vec<(CallId, u32)> = self
            .session
            .calls
            .iter()
            .filter_map(|(id, record)| match &record.state {
                CallState::Running { attempt, .. } => Some((*id, *attempt)),
                _ => None,
            })
            .collect();
        for (call, attempt) in interrupted {
            self.tell(&Command::Recover { call, attempt, found: found.clone() })
                .expect("recovered");
        }
        self.tell(&Command::Wake).expect("woken");
        self
    }

    pub(crate) fn later(&mut self, ms: u64) -> &mut World {
        self.now = self.now.plus_ms(ms);
        self.tell(&Command::Expire).expect("time passes");
        self
    }

    pub(crate) fn status(&self) -> &'static str {
        self.session.run.as_ref().map_or("none", |run| run.status().name())
    }

    pub(crate) fn run_id(&self) -> RunId {
        self.session.run.as_ref().expect("a run").id
    }

    /// The results of the last turn, as the model gets them.
    pub(crate) fn results(&self) -> Vec<String> {
        let last = self.session.transcript.iter().rev().find(|message| message.role == Role::Tool);
        let parts = last.map(|message| message.parts.clone()).unwrap_or_default();
        parts
            .into_iter()
            .filter_map(|part| match part {
                Part::ToolResult { result, .. } => {
                    Some(format!("{}{}", if result.is_error { "! " } else { "" }, result.content))
                }
                _ => None,
            })
            .collect()
    }

    pub(crate) fn last_text(&self) -> String {
        self.session
            .transcript
            .last()
            .map(|message| message.text().into_owned())
            .unwrap_or_default()
    }

    pub(crate) fn count(&self, name: &str) -> usize {
        self.events.iter().filter(|event| event.name() == name).count()
    }
}

fn call_of(part: &Part) -> Option<CallId> {
    match part {
        Part::ToolCall { call, .. } => Some(*call),
        _ => None,
    }
}

fn result_of(part: &Part) -> Option<CallId> {
    match part {
        Part::ToolResult { call, .. } => Some(*call),
        _ => None,
    }
}
