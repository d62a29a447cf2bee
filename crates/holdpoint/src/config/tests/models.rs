//! Models behind somebody's API: what a section becomes, every mistake in one, and whether it opens.

use std::time::Duration;

use domain::budget::Prices;
use models::anthropic::{Anthropic, Cache, Thinking};
use models::vendor::VendorApi;

use super::opened;
use crate::config::*;

fn vendor(text: &str) -> VendorModel {
    let config =
        Config::parse(text, "conf/holdpoint.toml").unwrap_or_else(|why| panic!("{why}\n{text}"));
    match &config.models["m"].provider {
        Provider::Vendor(vendor) => (**vendor).clone(),
        Provider::Scripted(_) => panic!("a script"),
    }
}

/// The mistake in a section that begins with these lines: provider, model, key.
#[track_caller]
fn check(provider: &str, rest: &str, wanted: &str) {
    let text = format!(
        "[models.m]\nprovider = \"{provider}\"\nmodel = \"x\"\napi_key_env = \"K\"\n{rest}\n"
    );
    match Config::parse(&text, "h.toml") {
        Ok(_) => panic!("this was taken, and should have been: {wanted}\n{text}"),
        Err(why) => assert_eq!(why.to_string(), format!("h.toml:{wanted}"), "{text}"),
    }
}

#[test]
fn every_key_arrives() {
    let model = vendor(
        r#"
        [models.m]
        provider = "anthropic"
        model = "big-1"
        base_url = "https://gw.example.com/anthropic"
        api_key_file = "secrets/key"
        headers = { X-Team = "ops" }
        headers_env = { Authorization = "GW_TOKEN" }
        headers_file = { X-Other-Key = "secrets/other" }
        proxy = "http://proxy.example.com:3128"
        max_tokens = 9000
        thinking = 4000
        effort = "high"
        cache = "1h"
        retries = 2
        time_limits = { connect = "3s", silence = "90s", turn = "1h" }
        price_input = 3
        price_cached = 0.3
        price_output = 15.25
        "#,
    );
    let api = Anthropic { cache: Cache::Hour, thinking: Thinking::Budget(4000) };
    assert_eq!(model.api, VendorApi::Anthropic(api));
    assert_eq!(model.settings.model, "big-1");
    assert_eq!(model.api_key, Some(SecretSource::File("conf/secrets/key".into())));
    assert_eq!(
        model.headers,
        [
            ("x-team".into(), HeaderSource::Plain("ops".into())),
            ("authorization".into(), HeaderSource::Secret(SecretSource::Env("GW_TOKEN".into()))),
            (
                "x-other-key".into(),
                HeaderSource::Secret(SecretSource::File("conf/secrets/other".into()))
            ),
        ]
    );
    assert_eq!(model.settings.max_tokens, Some(9000));
    assert_eq!(model.settings.effort.as_deref(), Some("high"));
    let settings = &model.settings;
    assert_eq!((settings.retries, settings.time_limits.connect), (2, Duration::from_secs(3)));
    assert_eq!(settings.time_limits.silence, Duration::from_secs(90));
    assert_eq!(settings.time_limits.first_byte, Duration::from_secs(300), "the default");
    let prices = Prices { input: 3_000_000, cached: 300_000, output: 15_250_000 };
    assert_eq!(model.prices, Some(prices));
}

#[test]
fn the_api_goes_by_the_place() {
    let api = |rest: &str| {
        let text = format!(
            "[models.m]\nprovider = \"openai\"\nmodel = \"x\"\napi_key_env = \"K\"\n{rest}\n"
        );
        vendor(&text).api
    };
    assert_eq!(api(""), VendorApi::Responses);
    assert_eq!(
        api("base_url = \"http://127.0.0.1:8000\""),
        VendorApi::Chat { send_thinking: true }
    );
    let asked = "base_url = \"http://127.0.0.1:8000\"\napi = \"responses\"";
    assert_eq!(api(asked), VendorApi::Responses);
    assert_eq!(api("api = \"chat\""), VendorApi::Chat { send_thinking: true });
}

#[test]
fn a_key_is_needed_where_others_can_come() {
    let section = "[models.m]\nprovider = \"openai\"\nmodel = \"x\"\n";
    for near in ["http://127.0.0.1:11434", "http://localhost:8000/v1", "http://ollama:11434"] {
        assert_eq!(vendor(&format!("{section}base_url = \"{near}\"\n")).api_key, None);
    }
    let by_header = "base_url = \"https://gw.example.com\"\nheaders_env = { X-Auth = \"T\" }\n";
    assert_eq!(vendor(&format!("{section}{by_header}")).api_key, None);
    for far in ["", "base_url = \"https://gw.example.com\"\n"] {
        let told = Config::parse(&format!("{section}{far}"), "h.toml").unwrap_err().to_string();
        assert_eq!(told, "h.toml:1: `api_key_env` is missing (or `api_key_file`)");
    }
}

#[test]
fn mistakes() {
    let text = "[models.m]\nprovider = \"openai\"\napi_key_env = \"K\"\n";
    let told = Config::parse(text, "h.toml").unwrap_err().to_string();
    assert_eq!(told, "h.toml:1: `model` is missing: the name that the provider has for it");
    for (provider, rest, wanted) in [
        ("openai", "api_key_file = \"f\"", "5: give `api_key_env` or `api_key_file`, not both"),
        ("openai", "api = \"caht\"", "5: `api` cannot be `caht`; did you mean `chat`?"),
        ("anthropic", "api = \"chat\"", "5: a model of `anthropic` has no `api`; take it out"),
        ("openai", "cache = \"1h\"", "5: a model of `openai` has no `cache`; take it out"),
        ("openai", "thinking = 2000", "5: a model of `openai` has no `thinking`; it has `effort`"),
        ("openai", "send_thinking = false", "5: `send_thinking` goes with `api = \"chat\"`"),
        ("openai", "script = \"s\"", "5: only a scripted model has a `script`"),
        (
            "openai",
            "base_url = \"ftp://x\"",
            "5: `ftp://x` is not a URL; write it like `https://models.example.com`",
        ),
        (
            "openai",
            "base_url = \"https://u:p@x.example\"",
            "5: secrets do not belong in this file: take the user and the password out of \
             `base_url`, and use `headers_env`",
        ),
        (
            "openai",
            "base_url = \"https://x.example/#a\"",
            "5: take everything from `#` on out of `base_url`: it is never sent",
        ),
        (
            "openai",
            "proxy = \"http://u:p@proxy.example\"",
            "5: secrets do not belong in this file: take the user and the password out of `proxy`, \
             and use `proxy_env`",
        ),
        (
            "openai",
            "proxy = \"proxy\"",
            "5: `proxy` is an address like `http://proxy.example.com:3128`, or `none` for no proxy",
        ),
        (
            "openai",
            "proxy = \"none\"\nproxy_env = \"P\"",
            "6: give `proxy` or `proxy_env`, not both",
        ),
        (
            "openai",
            "headers = { Authorization = \"Bearer x\" }",
            "5: secrets do not belong in this file: take `Authorization` out of `headers`, and use \
             `headers_env` or `headers_file`",
        ),
        ("openai", "headers = { Host = \"x\" }", "5: the header `Host` is set by us; take it out"),
        ("openai", "headers = { \"X Y\" = \"x\" }", "5: `X Y` cannot be the name of a header"),
        (
            "openai",
            "headers = { X-A = \"x\" }\nheaders_env = { x-a = \"E\" }",
            "6: the header `x-a` is given twice",
        ),
        ("openai", "max_tokens = 0", "5: `max_tokens` is between 1 and 10000000"),
        ("openai", "retries = 21", "5: `retries` is between 0 and 20"),
        ("openai", "temperature = 3", "5: `temperature` is between 0 and 2"),
        ("openai", "effort = \"hihg\"", "5: `effort` cannot be `hihg`; did you mean `high`?"),
        (
            "anthropic",
            "thinking = true",
            "5: `thinking` is a number of tokens, `\"adaptive\"` or `\"off\"`",
        ),
        (
            "anthropic",
            "thinking = 16000",
            "5: `thinking` is part of what `max_tokens` allows: a number of tokens from 1024 to less \
             than 16000",
        ),
        (
            "anthropic",
            "thinking = \"adaptive\"\ntemperature = 0.5",
            "6: a model that thinks takes no `temperature`; leave one of the two out",
        ),
        ("anthropic", "cache = \"2h\"", "5: `cache` cannot be `2h`; did you mean `1h`?"),
        ("anthropic", "time_limits = { turn = \"0s\" }", "5: a time limit is between 1ms and 24h"),
        (
            "anthropic",
            "time_limits = { total = \"1s\" }",
            "5: unknown key `total`; the keys here are `connect`, `first_byte`, `silence` and `turn`",
        ),
        (
            "anthropic",
            "price_input = 3.0",
            "5: `price_input` and `price_output` come as a pair; give both or neither",
        ),
        (
            "anthropic",
            "price_input = -1\nprice_output = 2",
            "5: `price_input` is the price of a million tokens, such as 2.5",
        ),
    ] {
        check(provider, rest, wanted);
    }
}

#[test]
fn an_open_line_is_warned_about() {
    let text = "[models.m]\nprovider = \"openai\"\nmodel = \"x\"\napi_key_env = \"K\"\n\
                base_url = \"http://gw.example.com\"\n";
    let config = Config::parse(text, "h.toml").expect("sound");
    assert_eq!(
        config.warnings,
        [
            "model `m`: its `base_url` is not https, so its key and all that is said can be read on the way"
        ]
    );
}

#[test]
fn models_open_when_their_keys_are_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = folder.path().join("h.toml").display().to_string();
    let told = |rest: &str| {
        let text = format!("[models.m]\nprovider = \"anthropic\"\nmodel = \"x\"\n{rest}\n");
        let config = Config::parse(&text, &name).expect("sound");
        opened(&config.models["m"]).map(|_| ()).map_err(|why| why.message)
    };
    assert_eq!(
        told("api_key_env = \"HOLDPOINT_TEST_NEVER_SET\""),
        Err("model `m`: the key is missing: the environment variable `HOLDPOINT_TEST_NEVER_SET` is \
             not set"
            .into())
    );
    let missing = told("api_key_file = \"key\"").unwrap_err();
    assert!(missing.starts_with("model `m`: the key is missing: the file "), "{missing}");
    let file = folder.path().join("key");
    std::fs::write(&file, " \n").expect("written");
    let empty = told("api_key_file = \"key\"").unwrap_err();
    assert!(empty.ends_with("is empty"), "{empty}");
    std::fs::write(&file, "sk-123\n").expect("written");
    assert_eq!(told("api_key_file = \"key\""), Ok(()));
    for local in ["", "api = \"responses\"\n"] {
        let text = format!(
            "[models.m]\nprovider = \"openai\"\nmodel = \"x\"\nbase_url = \"http://[::1]:1\"\n{local}"
        );
        let config = Config::parse(&text, &name).expect("sound");
        assert!(opened(&config.models["m"]).is_ok(), "a server near by needs no key");
    }
}

#[test]
fn money_is_counted_by_the_prices_of_the_model() {
    let text = |budget: &str| {
        format!(
            "[models.m]\nprovider = \"anthropic\"\nmodel = \"big\"\nbase_url = \"http://127.0.0.1:1\"\n\
             price_input = 3\nprice_output = 15\n\
             [[agents]]\nid = \"a\"\nmodel = \"m\"\nbudgets = {{ {budget} }}\n\
             [[people]]\nid = \"ana\"\nname = \"Ana\"\nroles = [\"admin\"]\n"
        )
    };
    let config = Config::parse(&text("money = 2.50"), "h.toml").expect("sound");
    assert_eq!(config.agents[0].budgets.money, Some(2_500_000));
    let prices = Prices { input: 3_000_000, cached: 3_000_000, output: 15_000_000 };
    assert_eq!(config.agents[0].prices, prices, "cached input costs as much as the rest");
    for (budget, wanted) in [
        ("money = 0", "`money` is more than nothing; leave it out for no bound"),
        ("money = -1.0", "`money` is between 0 and 1000000, like `2.50`"),
        ("money = nan", "`money` is between 0 and 1000000, like `2.50`"),
    ] {
        let Err(why) = Config::parse(&text(budget), "h.toml") else { panic!("{budget} was taken") };
        assert_eq!(why.to_string(), format!("h.toml:10: {wanted}"), "{budget}");
    }
}
