//! What is asked.

use std::borrow::Cow;

use domain::hold::{Choice, Question};
use serde::{Deserialize, Serialize};

use super::is_false;
use super::json::Json;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StoredQuestion<'a> {
    #[default]
    Approve,
    Choose {
        #[serde(borrow)]
        options: Vec<StoredChoice<'a>>,
        #[serde(default, skip_serializing_if = "is_false")]
        multiple: bool,
        #[serde(default, skip_serializing_if = "is_false")]
        allow_other: bool,
    },
    Fill {
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        schema: Option<Json<'a>>,
    },
    Perform {
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        deny_values: Vec<Cow<'a, str>>,
    },
    Settle,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredChoice<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    label: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    description: Option<Cow<'a, str>>,
}

impl StoredQuestion<'_> {
    pub(super) fn is_approve(&self) -> bool {
        matches!(self, StoredQuestion::Approve)
    }
}

impl<'a> From<&'a Question> for StoredQuestion<'a> {
    fn from(question: &'a Question) -> StoredQuestion<'a> {
        match question {
            Question::Approve => StoredQuestion::Approve,
            Question::Choose { options, multiple, allow_other } => StoredQuestion::Choose {
                options: options
                    .iter()
                    .map(|option| StoredChoice {
                        id: option.id.as_str().into(),
                        label: option.label.as_str().into(),
                        description: option.description.as_deref().map(Cow::from),
                    })
                    .collect(),
                multiple: *multiple,
                allow_other: *allow_other,
            },
            Question::Fill { schema } => {
                StoredQuestion::Fill { schema: schema.as_ref().map(Json::from) }
            }
            Question::Perform { deny_values } => {
                StoredQuestion::Perform { deny_values: deny_values.iter().map(Cow::from).collect() }
            }
            Question::Settle => StoredQuestion::Settle,
        }
    }
}

impl From<StoredQuestion<'_>> for Question {
    fn from(stored: StoredQuestion<'_>) -> Question {
        match stored {
            StoredQuestion::Approve => Question::Approve,
            StoredQuestion::Choose { options, multiple, allow_other } => Question::Choose {
                options: options
                    .into_iter()
                    .map(|option| Choice {
                        id: option.id.into_owned(),
                        label: option.label.into_owned(),
                        description: option.description.map(Cow::into_owned),
                    })
                    .collect(),
                multiple,
                allow_other,
            },
            StoredQuestion::Fill { schema } => Question::Fill { schema: schema.map(Json::value) },
            StoredQuestion::Perform { deny_values } => Question::Perform {
                deny_values: deny_values.into_iter().map(Cow::into_owned).collect(),
            },
            StoredQuestion::Settle => Question::Settle,
        }
    }
}
