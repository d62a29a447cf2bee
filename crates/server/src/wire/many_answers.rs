//! Answers to many holds in one request. Each is judged by itself.

use domain::answer::Answer;
use domain::digest::Digest;
use domain::id::HoldId;
use engine::Answering;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::answer::answer;
use super::hold::Hold;
use super::object::object;
use super::text::Text;
use crate::limits::ANSWERS_AT_ONCE;
use crate::problem::{Document, Problem};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ManyAnswersBody {
    /// To different holds.
    #[schemars(with = "Vec<OneAnswer>", length(min = 1, max = 100))]
    answers: Vec<AnswerItem>,
}

/// An object: serde would take a list for one.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct AnswerItem {
    #[serde(deserialize_with = "object")]
    one: Option<OneAnswer>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneAnswer {
    #[schemars(regex(pattern = "^hold_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    hold: String,
    /// Of what the person was shown.
    digest: String,
    #[schemars(schema_with = "super::answer_shape::shape")]
    answer: Box<RawValue>,
}

/// One of them, or what is wrong with how it is written.
pub(crate) struct WrittenAnswer {
    pub(crate) hold: HoldId,
    pub(crate) answering: Result<Answering, Problem>,
}

impl ManyAnswersBody {
    pub(crate) fn parse(self) -> Result<Vec<WrittenAnswer>, Problem> {
        if !(1..=ANSWERS_AT_ONCE).contains(&self.answers.len()) {
            let why = format!("send 1 to {ANSWERS_AT_ONCE} answers");
            return Err(Problem::invalid("answers", why));
        }
        let mut written = Vec::<WrittenAnswer>::with_capacity(self.answers.len());
        for item in self.answers {
            let one = item.one.ok_or_else(|| Problem::invalid("answers", "each is an object"))?;
            let hold = one.hold.parse::<HoldId>();
            let hold = hold.map_err(|error| Problem::invalid("hold", error.to_string()))?;
            if written.iter().any(|other| other.hold == hold) {
                return Err(Problem::invalid("answers", format!("{hold} is answered twice")));
            }
            // What is not spelled like a digest is another digest than the one that was shown.
            let digest = one.digest.parse().unwrap_or_else(|_| Digest::of(one.digest.as_bytes()));
            let answering = answer(one.answer.get()).and_then(unedited);
            let answering = answering.map(|answer| Answering { digest: Some(digest), answer });
            written.push(WrittenAnswer { hold, answering });
        }
        Ok(written)
    }
}

/// Who edits a call looks at it alone.
fn unedited(answer: Answer) -> Result<Answer, Problem> {
    match answer {
        Answer::Approve { arguments: Some(_), .. } => Err(Problem::invalid(
            "arguments",
            "an edited call is answered by itself, not with others",
        )),
        answer => Ok(answer),
    }
}

/// What became of each, in the order of the request.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ManyAnswers {
    pub(crate) results: Vec<AnswerResult>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AnswerResult {
    hold: Text<HoldId>,
    /// As a single answer would get it.
    status: u16,
    /// The hold as it now is, if the answer counts.
    #[serde(serialize_with = "super::hold::now")]
    #[schemars(with = "Option<Hold>")]
    result: Option<Box<domain::hold::Hold>>,
    /// Why it does not.
    #[schemars(with = "Option<Document>")]
    problem: Option<Problem>,
}

impl AnswerResult {
    pub(crate) fn counted(hold: &domain::hold::Hold) -> AnswerResult {
        let result = Some(Box::new(hold.clone()));
        AnswerResult { hold: Text(hold.id), status: 200, result, problem: None }
    }

    pub(crate) fn refused(hold: HoldId, problem: Problem) -> AnswerResult {
        let status = problem.status();
        AnswerResult { hold: Text(hold), status, result: None, problem: Some(problem) }
    }
}
