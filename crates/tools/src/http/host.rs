//! The tool host of HTTP requests.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::call::{Call, ExecutionContext};
use domain::caption::{Caption, CaptionKind};
use domain::hold::Preview;
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::phrase::PhraseCode;
use domain::tool::{Confirm, Effects, Place, Tool};
use domain::visible::visible;
use egress::{AddressGuard, HostResolver, SystemResolver};
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, Recovery, ToolHost};
use reqwest::Method;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::address::AddressTemplate;
use super::body::ParsedBody;
use super::header::{HeaderTemplate, SecretHeader};
use super::request::{BodyTemplate, FilledRequest, RequestTemplate};
use super::send::{HttpSender, SendResult};
use crate::bad_tool::BadTool;
use crate::limits::{HTTP_ATTEMPTS, HTTP_PAUSE, HTTP_TIME_LIMIT, HTTP_TIME_LIMIT_MAX};
use crate::title::make_headline;

/// How one HTTP tool is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpConfig {
    pub name: String,
    pub description: String,
    pub input_schema: Value,
    /// The operator's word. A GET that changes something is not unheard of, nor is a POST that only
    /// searches.
    pub effects: Effects,
    pub confirm: Confirm,
    pub method: String,
    /// `https://host/path/{argument}?key={argument}`.
    pub url: String,
    /// What `{argument}` in place of the host may be.
    pub hosts: Vec<String>,
    /// Values may hold `{argument}`.
    pub headers: Vec<(String, String)>,
    pub secret_headers: Vec<SecretHeader>,
    pub body: BodyTemplate,
    /// This machine and private networks may be called, and without TLS.
    pub allow_private_addresses: bool,
    pub time_limit: Duration,
}

impl HttpConfig {
    pub fn new(name: &str, description: &str, input_schema: Value, url: &str) -> HttpConfig {
        HttpConfig {
            name: name.into(),
            description: description.into(),
            input_schema,
            effects: Effects::default(),
            confirm: Confirm::Held,
            method: "GET".into(),
            url: url.into(),
            hosts: Vec::new(),
            headers: Vec::new(),
            secret_headers: Vec::new(),
            body: BodyTemplate::None,
            allow_private_addresses: false,
            time_limit: HTTP_TIME_LIMIT,
        }
    }
}

pub struct HttpTool {
    tool: Tool,
    template: RequestTemplate,
    sender: HttpSender,
    time_limit: Duration,
}

impl HttpTool {
    pub fn new(config: HttpConfig) -> Result<HttpTool, BadTool> {
        HttpTool::with_names(config, Arc::new(SystemResolver))
    }

    /// With another source of addresses than the system's; the guard is the same.
    pub fn with_names(
        mut config: HttpConfig,
        names: Arc<dyn HostResolver>,
    ) -> Result<HttpTool, BadTool> {
        let name = config.name.clone();
        let bad = |why: String| BadTool::new(&name, why);
        if config.time_limit.is_zero() || config.time_limit > HTTP_TIME_LIMIT_MAX {
            let most = HTTP_TIME_LIMIT_MAX.as_secs();
            return Err(bad(format!("the time limit of a request is at most {most} s")));
        }
        if config.effects == Effects::Transactional {
            return Err(bad(
                "a request cannot be `transactional`: nothing of ours is at the other end".into(),
            ));
        }
        let template = parse_template(&config).map_err(bad)?;
        close_schema(&mut config.input_schema, &template).map_err(bad)?;
        let origin = format!(
            "http {} {} hosts={:?} headers={:?} secrets={:?} body={:?} private={} limit={:?}",
            config.method,
            config.url,
            config.hosts,
            config.headers,
            config.secret_headers,
            config.body,
            config.allow_private_addresses,
            config.time_limit
        );
        let mut tool = Tool::new(
            &config.name,
            &config.description,
            config.input_schema,
            config.effects,
            Place::Server,
            &origin,
        )
        .map_err(bad)?;
        tool.confirm = config.confirm;
        let sender = HttpSender::new(names, template.guard, config.time_limit);
        Ok(HttpTool { tool, template, sender, time_limit: config.time_limit })
    }

    fn plan_request(
        &self,
        arguments: &Arguments,
    ) -> Result<(FilledRequest, ExecutionContext), String> {
        let request = self.template.fill_request(arguments.value(), &self.tool.input_schema)?;
        let mut detail = request.shown.clone();
        if self.tool.effects == Effects::Idempotent {
            detail.push(PhraseCode::KeySent, &[]);
        }
        let guard = match self.template.guard {
            AddressGuard::PublicOnly => PhraseCode::PublicAddresses,
            AddressGuard::Open => PhraseCode::AnyAddress,
        };
        detail.push(guard, &[]);
        detail.push(PhraseCode::TimeLimit, &[&self.time_limit.as_secs_f64().to_string()]);
        Ok((request, ExecutionContext { detail, ..ExecutionContext::default() }))
    }

    /// Tries as often as it is harmless to.
    async fn send_with_retries(
        &self,
        request: &FilledRequest,
        key: &str,
        start: &Start,
    ) -> SendResult {
        let deadline = self.sender.deadline();
        let (tries, key) = match self.tool.effects {
            Effects::ReadOnly => (HTTP_ATTEMPTS, None),
            Effects::Idempotent => (HTTP_ATTEMPTS, Some(key)),
            Effects::AtMostOnce | Effects::Transactional => (1, None),
        };
        let mut pause = HTTP_PAUSE;
        let mut broken = None;
        for left in (0..tries).rev() {
            let sent = self.sender.send(request, key, start, deadline).await;
            match sent {
                SendResult::Nothing(ref unsent) if !unsent.passing => {
                    return broken.map_or(sent, SendResult::Broken);
                }
                SendResult::Answered(_) | SendResult::NotBegun(_) => return sent,
                SendResult::Broken(ref why) => broken = Some(why.clone()),
                SendResult::Nothing(_) => {}
            }
            let wake = tokio::time::Instant::now() + pause;
            if left == 0 || wake >= deadline {
                // An earlier attempt of which something left is what counts.
                return broken.map_or(sent, SendResult::Broken);
            }
            tokio::time::sleep_until(wake).await;
            pause *= 2;
        }
        SendResult::Broken("no attempt was made".into())
    }

    fn outcome_of(&self, request: &FilledRequest, sent: SendResult) -> Result<Outcome, NotBegun> {
        Ok(match sent {
            SendResult::Answered(answer) => {
                let output = answer.to_output();
                let output = Output { text: request.scrub_secrets(output.text), cut: output.cut };
                match answer.status.is_success() {
                    true => Outcome::Succeeded(output),
                    false => Outcome::Failed(output),
                }
            }
            SendResult::Nothing(unsent) => nothing_sent(&unsent.why),
            SendResult::NotBegun(refused) => return Err(refused),
            SendResult::Broken(why) => match self.tool.effects {
                Effects::ReadOnly => {
                    let text = request.scrub_secrets(format!("The request failed: {why}"));
                    Outcome::Failed(Output::text(text))
                }
                _ => Outcome::Unknown {
                    evidence: request.scrub_secrets(format!("The request was sent, and {why}")),
                },
            },
        })
    }
}

fn nothing_sent(why: &str) -> Outcome {
    Outcome::Failed(Output::text(format!("Nothing was sent: {why}")))
}

fn parse_template(config: &HttpConfig) -> Result<RequestTemplate, String> {
    let method = match config.method.as_str() {
        "GET" => Method::GET,
        "HEAD" => Method::HEAD,
        "POST" => Method::POST,
        "PUT" => Method::PUT,
        "PATCH" => Method::PATCH,
        "DELETE" => Method::DELETE,
        other => {
            return Err(format!(
                "`{other}` is not a method; it is one of GET, HEAD, POST, PUT, PATCH and DELETE"
            ));
        }
    };
    if config.body != BodyTemplate::None && [Method::GET, Method::HEAD].contains(&method) {
        return Err(format!("a {method} has no body; take it out, or use POST"));
    }
    let guard =
        if config.allow_private_addresses { AddressGuard::Open } else { AddressGuard::PublicOnly };
    let headers = config.headers.iter().map(|(name, value)| HeaderTemplate::parse(name, value));
    let headers: Vec<HeaderTemplate> = headers.collect::<Result<_, _>>()?;
    for header in &config.secret_headers {
        if headers.iter().any(|other| other.name == header.header_name()) {
            return Err(format!("the header `{}` is there twice", header.header_name()));
        }
    }
    Ok(RequestTemplate {
        method,
        address: AddressTemplate::parse(&config.url, &config.hosts, guard)?,
        headers,
        secret_headers: config.secret_headers.clone(),
        body: ParsedBody::parse(&config.body)?,
        guard,
    })
}

/// Every argument goes somewhere, and nothing but arguments comes in: what people approve is what is
/// sent.
fn close_schema(schema: &mut Value, template: &RequestTemplate) -> Result<(), String> {
    let names = template.argument_names();
    let properties = schema.get("properties").and_then(Value::as_object);
    let known: Vec<&str> =
        properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(*name)) {
        return Err(format!("`{{{name}}}` is not an argument; add it to `input_schema`"));
    }
    if let Some(name) = known.iter().find(|name| !names.contains(*name)) {
        return Err(format!(
            "the argument `{name}` goes nowhere; use `{{{name}}}`, or take it out"
        ));
    }
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    if let Some(name) =
        template.address.required_arguments().iter().find(|name| !required.contains(*name))
    {
        return Err(format!("the path needs `{name}`; make it `required` in `input_schema`"));
    }
    let object = schema.as_object_mut().ok_or("`input_schema` must be an object")?;
    match object.entry("additionalProperties").or_insert(Value::Bool(false)) {
        Value::Bool(false) => Ok(()),
        _ => Err("`additionalProperties` must be false: other arguments would go nowhere".into()),
    }
}

#[async_trait]
impl ToolHost for HttpTool {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, arguments: &Arguments) -> Result<Prepared, PrepareError> {
        let (request, context) = self.plan_request(arguments).map_err(PrepareError::Unsound)?;
        Ok(Prepared {
            context,
            preview: Preview {
                summary: Some(Caption::cut(
                    format!("sends {}", request.line),
                    CaptionKind::Sends { request: visible(&request.line) },
                )),
                ..Preview::default()
            },
            title: Some(make_headline(&request.line)),
            ..Prepared::default()
        })
    }

    async fn run(
        &self,
        call: ClearedCall,
        start: Start,
        stop: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        let request = match self.plan_request(&call.call().arguments) {
            Ok((request, context)) if context == call.call().context => request,
            Ok(_) => {
                let why = "it is not the request that was approved; propose it again";
                return Ok(nothing_sent(why));
            }
            Err(why) => return Ok(nothing_sent(&why)),
        };
        if stop.is_cancelled() {
            return Ok(nothing_sent("it was stopped before it began"));
        }
        let key = call.call().idempotency_key();
        tokio::select! {
            // A request that has its answer keeps it, also when the stop comes in the same moment.
            biased;
            sent = self.send_with_retries(&request, &key, &start) => self.outcome_of(&request, sent),
            () = stop.cancelled() => self.outcome_of(&request, SendResult::Broken("it was stopped before there was an answer".into())),
        }
    }

    async fn recover(&self, call: &Call, _attempt: u32) -> Recovery {
        let line = call.context.detail.lines().next().unwrap_or_default();
        Recovery::Unknown {
            evidence: format!(
                "{line}: it may have been sent. Only the service itself can say what became of it."
            ),
        }
    }
}

#[cfg(test)]
mod tests;
