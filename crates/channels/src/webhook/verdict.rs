//! What a receiver's answer means: accepted, to be tried again, or hopeless.

use ports::callback::CallbackError;
use reqwest::{StatusCode, Url};

/// A redirect is never followed: the address was checked, the one it points to was not.
pub(super) fn verdict(
    status: StatusCode,
    location: Option<&str>,
    asked: &Url,
) -> Result<(), CallbackError> {
    let number = status.as_u16();
    if status.is_success() {
        return Ok(());
    }
    if status.is_redirection() {
        let why = format!(
            "the receiver answered {number}, and redirects are not followed: \
             the callback's url must name the final address"
        );
        return Err(match location.map(|location| asked.join(location)) {
            Some(Ok(there)) if there.host_str() != asked.host_str() => CallbackError::Never(why),
            // A move within one host is often a deployment under way.
            _ => CallbackError::Again(why),
        });
    }
    if status == StatusCode::GONE {
        return Err(CallbackError::Never(
            "the receiver answered 410: it wants no more of this".into(),
        ));
    }
    // Also a 401 or 404: that is what a receiver says while it is being set up.
    Err(CallbackError::Again(format!("the receiver answered {number}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retry(status: u16, location: Option<&str>) -> &'static str {
        let asked = Url::parse("https://ci.example/hook").unwrap();
        match verdict(StatusCode::from_u16(status).unwrap(), location, &asked) {
            Ok(()) => "accepted",
            Err(CallbackError::Again(_)) => "again",
            Err(CallbackError::Never(_)) => "never",
        }
    }

    #[test]
    fn only_success_is_success() {
        for status in 200..300 {
            assert_eq!(retry(status, None), "accepted", "{status}");
        }
        for status in (300..410).chain(411..600) {
            assert_eq!(retry(status, None), "again", "{status}");
        }
        assert_eq!(retry(410, None), "never");
    }

    #[test]
    fn a_redirect_to_another_host_is_hopeless() {
        for status in [301, 302, 303, 307, 308] {
            for location in
                ["https://other.example/hook", "//other.example", "http://169.254.169.254/"]
            {
                assert_eq!(retry(status, Some(location)), "never", "{status} {location}");
            }
            for location in
                ["/moved", "https://ci.example/moved", "http://ci.example/hook", "https://["]
            {
                assert_eq!(retry(status, Some(location)), "again", "{status} {location}");
            }
        }
        assert_eq!(retry(200, Some("https://other.example/")), "accepted", "no redirect at all");
    }
}
