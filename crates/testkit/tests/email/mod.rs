//! Notices by mail, to a mail server on loopback.

mod conforms;

use std::sync::Arc;
use std::time::Duration;

use channels::email::{Email, EmailSettings, Login, Tls};
use ports::channel::{Channel, ChannelError, Destination, OutgoingText, WebhookRequest};
use ports::clock::Clock;
use ports::secret_string::SecretString;
use testkit::asked::Asked;
use testkit::fake_chat::MovedClock;
use testkit::fake_mail::{FakeMail, MailTrouble, PASSWORD};
use testkit::inbox::Notebook;

fn settings(mail: &FakeMail, tls: Tls, password: &str) -> EmailSettings {
    EmailSettings {
        name: "mail".into(),
        host: "127.0.0.1".into(),
        port: mail.port(),
        tls,
        login: Some(Login { user: "holdpoint".into(), password: SecretString::new(password) }),
        from: "Holdpoint <holdpoint@example.org>".into(),
        language: Default::default(),
        zone: Default::default(),
    }
}

/// Waits are a hundred times shorter: a silent server is noticed within a second.
fn email(mail: &FakeMail, tls: Tls, password: &str) -> Email {
    Email::new(settings(mail, tls, password), MovedClock::new(100)).unwrap()
}

fn ana() -> Destination {
    Destination::Person("ana@example.com".into())
}

/// The parts of a letter as a reader sees them: soft line breaks and escapes undone.
fn readable(text: &str) -> String {
    let joined = text.replace("=\r\n", "");
    let mut bytes = Vec::new();
    let mut rest = joined.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| byte == b'=') {
            Some(code) => {
                bytes.push(code);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn a_notice_brings_the_link_and_nothing_that_decides() {
    let mail = FakeMail::start().await;
    let email = email(&mail, Tls::Off, PASSWORD);
    let asked = Asked::deletion();
    let shown = email.show(&ana(), &asked.showing()).await.unwrap();
    assert!(!shown.accepts_approval && shown.posted.direct);
    assert_eq!(
        (shown.posted.chat.as_str(), shown.posted.message.as_str()),
        ("ana@example.com", "<hold.7Q2@example.org>")
    );
    assert_eq!(mail.logins(), [("holdpoint".to_owned(), PASSWORD.to_owned())]);
    let letter = mail.letters().remove(0);
    assert_eq!(
        (letter.from.as_str(), letter.to.as_slice()),
        ("holdpoint@example.org", &["ana@example.com".to_owned()][..])
    );
    let text = readable(&letter.text);
    for header in [
        "Auto-Submitted: auto-generated",
        "Message-ID: <hold.7Q2@example.org>",
        "To: ana@example.com",
        "multipart/alternative",
    ] {
        assert!(text.contains(header), "{header}: {text}");
    }
    assert!(text.contains("DELETE FROM orders") && text.contains("Delete 214 rows from orders?"));
    let link = asked.link.as_deref().unwrap();
    assert_eq!(text.matches("href=").count(), 1);
    assert!(text.contains(&format!("href=\"{link}\"")), "{text}");
    assert!(!text.contains("h1:7Q2") && !text.contains("/answer"), "no link decides: {text}");
    // Sent again it has the same name, and a letter is not repainted.
    email.show(&ana(), &asked.showing()).await.unwrap();
    assert!(mail.letters()[1].text.contains("Message-ID: <hold.7Q2@example.org>"));
    assert_eq!(email.repaint(&shown.posted, &asked.approved().showing()).await, Ok(false));
    assert_eq!(mail.letters().len(), 2);
}

#[tokio::test]
async fn a_title_cannot_add_headers_or_recipients() {
    let mail = FakeMail::start().await;
    let email = email(&mail, Tls::Off, PASSWORD);
    let mut asked = Asked::deletion();
    asked.hold.title = "Hi\r\nBcc: eve@example.com\r\n\r\n.\r\nRCPT TO:<eve@example.com>".into();
    email.show(&ana(), &asked.showing()).await.unwrap();
    let letter = mail.letters().remove(0);
    assert_eq!(letter.to, ["ana@example.com"]);
    let (headers, _) = letter.text.split_once("\r\n\r\n").unwrap();
    assert!(!headers.lines().any(|line| line.to_ascii_lowercase().starts_with("bcc")), "{headers}");
    for strange in
        ["", "ana", "a@b\r\nRCPT TO:<eve@example.com>", "ana@example.com, eve@example.com"]
    {
        let refused = email.show(&Destination::Person(strange.into()), &asked.showing()).await;
        assert!(matches!(refused, Err(ChannelError::Never(_))), "{strange:?}: {refused:?}");
    }
}

#[tokio::test]
async fn every_trouble_has_its_remedy() {
    let mail = FakeMail::start().await;
    let email = email(&mail, Tls::Off, PASSWORD);
    let asked = Asked::deletion();
    for (at, trouble, wanted) in [
        ("RCPT", MailTrouble::Says("451 later"), "again"),
        ("RCPT", MailTrouble::Says("550 no such user"), "never"),
        ("MAIL", MailTrouble::Says("421 closing"), "again"),
        ("AUTH", MailTrouble::Says("454 later"), "again"),
        ("AUTH", MailTrouble::Hangs, "again"),
        (".", MailTrouble::Says("452 full"), "again"),
        (".", MailTrouble::Says("554 spam"), "never"),
        (".", MailTrouble::Lost, "unknown"),
        (".", MailTrouble::Hangs, "unknown"),
    ] {
        mail.fail(at, trouble);
        let error = email.show(&ana(), &asked.showing()).await.unwrap_err();
        let kind = match error {
            ChannelError::Again { .. } => "again",
            ChannelError::Unknown(_) => "unknown",
            ChannelError::Never(_) => "never",
            ChannelError::Gone(_) => "gone",
            ChannelError::Moved(_) => "moved",
        };
        assert_eq!(kind, wanted, "{at} {trouble:?}: {error}");
    }
    assert_eq!(mail.letters().len(), 1, "the one whose answer was lost");
}

#[tokio::test]
async fn nothing_is_sent_in_the_clear_or_under_a_wrong_name() {
    let mail = FakeMail::start().await;
    let asked = Asked::deletion();
    let starttls = email(&mail, Tls::Starttls, PASSWORD);
    let error = starttls.show(&ana(), &asked.showing()).await.unwrap_err();
    assert!(error.to_string().contains("does not offer STARTTLS"), "{error}");
    assert!(mail.logins().is_empty(), "and no password either");
    let implicit = email(&mail, Tls::Implicit, PASSWORD);
    assert!(implicit.show(&ana(), &asked.showing()).await.is_err());
    let wrong = email(&mail, Tls::Off, "hunter2");
    let error = wrong.show(&ana(), &asked.showing()).await.unwrap_err();
    assert!(matches!(error, ChannelError::Never(_)), "{error}");
    assert!(!error.to_string().contains("hunter2"), "{error}");
    assert!(mail.letters().is_empty());
    let checked = wrong.check().await;
    assert!(checked[0].wrong.as_deref().unwrap().contains("does not take the user"), "{checked:?}");
    let well = email(&mail, Tls::Off, PASSWORD).check().await;
    assert_eq!(well[0].wrong, None);
    let gone = EmailSettings { port: 9, ..settings(&mail, Tls::Off, PASSWORD) };
    let gone = Email::new(gone, MovedClock::new(100)).unwrap();
    let error = gone.show(&ana(), &asked.showing()).await.unwrap_err();
    assert!(matches!(error, ChannelError::Again { .. }), "it never left: {error}");
    let nobody = EmailSettings { from: "nobody".into(), ..settings(&mail, Tls::Off, PASSWORD) };
    assert!(Email::new(nobody, MovedClock::new(1)).is_err());
}

#[tokio::test]
async fn nobody_talks_to_it() {
    let mail = FakeMail::start().await;
    let email = email(&mail, Tls::Off, PASSWORD);
    let saying = OutgoingText { key: "1", text: "hello", reply_to: None, whisper_to: None };
    assert!(matches!(email.say(&ana(), &saying).await, Err(ChannelError::Never(_))));
    let mut asked = Asked::deletion();
    asked.link = None;
    let error = email.show(&ana(), &asked.showing()).await.unwrap_err();
    assert!(matches!(error, ChannelError::Never(_)), "a notice without a link is none: {error}");
    let request = WebhookRequest {
        method: "GET".into(),
        path: "approve".into(),
        query: Some("hold=1".into()),
        headers: Vec::new(),
        body: Vec::new(),
        at: MovedClock::new(1).now(),
    };
    assert_eq!(email.hook(request, &Notebook::default()).await.status, 404);
    let stop = tokio_util::sync::CancellationToken::new();
    stop.cancel();
    let listening = email.listen(Arc::new(Notebook::default()), stop);
    tokio::time::timeout(Duration::from_secs(5), listening).await.unwrap();
}
