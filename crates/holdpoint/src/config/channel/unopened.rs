//! Settings of a platform whose secrets have not been read. A configuration is checked, shown and mailed without
//! them; they are read when the channel is opened.

use std::fmt;
use std::sync::Arc;

use ports::secret_string::SecretString;

use super::ChannelConfig;
use crate::config::secret::SecretSource;

type Open<T> = dyn Fn(&Opening<'_>) -> Result<T, String> + Send + Sync;

/// The settings `T` of a platform, checked, and complete but for the secrets.
#[derive(Clone)]
pub struct Unopened<T>(Arc<Open<T>>);

impl<T> Unopened<T> {
    pub(super) fn new(
        open: impl Fn(&Opening<'_>) -> Result<T, String> + Send + Sync + 'static,
    ) -> Unopened<T> {
        Unopened(Arc::new(open))
    }

    /// With the secrets, which are read now.
    pub(crate) fn open(&self, channel: &ChannelConfig) -> Result<T, String> {
        (self.0)(&Opening { channel, read: &|from, what| from.read(what) })
    }

    /// With these secrets.
    #[cfg(test)]
    pub(super) fn open_with(
        &self,
        channel: &ChannelConfig,
        secret: impl Fn(&SecretSource) -> &'static str,
    ) -> Result<T, String> {
        (self.0)(&Opening { channel, read: &|from, _| Ok(secret(from).to_owned()) })
    }
}

impl<T> fmt::Debug for Unopened<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unopened")
    }
}

/// What a channel is opened with: the keys that every channel has, and a way to its secrets.
pub(super) struct Opening<'a> {
    pub(super) channel: &'a ChannelConfig,
    read: &'a dyn Fn(&SecretSource, &str) -> Result<String, String>,
}

impl Opening<'_> {
    pub(super) fn name(&self) -> String {
        self.channel.name.to_string()
    }

    /// `what` it is, for the person who must mend it.
    pub(super) fn secret(&self, what: &str, from: &SecretSource) -> Result<SecretString, String> {
        self.parsed(what, from, |text| Ok::<_, String>(SecretString::new(text)))
    }

    pub(super) fn secret_if_given(
        &self,
        what: &str,
        from: &Option<SecretSource>,
    ) -> Result<Option<SecretString>, String> {
        from.as_ref().map(|from| self.secret(what, from)).transpose()
    }

    /// A secret that has a form of its own.
    pub(super) fn parsed<T, E: fmt::Display>(
        &self,
        what: &str,
        from: &SecretSource,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, String> {
        let what = format!("the {what} of [channels.{}]", self.channel.name);
        let text = (self.read)(from, &what)?;
        parse(&text).map_err(|why| format!("{what}: {why}"))
    }
}
