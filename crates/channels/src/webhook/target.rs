//! Where a callback goes, read once from what the opener wrote.
//!
//! Refusals go back to the opener. They repeat nothing of the address, which may hold a token.

use egress::AddressGuard;
use reqwest::Url;

use crate::limits::URL_BYTES_MAX;

pub(super) fn parse(text: &str, guard: AddressGuard) -> Result<Url, String> {
    if text.len() > URL_BYTES_MAX {
        return Err(format!("the callback's url must have at most {URL_BYTES_MAX} bytes"));
    }
    let Ok(url) = Url::parse(text) else {
        return Err("the callback's url is not a complete URL: one begins with https://".into());
    };
    match (url.scheme(), guard) {
        ("https", _) | ("http", AddressGuard::Open) => {}
        ("http", AddressGuard::PublicOnly) => {
            return Err("the callback's url must begin with https://".into());
        }
        _ => return Err("the callback's url must begin with https:// or http://".into()),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the callback's url must not hold a user name or password: \
                    the signature says who calls"
            .into());
    }
    if url.fragment().is_some() {
        return Err("the callback's url must not have a fragment (#…): it would not be sent".into());
    }
    if url.host_str().is_none() {
        return Err("the callback's url names no host".into());
    }
    guard.admit_host(&url).map_err(|forbidden| forbidden.to_string())?;
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(guard: AddressGuard, url: &str, wanted: &str) {
        let told = parse(url, guard).map_or_else(|why| why, |url| url.to_string());
        assert!(told.contains(wanted), "{url}: {told}");
    }

    #[test]
    fn an_ordinary_address_is_taken() {
        for url in
            ["https://ci.example/hook?run=7", "https://8.8.8.8:8443/", "https://[2606:4700::1]/"]
        {
            check(AddressGuard::PublicOnly, url, url);
            check(AddressGuard::Open, url, url);
        }
    }

    #[test]
    fn plain_http_and_this_machine_need_the_operators_word() {
        for (url, why) in [
            ("http://ci.example/hook", "must begin with https://"),
            ("http://127.0.0.1:9000/", "must begin with https://"),
            ("https://127.0.0.1:9000/", "a loopback address"),
            ("https://localhost/", "names this machine"),
            ("https://LOCALHOST./", "names this machine"),
            ("https://a.b.localhost/", "names this machine"),
        ] {
            check(AddressGuard::PublicOnly, url, why);
            assert!(parse(url, AddressGuard::Open).is_ok(), "{url}");
        }
    }

    #[test]
    fn numbers_are_read_in_every_spelling() {
        for (url, why) in [
            ("https://0x7f.1/", "127.0.0.1 is a loopback address"),
            ("https://2130706433/", "127.0.0.1 is a loopback address"),
            ("https://0177.0.0.1/", "127.0.0.1 is a loopback address"),
            ("https://127.1/", "127.0.0.1 is a loopback address"),
            ("https://127.0.0.1./", "127.0.0.1 is a loopback address"),
            ("https://%31%32%37.0.0.1/", "127.0.0.1 is a loopback address"),
            ("https://１２７.0.0.1/", "127.0.0.1 is a loopback address"),
            ("https://0/", "the unspecified address"),
            ("https://169.254.169.254/latest/meta-data/", "a cloud's metadata service"),
            ("https://[::1]/", "a loopback address"),
            ("https://[::ffff:10.0.0.1]/", "a private address"),
            ("https://[fe80::1]/", "a link-local address"),
        ] {
            check(AddressGuard::PublicOnly, url, why);
        }
    }

    #[test]
    fn what_is_no_address_for_a_callback_is_refused_without_repeating_it() {
        for (url, why) in [
            ("", "is not a complete URL"),
            ("/hunter2", "is not a complete URL"),
            ("https://", "is not a complete URL"),
            ("https://[fe80::1%25eth0]/hunter2", "is not a complete URL"),
            ("ftp://ci.example/hunter2", "must begin with https:// or http://"),
            ("file:///etc/hunter2", "must begin with https:// or http://"),
            ("gopher://127.0.0.1/hunter2", "must begin with https:// or http://"),
            ("https://ana:hunter2@ci.example/", "user name or password"),
            ("https://hunter2@ci.example/", "user name or password"),
            ("https://ci.example/#hunter2", "fragment"),
        ] {
            for guard in [AddressGuard::PublicOnly, AddressGuard::Open] {
                check(guard, url, why);
                assert!(!parse(url, guard).unwrap_err().contains("hunter2"), "{url}");
            }
        }
        let long = format!("https://ci.example/{}", "x".repeat(URL_BYTES_MAX));
        check(AddressGuard::Open, &long, "at most 2048 bytes");
    }
}
