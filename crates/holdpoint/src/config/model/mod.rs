//! `[models.NAME]`: what agents think with.

mod place;
mod table;
mod vendor;

use std::fmt;
use std::sync::Arc;

use domain::budget::Prices;
use models::scripted::{DEMO_SCRIPT, ScriptedModel};
use ports::clock::{Clock, Rng};
use ports::model::Model;
use toml::Spanned;

use super::error::ConfigError;
use super::source::{ConfigSource, Result};

pub use crate::embed::{HeaderSource, VendorModel};
pub(super) use place::is_local;
pub(super) use table::ModelTable;
#[cfg(test)]
pub(super) use table::TimeLimitsTable;

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
    Vendor(Box<VendorModel>),
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
    /// What a million tokens cost, if the file says so.
    pub fn prices(&self) -> Option<Prices> {
        match &self.provider {
            Provider::Scripted(_) => None,
            Provider::Vendor(vendor) => vendor.prices,
        }
    }

    /// The model itself, ready to think. Its key is read here, so that a missing one is told at the
    /// start and not in the middle of a run.
    pub fn open(&self, clock: Arc<dyn Clock>, rng: Arc<dyn Rng>) -> Result<Arc<dyn Model>> {
        match &self.provider {
            Provider::Scripted(model) => Ok(model.clone()),
            Provider::Vendor(vendor) => vendor.open(clock, rng).map_err(|message| {
                let message = format!("model `{}`: {message}", self.name);
                ConfigError { file: self.file.clone(), line: Some(self.line), message }
            }),
        }
    }

    /// Sound, but not wise.
    pub(super) fn warning(&self) -> Option<String> {
        let Provider::Vendor(vendor) = &self.provider else { return None };
        vendor.is_exposed().then(|| {
            format!(
                "model `{}`: its `base_url` is not https, so its key and all that is said can be \
                 read on the way",
                self.name
            )
        })
    }
}

impl ModelTable {
    pub(super) fn check(
        table: Spanned<ModelTable>,
        name: &Spanned<String>,
        source: &ConfigSource<'_>,
        file: &str,
    ) -> Result<ModelConfig> {
        source.name("a model", name, "._-")?;
        let (span, table) = (table.span(), table.into_inner());
        let provider = match table.vendor(source)? {
            None => {
                if let Some((key, given)) = table.vendor_keys().into_iter().next() {
                    let message = format!("a scripted model has no `{key}`; it has `script`");
                    return Err(source.error(given, message));
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
                let vendor = vendor::check(name.get_ref(), vendor, table, span.clone(), source)?;
                Provider::Vendor(Box::new(vendor))
            }
        };
        let line = source.line(span);
        Ok(ModelConfig { name: name.get_ref().clone(), provider, file: file.into(), line })
    }
}

fn scripted(script: &Spanned<String>, source: &ConfigSource<'_>) -> Result<ScriptedModel> {
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
