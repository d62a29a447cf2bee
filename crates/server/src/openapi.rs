//! `/openapi.json`, written from the route table and the wire types.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::idempotency;
use crate::problem::Document;
use crate::routes::{Access, Route, table};
use crate::wire;

pub(crate) async fn show(State(app): State<App>) -> Response {
    idempotency::json(StatusCode::OK, app.openapi.clone().into())
}

pub(crate) fn document() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut schemas = settings.into_generator();
    let problem = schemas.subschema_for::<Document>();
    let event = schemas.subschema_for::<wire::EventData>();
    let mut paths = Map::new();
    for route in table() {
        if route.access == Access::Page {
            continue;
        }
        let operation = operation(&route, &mut schemas, &problem, &event);
        let methods = paths.entry(route.path).or_insert_with(|| json!({}));
        methods[route.method.as_str().to_lowercase()] = operation;
    }
    let schemas = schemas.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Holdpoint",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "No dangerous tool call runs until an entitled person has approved exactly that call.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "login": {"type": "apiKey", "in": "cookie", "name": "holdpoint_session"},
                "csrf": {"type": "apiKey", "in": "header", "name": "X-Holdpoint-CSRF"},
            },
        },
    })
}

fn operation(
    route: &Route,
    schemas: &mut schemars::SchemaGenerator,
    problem: &schemars::Schema,
    event: &schemars::Schema,
) -> Value {
    let mut replies = Map::new();
    for given in &route.gives {
        let mut reply = json!({"description": description(given.status)});
        let schema = match given.shape {
            Some(shape) => json!(shape(schemas)),
            None if given.kind == "text/event-stream" => {
                json!({"type": "string", "description": "events; each `data:` has this shape", "x-event": event})
            }
            None => json!({}),
        };
        if !given.kind.is_empty() {
            reply["content"][given.kind] = json!({"schema": schema});
        }
        replies.insert(given.status.to_string(), reply);
    }
    replies.insert(
        "default".into(),
        json!({
            "description": "A problem (RFC 9457); `code` says which",
            "content": {"application/problem+json": {"schema": problem}},
        }),
    );
    let mut operation = json!({
        "summary": route.summary,
        "operationId": name(route),
        "responses": replies,
        "parameters": parameters(route),
    });
    if let Some(shape) = route.takes {
        let schema = shape(schemas);
        operation["requestBody"] = json!({"content": {"application/json": {"schema": schema}}});
    }
    if matches!(route.access, Access::Caller | Access::Admin) {
        let changes = route.method != axum::http::Method::GET;
        let login = if changes { json!({"login": [], "csrf": []}) } else { json!({"login": []}) };
        operation["security"] = json!([{"token": []}, login]);
    }
    if route.access == Access::Admin {
        operation["description"] = json!("Needs the role and the scope `admin`.");
    }
    operation
}

fn parameters(route: &Route) -> Vec<Value> {
    let mut parameters = Vec::new();
    if route.path.contains("{id}") {
        parameters.push(
            json!({"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}),
        );
    }
    for (name, description) in route.query {
        parameters.push(json!({
            "name": name, "in": "query", "description": description, "schema": {"type": "string"},
        }));
    }
    if route.method == axum::http::Method::POST {
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "maxLength": 255},
            "description": "The same key and body get the same reply; kept for 24 hours.",
        }));
    }
    parameters
}

fn name(route: &Route) -> String {
    let words = route.path.split(['/', '.']).filter(|word| !word.is_empty() && *word != "v1");
    let words: Vec<&str> = words.map(|word| if word == "{id}" { "one" } else { word }).collect();
    format!("{}_{}", route.method.as_str().to_lowercase(), words.join("_"))
}

fn description(status: u16) -> &'static str {
    match status {
        201 => "It was made; `Location` says where",
        202 => "It was taken in",
        204 => "Done, or not yet; nothing to say",
        303 => "Go on there",
        _ => "As asked",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_of_the_api_is_described_and_nothing_else() {
        let document = document();
        let mut described: Vec<String> = Vec::new();
        for (path, methods) in document["paths"].as_object().expect("paths") {
            for method in methods.as_object().expect("methods").keys() {
                described.push(format!("{} {path}", method.to_uppercase()));
            }
        }
        let mut routes: Vec<String> = table()
            .iter()
            .filter(|route| route.access != Access::Page)
            .map(|route| format!("{} {}", route.method, route.path))
            .collect();
        described.sort();
        routes.sort();
        assert_eq!(described, routes);
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = document();
        let text = document.to_string();
        let mut found = 0;
        for piece in text.split("\"$ref\":\"#/components/schemas/").skip(1) {
            let name = piece.split('"').next().unwrap_or_default();
            assert!(document["components"]["schemas"][name].is_object(), "{name}");
            found += 1;
        }
        assert!(found > 20, "{found}");
    }

    #[test]
    fn names_of_operations_are_unique() {
        let document = document();
        let mut names: Vec<&str> = document["paths"]
            .as_object()
            .expect("paths")
            .values()
            .flat_map(|methods| methods.as_object().expect("methods").values())
            .filter_map(|operation| operation["operationId"].as_str())
            .collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
