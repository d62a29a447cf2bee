//! `[models.NAME]`: whoever thinks.

use std::fmt;
use std::sync::Arc;

use models::scripted::{DEMO_SCRIPT, ScriptedModel};
use ports::model::Model;
use serde::Deserialize;
use toml::Spanned;

use super::error::ConfigError;
use super::secret::SecretSource;
use super::source::{Result, Source};

/// The script that comes with the program.
const DEMO: &str = "builtin:demo";

#[derive(Clone, Debug)]
pub struct ModelConfig {
    pub name: String,
    pub provider: Provider,
    file: String,
    line: usize,
}

#[derive(Clone)]
pub enum Provider {
    /// Read and checked.
    Scripted(Arc<ScriptedModel>),
    Vendor(VendorModel),
}

/// A model behind somebody's API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VendorModel {
    pub vendor: Vendor,
    pub model: String,
    /// Where it is, if not at the vendor's.
    pub base_url: Option<String>,
    pub api_key: SecretSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vendor {
    Anthropic,
    OpenAi,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Provider::Scripted(_) => f.write_str("Scripted"),
            Provider::Vendor(vendor) => vendor.fmt(f),
        }
    }
}

impl ModelConfig {
    /// The model itself, ready to think.
    pub fn open(&self) -> Result<Arc<dyn Model>> {
        match &self.provider {
            Provider::Scripted(model) => Ok(model.clone()),
            Provider::Vendor(vendor) => {
                let provider = match vendor.vendor {
                    Vendor::Anthropic => "anthropic",
                    Vendor::OpenAi => "openai",
                };
                let message = format!(
                    "model `{}`: the provider `{provider}` is not available in this version; use `scripted`",
                    self.name
                );
                Err(ConfigError { file: self.file.clone(), line: Some(self.line), message })
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelTable {
    provider: Spanned<String>,
    script: Option<Spanned<String>>,
    model: Option<Spanned<String>>,
    base_url: Option<Spanned<String>>,
    api_key_env: Option<Spanned<String>>,
    api_key_file: Option<Spanned<String>>,
}

impl ModelTable {
    pub(super) fn check(
        table: Spanned<ModelTable>,
        name: &Spanned<String>,
        source: &Source<'_>,
        file: &str,
    ) -> Result<ModelConfig> {
        source.name("a model", name, "._-")?;
        let (span, table) = (table.span(), table.into_inner());
        let known = [
            ("scripted", None),
            ("anthropic", Some(Vendor::Anthropic)),
            ("openai", Some(Vendor::OpenAi)),
        ];
        let provider = match source.word("provider", &table.provider, &known)? {
            None => {
                let others = [
                    ("model", &table.model),
                    ("base_url", &table.base_url),
                    ("api_key_env", &table.api_key_env),
                    ("api_key_file", &table.api_key_file),
                ];
                if let Some((key, Some(given))) =
                    others.into_iter().find(|(_, given)| given.is_some())
                {
                    let message = format!("a scripted model has no `{key}`; it has `script`");
                    return Err(source.error(given.span(), message));
                }
                let Some(script) = &table.script else {
                    let message =
                        "`script` is missing: the file with what the model says, or `builtin:demo`";
                    return Err(source.error(span, message));
                };
                Provider::Scripted(Arc::new(scripted(script, source)?))
            }
            Some(vendor) => {
                if let Some(script) = &table.script {
                    let message = "only a scripted model has a `script`";
                    return Err(source.error(script.span(), message));
                }
                let Some(model) = table.model else {
                    let message = "`model` is missing: the name that the provider has for it";
                    return Err(source.error(span, message));
                };
                let base_url = table.base_url.map(|url| base_url(url, source)).transpose()?;
                let api_key = source.secret(
                    "api_key",
                    span.clone(),
                    &table.api_key_env,
                    &table.api_key_file,
                )?;
                Provider::Vendor(VendorModel {
                    vendor,
                    model: model.into_inner(),
                    base_url,
                    api_key,
                })
            }
        };
        let line = source.line(span);
        Ok(ModelConfig { name: name.get_ref().clone(), provider, file: file.into(), line })
    }
}

fn scripted(script: &Spanned<String>, source: &Source<'_>) -> Result<ScriptedModel> {
    let (name, text) = match script.get_ref().as_str() {
        DEMO => (DEMO.to_owned(), DEMO_SCRIPT.to_owned()),
        other => {
            let path = source.path(other);
            let text = std::fs::read_to_string(&path).map_err(|why| {
                let message = format!("the script {} cannot be read: {why}", path.display());
                source.error(script.span(), message)
            })?;
            (path.display().to_string(), text)
        }
    };
    // The mistake is in the script, so that is the file and the line to look at.
    ScriptedModel::parse(&text).map_err(|why| ConfigError {
        file: name,
        line: Some(why.line),
        message: why.message,
    })
}

fn base_url(url: Spanned<String>, source: &Source<'_>) -> Result<String> {
    let sound = reqwest::Url::parse(url.get_ref())
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if !sound {
        let shown = domain::visible::visible(url.get_ref());
        let message = format!("`{shown}` is not a URL; write it like `https://models.example.com`");
        return Err(source.error(url.span(), message));
    }
    Ok(url.into_inner().trim_end_matches('/').to_owned())
}
