//! A login link to one person's own account. It is a secret that is good for a quarter of an hour: it goes
//! straight to the platform, is never written down as other words are, and is not tried again.

use domain::person::PersonId;
use ports::channel::{ChannelError, Destination, OutgoingText};

use crate::words::ChatWords;
use crate::{ChannelRuntime, ChatService};

impl ChatService {
    /// Whether anything can be said to one person on any channel.
    pub fn can_write_directly(&self) -> bool {
        self.0.channels.values().any(|runtime| runtime.connector.channel.talks())
    }

    /// The first channel on which this person has a linked account, and on which one can talk.
    pub fn direct_channel(&self, person: &PersonId) -> Option<String> {
        let talks = |runtime: &&std::sync::Arc<ChannelRuntime>| runtime.connector.channel.talks();
        let mut channels = self.0.channels.values().filter(talks);
        let found = channels.find(|runtime| self.account_of(runtime, person).is_some())?;
        Some(found.name.to_string())
    }

    fn account_of(&self, runtime: &ChannelRuntime, person: &PersonId) -> Option<&str> {
        let platform = runtime.connector.channel.platform();
        self.0.people.get(person)?.identity_on(&runtime.name, platform)
    }

    /// To the account that the configuration links to this person there, and to nothing else.
    pub async fn send_login_link(
        &self,
        person: &PersonId,
        channel: &str,
        url: &str,
    ) -> Result<(), ChannelError> {
        let never = || ChannelError::Never("the person has no linked account there".into());
        let runtime = self.0.channels.get(channel).ok_or_else(never)?;
        let account = self.account_of(runtime, person).ok_or_else(never)?;
        let key = format!("login-{:032x}", self.0.rng.bits());
        let text = ChatWords(runtime.connector.language).login_link(url);
        let saying = OutgoingText { key: &key, text: &text, reply_to: None, whisper_to: None };
        let place = Destination::Person(account.to_owned());
        self.in_time(runtime, runtime.connector.channel.say(&place, &saying)).await
    }

    /// Name and platform of each channel, and whether a word can be said to one person there.
    pub fn channel_list(&self) -> Vec<(String, String, bool)> {
        let told = self.0.channels.values().map(|runtime| {
            let channel = &runtime.connector.channel;
            (runtime.name.to_string(), channel.platform().to_owned(), channel.talks())
        });
        let mut list: Vec<_> = told.collect();
        list.sort();
        list
    }

    /// A word to the person's own account, to see whether it arrives.
    pub async fn send_test(&self, person: &PersonId, channel: &str) -> Result<(), ChannelError> {
        let never = |why: &str| ChannelError::Never(why.into());
        let runtime =
            self.0.channels.get(channel).ok_or_else(|| never("there is no such channel"))?;
        if !runtime.connector.channel.talks() {
            return Err(never("nothing but prompts can be sent there"));
        }
        let account = self.account_of(runtime, person);
        let account = account.ok_or_else(|| {
            never("you have no linked account there: add it to `identities` of the person")
        })?;
        let key = format!("test-{:032x}", self.0.rng.bits());
        let text = ChatWords(runtime.connector.language).test_message();
        let saying = OutgoingText { key: &key, text: &text, reply_to: None, whisper_to: None };
        let place = Destination::Person(account.to_owned());
        self.in_time(runtime, runtime.connector.channel.say(&place, &saying)).await
    }
}
