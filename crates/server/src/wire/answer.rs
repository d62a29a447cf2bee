//! An answer as a client writes it. Every part is looked at, and nothing is passed over: whoever
//! answers must not think they said something that was ignored.

use std::fmt;

use domain::answer::{Answer, ApprovalScope, DenyReason, GrantTerms, Settlement};
use domain::digest::Digest;
use domain::json::{Arguments, BadArguments};
use domain::policy::{ConditionSpec, Conditions, Op};
use domain::visible::visible;
use engine::Answering;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::whole::Whole;
use crate::problem::Problem;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerBody {
    /// Of what the person was shown: required to approve, always checked when sent.
    #[serde(default)]
    digest: Option<String>,
    #[schemars(schema_with = "super::answer_shape::shape")]
    answer: Box<RawValue>,
}

impl AnswerBody {
    pub(crate) fn parse(self) -> Result<Answering, Problem> {
        // What is not spelled like a digest is another digest than the one that was shown.
        let digest =
            self.digest.map(|text| text.parse().unwrap_or_else(|_| Digest::of(text.as_bytes())));
        Ok(Answering { digest, answer: answer(self.answer.get())? })
    }
}

pub(super) fn answer(text: &str) -> Result<Answer, Problem> {
    let mut members = Members::read("answer", text)?;
    let said = ["verdict", "choose", "fill", "perform", "settle"];
    let which: Vec<&str> = said.into_iter().filter(|name| members.has(name)).collect();
    let answer = match which.as_slice() {
        ["verdict"] => verdict(&mut members)?,
        ["choose"] => Answer::Choose(members.need("choose", "a list of option ids or labels")?),
        ["fill"] => Answer::Fill(members.arguments("fill")?.value().clone()),
        ["perform"] => perform(members.raw("perform"))?,
        ["settle"] => {
            let how: String = members.need("settle", "one of `succeeded`, `failed`, `retry`")?;
            let how = Settlement::parse(&how).ok_or_else(|| {
                Problem::invalid("settle", "write one of `succeeded`, `failed`, `retry`")
            })?;
            Answer::Settle { how, content: members.may("content", "a text")? }
        }
        _ => {
            return Err(Problem::invalid(
                "answer",
                format!("write exactly one of: {}", said.join(", ")),
            ));
        }
    };
    members.done("")?;
    Ok(answer)
}

fn verdict(members: &mut Members) -> Result<Answer, Problem> {
    let verdicts = "one of `approve`, `deny`, `respond`";
    let verdict: String = members.need("verdict", verdicts)?;
    match verdict.as_str() {
        "approve" => Ok(Answer::Approve {
            scope: scope(members)?,
            arguments: match members.has("arguments") {
                true => Some(members.arguments("arguments")?),
                false => None,
            },
            note: members.may("note", "a text")?,
        }),
        "deny" => Ok(Answer::Deny {
            reason: members.may::<String>("reason", "a text")?.map(DenyReason::from),
            stop: members.may("stop", "true or false")?.unwrap_or(false),
        }),
        "respond" => Ok(Answer::Respond { content: members.need("content", "a text")? }),
        _ => Err(Problem::invalid("verdict", format!("write {verdicts}"))),
    }
}

fn scope(members: &mut Members) -> Result<ApprovalScope, Problem> {
    let scope: Option<String> = members.may("scope", "`once` or `session`")?;
    let grant = members.raw("grant").filter(|grant| grant.get() != "null");
    match (scope.as_deref(), grant) {
        (None | Some("once"), None) => Ok(ApprovalScope::Once),
        (None | Some("once"), Some(_)) => {
            Err(Problem::invalid("grant", "a grant needs `\"scope\":\"session\"`"))
        }
        (Some("session"), None) => Ok(ApprovalScope::Session(GrantTerms::default())),
        (Some("session"), Some(grant)) => Ok(ApprovalScope::Session(terms(grant.get())?)),
        (Some(_), _) => Err(Problem::invalid("scope", "write `once` or `session`")),
    }
}

/// Conditions, or the word for none.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum GrantArgs {
    Word(String),
    List(Vec<serde_json::Map<String, Value>>),
}

/// `{"expires_in_s"?,"uses"?,"args"?:[{"pointer":"/path","glob":"/tmp/*"}]}`
fn terms(text: &str) -> Result<GrantTerms, Problem> {
    let mut members = Members::read("grant", text)?;
    let expires_in_s: Option<Whole> = members.may("expires_in_s", "a number of seconds")?;
    let expires_in_s = expires_in_s.map(|Whole(seconds)| seconds);
    let uses: Option<Whole> = members.may("uses", "a whole number")?;
    // The domain has a bound of its own, far below.
    let uses = uses.map(|Whole(uses)| uses.try_into().unwrap_or(u32::MAX));
    let args: Option<GrantArgs> = members.may("args", "a list of conditions, or `any`")?;
    members.done("grant.")?;
    if expires_in_s == Some(0) || uses == Some(0) {
        return Err(Problem::invalid("grant", "a grant for no time or no use is none: use `once`"));
    }
    let conditions = match args {
        None => None,
        Some(GrantArgs::Word(word)) if word == "any" => Some(Conditions::default()),
        // mutant: any-arguments-for-an-empty-list
        Some(GrantArgs::List(args)) if !args.is_empty() => Some(conditions(args)?),
        // An empty list looks like "nothing further" and would be "everything".
        Some(_) => {
            return Err(Problem::invalid(
                "grant.args",
                "state at least one condition, write `\"any\"` to cover any arguments, or leave `args` out for the \
                 very same call",
            ));
        }
    };
    Ok(GrantTerms { expires_in_ms: expires_in_s.map(|s| s.saturating_mul(1000)), uses, conditions })
}

fn conditions(args: Vec<serde_json::Map<String, Value>>) -> Result<Conditions, Problem> {
    let invalid = |why: String| Problem::invalid("grant.args", why);
    let mut specs = Vec::new();
    for mut condition in args {
        let Some(Value::String(pointer)) = condition.remove("pointer") else {
            return Err(invalid("each condition has a `pointer`, such as `/path`".into()));
        };
        if condition.is_empty() {
            return Err(invalid(format!(
                "what must `{}` be? {}",
                visible(&pointer),
                Op::NAMES.join(", ")
            )));
        }
        for (name, operand) in condition {
            let op = Op::parse(&name, operand).map_err(invalid)?;
            specs.push(ConditionSpec { pointer: pointer.clone(), op });
        }
    }
    Conditions::compile(specs).map_err(invalid)
}

fn perform(raw: Option<Box<RawValue>>) -> Result<Answer, Problem> {
    let raw = raw.map(|raw| raw.get().to_owned()).unwrap_or_default();
    let mut members = Members::read("perform", &raw)?;
    let content = members.need("content", "a text")?;
    let is_error = members.may("is_error", "true or false")?.unwrap_or(false);
    members.done("perform.")?;
    Ok(Answer::Perform { content, is_error })
}

/// Turns refused arguments into a problem.
pub(super) fn bad_arguments(field: &str, why: &BadArguments) -> Problem {
    match why {
        BadArguments::TooLong { .. } => Problem::too_large(why.to_string()),
        _ => Problem::invalid(field, why.to_string()),
    }
}

/// No answer has more; the rest of a longer object is not even kept.
const MEMBERS_MAX: usize = 32;

/// The members of an object, each as it was written. None may stand twice.
struct Members(Vec<(String, Box<RawValue>)>);

impl Members {
    fn read(field: &str, text: &str) -> Result<Members, Problem> {
        let Ok(MembersRead(read)) = serde_json::from_str(text) else {
            return Err(Problem::invalid(field, format!("`{field}` must be an object")));
        };
        read.map_err(|twice| Problem::invalid(twice, "this stands twice; write it once"))
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    fn raw(&mut self, name: &str) -> Option<Box<RawValue>> {
        let index = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.remove(index).1)
    }

    fn may<T: DeserializeOwned>(&mut self, name: &str, what: &str) -> Result<Option<T>, Problem> {
        match self.raw(name) {
            None => Ok(None),
            Some(raw) => serde_json::from_str(raw.get())
                .map_err(|_| Problem::invalid(name, format!("`{name}` must be {what}"))),
        }
    }

    fn need<T: DeserializeOwned>(&mut self, name: &str, what: &str) -> Result<T, Problem> {
        self.may(name, what)?
            .ok_or_else(|| Problem::invalid(name, format!("`{name}` must be {what}")))
    }

    /// To the byte, by the same door that every argument goes through.
    fn arguments(&mut self, name: &str) -> Result<Arguments, Problem> {
        let raw = self.raw(name).map(|raw| raw.get().to_owned()).unwrap_or_default();
        Arguments::parse(raw.as_bytes()).map_err(|why| bad_arguments(name, &why))
    }

    fn done(self, within: &str) -> Result<(), Problem> {
        match self.0.first() {
            None => Ok(()),
            Some((key, _)) => {
                let key = visible(&key.chars().take(100).collect::<String>());
                Err(Problem::invalid(
                    format!("{within}{key}"),
                    format!("`{key}` has no meaning here; leave it out"),
                ))
            }
        }
    }
}

/// What became of reading: members, or the name of one that stands twice.
struct MembersRead(Result<Members, String>);

impl<'de> Deserialize<'de> for MembersRead {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MembersRead, D::Error> {
        deserializer.deserialize_map(MembersVisitor).map(MembersRead)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Result<Members, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<(String, Box<RawValue>)> = Vec::new();
        let mut twice = None;
        while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
            if members.iter().any(|(other, _)| *other == key) {
                twice.get_or_insert(key);
            } else if members.len() < MEMBERS_MAX {
                members.push((key, value));
            }
        }
        Ok(twice.map_or(Ok(Members(members)), Err))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, picture: &str) {
        let told = match answer(text) {
            // Its debug output does not tell what a form says.
            Ok(Answer::Fill(form)) => format!("Fill({form:?})"),
            Ok(answer) => format!("{answer:?}"),
            Err(problem) => {
                let value = serde_json::to_value(&problem).expect("json");
                format!("{} {}", value["status"], value["field"].as_str().unwrap_or("-"))
            }
        };
        assert_eq!(told, picture, "{text}");
    }

    #[test]
    fn every_kind_of_answer_is_read() {
        check(
            r#"{"verdict":"deny","reason":"no","stop":true}"#,
            "Deny { reason: Some(Stated(StatedReason(\"no\"))), stop: true }",
        );
        check(r#"{"verdict":"respond","content":"x"}"#, "Respond { content: \"x\" }");
        check(r#"{"choose":["1","x"]}"#, "Choose([\"1\", \"x\"])");
        check(r#"{"perform":{"content":"ok"}}"#, "Perform { content: \"ok\", is_error: false }");
        check(r#"{"settle":"retry"}"#, "Settle { how: Retry, content: None }");
        check(r#"{"fill":{"n":1}}"#, "Fill(Object {\"n\": Number(1)})");
        check(r#"{"verdict":"approve"}"#, "Approve { scope: Once, arguments: None, note: None }");
    }

    #[test]
    fn i05_what_has_no_meaning_is_refused_by_name() {
        check(r#"{"verdict":"approve","scope":"always"}"#, "422 scope");
        check(r#"{"verdict":"approve","options":[]}"#, "422 options");
        check(r#"{"verdict":"approve","tool":"x"}"#, "422 tool");
        check(r#"{"verdict":"approve","choose":["1"]}"#, "422 answer");
        check(r#"{"verdict":"approve","verdict":"deny"}"#, "422 verdict");
        check(r#"{"verdict":"deny","arguments":{}}"#, "422 arguments");
        check(r#"{"verdict":"yes"}"#, "422 verdict");
        check(r#"{"verdict":true}"#, "422 verdict");
        check(r#"{"choose":"1"}"#, "422 choose");
        check(r#"{"choose":[1]}"#, "422 choose");
        check(r#"{"fill":[1]}"#, "422 fill");
        check(r#"{"fill":{"a":1,"a":2}}"#, "422 fill");
        check(r#"{"perform":{"content":"x","schema":1}}"#, "422 perform.schema");
        check(r#"{"settle":"maybe"}"#, "422 settle");
        check("{}", "422 answer");
        check("[]", "422 answer");
        check("\"approve\"", "422 answer");
    }

    #[test]
    fn edited_arguments_are_kept_to_the_byte() {
        let text = r#"{"verdict":"approve","arguments":{ "a" : 1.50 }}"#;
        let Ok(Answer::Approve { arguments: Some(arguments), .. }) = answer(text) else {
            panic!("an approval")
        };
        assert_eq!(arguments.bytes(), br#"{ "a" : 1.50 }"#);
        check(r#"{"verdict":"approve","arguments":[1]}"#, "422 arguments");
        check(r#"{"verdict":"approve","arguments":{"a":1,"a":2}}"#, "422 arguments");
        check(r#"{"verdict":"approve","arguments":null}"#, "422 arguments");
    }

    #[test]
    fn i08_a_standing_grant_has_bounds() {
        let text = r#"{"verdict":"approve","scope":"session",
            "grant":{"expires_in_s":60,"uses":3,"args":[{"pointer":"/path","glob":"/tmp/*"}]}}"#;
        let Ok(Answer::Approve { scope: ApprovalScope::Session(terms), .. }) = answer(text) else {
            panic!("a grant")
        };
        assert_eq!((terms.expires_in_ms, terms.uses), (Some(60_000), Some(3)));
        assert_eq!(terms.conditions.expect("conditions").to_string(), "`/path` glob \"/tmp/*\"");
        check(r#"{"verdict":"approve","grant":{"uses":1}}"#, "422 grant");
        // Any arguments only if that is said.
        for args in ["[]", "\"all\""] {
            let empty =
                format!(r#"{{"verdict":"approve","scope":"session","grant":{{"args":{args}}}}}"#);
            check(&empty, "422 grant.args");
        }
        let any = r#"{"verdict":"approve","scope":"session","grant":{"args":"any"}}"#;
        let Ok(Answer::Approve { scope: ApprovalScope::Session(terms), .. }) = answer(any) else {
            panic!("a grant")
        };
        assert_eq!(terms.conditions.expect("conditions").to_string(), "any arguments");
        check(r#"{"verdict":"approve","scope":"session","grant":{"uses":0}}"#, "422 grant");
        check(r#"{"verdict":"approve","scope":"session","grant":{"for":"ever"}}"#, "422 grant.for");
        let bad =
            r#"{"verdict":"approve","scope":"session","grant":{"args":[{"pointer":"/a","is":1}]}}"#;
        check(bad, "422 grant.args");
    }
}
