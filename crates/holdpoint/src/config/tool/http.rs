//! `kind = "http"`: one HTTP request, with arguments in fixed places.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use domain::tool::Effects;
use serde_json::Value;
use toml::Spanned;
use tools::http::{BodyTemplate, HttpConfig, SecretHeader};

use super::super::json::json;
use super::super::secret::SecretSource;
use super::super::source::{Result, Source};
use super::ToolTable;

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpTool {
    pub description: String,
    pub input_schema: Value,
    pub effects: Effects,
    pub method: String,
    pub url: String,
    /// What an argument in place of the host may be.
    pub hosts: Vec<String>,
    pub headers: Vec<(String, String)>,
    /// Headers whose values are secrets, and where those are.
    pub secret_headers: Vec<(String, SecretSource)>,
    pub body: BodyTemplate,
    pub allow_private_addresses: bool,
    pub time_limit: Option<Duration>,
}

impl HttpTool {
    /// As the tool host wants it, with the secrets that were found.
    pub fn setup(&self, name: &str, secret_headers: Vec<SecretHeader>) -> HttpConfig {
        let mut setup =
            HttpConfig::new(name, &self.description, self.input_schema.clone(), &self.url);
        setup.effects = self.effects;
        setup.method = self.method.clone();
        setup.hosts = self.hosts.clone();
        setup.headers = self.headers.clone();
        setup.secret_headers = secret_headers;
        setup.body = self.body.clone();
        setup.allow_private_addresses = self.allow_private_addresses;
        setup.time_limit = self.time_limit.unwrap_or(setup.time_limit);
        setup
    }
}

impl ToolTable {
    pub(super) fn http(&self, span: &Range<usize>, source: &Source<'_>) -> Result<HttpTool> {
        let url = self.required("url", &self.url, span, source)?;
        let own = |list: &Option<Spanned<BTreeMap<String, String>>>| -> Vec<(String, String)> {
            let pairs = list.iter().flat_map(|list| list.get_ref());
            pairs.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        let body = match (&self.body, &self.form) {
            (None, None) => BodyTemplate::None,
            (Some(body), None) => BodyTemplate::Json(json(body.get_ref().clone())),
            (None, Some(_)) => BodyTemplate::Form(own(&self.form)),
            (Some(_), Some(form)) => {
                return Err(source.error(form.span(), "give `body` or `form`, not both"));
            }
        };
        let mut secret_headers = Vec::new();
        for (name, variable) in self.headers_env.iter().flat_map(|list| list.get_ref()) {
            secret_headers
                .push((name.get_ref().clone(), SecretSource::Env(source.variable(variable)?)));
        }
        for (name, file) in self.headers_file.iter().flat_map(|list| list.get_ref()) {
            let path: PathBuf = source.path(file);
            secret_headers.push((name.clone(), SecretSource::File(path)));
        }
        let may_be = [Effects::ReadOnly, Effects::Idempotent, Effects::AtMostOnce];
        let http = HttpTool {
            description: self.described(span, source)?,
            input_schema: self.schema(span, source)?,
            effects: self.effects(source, &may_be)?,
            method: self.method.as_ref().map_or("GET", |method| method.get_ref()).to_owned(),
            url: url.get_ref().clone(),
            hosts: self.hosts.iter().flat_map(|hosts| hosts.get_ref()).cloned().collect(),
            headers: own(&self.headers),
            secret_headers,
            body,
            allow_private_addresses: self
                .allow_private_addresses
                .as_ref()
                .is_some_and(|allow| *allow.get_ref()),
            time_limit: self.duration(&self.time_limit, source)?,
        };
        // Everything but the secrets themselves is known by now, so that a template which cannot work
        // is found with its line.
        let secrets = http.secret_headers.iter();
        let secrets = secrets.map(|(name, _)| SecretHeader::new(name, "…", "…"));
        let sound = secrets.collect::<std::result::Result<Vec<_>, _>>().and_then(|secrets| {
            let setup = http.setup(self.name.get_ref(), secrets);
            tools::http::HttpTool::new(setup).map(drop).map_err(|bad| bad.why)
        });
        sound.map_err(|why| source.error(url.span(), why))?;
        Ok(http)
    }
}
