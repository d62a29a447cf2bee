//! Where a page comes from: scheme, host and port, all of them.

use std::net::IpAddr;

/// Whether two origins are the same one. A port that goes without saying is the same as the one said.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    // mutant: the-scheme-of-a-page-is-not-compared
    matches!((split(one), split(other)), (Some(one), Some(other)) if one == other)
}

/// The origin of a request's own address. Under the host that people are told to use, the scheme is the
/// one that they are told; a proxy that nobody told us of may hide it from us.
pub(crate) fn of_host(host: &str, secure: bool, public: &str) -> Option<String> {
    let scheme = |secure| if secure { "https" } else { "http" };
    let public_scheme = public.split_once("://")?.0;
    let told = format!("{public_scheme}://{host}");
    let own = format!("{}://{host}", scheme(secure));
    split(&own)?;
    Some(if is_same(&told, public) { told } else { own })
}

/// Whether only we can be meant by the host of a page. A name that its owner leads to our address (DNS rebinding) is as much
/// the page's own host as it is ours, so a name must be the one that people are told to use.
pub(crate) fn is_host_of_ours(origin: &str, public: &str) -> bool {
    let (Some((_, host, _)), Some((_, ours, _))) = (split(origin), split(public)) else {
        return false;
    };
    let address = |host: &str| host.trim_matches(['[', ']']).parse::<IpAddr>().ok();
    // Who listens on every address is reached under each of them.
    let is_any = address(&ours).is_some_and(|ours| ours.is_unspecified());
    host == ours
        || host == "localhost"
        || address(&host).is_some_and(|address| address.is_loopback() || is_any)
}

/// Scheme, host in lower case, and port. Nothing else has an origin: no user, no path.
fn split(origin: &str) -> Option<(String, String, u16)> {
    let (scheme, authority) = origin.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let default = match scheme.as_str() {
        "https" => 443,
        "http" => 80,
        _ => return None,
    };
    let plain = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]%".contains(&byte))
    };
    if !plain(authority) {
        return None;
    }
    // The last colon stands before the port, unless it is inside the brackets of an IPv6 address.
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().ok()?),
        _ => (authority, default),
    };
    plain(host).then(|| (scheme, host.to_ascii_lowercase(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i33_scheme_host_and_port_are_compared() {
        for (one, other, same) in [
            ("https://a.example", "https://a.example", true),
            ("https://a.example", "https://A.example:443", true),
            ("http://a.example:80", "http://a.example", true),
            ("http://a.example", "https://a.example", false),
            ("https://a.example", "https://a.example:8443", false),
            ("http://a.example:443", "https://a.example", false),
            ("https://a.example", "https://b.example", false),
            ("https://a.example", "https://a.example.evil", false),
            ("http://[::1]:8080", "http://[::1]:8080", true),
            ("http://[::1]", "http://[::1]:80", true),
            ("http://[::1]:81", "http://[::1]", false),
            ("null", "null", false),
            ("https://", "https://", false),
            ("https://a.example/x", "https://a.example/x", false),
            ("https://u@a.example", "https://u@a.example", false),
            ("ftp://a.example", "ftp://a.example", false),
        ] {
            assert_eq!(is_same(one, other), same, "{one} and {other}");
        }
    }

    #[test]
    fn i33_the_public_address_says_the_scheme_of_its_host() {
        let of = |host, secure, public| of_host(host, secure, public).unwrap_or_default();
        let public = "https://hold.example";
        assert_eq!(of("hold.example", false, public), public);
        assert_eq!(of("127.0.0.1:7433", false, public), "http://127.0.0.1:7433");
        assert_eq!(of("127.0.0.1:7433", true, public), "https://127.0.0.1:7433");
        assert_eq!(of_host("a b", true, public), None);
    }

    #[test]
    fn i33_a_name_that_leads_to_us_is_not_ours() {
        let (local, any, public) =
            ("http://127.0.0.1:7433", "http://0.0.0.0:7433", "https://hold.example");
        for (origin, public, ours) in [
            ("http://localhost:7433", local, true),
            ("http://127.0.0.1:7433", local, true),
            ("http://[::1]:7433", local, true),
            ("http://192.0.2.7:7433", local, false),
            ("http://192.0.2.7:7433", any, true),
            ("http://[2001:db8::7]:7433", any, true),
            ("http://evil.example:7433", any, false),
            ("http://evil.example:7433", local, false),
            ("http://localhost.evil.example:7433", local, false),
            ("http://127.0.0.1.evil.example", local, false),
            ("https://hold.example", public, true),
            ("https://HOLD.example", public, true),
            ("http://localhost:7433", public, true),
            ("https://evil.example", public, false),
            ("null", public, false),
        ] {
            assert_eq!(is_host_of_ours(origin, public), ours, "{origin} at {public}");
        }
    }
}
