//! Where a request goes: scheme, host, path and query, each filled by its own rules.

use std::collections::BTreeSet;

use egress::AddressGuard;
use reqwest::Url;
use serde_json::Value;

use super::template::{TemplateArguments, TextTemplate, percent_encode};
use crate::limits::HTTP_URL_BYTES_MAX;

#[derive(Clone, Debug)]
pub(super) struct AddressTemplate {
    scheme: &'static str,
    host: HostTemplate,
    path: TextTemplate,
    /// Fixed keys, and what stands after the `=`.
    query: Vec<(String, Option<TextTemplate>)>,
}

#[derive(Clone, Debug)]
enum HostTemplate {
    /// Host and port, as the operator wrote them.
    Fixed(String),
    /// One of a list, by the value of an argument.
    Listed { argument: String, port: String, hosts: Vec<String> },
}

/// Characters that no URL has, or that mean something else to one reader than to another.
fn is_odd(c: char) -> bool {
    c.is_control() || c.is_whitespace() || "\\<>\"^`|#@".contains(c)
}

impl AddressTemplate {
    pub(super) fn parse(
        text: &str,
        hosts: &[String],
        guard: AddressGuard,
    ) -> Result<AddressTemplate, String> {
        let (scheme, rest) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
            (Some(rest), _) => ("https", rest),
            (_, Some(rest)) if guard == AddressGuard::Open => ("http", rest),
            (_, Some(_)) => {
                return Err("`url` must begin with https://; plain http:// goes with \
                            `allow_private_addresses`"
                    .into());
            }
            _ => return Err("`url` must begin with https://".into()),
        };
        if let Some(odd) = rest.chars().find(|c| is_odd(*c)) {
            return Err(format!(
                "`url` must not hold {odd:?}: no fragment, no user name, and everything else \
                 percent-encoded"
            ));
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, query),
            None => (rest, ""),
        };
        let path = if path.is_empty() { "/" } else { path };
        let address = AddressTemplate {
            scheme,
            host: HostTemplate::parse(authority, hosts)?,
            path: TextTemplate::parse(path)?,
            query: parse_query(query)?,
        };
        address.try_out(guard)?;
        Ok(address)
    }

    /// Arguments without which there is no address.
    pub(super) fn required_arguments(&self) -> BTreeSet<&str> {
        let host = match &self.host {
            HostTemplate::Listed { argument, .. } => Some(argument.as_str()),
            HostTemplate::Fixed(_) => None,
        };
        self.path.argument_names().chain(host).collect()
    }

    pub(super) fn argument_names(&self) -> BTreeSet<&str> {
        let query =
            self.query.iter().flat_map(|(_, value)| value).flat_map(TextTemplate::argument_names);
        self.required_arguments().into_iter().chain(query).collect()
    }

    pub(super) fn fill_text(&self, given: &TemplateArguments<'_>) -> Result<String, String> {
        let missing = "an argument that the path needs is missing";
        let path = self.path.fill_text(given, encode_segment)?.ok_or(missing)?;
        let mut text = format!("{}://{}{path}", self.scheme, self.host.fill_host(given)?);
        let mut mark = '?';
        for (key, value) in &self.query {
            let pair = match value {
                None => Some(key.clone()),
                Some(value) => value
                    .fill_text(given, |_, value| Ok(percent_encode(value)))?
                    .map(|value| format!("{key}={value}")),
            };
            // An argument that was left out takes its pair along.
            if let Some(pair) = pair {
                text.push(mark);
                text.push_str(&pair);
                mark = '&';
            }
        }
        Ok(text)
    }

    /// The URL itself. The reader of URLs tidies up what it reads; whatever it would change is not
    /// what the person saw.
    pub(super) fn fill_url(
        &self,
        given: &TemplateArguments<'_>,
        guard: AddressGuard,
    ) -> Result<Url, String> {
        let text = self.fill_text(given)?;
        if text.len() > HTTP_URL_BYTES_MAX {
            return Err(format!("the URL would be longer than {HTTP_URL_BYTES_MAX} bytes"));
        }
        let url = Url::parse(&text).map_err(|error| format!("this makes no URL: {error}"))?;
        if url.as_str() != text || has_dot_segment(url.path()) {
            return Err(
                "the arguments would lead to another path than the one that is meant".into()
            );
        }
        guard.admit_host(&url).map_err(|forbidden| forbidden.to_string())?;
        Ok(url)
    }

    /// With a harmless word in every place, so that a template which can never work is found at once.
    fn try_out(&self, guard: AddressGuard) -> Result<(), String> {
        let hosts: Vec<&str> = match &self.host {
            HostTemplate::Fixed(_) => vec![""],
            HostTemplate::Listed { hosts, .. } => hosts.iter().map(String::as_str).collect(),
        };
        let none = BTreeSet::new();
        for host in hosts {
            let mut arguments = serde_json::Map::new();
            for name in self.argument_names() {
                arguments.insert(name.to_owned(), Value::from("x"));
            }
            if let HostTemplate::Listed { argument, .. } = &self.host {
                arguments.insert(argument.clone(), Value::from(host));
            }
            let arguments = Value::Object(arguments);
            let given = TemplateArguments { arguments: &arguments, hidden: &none };
            let text = self.fill_text(&given)?;
            let read = Url::parse(&text).map_err(|error| format!("`url` is none: {error}"))?;
            if read.as_str() != text {
                return Err(format!("write `url` as it is sent, which is like `{read}`"));
            }
            self.fill_url(&given, guard)?;
        }
        Ok(())
    }
}

impl HostTemplate {
    fn parse(authority: &str, hosts: &[String]) -> Result<HostTemplate, String> {
        if !authority.contains(['{', '}']) {
            return match (authority.is_empty(), hosts) {
                (true, _) => Err("`url` names no host".into()),
                (false, []) => Ok(HostTemplate::Fixed(authority.to_owned())),
                (false, _) => Err("`hosts` goes with a `url` like `https://{host}/…`".into()),
            };
        }
        let split = authority.split_once(':').unwrap_or((authority, ""));
        let template = TextTemplate::parse(split.0)?;
        let Some(argument) = template.only_argument() else {
            return Err(
                "an argument is the whole host or no part of it, as in `https://{host}/…`".into()
            );
        };
        if hosts.is_empty() {
            return Err(
                "a host that the model chooses must be one of a list: name them in `hosts`".into(),
            );
        }
        if !split.1.chars().all(|c| c.is_ascii_digit()) {
            return Err("the port cannot be an argument".into());
        }
        if let Some(odd) =
            hosts.iter().find(|host| host.is_empty() || host.contains(['/', '?', '@', '{', ':']))
        {
            return Err(format!("`{odd}` in `hosts` is not a host name"));
        }
        let port = if split.1.is_empty() { String::new() } else { format!(":{}", split.1) };
        Ok(HostTemplate::Listed { argument: argument.to_owned(), port, hosts: hosts.to_vec() })
    }

    fn fill_host(&self, given: &TemplateArguments<'_>) -> Result<String, String> {
        match self {
            HostTemplate::Fixed(host) => Ok(host.clone()),
            HostTemplate::Listed { argument, port, hosts } => {
                let named = given.arguments.get(argument).and_then(Value::as_str);
                match named.and_then(|named| hosts.iter().find(|host| *host == named)) {
                    Some(host) => Ok(format!("{host}{port}")),
                    None => Err(format!("`{argument}` must be one of: {}", hosts.join(", "))),
                }
            }
        }
    }
}

fn parse_query(query: &str) -> Result<Vec<(String, Option<TextTemplate>)>, String> {
    let mut pairs = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = match pair.split_once('=') {
            Some((key, value)) => (key, Some(TextTemplate::parse(value)?)),
            None => (pair, None),
        };
        if key.contains(['{', '}']) {
            return Err("an argument can be a value of the query, and not a key".into());
        }
        pairs.push((key.to_owned(), value));
    }
    Ok(pairs)
}

/// One segment of a path, or part of one.
fn encode_segment(name: &str, value: &str) -> Result<String, String> {
    if value.is_empty() {
        return Err(format!("`{name}` must not be empty: it is a part of the path"));
    }
    if value.chars().any(char::is_control) {
        return Err(format!("`{name}` must not hold control characters: it is a part of the path"));
    }
    if has_dot_segment(value) {
        return Err(format!("`{name}` must not lead out of its place in the path"));
    }
    Ok(percent_encode(value))
}

/// Whether some server could read `.` or `..` in it, as servers do that decode more than once, take
/// either slash, or cut at a semicolon.
fn has_dot_segment(text: &str) -> bool {
    let mut text = text.to_owned();
    // No server decodes more than so many rounds.
    for _ in 0..4 {
        let steps = text.split(['/', '\\']).map(|step| step.split(';').next().unwrap_or(step));
        if steps.into_iter().any(|step| step == "." || step == "..") {
            return true;
        }
        let decoded = decode_percent(&text);
        if decoded == text {
            return false;
        }
        text = decoded;
    }
    true
}

fn decode_percent(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(template: &str, arguments: Value) -> String {
        let hosts = ["a.example".to_owned(), "b.example".to_owned()];
        let hosts = if template.contains("{host}") { &hosts[..] } else { &[] };
        let none = BTreeSet::new();
        let given = TemplateArguments { arguments: &arguments, hidden: &none };
        AddressTemplate::parse(template, hosts, AddressGuard::PublicOnly)
            .and_then(|address| address.fill_url(&given, AddressGuard::PublicOnly))
            .map_or_else(|why| why, |url| url.to_string())
    }

    #[track_caller]
    fn check(template: &str, arguments: Value, wanted: &str) {
        let told = filled(template, arguments.clone());
        assert!(told.contains(wanted), "{template} {arguments}: {told}");
    }

    const USER: &str = "https://api.example/users/{id}/notes?tag={tag}&all";

    #[test]
    fn each_place_has_its_encoding() {
        for (id, sent) in [
            ("7", "7"),
            ("a b", "a%20b"),
            ("a/b", "a%2Fb"),
            ("a?b#c", "a%3Fb%23c"),
            ("x&y=z", "x%26y%3Dz"),
            ("100%", "100%25"),
            ("é", "%C3%A9"),
            ("。。", "%E3%80%82%E3%80%82"),
            ("@evil.example", "%40evil.example"),
            ("...", "..."),
        ] {
            let wanted = format!("https://api.example/users/{sent}/notes?tag={sent}&all");
            assert_eq!(filled(USER, json!({"id": id, "tag": id})), wanted);
        }
        check(USER, json!({"id": 7}), "https://api.example/users/7/notes?all");
        check(USER, json!({"id": 7, "tag": null}), "https://api.example/users/7/notes?all");
        check(USER, json!({"id": 7, "tag": "a\r\nb"}), "?tag=a%0D%0Ab&all");
    }

    #[test]
    fn no_argument_leads_out_of_its_place() {
        for id in [
            "..",
            ".",
            "../admin",
            "a/../b",
            "..\\admin",
            "%2e%2e",
            "%2E.",
            "..%2fadmin",
            "%252e%252e",
            "%25252e%25252e%25252f",
            "..;",
            "..;/admin",
            ".;x",
        ] {
            check(USER, json!({"id": id}), "must not lead out");
        }
        check("https://api.example/{a}{b}", json!({"a": ".", "b": "x"}), "must not lead out");
        check("https://api.example/v1.{a}", json!({"a": "2"}), "https://api.example/v1.2");
        check("https://api.example/.{a}", json!({"a": "%2e"}), "must not lead out");
        check(USER, json!({"id": ""}), "must not be empty");
        check(USER, json!({"id": "a\r\nHost: evil"}), "control characters");
        check(USER, json!({"id": "a\0"}), "control characters");
        check(USER, json!({"id": ["a"]}), "must be a text");
        check(USER, json!({}), "is missing");
        let long = "x".repeat(HTTP_URL_BYTES_MAX);
        check(USER, json!({"id": long}), "longer than");
    }

    #[test]
    fn a_host_comes_from_the_list_only() {
        let template = "https://{host}:8443/x";
        check(template, json!({"host": "b.example"}), "https://b.example:8443/x");
        for host in [
            json!("c.example"),
            json!("a.example:1"),
            json!("a.example@evil"),
            json!("A.example"),
            json!("a.example/"),
            json!("169.254.169.254"),
            json!(""),
            json!(null),
            json!(["a.example"]),
        ] {
            check(template, json!({"host": host}), "must be one of: a.example, b.example");
        }
    }

    #[test]
    fn a_template_that_cannot_work_is_refused_at_the_start() {
        for (template, why) in [
            ("ftp://api.example/", "must begin with https://"),
            ("http://api.example/", "plain http://"),
            ("//api.example/", "must begin with https://"),
            ("{scheme}://api.example/", "must begin with https://"),
            ("https:///x", "names no host"),
            ("https://user:pw@api.example/", "no user name"),
            ("https://api.example/#x", "no fragment"),
            ("https://api.example/a b", "percent-encoded"),
            ("https://api.{tenant}.example/", "the whole host"),
            ("https://api.example:{port}/", "the whole host"),
            ("https://{tenant}/", "name them in `hosts`"),
            ("https://api.example/?{key}=1", "not a key"),
            ("https://api.example/{", "braces"),
            ("https://api.example/a/../b", "write `url` as it is sent"),
            ("https://API.example/", "write `url` as it is sent"),
            ("https://api.example:443/", "write `url` as it is sent"),
            ("https://0x7f.1/", "write `url` as it is sent"),
            ("https://127.0.0.1/", "a loopback address"),
            ("https://localhost/", "names this machine"),
            ("https://169.254.169.254/latest", "metadata"),
        ] {
            check(template, json!({}), why);
        }
        let hosts = ["a.example".to_owned()];
        assert!(AddressTemplate::parse("https://b.example/", &hosts, AddressGuard::Open).is_err());
        assert!(AddressTemplate::parse("http://127.0.0.1:1/", &[], AddressGuard::Open).is_ok());
        let inside = ["10.0.0.1".to_owned()];
        assert!(AddressTemplate::parse("https://{h}/", &inside, AddressGuard::PublicOnly).is_err());
    }
}
