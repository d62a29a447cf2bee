//! `/openapi.json`, written from the route table and the wire types.

mod links;
mod parameter;
mod refusals;

use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::idempotency;
use crate::limits::KEY_BYTES_MAX;
use crate::problem::Document;
use crate::routes::{Access, Route, RouteReply, table};
use crate::wire;

pub(crate) use parameter::{Parameter, ParameterKind};

pub(crate) async fn show(State(app): State<App>) -> Response {
    idempotency::json(StatusCode::OK, app.openapi.clone().into())
}

pub(crate) fn document() -> Value {
    let mut shapes = Shapes::new();
    let mut paths = Map::new();
    for route in table() {
        if route.access == Access::Page {
            continue;
        }
        let methods = paths.entry(route.path).or_insert_with(|| json!({}));
        methods[route.method.as_str().to_lowercase()] = shapes.operation(&route);
    }
    let problem = shapes.given.subschema_for::<Document>();
    let mut schemas = shapes.asked.take_definitions(true);
    schemas.append(&mut shapes.given.take_definitions(true));
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
            "responses": refusals::components(&problem),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "login": {"type": "apiKey", "in": "cookie", "name": "holdpoint_session"},
                "csrf": {"type": "apiKey", "in": "header", "name": "X-Holdpoint-CSRF"},
            },
        },
    })
}

/// What is asked may leave out what has a default; what is given has every field, if only as null.
/// So the two are described apart.
struct Shapes {
    asked: SchemaGenerator,
    given: SchemaGenerator,
    event: Schema,
}

impl Shapes {
    fn new() -> Shapes {
        let settings = SchemaSettings::draft2020_12()
            .with(|settings| settings.definitions_path = "/components/schemas".into());
        let mut given = settings.clone().for_serialize().into_generator();
        let event = given.subschema_for::<wire::EventData>();
        Shapes { asked: settings.for_deserialize().into_generator(), given, event }
    }

    fn operation(&mut self, route: &Route) -> Value {
        let mut replies = refusals::refusals_of(route);
        for given in &route.gives {
            replies.insert(given.status.to_string(), self.reply(given));
        }
        let mut operation = json!({
            "summary": route.summary,
            "operationId": name(route),
            "responses": replies,
            "parameters": parameters(route),
        });
        if route.takes_bytes {
            operation["requestBody"] = json!({
                "content": {"application/octet-stream": {
                    "schema": {"type": "string", "format": "binary", "minLength": 1},
                }},
                "required": true,
            });
        }
        if let Some(shape) = route.takes {
            let schema = shape(&mut self.asked);
            let required = self.must_be_there(&schema);
            operation["requestBody"] = json!({
                "content": {"application/json": {"schema": schema}}, "required": required,
            });
        }
        if matches!(route.access, Access::Caller | Access::Admin) {
            let login = match route.method {
                Method::GET => json!({"login": []}),
                _ => json!({"login": [], "csrf": []}),
            };
            operation["security"] = json!([{"token": []}, login]);
        }
        if route.access == Access::Admin {
            operation["description"] = json!("Needs the role and the scope `admin`.");
        }
        operation
    }

    fn reply(&mut self, given: &RouteReply) -> Value {
        let mut reply = json!({"description": description(given.status)});
        let schema = match given.shape {
            Some(shape) => json!(shape(&mut self.given)),
            None if given.kind == "text/event-stream" => self.event(),
            None => json!({}),
        };
        if let Some(links) = links::links_of(&schema) {
            // What has an id that can be asked for says where.
            if given.status == 201 {
                reply["headers"]["Location"] =
                    json!({"required": true, "schema": {"type": "string"}});
            }
            reply["links"] = json!(links);
        }
        if !given.kind.is_empty() {
            reply["content"][given.kind] = json!({"schema": schema});
        }
        reply
    }

    /// One event of a stream: before OpenAPI 3.2, that is what the schema of a stream describes.
    fn event(&self) -> Value {
        let snapshot =
            json!({"type": "object", "required": ["position"], "not": {"required": ["at"]}});
        let spoken =
            json!({"type": "object", "required": ["message"], "not": {"required": ["at"]}});
        json!({
            "type": "object",
            "description": "One event. `data` is JSON: of something stored, of a `reset` (a snapshot), \
                            or of text on its way, which has no `id`.",
            "properties": {
                "event": {"type": "string"},
                "id": {"type": "string", "pattern": "^[0-9]+$"},
                "data": {
                    "type": "string",
                    "contentMediaType": "application/json",
                    "contentSchema": {"anyOf": [self.event, snapshot, spoken]},
                },
            },
            "required": ["event", "data"],
        })
    }

    /// An empty body is an empty object, so it is needed only where an empty object would not do.
    fn must_be_there(&self, schema: &Schema) -> bool {
        let name = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.rsplit('/').next());
        let shape = name.and_then(|name| self.asked.definitions().get(name));
        shape.is_some_and(|shape| ["required", "oneOf"].iter().any(|key| shape.get(key).is_some()))
    }
}

fn parameters(route: &Route) -> Vec<Value> {
    let mut parameters: Vec<Value> = parameter::of_path(route.path).into_iter().collect();
    parameters.extend(route.query.iter().map(Parameter::written));
    // Replies are kept for callers, by name; a stranger has none.
    if (route.takes.is_some() || route.takes_bytes) && route.access != Access::Open {
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header",
            "schema": {"type": "string", "minLength": 1, "maxLength": KEY_BYTES_MAX, "pattern": "^[\\t -~]*[!-~][\\t -~]*$"},
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
        201 => "It was made",
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
