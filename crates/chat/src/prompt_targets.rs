//! Where a hold is asked.

use domain::hold::Hold;
use domain::session::Session;
use ports::channel::Destination;

use crate::ChannelRuntime;
use crate::limits::Limits;

/// A conversation of a channel, as a session keeps it: `account:chat`, with `:thread` where there is one.
pub(crate) fn home_of(runtime: &ChannelRuntime, chat: &str, thread: Option<&str>) -> String {
    let account = escaped(runtime.connector.channel.account());
    let chat = escaped(chat);
    match thread {
        Some(thread) => format!("{account}:{chat}:{}", escaped(thread)),
        None => format!("{account}:{chat}"),
    }
}

/// The chat in which a session lives, if that is one of this channel.
pub(crate) fn place_of(runtime: &ChannelRuntime, session: &Session) -> Option<Destination> {
    let home = session.home.as_ref().filter(|home| *home.door == *runtime.name)?;
    let mut parts = home.place.split(':').map(unescaped);
    let account = parts.next()?;
    if account != runtime.connector.channel.account() {
        return None;
    }
    let (chat, thread) = (parts.next()?, parts.next());
    let direct = session.metadata.get("direct").and_then(serde_json::Value::as_bool);
    Some(Destination::Chat { chat, thread, direct: direct.unwrap_or(false) })
}

/// The chat in which it arose, or else the people who may answer, and the chats that see every
/// question.
pub(crate) fn places(
    runtime: &ChannelRuntime,
    hold: &Hold,
    session: Option<&Session>,
    people: &domain::person::People,
    limits: &Limits,
) -> Vec<Destination> {
    let mut places: Vec<Destination> = Vec::new();
    match session.and_then(|session| place_of(runtime, session)) {
        Some(home) => places.push(home),
        None => {
            let platform = runtime.connector.channel.platform();
            let admitted = people.iter().filter(|person| hold.admits(&person.id, people));
            let linked = admitted.filter_map(|person| person.identity_on(&runtime.name, platform));
            let asked = linked.take(limits.people_asked).map(str::to_owned);
            places.extend(asked.map(Destination::Person));
        }
    }
    for chat in &runtime.connector.ask {
        let there = |place: &Destination| matches!(place, Destination::Chat { chat: known, .. } if known == chat);
        if !places.iter().any(there) {
            places.push(Destination::Chat { chat: chat.clone(), thread: None, direct: false });
        }
    }
    places
}

/// Platforms put what they like into their ids.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace(':', "%3A")
}

fn unescaped(text: &str) -> String {
    text.replace("%3A", ":").replace("%25", "%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_with_marks_come_back() {
        for text in ["oc_1", "a:b", "%3A", "%253A", "%:", ""] {
            let written = escaped(text);
            assert!(!written.contains(':'), "{written}");
            assert_eq!(unescaped(&written), text);
        }
    }
}
