//! Conditions on what an SQL tool knows about its statement.
//!
//! A call without such facts (of another tool, or of a program outside) is one about which they are
//! unknown. A condition on an unknown fact cannot be told: so it never allows, and an `ask` or `deny` rule
//! takes it as met.

use std::fmt;

use serde_json::Value;

use super::compare::Truth;
use super::spec::Then;
use crate::digest::Framed;
use crate::sql_facts::{SqlFacts, SqlKind};
use crate::visible::visible;

/// More in one list is a program.
const NAMES_MAX: usize = 1_000;

/// What a rule demands of the facts of a statement. Facts that are not known never lead to an `allow`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqlCondition {
    /// One of these.
    KindIn(Vec<SqlKind>),
    /// None of these.
    KindNotIn(Vec<SqlKind>),
    /// At least one of these tables is read or changed.
    TablesAnyOf(Vec<String>),
    /// No other table is read or changed.
    TablesOnly(Vec<String>),
    /// Of an update or delete; other statements do not meet it either way.
    HasWhere(bool),
    /// Fewer rows are changed.
    RowsLessThan(u64),
    /// So many rows or fewer are changed.
    RowsAtMost(u64),
    /// More rows are changed.
    RowsMoreThan(u64),
    /// So many rows or more are changed.
    RowsAtLeast(u64),
}

impl SqlCondition {
    /// The facts by the names that they have after `sql.` in a rule.
    pub const FACTS: [&'static str; 4] = ["kind", "tables", "has_where", "rows"];

    /// One condition as it is written down. A fact with a bare value is `equals`.
    pub fn parse(fact: &str, op: &str, operand: Value) -> Result<SqlCondition, String> {
        let wants = |what: &str| format!("`sql.{fact}` takes {what}");
        let kinds = |operand| -> Result<Vec<SqlKind>, String> {
            let known = || {
                let names: Vec<&str> = SqlKind::ALL.iter().map(|kind| kind.name()).collect();
                wants(&format!("one or several of {}", names.join(", ")))
            };
            texts(operand)
                .ok_or_else(known)?
                .iter()
                .map(|name| SqlKind::parse(name).ok_or_else(known))
                .collect()
        };
        let tables = |operand| {
            texts(operand)
                .ok_or_else(|| wants("names of tables, such as `{ any_of = [\"orders\"] }`"))
        };
        let rows = |operand: Value| {
            operand.as_u64().ok_or_else(|| wants("a number of rows, such as `{ at_most = 10 }`"))
        };
        Ok(match (fact, op) {
            ("kind", "equals" | "in") => SqlCondition::KindIn(kinds(operand)?),
            ("kind", "not_equals" | "not_in") => SqlCondition::KindNotIn(kinds(operand)?),
            ("kind", _) => return Err(wants("equals, in, not_equals or not_in")),
            ("tables", "any_of") => SqlCondition::TablesAnyOf(tables(operand)?),
            ("tables", "only") => SqlCondition::TablesOnly(tables(operand)?),
            ("tables", _) => return Err(wants("any_of or only")),
            ("has_where", "equals") => {
                SqlCondition::HasWhere(operand.as_bool().ok_or_else(|| wants("true or false"))?)
            }
            ("has_where", _) => return Err(wants("true or false")),
            ("rows", "less_than") => SqlCondition::RowsLessThan(rows(operand)?),
            ("rows", "at_most") => SqlCondition::RowsAtMost(rows(operand)?),
            ("rows", "more_than") => SqlCondition::RowsMoreThan(rows(operand)?),
            ("rows", "at_least") => SqlCondition::RowsAtLeast(rows(operand)?),
            ("rows", _) => return Err(wants("less_than, at_most, more_than or at_least")),
            (_, _) => {
                return Err(format!(
                    "there is no fact `sql.{}`; there are sql.{}",
                    visible(fact),
                    SqlCondition::FACTS.join(", sql.")
                ));
            }
        })
    }

    /// Fact, operator and operand, as they are written down.
    fn written(&self) -> (&'static str, &'static str, Value) {
        let kinds =
            |kinds: &[SqlKind]| kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().into();
        match self {
            SqlCondition::KindIn(list) => ("kind", "in", kinds(list)),
            SqlCondition::KindNotIn(list) => ("kind", "not_in", kinds(list)),
            SqlCondition::TablesAnyOf(names) => ("tables", "any_of", names.as_slice().into()),
            SqlCondition::TablesOnly(names) => ("tables", "only", names.as_slice().into()),
            SqlCondition::HasWhere(has) => ("has_where", "equals", (*has).into()),
            SqlCondition::RowsLessThan(rows) => ("rows", "less_than", (*rows).into()),
            SqlCondition::RowsAtMost(rows) => ("rows", "at_most", (*rows).into()),
            SqlCondition::RowsMoreThan(rows) => ("rows", "more_than", (*rows).into()),
            SqlCondition::RowsAtLeast(rows) => ("rows", "at_least", (*rows).into()),
        }
    }

    pub(super) fn check(&self, then: Then) -> Result<(), String> {
        let length = match self {
            SqlCondition::KindIn(kinds) | SqlCondition::KindNotIn(kinds) => kinds.len(),
            SqlCondition::TablesAnyOf(names) | SqlCondition::TablesOnly(names) => names.len(),
            _ => 1,
        };
        if !(1..=NAMES_MAX).contains(&length) {
            return Err(format!("the condition {self} lists none, or more than {NAMES_MAX}"));
        }
        match self {
            SqlCondition::KindIn(kinds)
                if then == Then::Allow && kinds.contains(&SqlKind::Unknown) =>
            {
                Err("it would allow statements of which nobody knows what they do; `unknown` \
                     is for rules that ask or deny"
                    .into())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn truth(&self, facts: Option<&SqlFacts>) -> Truth {
        let nothing = SqlFacts::default();
        let facts = facts.unwrap_or(&nothing);
        match self {
            SqlCondition::KindIn(kinds) => kind_in(facts.kind, kinds),
            SqlCondition::KindNotIn(kinds) => kind_in(facts.kind, kinds).not(),
            SqlCondition::TablesAnyOf(names) => {
                let found = facts.tables.names.iter().map(|table| names_table(table, names));
                let rest = if facts.tables.complete { Truth::No } else { Truth::Doubt };
                found.fold(rest, Truth::or)
            }
            SqlCondition::TablesOnly(names) => {
                let found = facts.tables.names.iter().map(|table| names_table(table, names));
                let rest = if facts.tables.complete { Truth::Yes } else { Truth::Doubt };
                found.fold(rest, Truth::and)
            }
            SqlCondition::HasWhere(wanted) => match (facts.kind, facts.has_where) {
                (SqlKind::Update | SqlKind::Delete, Some(has)) => Truth::from(has == *wanted),
                // An upsert changes rows by their key, no more of them than it brings.
                (SqlKind::Select | SqlKind::Insert | SqlKind::Upsert | SqlKind::Ddl, _) => {
                    Truth::No
                }
                _ => Truth::Doubt,
            },
            SqlCondition::RowsLessThan(bound) => rows(facts, |rows| rows < *bound),
            SqlCondition::RowsAtMost(bound) => rows(facts, |rows| rows <= *bound),
            SqlCondition::RowsMoreThan(bound) => rows(facts, |rows| rows > *bound),
            SqlCondition::RowsAtLeast(bound) => rows(facts, |rows| rows >= *bound),
        }
    }

    pub(super) fn frame(&self, framed: Framed) -> Framed {
        let (fact, op, operand) = self.written();
        framed
            .field("sql_fact", fact.as_bytes())
            .field("op", op.as_bytes())
            .field("operand", &crate::json::canonical(&operand))
    }
}

impl fmt::Display for SqlCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (fact, op, operand) = self.written();
        write!(f, "`sql.{fact}` {op} {}", visible(&operand.to_string()))
    }
}

fn texts(operand: Value) -> Option<Vec<String>> {
    let text = |value: Value| match value {
        Value::String(text) => Some(text),
        _ => None,
    };
    match operand {
        Value::Array(values) => values.into_iter().map(text).collect(),
        one => text(one).map(|text| vec![text]),
    }
}

fn rows(facts: &SqlFacts, holds: impl Fn(u64) -> bool) -> Truth {
    facts.rows.map_or(Truth::Doubt, |rows| Truth::from(holds(rows)))
}

fn kind_in(kind: SqlKind, wanted: &[SqlKind]) -> Truth {
    wanted.iter().map(|wanted| kind_is(kind, *wanted)).fold(Truth::No, Truth::or)
}

fn kind_is(kind: SqlKind, wanted: SqlKind) -> Truth {
    match (kind, wanted) {
        (kind, wanted) if kind == wanted => Truth::Yes,
        (SqlKind::Unknown, _) => Truth::Doubt,
        // It inserts, and it may overwrite or delete what is in its way.
        (SqlKind::Upsert, SqlKind::Insert | SqlKind::Update | SqlKind::Delete) => Truth::Doubt,
        _ => Truth::No,
    }
}

fn names_table(table: &str, names: &[String]) -> Truth {
    names.iter().map(|name| is_named(table, name)).fold(Truth::No, Truth::or)
}

/// A name without a schema is one of `public`. Other letters' cases, and the same table of another
/// schema, are doubtful: databases differ, and so may what the rule's author had in mind.
fn is_named(table: &str, name: &str) -> Truth {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    if table == name || (!name.contains('.') && table.strip_prefix("public.") == Some(name)) {
        Truth::Yes
    } else if table.eq_ignore_ascii_case(name) || (!name.contains('.') && last(table) == last(name))
    {
        Truth::Doubt
    } else {
        Truth::No
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sql_facts::SqlTables;

    fn truth(fact: &str, op: &str, operand: Value, facts: &SqlFacts) -> Truth {
        SqlCondition::parse(fact, op, operand).unwrap().truth(Some(facts))
    }

    fn delete() -> SqlFacts {
        SqlFacts {
            kind: SqlKind::Delete,
            tables: SqlTables {
                names: vec!["orders".into(), "public.lines".into()],
                complete: true,
            },
            has_where: Some(true),
            rows: Some(214),
        }
    }

    #[test]
    fn what_is_known_is_told_for_certain() {
        for (fact, op, yes, no) in [
            ("kind", "equals", json!("delete"), json!("update")),
            ("kind", "in", json!(["update", "delete"]), json!(["select", "unknown"])),
            ("kind", "not_in", json!(["select", "unknown"]), json!(["delete"])),
            ("kind", "not_equals", json!("unknown"), json!("delete")),
            ("tables", "any_of", json!(["lines"]), json!(["people", "sales.lines"])),
            ("tables", "only", json!(["orders", "lines"]), json!(["orders", "people"])),
            ("has_where", "equals", json!(true), json!(false)),
            ("rows", "more_than", json!(213), json!(214)),
            ("rows", "at_least", json!(214), json!(215)),
            ("rows", "at_most", json!(214), json!(213)),
            ("rows", "less_than", json!(215), json!(214)),
        ] {
            assert_eq!(truth(fact, op, yes, &delete()), Truth::Yes, "{fact} {op}");
            assert_eq!(truth(fact, op, no, &delete()), Truth::No, "{fact} {op}");
        }
    }

    #[test]
    fn i06_what_is_unknown_is_in_doubt_for_every_condition() {
        for (fact, op, operand) in [
            ("kind", "equals", json!("delete")),
            ("kind", "in", json!(["select", "insert", "update", "delete", "upsert", "ddl"])),
            ("kind", "not_in", json!(["delete"])),
            ("tables", "any_of", json!(["orders"])),
            ("tables", "only", json!(["orders"])),
            ("has_where", "equals", json!(true)),
            ("has_where", "equals", json!(false)),
            ("rows", "more_than", json!(0)),
            ("rows", "at_most", json!(u64::MAX)),
        ] {
            let condition = SqlCondition::parse(fact, op, operand).unwrap();
            assert_eq!(condition.truth(None), Truth::Doubt, "{condition}");
            assert_eq!(condition.truth(Some(&SqlFacts::default())), Truth::Doubt, "{condition}");
        }
        // A rule may name it, if it asks or denies.
        let unknown = SqlCondition::KindIn(vec![SqlKind::Unknown]);
        assert_eq!(unknown.truth(None), Truth::Yes);
        assert!(unknown.check(Then::Deny).is_ok() && unknown.check(Then::Ask).is_ok());
        assert!(unknown.check(Then::Allow).unwrap_err().contains("nobody knows"));
    }

    #[test]
    fn an_upsert_is_no_plain_insert() {
        let facts = SqlFacts { kind: SqlKind::Upsert, ..SqlFacts::default() };
        for kind in ["insert", "update", "delete"] {
            assert_eq!(truth("kind", "equals", json!(kind), &facts), Truth::Doubt, "{kind}");
        }
        assert_eq!(truth("kind", "equals", json!("upsert"), &facts), Truth::Yes);
        assert_eq!(truth("kind", "equals", json!("select"), &facts), Truth::No);
        // Nor a change of every row: a rule against those must not deny it.
        let facts = SqlFacts { has_where: Some(false), ..facts };
        for wanted in [true, false] {
            assert_eq!(truth("has_where", "equals", json!(wanted), &facts), Truth::No, "{wanted}");
        }
    }

    #[test]
    fn tables_that_may_not_be_all_are_in_doubt() {
        let facts = SqlFacts {
            tables: SqlTables { names: vec!["shop.Orders".into()], complete: false },
            ..delete()
        };
        let match_tables = |op, name: &str| truth("tables", op, json!([name]), &facts);
        assert_eq!(match_tables("any_of", "shop.Orders"), Truth::Yes);
        assert_eq!(match_tables("any_of", "people"), Truth::Doubt, "there may be others");
        assert_eq!(match_tables("only", "shop.Orders"), Truth::Doubt, "there may be others");
        assert_eq!(match_tables("only", "people"), Truth::No);
        assert_eq!(match_tables("only", "shop.orders"), Truth::Doubt, "other letters");
        assert_eq!(match_tables("only", "orders"), Truth::Doubt, "another schema");
    }

    #[test]
    fn where_is_asked_of_updates_and_deletes_only() {
        for kind in [SqlKind::Select, SqlKind::Insert, SqlKind::Ddl] {
            let facts = SqlFacts { kind, has_where: None, ..delete() };
            for wanted in [true, false] {
                assert_eq!(truth("has_where", "equals", json!(wanted), &facts), Truth::No);
            }
        }
        let facts = SqlFacts { has_where: None, ..delete() };
        assert_eq!(truth("has_where", "equals", json!(true), &facts), Truth::Doubt);
    }

    #[test]
    fn mistakes_are_told() {
        for (fact, op, operand, why) in [
            ("kind", "equals", json!("DELETE"), "one or several of select, insert"),
            ("kind", "regex", json!("del.*"), "equals, in"),
            ("tables", "equals", json!("orders"), "any_of or only"),
            ("tables", "only", json!([1]), "names of tables"),
            ("has_where", "equals", json!("yes"), "true or false"),
            ("rows", "equals", json!(3), "at_most"),
            ("rows", "at_most", json!(-3), "number of rows"),
            ("columns", "equals", json!(3), "there is no fact `sql.columns`; there are sql.kind"),
        ] {
            let told = SqlCondition::parse(fact, op, operand).unwrap_err();
            assert!(told.contains(why), "{fact} {op}: {told}");
        }
        assert!(SqlCondition::KindIn(vec![]).check(Then::Ask).is_err());
    }
}
