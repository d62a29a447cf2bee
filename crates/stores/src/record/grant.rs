//! Standing grants and the conditions that bound them.

use std::borrow::Cow;
use std::sync::Arc;

use domain::grant::{Covers, Grant};
use domain::id::{GrantId, HoldId, SessionId};
use domain::person::PersonId;
use domain::policy::{ConditionSpec, Conditions, Op};
use serde::{Deserialize, Serialize};

use super::json::Json;
use super::{Broken, FIRST, Hex, Ms, Text, is_false};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredGrant<'a> {
    id: Text<GrantId>,
    session: Text<SessionId>,
    #[serde(borrow)]
    tool: Cow<'a, str>,
    definition: Hex,
    #[serde(borrow)]
    covers: StoredCovers<'a>,
    #[serde(borrow)]
    by: Cow<'a, str>,
    hold: Text<HoldId>,
    made_at: Ms,
    expires_at: Ms,
    uses_left: u32,
    #[serde(default, skip_serializing_if = "is_false")]
    revoked: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum StoredCovers<'a> {
    Same(Hex),
    Stated(#[serde(borrow)] StoredConditions<'a>),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct StoredConditions<'a>(#[serde(borrow)] Vec<StoredCondition<'a>>);

/// `["/amount", "at_most", 500]`.
#[derive(Debug, Serialize, Deserialize)]
struct StoredCondition<'a>(#[serde(borrow)] Cow<'a, str>, #[serde(borrow)] Cow<'a, str>, Json<'a>);

impl<'a> From<&'a Conditions> for StoredConditions<'a> {
    fn from(conditions: &'a Conditions) -> StoredConditions<'a> {
        let stored = |spec: &'a ConditionSpec| {
            let operand = Json(Cow::Owned(spec.op.operand()));
            StoredCondition(spec.pointer.as_str().into(), spec.op.name().into(), operand)
        };
        StoredConditions(conditions.specs().iter().map(stored).collect())
    }
}

impl StoredConditions<'_> {
    pub(super) fn conditions(self) -> Result<Conditions, Broken> {
        let unsound = |_| Broken::Damaged("the conditions of a grant are unsound".into());
        let specs = self.0.into_iter().map(|StoredCondition(pointer, op, operand)| {
            let op = Op::parse(&op, operand.value()).map_err(unsound)?;
            Ok(ConditionSpec { pointer: pointer.into_owned(), op })
        });
        Conditions::compile(specs.collect::<Result<Vec<_>, Broken>>()?).map_err(unsound)
    }
}

impl<'a> From<&'a Grant> for StoredGrant<'a> {
    fn from(grant: &'a Grant) -> StoredGrant<'a> {
        StoredGrant {
            id: Text(grant.id),
            session: Text(grant.session),
            tool: grant.tool.as_ref().into(),
            definition: Hex(grant.definition),
            covers: match &grant.covers {
                Covers::Same(key) => StoredCovers::Same(Hex(*key)),
                Covers::Stated(conditions) => StoredCovers::Stated(conditions.into()),
            },
            by: grant.by.as_str().into(),
            hold: Text(grant.hold),
            made_at: grant.made_at.into(),
            expires_at: grant.expires_at.into(),
            uses_left: grant.uses_left,
            revoked: grant.revoked,
        }
    }
}

impl StoredGrant<'_> {
    pub(super) fn grant(self) -> Result<Arc<Grant>, Broken> {
        Ok(Arc::new(Grant {
            id: self.id.0,
            session: self.session.0,
            tool: self.tool.into(),
            definition: self.definition.0,
            covers: match self.covers {
                StoredCovers::Same(Hex(key)) => Covers::Same(key),
                StoredCovers::Stated(conditions) => Covers::Stated(conditions.conditions()?),
            },
            by: PersonId::new(&self.by),
            hold: self.hold.0,
            made_at: self.made_at.into(),
            expires_at: self.expires_at.into(),
            uses_left: self.uses_left,
            revoked: self.revoked,
        }))
    }
}

/// A grant as the read table keeps it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantRecord<'a> {
    v: u32,
    #[serde(borrow)]
    grant: StoredGrant<'a>,
}

pub(crate) fn write_grant(grant: &Grant) -> Vec<u8> {
    super::write_record(&GrantRecord { v: FIRST, grant: grant.into() })
}

pub(crate) fn read_grant(bytes: &[u8]) -> Result<Arc<Grant>, Broken> {
    super::read_record::<GrantRecord<'_>>(bytes, |record| record.v)?.grant.grant()
}
