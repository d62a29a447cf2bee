//! Which problems a route can answer with. What follows from its shape (a caller, an id, a query, a
//! body) is worked out here; what follows from its meaning is said in the route table.

use std::collections::BTreeSet;

use axum::http::Method;
use serde_json::{Map, Value, json};

use crate::routes::{Access, Route};

/// Every problem by its status: a name, when it comes, and its codes.
const PROBLEMS: [(u16, &str, &str, &[&str]); 13] = [
    (400, "BadRequest", "The request makes no sense as it is written", &["bad_request"]),
    (401, "Unauthenticated", "Nobody knows who is calling", &["unauthenticated"]),
    (403, "NotEntitled", "This caller may not do this", &["not_entitled"]),
    (404, "NotFound", "There is no such thing, or this caller may not see it", &["not_found"]),
    (
        409,
        "Conflict",
        "It is not as the caller thinks",
        &["hold_already_decided", "already_voted", "version_conflict", "holds_open"],
    ),
    (410, "Gone", "The hold expired before this came", &["hold_expired"]),
    (413, "TooLarge", "More bytes than are read", &["too_large"]),
    (
        422,
        "Invalid",
        "`field` says what does not fit; or the idempotency key came with another request",
        &["answer_invalid", "idempotency_key_reused"],
    ),
    (423, "Frozen", "Everything is frozen", &["frozen"]),
    (429, "TooMany", "Come back after so many seconds", &["too_many"]),
    (500, "Damaged", "What is stored is not what was uploaded; it is not given out", &["damaged"]),
    (503, "Unavailable", "Not at present; come back after so many seconds", &["unavailable"]),
    (507, "NoRoom", "The server keeps as much as it may", &["no_room"]),
];

/// The statuses of the problems that a route can answer with.
fn statuses(route: &Route) -> BTreeSet<u16> {
    let guarded = matches!(route.access, Access::Caller | Access::Admin);
    let mut statuses: BTreeSet<u16> = route.refuses.iter().copied().collect();
    let mut when = |given: bool, more: &[u16]| {
        if given {
            statuses.extend(more);
        }
    };
    when(true, &[503]);
    when(guarded, &[401, 429]);
    // A login that changes something brings its proof that our own page sent it.
    when(guarded && route.method != Method::GET, &[403]);
    when(route.access == Access::Admin, &[403]);
    when(route.path.contains("{id}"), &[404]);
    when(!route.query.is_empty(), &[400]);
    when(route.takes.is_some() || route.takes_bytes, &[400, 413, 422]);
    statuses
}

/// As the replies of an operation.
pub(super) fn refusals_of(route: &Route) -> Map<String, Value> {
    let statuses = statuses(route);
    let known = PROBLEMS.iter().filter(|(status, ..)| statuses.contains(status));
    known
        .map(|(status, name, ..)| {
            (status.to_string(), json!({"$ref": format!("#/components/responses/{name}")}))
        })
        .collect()
}

/// The replies themselves, which operations refer to.
pub(super) fn components(problem: &schemars::Schema) -> Map<String, Value> {
    let mut components = Map::new();
    for (status, name, says, codes) in PROBLEMS {
        let exactly = json!({
            "type": "object",
            "properties": {"status": {"const": status}, "code": {"enum": codes}},
        });
        let schema = json!({"allOf": [problem, exactly]});
        let mut reply = json!({
            "description": says,
            "content": {"application/problem+json": {"schema": schema}},
        });
        if matches!(status, 429 | 503) {
            reply["headers"]["Retry-After"] =
                json!({"required": true, "schema": {"type": "integer", "minimum": 0}});
        }
        if status == 401 {
            reply["headers"]["WWW-Authenticate"] =
                json!({"required": true, "schema": {"type": "string"}});
        }
        components.insert(name.into(), reply);
    }
    components
}

#[cfg(test)]
mod tests {
    use domain::refusal::Refusal;

    use super::*;
    use crate::problem::Problem;
    use crate::routes::table;

    #[test]
    fn every_problem_is_described() {
        let problems = [
            Problem::bad_request(""),
            Problem::unauthenticated(""),
            Problem::not_entitled(""),
            Problem::not_found(""),
            Problem::too_large(""),
            Problem::invalid("", ""),
            Problem::key_reused(""),
            Problem::too_many("", 1),
            Problem::unavailable("", 1),
            Refusal::HoldsOpen { holds: Vec::new() }.into(),
            Refusal::Overtaken.into(),
            Refusal::Frozen { reason: String::new() }.into(),
        ];
        for problem in problems {
            let sent = serde_json::to_value(&problem).expect("json");
            let known = PROBLEMS.iter().any(|(status, _, _, codes)| {
                sent["status"] == *status && codes.iter().any(|code| sent["code"] == *code)
            });
            assert!(known, "{sent}");
        }
    }

    #[test]
    fn a_route_says_only_what_is_known() {
        for route in table() {
            for status in statuses(&route) {
                assert!(PROBLEMS.iter().any(|(known, ..)| *known == status), "{status}");
            }
        }
    }
}
