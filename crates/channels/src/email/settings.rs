//! What the configuration says about sending mail.

use ports::secret_string::SecretString;

use crate::card::{Language, Zone};

#[derive(Clone, Debug)]
pub struct EmailSettings {
    /// As the configuration names the channel.
    pub name: String,
    pub host: String,
    pub port: u16,
    pub tls: Tls,
    pub login: Option<Login>,
    /// `Holdpoint <holdpoint@example.org>`
    pub from: String,
    pub language: Language,
    pub zone: Zone,
}

#[derive(Clone, Debug)]
pub struct Login {
    pub user: String,
    pub password: SecretString,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// From the first byte; port 465.
    Implicit,
    /// Begins in the clear and goes no further without it; port 587.
    Starttls,
    /// Never, which is for a relay on this machine.
    Off,
}
