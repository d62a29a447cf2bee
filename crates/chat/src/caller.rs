//! Who somebody in a chat is to us.

use engine::Caller;
use ports::channel::Operator;

use crate::{ChannelRuntime, ChatService};

impl ChatService {
    /// The person linked to this account, by any of the names that the platform vouches for. Where two
    /// names lead to two people, nobody can say who it was, and it was nobody.
    pub(crate) fn caller(
        &self,
        runtime: &ChannelRuntime,
        operator: &Operator,
        message: &str,
    ) -> Option<Caller> {
        let platform = runtime.connector.channel.platform();
        let mut linked = operator.identities().filter_map(|identity| {
            self.0.engine.caller_in_channel(&runtime.name, platform, identity, message)
        });
        let first = linked.next()?;
        linked.all(|other| other.actor().is_same(first.actor())).then_some(first)
    }

    /// Under which name an account here is linked: the platform's, unless it has several channels.
    pub(crate) fn key_of_links<'a>(&self, runtime: &'a ChannelRuntime) -> &'a str {
        let platform = runtime.connector.channel.platform();
        let channels = self.0.channels.values().map(|other| other.connector.channel.platform());
        if channels.filter(|other| *other == platform).count() > 1 {
            &runtime.name
        } else {
            platform
        }
    }
}
