//! Mail passes what every channel passes, on what it claims to do.

use std::sync::Arc;

use channels::email::{Email, Tls};
use ports::channel::{Channel, Destination, MessageRef, Pointer};
use ports::clock::Clock;
use testkit::conforms::{Platform, conforms};
use testkit::fake_chat::MovedClock;
use testkit::fake_mail::{FakeMail, Letter, MailTrouble, PASSWORD};
use testkit::faults::Fault;

use crate::email::{ana, readable, settings};

struct OnMail {
    mail: FakeMail,
    email: Email,
    clock: Arc<MovedClock>,
}

fn id(letter: &Letter) -> String {
    let line = letter.text.lines().find_map(|line| line.strip_prefix("Message-ID: "));
    line.unwrap_or_default().to_owned()
}

impl OnMail {
    /// What a mail program shows: a letter that came twice is one.
    fn shown(&self) -> Vec<Letter> {
        let mut shown: Vec<Letter> = Vec::new();
        for letter in self.mail.letters() {
            if shown.iter().all(|earlier| id(earlier) != id(&letter)) {
                shown.push(letter);
            }
        }
        shown
    }
}

impl Platform for OnMail {
    fn channel(&self) -> &dyn Channel {
        &self.email
    }

    fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    fn place(&self) -> Destination {
        ana()
    }

    fn standing(&self) -> Vec<String> {
        self.shown().iter().map(|letter| readable(&letter.text)).collect()
    }

    fn pointers(&self, posted: &MessageRef) -> Option<Vec<Pointer>> {
        let letter = self.shown().into_iter().find(|letter| id(letter) == posted.message)?;
        let text = readable(&letter.text);
        let words = text.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == ':'));
        Some(words.filter_map(|word| word.parse().ok()).collect())
    }

    /// Whoever throws a letter away does not tell us.
    fn delete(&self, _: &MessageRef) {}

    fn fail(&self, fault: Fault) {
        let (at, trouble) = match fault {
            Fault::Wait(_) => ("MAIL", MailTrouble::Says("450 too much at once")),
            Fault::Garbage => (".", MailTrouble::Says("<html>Bad gateway</html>")),
            _ => ("RCPT", MailTrouble::Says("451 later")),
        };
        self.mail.fail(at, trouble);
    }

    fn knows_repeats(&self) -> bool {
        true
    }

    /// A mail server says that it wants to be left alone, and not for how long.
    fn says_when(&self) -> bool {
        false
    }
}

#[tokio::test]
async fn it_conforms() {
    let mail = FakeMail::start().await;
    let clock = MovedClock::new(100);
    let email = Email::new(settings(&mail, Tls::Off, PASSWORD), clock.clone()).unwrap();
    conforms(&OnMail { mail, email, clock }).await;
}
