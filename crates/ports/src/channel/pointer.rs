//! What a button carries: `h1:<key>:<option>:<nonce>`, in at most 64 bytes.
//!
//! It points to a delivery, and is believed about nothing. That the delivery exists, that the nonce is
//! the stored one, that the press comes from the same chat and message, and who may answer, is all
//! looked up.

use std::fmt;
use std::str::FromStr;

/// The name of a delivery: up to 22 letters and digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeliveryKey(String);

/// Six to eight letters and digits, stored with the delivery.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Nonce(String);

/// What a button stands for. What it does is decided by the hold that it points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ButtonAction {
    /// A yes. It is one press of two where the hold is dangerous and the platform asks nothing itself.
    Allow,
    /// A no without a reason.
    Deny,
    /// An option of a choice, from 1.
    Option(u8),
    /// Opens or submits a form.
    Form,
    /// The first of the two presses that a dangerous yes takes: decides nothing, and asks once more.
    Arm,
    /// Back from there.
    Back,
    /// Opens the form in which the reason of a no is written.
    Explain,
}

/// What a button carries. Its text has at most 64 bytes, which is what the narrowest platform takes.
///
/// ```
/// use holdpoint_ports::channel::{ButtonAction, DeliveryKey, Nonce, Pointer};
///
/// let (key, nonce) = (DeliveryKey::new("d41d8c")?, Nonce::make(0x5eed));
/// let pointer = Pointer { key, said: ButtonAction::Allow, nonce };
/// let on_the_button = pointer.to_string();
/// assert!(on_the_button.starts_with("h1:d41d8c:") && on_the_button.len() <= 64);
/// assert_eq!(on_the_button.parse(), Ok(pointer));
/// # Ok::<(), holdpoint_ports::channel::BadPointer>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pointer {
    /// The prompt that the button was drawn for.
    pub key: DeliveryKey,
    /// Which of its buttons this is.
    pub said: ButtonAction,
    /// The one that the prompt had when the button was drawn: it tells which question was seen.
    pub nonce: Nonce,
}

/// A text that no button of ours carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a button of ours")]
pub struct BadPointer;

impl DeliveryKey {
    /// From letters and digits, up to 22.
    pub fn new(text: &str) -> Result<DeliveryKey, BadPointer> {
        is_plain(text, 1, 22).then(|| DeliveryKey(text.to_owned())).ok_or(BadPointer)
    }

    /// The text that buttons and records have.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Nonce {
    /// From six to eight letters and digits.
    pub fn new(text: &str) -> Result<Nonce, BadPointer> {
        is_plain(text, 6, 8).then(|| Nonce(text.to_owned())).ok_or(BadPointer)
    }

    /// From so many fresh random bits.
    pub fn make(mut random: u128) -> Nonce {
        const LETTERS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
        let letters = (0..8).map(|_| {
            let letter = LETTERS[(random % 36) as usize] as char;
            random /= 36;
            letter
        });
        Nonce(letters.collect())
    }

    /// The text that buttons and records have.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_plain(text: &str, least: usize, most: usize) -> bool {
    (least..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

impl fmt::Display for ButtonAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ButtonAction::Allow => f.write_str("a"),
            ButtonAction::Deny => f.write_str("d"),
            ButtonAction::Form => f.write_str("f"),
            ButtonAction::Arm => f.write_str("p"),
            ButtonAction::Back => f.write_str("b"),
            ButtonAction::Explain => f.write_str("x"),
            ButtonAction::Option(number) => write!(f, "{number}"),
        }
    }
}

impl FromStr for ButtonAction {
    type Err = BadPointer;

    fn from_str(text: &str) -> Result<ButtonAction, BadPointer> {
        match text {
            "a" => Ok(ButtonAction::Allow),
            "d" => Ok(ButtonAction::Deny),
            "f" => Ok(ButtonAction::Form),
            "p" => Ok(ButtonAction::Arm),
            "b" => Ok(ButtonAction::Back),
            "x" => Ok(ButtonAction::Explain),
            number => {
                let read = number.parse().map_err(|_| BadPointer)?;
                // One spelling: no `+1`, no `01`.
                (read > 0 && ButtonAction::Option(read).to_string() == number)
                    .then_some(ButtonAction::Option(read))
                    .ok_or(BadPointer)
            }
        }
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "h1:{}:{}:{}", self.key.0, self.said, self.nonce.0)
    }
}

impl FromStr for Pointer {
    type Err = BadPointer;

    fn from_str(text: &str) -> Result<Pointer, BadPointer> {
        let mut parts = text.split(':');
        let mut next = || parts.next().ok_or(BadPointer);
        let (version, key, said, nonce) = (next()?, next()?, next()?, next()?);
        if version != "h1" || parts.next().is_some() {
            return Err(BadPointer);
        }
        Ok(Pointer { key: DeliveryKey::new(key)?, said: said.parse()?, nonce: Nonce::new(nonce)? })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in [
            "h1:7Q2:a:k3x9ab",
            "h1:7Q2:d:k3x9ab12",
            "h1:7Q2:255:k3x9ab",
            "h1:Z:f:000000",
            "h1:Z:p:000000",
            "h1:Z:b:000000",
            "h1:Z:x:000000",
        ] {
            assert_eq!(text.parse::<Pointer>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "h1:7Q2:a",
            "h2:7Q2:a:k3x9ab",
            "h1::a:k3x9ab",
            "h1:7Q2:q:k3x9ab",
            "h1:7Q2:0:k3x9ab",
            "h1:7Q2:01:k3x9ab",
            "h1:7Q2:+1:k3x9ab",
            "h1:7Q2:256:k3x9ab",
            "h1:7Q2:a:k3x9a",
            "h1:7Q2:a:k3x9ab123",
            "h1:7Q2:a:k3x9ab:x",
            "h1:7 2:a:k3x9ab",
            "h1:é:a:k3x9ab",
        ] {
            assert_eq!(text.parse::<Pointer>(), Err(BadPointer), "{text}");
        }
    }

    #[test]
    fn the_longest_pointer_fits_where_the_least_room_is() {
        let key = DeliveryKey::new(&"Z".repeat(22)).unwrap();
        let pointer =
            Pointer { key, said: ButtonAction::Option(255), nonce: Nonce::make(u128::MAX) };
        assert!(pointer.to_string().len() <= 64);
    }

    proptest! {
        #[test]
        fn nonces_are_nonces(random in any::<u128>(), text in "\\PC{0,70}") {
            let made = Nonce::make(random);
            prop_assert_eq!(Nonce::new(made.as_str()), Ok(made));
            if let Ok(pointer) = text.parse::<Pointer>() {
                prop_assert_eq!(pointer.to_string(), text);
            }
        }
    }
}
