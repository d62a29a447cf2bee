//! A model behind somebody's API: what the section becomes, and the checks between.

use domain::budget::Prices;
use std::ops::Range;
use std::time::Duration;

use models::ModelSettings;
use models::anthropic::{Anthropic, Cache, Thinking};
use models::limits::{MAX_TOKENS, RETRIES_MAX};
use models::settings::TimeLimits;
use models::vendor::VendorApi;
use reqwest::Url;
use toml::Spanned;

use super::place;
use super::table::{ModelTable, TimeLimitsTable};
use crate::config::secret::SecretSource;
use crate::config::source::{ConfigSource, Result};
use crate::embed::{HeaderSource, ProxySource, VendorModel};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vendor {
    Anthropic,
    OpenAi(OpenAiApi),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenAiApi {
    Chat,
    Responses,
}

impl VendorModel {
    pub(super) fn is_exposed(&self) -> bool {
        !self.is_local() && self.settings.base_url.scheme() == "http"
    }
}

/// More than any model has today.
const MAX_TOKENS_MAX: i64 = 10_000_000;
/// The least that the API takes.
const BUDGET_MIN: i64 = 1_024;
const TIME_LIMIT_MAX: Duration = Duration::from_secs(24 * 3_600);

pub(super) fn check(
    name: &str,
    vendor: Vendor,
    table: ModelTable,
    span: Range<usize>,
    source: &ConfigSource<'_>,
) -> Result<VendorModel> {
    let vendor = api(vendor, &table, source)?;
    own_keys(vendor, &table, source)?;
    let Some(model) = &table.model else {
        let message = "`model` is missing: the name that the provider has for it";
        return Err(source.error(span, message));
    };
    let base_url = table.base_url.as_ref().map(|url| place::base_url(url, source)).transpose()?;
    let headers = headers(&table, source)?;
    let max_tokens = table
        .max_tokens
        .as_ref()
        .map(|given| between("max_tokens", given, 1, MAX_TOKENS_MAX, source))
        .transpose()?;
    let thinking = thinking(&table, max_tokens, source)?;
    let api_key = api_key(&table, base_url.as_ref(), &headers, span, source)?;
    let proxy = proxy(&table, source)?;
    let api = match vendor {
        Vendor::Anthropic => {
            VendorApi::Anthropic(Anthropic { cache: cache(&table, source)?, thinking })
        }
        Vendor::OpenAi(OpenAiApi::Chat) => {
            let send_thinking = table.send_thinking.as_ref().is_none_or(|given| *given.get_ref());
            VendorApi::Chat { send_thinking }
        }
        Vendor::OpenAi(OpenAiApi::Responses) => VendorApi::Responses,
    };
    let base_url = base_url.unwrap_or_else(|| api.base_url());
    let mut settings = ModelSettings::new(name, model.get_ref(), base_url);
    settings.max_tokens = max_tokens;
    settings.effort = effort(&table, source)?;
    settings.takes_images = takes_images(&table, source)?;
    settings.temperature = temperature(&table, source)?;
    if let Some(given) = &table.retries {
        settings.retries = between("retries", given, 0, i64::from(RETRIES_MAX), source)?;
    }
    if let Some(limits) = &table.time_limits {
        settings.time_limits = time_limits(limits.get_ref(), source)?;
    }
    let mut model = VendorModel::new(api, settings);
    model.api_key = api_key;
    model.headers = headers;
    model.proxy = proxy;
    model.prices = prices(&table, source)?;
    Ok(model)
}

/// The vendor's own place has the newer API; what is compatible has the older one for certain.
fn api(vendor: Vendor, table: &ModelTable, source: &ConfigSource<'_>) -> Result<Vendor> {
    let Vendor::OpenAi(_) = vendor else { return Ok(vendor) };
    let known = [("chat", OpenAiApi::Chat), ("responses", OpenAiApi::Responses)];
    Ok(Vendor::OpenAi(match (&table.api, &table.base_url) {
        (Some(api), _) => source.word("api", api, &known)?,
        (None, Some(_)) => OpenAiApi::Chat,
        (None, None) => OpenAiApi::Responses,
    }))
}

/// A key that would do nothing is a mistake.
fn own_keys(vendor: Vendor, table: &ModelTable, source: &ConfigSource<'_>) -> Result<()> {
    let (name, foreign): (_, &[&str]) = match vendor {
        Vendor::Anthropic => ("anthropic", &["api", "send_thinking"]),
        Vendor::OpenAi(OpenAiApi::Chat) => ("openai", &["cache", "thinking"]),
        Vendor::OpenAi(OpenAiApi::Responses) => ("openai", &["cache", "thinking", "send_thinking"]),
    };
    let given = table.vendor_keys().into_iter().find(|(key, _)| foreign.contains(key));
    match given {
        None => Ok(()),
        Some((key @ "thinking", at)) => {
            let message = format!("a model of `{name}` has no `{key}`; it has `effort`");
            Err(source.error(at, message))
        }
        Some((key @ "send_thinking", at)) if name == "openai" => {
            let message = format!("`{key}` goes with `api = \"chat\"`");
            Err(source.error(at, message))
        }
        Some((key, at)) => {
            Err(source.error(at, format!("a model of `{name}` has no `{key}`; take it out")))
        }
    }
}

fn api_key(
    table: &ModelTable,
    base_url: Option<&Url>,
    headers: &[(String, HeaderSource)],
    span: Range<usize>,
    source: &ConfigSource<'_>,
) -> Result<Option<SecretSource>> {
    let none = table.api_key_env.is_none() && table.api_key_file.is_none();
    let local = base_url.is_some_and(place::is_local);
    let by_header = headers.iter().any(|(_, from)| matches!(from, HeaderSource::Secret(_)));
    if none && (local || by_header) {
        return Ok(None);
    }
    source.secret("api_key", span, &table.api_key_env, &table.api_key_file).map(Some)
}

/// Headers that are ours to write.
const RESERVED: [&str; 7] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "transfer-encoding",
    "user-agent",
];
/// Parts of names whose values are secrets.
const SECRETIVE: [&str; 6] = ["auth", "cookie", "key", "password", "secret", "token"];

fn headers(table: &ModelTable, source: &ConfigSource<'_>) -> Result<Vec<(String, HeaderSource)>> {
    let mut headers: Vec<(String, HeaderSource)> = Vec::new();
    let mut add = |name: &Spanned<String>, from: HeaderSource| {
        let plain = name.get_ref().to_ascii_lowercase();
        let error = |message: String| Err(source.error(name.span(), message));
        let shown = domain::visible::visible(name.get_ref());
        if reqwest::header::HeaderName::from_bytes(plain.as_bytes()).is_err() {
            return error(format!("`{shown}` cannot be the name of a header"));
        }
        if RESERVED.contains(&plain.as_str()) {
            return error(format!("the header `{shown}` is set by us; take it out"));
        }
        let secret = SECRETIVE.iter().any(|part| plain.contains(part));
        if secret && matches!(from, HeaderSource::Plain(_)) {
            return error(format!(
                "secrets do not belong in this file: take `{shown}` out of `headers`, and use \
                 `headers_env` or `headers_file`"
            ));
        }
        if headers.iter().any(|(known, _)| *known == plain) {
            return error(format!("the header `{shown}` is given twice"));
        }
        headers.push((plain, from));
        Ok(())
    };
    for (name, value) in table.headers.iter().flat_map(|table| table.get_ref()) {
        add(name, HeaderSource::Plain(value.get_ref().clone()))?;
    }
    for (name, variable) in table.headers_env.iter().flat_map(|table| table.get_ref()) {
        add(name, HeaderSource::Secret(SecretSource::Env(source.variable(variable)?)))?;
    }
    for (name, file) in table.headers_file.iter().flat_map(|table| table.get_ref()) {
        add(name, HeaderSource::Secret(SecretSource::File(source.path(file.get_ref()))))?;
    }
    Ok(headers)
}

fn proxy(table: &ModelTable, source: &ConfigSource<'_>) -> Result<ProxySource> {
    match (&table.proxy, &table.proxy_env) {
        (None, None) => Ok(ProxySource::Environment),
        (Some(given), None) if given.get_ref() == "none" => Ok(ProxySource::None),
        (Some(given), None) => Ok(ProxySource::Url(place::proxy(given, source)?)),
        (None, Some(variable)) => Ok(ProxySource::Env(source.variable(variable)?)),
        (Some(_), Some(variable)) => {
            Err(source.error(variable.span(), "give `proxy` or `proxy_env`, not both"))
        }
    }
}

fn thinking(
    table: &ModelTable,
    max_tokens: Option<u32>,
    source: &ConfigSource<'_>,
) -> Result<Thinking> {
    let Some(given) = &table.thinking else { return Ok(Thinking::Off) };
    let error = |message: String| Err(source.error(given.span(), message));
    let thinking = match given.get_ref() {
        toml::Value::String(word) if word == "off" => Thinking::Off,
        toml::Value::String(word) if word == "adaptive" => Thinking::Adaptive,
        toml::Value::Integer(tokens) => {
            let most = i64::from(max_tokens.unwrap_or(MAX_TOKENS));
            match u32::try_from(*tokens) {
                Ok(budget) if (BUDGET_MIN..most).contains(tokens) => Thinking::Budget(budget),
                _ => {
                    return error(format!(
                        "`thinking` is part of what `max_tokens` allows: a number of tokens from \
                         {BUDGET_MIN} to less than {most}"
                    ));
                }
            }
        }
        _ => {
            return error(
                "`thinking` is a number of tokens, `\"adaptive\"` or `\"off\"`".to_owned(),
            );
        }
    };
    match &table.temperature {
        Some(temperature) if thinking != Thinking::Off => Err(source.error(
            temperature.span(),
            "a model that thinks takes no `temperature`; leave one of the two out",
        )),
        _ => Ok(thinking),
    }
}

fn effort(table: &ModelTable, source: &ConfigSource<'_>) -> Result<Option<String>> {
    let known =
        ["none", "minimal", "low", "medium", "high", "xhigh", "max"].map(|word| (word, word));
    let given = table.effort.as_ref().map(|given| source.word("effort", given, &known));
    Ok(given.transpose()?.map(str::to_owned))
}

/// What may be attached beside text; `None` where the configuration does not say.
fn takes_images(table: &ModelTable, source: &ConfigSource<'_>) -> Result<Option<bool>> {
    let Some(given) = &table.takes else { return Ok(None) };
    for kind in given.get_ref() {
        source.word("takes", kind, &[("image", ())])?;
    }
    Ok(Some(!given.get_ref().is_empty()))
}

fn temperature(table: &ModelTable, source: &ConfigSource<'_>) -> Result<Option<f64>> {
    match &table.temperature {
        Some(given) if !(0.0..=2.0).contains(given.get_ref()) => {
            Err(source.error(given.span(), "`temperature` is between 0 and 2"))
        }
        given => Ok(given.as_ref().map(|given| *given.get_ref())),
    }
}

fn cache(table: &ModelTable, source: &ConfigSource<'_>) -> Result<Cache> {
    let known = [("off", Cache::Off), ("5m", Cache::Minutes), ("1h", Cache::Hour)];
    let given = table.cache.as_ref().map(|given| source.word("cache", given, &known));
    Ok(given.transpose()?.unwrap_or_default())
}

fn time_limits(table: &TimeLimitsTable, source: &ConfigSource<'_>) -> Result<TimeLimits> {
    let default = TimeLimits::default();
    let limit = |given: &Option<Spanned<String>>, default| {
        let Some(given) = given else { return Ok(default) };
        match source.duration(given)? {
            limit if !limit.is_zero() && limit <= TIME_LIMIT_MAX => Ok(limit),
            _ => Err(source.error(given.span(), "a time limit is between 1ms and 24h")),
        }
    };
    Ok(TimeLimits {
        connect: limit(&table.connect, default.connect)?,
        first_byte: limit(&table.first_byte, default.first_byte)?,
        silence: limit(&table.silence, default.silence)?,
        turn: limit(&table.turn, default.turn)?,
    })
}

fn prices(table: &ModelTable, source: &ConfigSource<'_>) -> Result<Option<Prices>> {
    let micros = |key: &str, given: &Spanned<f64>| match *given.get_ref() {
        price if (0.0..=1_000_000.0).contains(&price) => Ok((price * 1e6).round() as u64),
        _ => {
            let message = format!("`{key}` is the price of a million tokens, such as 2.5");
            Err(source.error(given.span(), message))
        }
    };
    match (&table.price_input, &table.price_cached, &table.price_output) {
        (None, None, None) => Ok(None),
        (Some(input), cached, Some(output)) => {
            let input = micros("price_input", input)?;
            let cached = cached.as_ref().map(|cached| micros("price_cached", cached));
            Ok(Some(Prices {
                input,
                cached: cached.transpose()?.unwrap_or(input),
                output: micros("price_output", output)?,
            }))
        }
        (input, cached, output) => {
            let given = input.iter().chain(cached).chain(output).next();
            let message = "`price_input` and `price_output` come as a pair; give both or neither";
            Err(source.error(given.map(Spanned::span).unwrap_or_default(), message))
        }
    }
}

fn between(
    key: &str,
    given: &Spanned<i64>,
    least: i64,
    most: i64,
    source: &ConfigSource<'_>,
) -> Result<u32> {
    let number = u32::try_from(*given.get_ref());
    number
        .ok()
        .filter(|number| (least..=most).contains(&i64::from(*number)))
        .ok_or_else(|| source.error(given.span(), format!("`{key}` is between {least} and {most}")))
}
