//! What a person's consent gave us: tokens, and everything that is needed to renew them.

use domain::time::Timestamp;
use oauth::{OauthClient, OauthSecret, TokenReply};
use serde::{Deserialize, Serialize};

use crate::mcp::limits::RENEW_BEFORE_MS_MAX;

/// Kept as JSON among the sealed secrets of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OauthGrant {
    /// Of this record.
    pub(crate) version: u32,
    /// The server's address when it was connected. The tokens go nowhere else.
    pub(crate) url: String,
    pub(crate) issuer: String,
    pub(crate) token_endpoint: String,
    pub(crate) revocation_endpoint: Option<String>,
    pub(crate) resource: String,
    pub(crate) client: OauthClient,
    /// Of the registration, which another address makes useless.
    pub(crate) redirect_uri: String,
    pub(crate) access_token: OauthSecret,
    pub(crate) refresh_token: Option<OauthSecret>,
    pub(crate) scope: Option<String>,
    /// From then on it is renewed before it is used.
    pub(crate) renew_at_ms: Option<i64>,
    pub(crate) expires_at_ms: Option<i64>,
}

pub(crate) const GRANT_VERSION: u32 = 1;

impl OauthGrant {
    /// Takes new tokens in. A server that gives no new refresh token leaves the old one good.
    pub(crate) fn put_tokens(&mut self, reply: TokenReply, now: Timestamp) {
        self.access_token = reply.access_token;
        self.refresh_token = reply.refresh_token.or_else(|| self.refresh_token.take());
        self.scope = reply.scope.or_else(|| self.scope.take());
        let life_ms = reply.expires_in_s.map(|seconds| seconds.saturating_mul(1_000));
        self.expires_at_ms = life_ms.map(|ms| now.plus_ms(ms).as_ms());
        // A token that lives for a minute must not be renewed before each request.
        let early_ms = |ms: u64| (ms / 4).min(RENEW_BEFORE_MS_MAX);
        self.renew_at_ms = life_ms.map(|ms| now.plus_ms(ms - early_ms(ms)).as_ms());
    }

    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.renew_at_ms.is_some_and(|at| at <= now.as_ms())
    }

    pub(crate) fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at_ms.is_some_and(|at| at <= now.as_ms())
    }
}

#[cfg(test)]
mod tests {
    use oauth::TokenAuthMethod;

    use super::*;

    fn grant() -> OauthGrant {
        OauthGrant {
            version: GRANT_VERSION,
            url: "https://mcp.example/mcp".into(),
            issuer: "https://as.example".into(),
            token_endpoint: "https://as.example/token".into(),
            revocation_endpoint: None,
            resource: "https://mcp.example/mcp".into(),
            client: OauthClient::new("c".into(), None, TokenAuthMethod::None).unwrap(),
            redirect_uri: "https://hold.example/oauth/callback".into(),
            access_token: OauthSecret::new("old"),
            refresh_token: Some(OauthSecret::new("refresh")),
            scope: Some("a".into()),
            renew_at_ms: None,
            expires_at_ms: None,
        }
    }

    fn reply(expires_in_s: Option<u64>) -> TokenReply {
        let access_token = OauthSecret::new("new");
        TokenReply { access_token, refresh_token: None, expires_in_s, scope: None }
    }

    #[test]
    fn tokens_are_renewed_in_the_last_quarter_of_their_life_and_a_minute_early_at_most() {
        for (life_s, renew_at_ms) in [(4, 3_000), (120, 90_000), (3_600, 3_540_000)] {
            let mut grant = grant();
            grant.put_tokens(reply(Some(life_s)), Timestamp::from_ms(0));
            let at = |ms: i64| {
                (grant.is_due(Timestamp::from_ms(ms)), grant.has_expired(Timestamp::from_ms(ms)))
            };
            assert_eq!(at(renew_at_ms - 1), (false, false), "{life_s}");
            assert_eq!(at(renew_at_ms), (true, false), "{life_s}");
            assert_eq!(at(1_000 * i64::try_from(life_s).unwrap()), (true, true), "{life_s}");
        }
    }

    /// A token that only looks good is turned away by its server, which renews it whatever our clock says.
    #[test]
    fn a_clock_that_jumps_costs_a_renewal_and_no_longer_life() {
        const DAY_MS: i64 = 86_400_000;
        let at = |day: i64| Timestamp::from_ms(day * DAY_MS);
        let mut grant = grant();
        grant.put_tokens(reply(Some(3_600)), at(10));
        assert!(grant.is_due(at(11)) && grant.has_expired(at(11)), "forward: renewed at once");
        assert!(!grant.is_due(at(9)), "back: used as it is");
        // The renewal under the wrong clock counts from there, and ends by it.
        grant.put_tokens(reply(Some(3_600)), at(9));
        assert!(!grant.is_due(at(9)));
        assert!(grant.is_due(at(10)) && grant.has_expired(at(10)), "set right again");
    }

    #[test]
    fn what_a_renewal_does_not_say_stays_as_it_was() {
        let mut grant = grant();
        grant.put_tokens(reply(None), Timestamp::from_ms(7));
        assert_eq!(grant.access_token.expose(), "new");
        assert_eq!(grant.refresh_token.as_ref().map(OauthSecret::expose), Some("refresh"));
        assert_eq!(grant.scope.as_deref(), Some("a"));
        assert!(!grant.is_due(Timestamp::from_ms(i64::MAX)), "it does not say when it expires");
        grant.put_tokens(reply(Some(u64::MAX)), Timestamp::from_ms(7));
        assert!(!grant.has_expired(Timestamp::from_ms(1 << 50)));
    }

    #[test]
    fn a_grant_is_read_as_it_was_written_and_shows_no_secret() {
        let written = serde_json::to_value(grant()).unwrap();
        assert_eq!(serde_json::from_value::<OauthGrant>(written).unwrap(), grant());
        let shown = format!("{:?}", grant());
        assert!(!shown.contains("refresh\"") && !shown.contains("\"old\""), "{shown}");
    }
}
