//! What arrives from chat platforms: signatures, envelopes, frames. Nothing unsigned is let in, and
//! nothing that is read makes us stumble.

use channels::card::Pointer;
use channels::signed::{Headers, SignatureRefusal};
use channels::{dingtalk, feishu, slack, telegram, webhook};
use domain::time::Timestamp;

use super::{Pieces, text, told_plainly};

const NOW: Timestamp = Timestamp::from_ms(1_700_000_000_000);

fn refused_plainly(why: SignatureRefusal) {
    told_plainly(&why.to_string(), 0);
}

/// The body of a webhook, with whatever headers. Nobody here knows a key, so nothing gets in.
pub(super) fn webhooks(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let (time, nonce, signature) = (pieces.text(), pieces.text(), pieces.text());
    let body = pieces.rest();
    feishu_webhook([&time, &nonce, &signature], body);

    let slack_headers =
        [("X-Slack-Request-Timestamp", time.as_str()), ("X-Slack-Signature", &signature)];
    let secret = "a secret that nobody knows";
    refused_plainly(slack::verify(Headers(&slack_headers), body, secret, NOW).unwrap_err());
    let robot = [("timestamp", time.as_str()), ("sign", signature.as_str())];
    refused_plainly(dingtalk::verify_robot(Headers(&robot), secret, NOW).unwrap_err());
    let card = [
        ("x-ddpaas-signature-timestamp", time.as_str()),
        ("x-ddpaas-signature", signature.as_str()),
    ];
    refused_plainly(dingtalk::verify_card(Headers(&card), secret, NOW).unwrap_err());
    let telegram_headers = [("X-Telegram-Bot-Api-Secret-Token", signature.as_str())];
    let token = telegram::TelegramSecret::new("a-secret-that-nobody-knows").expect("a secret");
    refused_plainly(token.verify(Headers(&telegram_headers), body).unwrap_err());
    let standard = [
        ("webhook-id", nonce.as_str()),
        ("webhook-timestamp", time.as_str()),
        ("webhook-signature", signature.as_str()),
    ];
    let secret = webhook::WebhookSecret::parse(secret).expect("any text is one");
    refused_plainly(webhook::verify(Headers(&standard), body, &secret, NOW).unwrap_err());
    let envelope =
        dingtalk::DingTalkEnvelope::new("t", &"A".repeat(43), "app").expect("an envelope");
    if let Some(encrypted) = text(body) {
        let beside = dingtalk::Beside { timestamp: &time, nonce: &nonce, signature: &signature };
        if let Err(why) = envelope.open(encrypted, beside, NOW) {
            refused_plainly(why);
        }
    }
}

fn feishu_webhook([time, nonce, signature]: [&str; 3], body: &[u8]) {
    let headers = [
        ("X-Lark-Request-Timestamp", time),
        ("X-Lark-Request-Nonce", nonce),
        ("X-Lark-Signature", signature),
    ];
    let app = |encrypt_key: Option<&str>| feishu::FeishuApp {
        app_id: "cli_1".into(),
        verification_token: "vt".into(),
        encrypt_key: encrypt_key.map(str::to_owned),
        tenant_key: None,
    };
    let sealed = app(Some("a key that nobody knows")).open(Headers(&headers), body, NOW);
    refused_plainly(sealed.unwrap_err());
    match app(None).open(Headers(&headers), body, NOW) {
        Err(why) => refused_plainly(why),
        // In the clear the token is all there is.
        Ok(_) => assert!(body.windows(2).any(|part| part == b"vt"), "nobody said the token"),
    }
}

/// Frames of connections that stay open, and the pointers in buttons.
pub(super) fn frames(bytes: &[u8]) {
    if let Ok(frame) = feishu::FeishuFrame::decode(bytes) {
        let again = feishu::FeishuFrame::decode(&frame.encode());
        assert_eq!(again.as_ref(), Ok(&frame), "written and read again it is the same");
        let mut parts = feishu::FrameAssembler::default();
        let whole = parts.add(&frame, NOW);
        assert!(whole.is_none() || whole == Some(frame.payload.clone().unwrap_or_default()));
    }
    let Some(text) = text(bytes) else { return };
    if let Ok(pointer) = text.parse::<Pointer>() {
        assert_eq!(pointer.to_string(), text, "there is one spelling");
        assert!(text.len() <= 64);
    }
    match dingtalk::DingTalkFrame::read(text) {
        Err(why) => refused_plainly(why),
        Ok(frame) => {
            assert!(!frame.keys().is_empty(), "a repeat can be recognised");
            for ack in [dingtalk::Ack::Done, dingtalk::Ack::Later, dingtalk::Ack::NoHandler] {
                let back: serde_json::Value =
                    serde_json::from_str(&frame.ack(&ack)).expect("an ack is JSON");
                assert!(back["headers"]["messageId"].is_string());
            }
        }
    }
}
