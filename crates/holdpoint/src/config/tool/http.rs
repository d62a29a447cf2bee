//! `kind = "http"`: one HTTP request, with arguments in fixed places.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use domain::tool::Effects;
use toml::Spanned;
use tools::http::{BodyTemplate, HttpConfig, SecretHeader};

use super::super::json::json;
use super::super::secret::SecretSource;
use super::super::source::{ConfigSource, Result};
use super::ToolTable;

/// One request.
#[derive(Clone, Debug)]
pub struct HttpTool {
    /// What its host takes, without secret headers: those are read when it is opened.
    pub setup: HttpConfig,
    /// Headers whose values are secrets, and where those are.
    pub secret_headers: Vec<(String, SecretSource)>,
}

impl ToolTable {
    pub(super) fn http(&self, span: &Range<usize>, source: &ConfigSource<'_>) -> Result<HttpTool> {
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
        let (name, description) = (self.name.get_ref(), self.described(span, source)?);
        let input_schema = self.schema(span, source)?;
        let mut setup = HttpConfig::new(name, &description, input_schema, url.get_ref());
        setup.effects = self.effects(source, &may_be)?;
        setup.method = self.method.as_ref().map_or("GET", |method| method.get_ref()).to_owned();
        setup.hosts = self.hosts.iter().flat_map(|hosts| hosts.get_ref()).cloned().collect();
        setup.headers = own(&self.headers);
        setup.body = body;
        let allow_private = self.allow_private_addresses.as_ref();
        setup.allow_private_addresses = allow_private.is_some_and(|allow| *allow.get_ref());
        setup.time_limit = self.duration(&self.time_limit, source)?.unwrap_or(setup.time_limit);
        // Everything but the secrets themselves is known by now, so that a template which cannot work
        // is found with its line.
        let secrets = secret_headers.iter().map(|(name, _)| SecretHeader::new(name, "…", "…"));
        let sound = secrets.collect::<std::result::Result<Vec<_>, _>>().and_then(|secrets| {
            let mut tried = setup.clone();
            tried.secret_headers = secrets;
            tools::http::HttpTool::new(tried).map(drop).map_err(|bad| bad.why)
        });
        sound.map_err(|why| source.error(url.span(), why))?;
        Ok(HttpTool { setup, secret_headers })
    }
}
