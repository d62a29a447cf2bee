//! What arrives at the webhook: from raw bytes to an event that may be believed, or a reason.

use domain::time::Timestamp;
use serde_json::Value;

use super::event::FeishuEvent;
use super::sign;
use crate::signed::{Headers, SignatureRefusal, fresh_seconds, same, within_size};

/// What the configuration says of one app.
#[derive(Clone)]
pub struct FeishuApp {
    pub app_id: String,
    pub verification_token: String,
    /// With it, nothing is taken in the clear.
    pub encrypt_key: Option<String>,
    pub tenant_key: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Arrival {
    /// To be answered with `{"challenge":…}`, within a second.
    Challenge(String),
    Event {
        event: FeishuEvent,
        /// The request itself, for a cache that outlives the window of time: the same one again is a
        /// replay.
        request: Option<String>,
    },
}

impl FeishuApp {
    pub fn open(
        &self,
        headers: Headers,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Arrival, SignatureRefusal> {
        within_size(body)?;
        let outer: Value = serde_json::from_slice(body).map_err(|_| SignatureRefusal::Garbled)?;
        let encrypted = outer.get("encrypt").and_then(Value::as_str);
        let (content, request) = match (&self.encrypt_key, encrypted) {
            (None, None) => (outer, None),
            (None, Some(_)) => return Err(SignatureRefusal::Cipher),
            // mutant: clear-text-despite-a-key
            (Some(_), None) => return Err(SignatureRefusal::InTheClear),
            (Some(key), Some(encrypted)) => {
                let request = self.signed(headers, key, body, now)?;
                let plain = sign::decrypt_body(encrypted, key)?;
                (serde_json::from_slice(&plain).map_err(|_| SignatureRefusal::Garbled)?, request)
            }
        };
        if content["type"] == "url_verification" {
            self.is_ours(&content["token"])?;
            let challenge = content["challenge"].as_str().ok_or(SignatureRefusal::Garbled)?;
            return Ok(Arrival::Challenge(challenge.to_owned()));
        }
        // Only the challenge comes without a signature.
        // mutant: unsigned-event-counts
        if self.encrypt_key.is_some() && request.is_none() {
            return Err(SignatureRefusal::Header(SIGNATURE));
        }
        let header = &content["header"];
        self.is_ours(&header["token"])?;
        let tenant = self.tenant_key.as_deref();
        if header["app_id"] != self.app_id.as_str()
            || tenant.is_some_and(|tenant| header["tenant_key"] != tenant)
        {
            return Err(SignatureRefusal::WrongApp);
        }
        let event = FeishuEvent::read(content).ok_or(SignatureRefusal::Garbled)?;
        Ok(Arrival::Event { event, request })
    }

    /// Names the request if it is signed, and refuses it if it is signed wrongly.
    fn signed(
        &self,
        headers: Headers,
        key: &str,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Option<String>, SignatureRefusal> {
        if !headers.has(SIGNATURE) {
            return Ok(None);
        }
        let (timestamp, nonce) = (headers.one(TIMESTAMP)?, headers.one(NONCE)?);
        sign::verify((timestamp, nonce), key, body, headers.one(SIGNATURE)?)?;
        // mutant: old-signature-counts
        fresh_seconds(timestamp, now)?;
        Ok(Some(format!("{timestamp}:{nonce}")))
    }

    fn is_ours(&self, token: &Value) -> Result<(), SignatureRefusal> {
        let token = token.as_str().unwrap_or_default();
        let ours = self.verification_token.as_bytes();
        if !ours.is_empty() && same(token.as_bytes(), ours) {
            Ok(())
        } else {
            Err(SignatureRefusal::WrongApp)
        }
    }
}

const TIMESTAMP: &str = "x-lark-request-timestamp";
const NONCE: &str = "x-lark-request-nonce";
const SIGNATURE: &str = "x-lark-signature";

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use ring::digest::{SHA256, digest};
    use serde_json::json;

    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_700_000_000_000);

    fn app() -> FeishuApp {
        FeishuApp {
            app_id: "cli_1".into(),
            verification_token: "vt".into(),
            encrypt_key: Some("test-encrypt-key".into()),
            tenant_key: Some("t1".into()),
        }
    }

    fn sealed(content: &Value) -> String {
        let key = digest(&SHA256, b"test-encrypt-key");
        let iv = [3; 16];
        let key = key.as_ref().first_chunk().unwrap();
        let cipher = crate::signed::encrypt(key, &iv, content.to_string().as_bytes(), 16);
        json!({"encrypt": STANDARD.encode([&iv[..], &cipher].concat())}).to_string()
    }

    fn message() -> Value {
        json!({
            "schema": "2.0",
            "header": {"event_id": "e1", "token": "vt", "app_id": "cli_1", "tenant_key": "t1",
                       "event_type": "im.message.receive_v1", "create_time": "1700000000000"},
            "event": {"message": {"message_id": "om_1"}},
        })
    }

    fn opened(
        app: &FeishuApp,
        body: &str,
        at: &str,
        now: Timestamp,
    ) -> Result<Arrival, SignatureRefusal> {
        let signature = sign::signature(at, "n1", "test-encrypt-key", body.as_bytes());
        let headers = [
            ("X-Lark-Request-Timestamp", at),
            ("X-Lark-Request-Nonce", "n1"),
            ("X-Lark-Signature", &signature),
        ];
        app.open(Headers(&headers), body.as_bytes(), now)
    }

    #[test]
    fn the_vector_comes_out() {
        let vectors: Value =
            serde_json::from_str(include_str!("../../vectors/signatures.json")).unwrap();
        let known = &vectors["feishu_event"];
        let text = |key: &str| known[key].as_str().unwrap();
        let signature = sign::signature(
            text("timestamp"),
            text("nonce"),
            text("encrypt_key"),
            text("body").as_bytes(),
        );
        assert_eq!(signature, text("X-Lark-Signature"));
        let headers = [
            ("X-Lark-Request-Timestamp", text("timestamp")),
            ("X-Lark-Request-Nonce", text("nonce")),
            ("X-Lark-Signature", text("X-Lark-Signature")),
        ];
        let body = text("body").as_bytes();
        assert_eq!(app().open(Headers(&headers), body, NOW), Ok(Arrival::Challenge("c1".into())));
        assert_eq!(
            app().open(Headers(&[]), body, NOW),
            Ok(Arrival::Challenge("c1".into())),
            "it is unsigned"
        );
    }

    #[test]
    fn i34_an_event_is_taken_once_it_is_signed_fresh_and_ours() {
        let body = sealed(&message());
        let Ok(Arrival::Event { event, request }) = opened(&app(), &body, "1700000000", NOW) else {
            panic!("refused");
        };
        assert_eq!(event.key(), "feishu:message:om_1");
        assert_eq!(request.as_deref(), Some("1700000000:n1"));
        assert_eq!(opened(&app(), &body, "1699999000", NOW), Err(SignatureRefusal::Stale));
        assert_eq!(
            app().open(Headers(&[]), body.as_bytes(), NOW),
            Err(SignatureRefusal::Header(SIGNATURE))
        );
        let forged = [
            ("X-Lark-Request-Timestamp", "1700000000"),
            ("X-Lark-Request-Nonce", "n1"),
            ("X-Lark-Signature", "00"),
        ];
        assert_eq!(
            app().open(Headers(&forged), body.as_bytes(), NOW),
            Err(SignatureRefusal::Signature)
        );
    }

    #[test]
    fn i34_what_is_in_the_clear_or_for_others_is_refused() {
        let clear = message().to_string();
        assert_eq!(opened(&app(), &clear, "1700000000", NOW), Err(SignatureRefusal::InTheClear));
        for (key, other) in [("token", "x"), ("app_id", "cli_2"), ("tenant_key", "t2")] {
            let mut foreign = message();
            foreign["header"][key] = other.into();
            assert_eq!(
                opened(&app(), &sealed(&foreign), "1700000000", NOW),
                Err(SignatureRefusal::WrongApp),
                "{key}"
            );
        }
        let open = FeishuApp { encrypt_key: None, ..app() };
        assert!(open.open(Headers(&[]), clear.as_bytes(), NOW).is_ok());
        let tokenless = FeishuApp { verification_token: String::new(), ..open };
        let mut empty = message();
        empty["header"]["token"] = "".into();
        assert_eq!(
            tokenless.open(Headers(&[]), empty.to_string().as_bytes(), NOW),
            Err(SignatureRefusal::WrongApp)
        );
        let large = vec![b' '; crate::limits::EVENT_BYTES_MAX + 1];
        assert_eq!(app().open(Headers(&[]), &large, NOW), Err(SignatureRefusal::TooLarge));
        assert_eq!(app().open(Headers(&[]), b"[", NOW), Err(SignatureRefusal::Garbled));
    }
}
