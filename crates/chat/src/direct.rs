//! A login link to one person's own account. It is a secret that is good for a quarter of an hour: it goes
//! straight to the platform, is never written down as other words are, and is not tried again.

use domain::person::PersonId;
use ports::channel::{ChannelError, Destination, OutgoingText};

use crate::words::ChatWords;
use crate::{ChannelRuntime, ChatService};

impl ChatService {
    /// Whether anything can be said to one person on any channel.
    pub fn can_write_directly(&self) -> bool {
        self.0.lines.values().any(|wire| wire.line.channel.talks())
    }

    /// The first channel on which this person has a linked account, and on which one can talk.
    pub fn direct_channel(&self, person: &PersonId) -> Option<String> {
        let talks = |wire: &&std::sync::Arc<ChannelRuntime>| wire.line.channel.talks();
        let mut lines = self.0.lines.values().filter(talks);
        let found = lines.find(|wire| self.account_of(wire, person).is_some())?;
        Some(found.name.to_string())
    }

    fn account_of(&self, wire: &ChannelRuntime, person: &PersonId) -> Option<&str> {
        let platform = wire.line.channel.platform();
        self.0.people.get(person)?.identity_on(&wire.name, platform)
    }

    /// To the account that the configuration links to this person there, and to nothing else.
    pub async fn send_login_link(
        &self,
        person: &PersonId,
        channel: &str,
        url: &str,
    ) -> Result<(), ChannelError> {
        let never = || ChannelError::Never("the person has no linked account there".into());
        let wire = self.0.lines.get(channel).ok_or_else(never)?;
        let account = self.account_of(wire, person).ok_or_else(never)?;
        let key = format!("login-{:032x}", self.0.chance.bits());
        let text = ChatWords(wire.line.language).login_link(url);
        let saying = OutgoingText { key: &key, text: &text, reply_to: None, whisper_to: None };
        let place = Destination::Person(account.to_owned());
        self.in_time(wire, wire.line.channel.say(&place, &saying)).await
    }

    /// Name and platform of each channel, and whether a word can be said to one person there.
    pub fn channel_list(&self) -> Vec<(String, String, bool)> {
        let told = self.0.lines.values().map(|wire| {
            let channel = &wire.line.channel;
            (wire.name.to_string(), channel.platform().to_owned(), channel.talks())
        });
        let mut list: Vec<_> = told.collect();
        list.sort();
        list
    }

    /// A word to the person's own account, to see whether it arrives.
    pub async fn send_test(&self, person: &PersonId, channel: &str) -> Result<(), ChannelError> {
        let never = |why: &str| ChannelError::Never(why.into());
        let wire = self.0.lines.get(channel).ok_or_else(|| never("there is no such channel"))?;
        if !wire.line.channel.talks() {
            return Err(never("nothing but prompts can be sent there"));
        }
        let account = self.account_of(wire, person);
        let account = account.ok_or_else(|| {
            never("you have no linked account there: add it to `identities` of the person")
        })?;
        let key = format!("test-{:032x}", self.0.chance.bits());
        let text = ChatWords(wire.line.language).test_message();
        let saying = OutgoingText { key: &key, text: &text, reply_to: None, whisper_to: None };
        let place = Destination::Person(account.to_owned());
        self.in_time(wire, wire.line.channel.say(&place, &saying)).await
    }
}
