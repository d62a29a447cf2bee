//! Whether anybody is reached over a channel at all, and can do something with what comes: what its own
//! settings cannot say, but the rest of the configuration can.

use ports::channel::Checked;

use crate::config::{ChannelConfig, Config, PlatformConfig};

pub(super) fn reach(config: &Config, channel: &ChannelConfig) -> Vec<Checked> {
    match &channel.platform {
        PlatformConfig::Email(_) => vec![check_reach(config, channel, "email"), link(config)],
        PlatformConfig::Webhook { speaks_for, .. } => {
            vec![check_reach(config, channel, "webhook"), speakers(config, channel, speaks_for)]
        }
        // People in chats are also asked where they talk.
        _ => Vec::new(),
    }
}

fn linked<'a>(
    config: &'a Config,
    channel: &'a ChannelConfig,
    platform: &'a str,
) -> impl Iterator<Item = &'a str> {
    config.people.iter().filter_map(move |person| person.identity_on(&channel.name, platform))
}

fn check_reach(config: &Config, channel: &ChannelConfig, platform: &str) -> Checked {
    let people = linked(config, channel, platform).count();
    let wrong = (people == 0 && channel.ask.is_empty()).then(|| {
        format!(
            "nobody is told of anything here: link people with `identities = {{ {platform} = \"…\" }}`, or \
             name places that see every question in `ask`"
        )
    });
    let what = match (people, channel.ask.len()) {
        (people, 0) => format!("asks {people} linked people"),
        (0, places) => format!("every question goes to {places} places"),
        (people, places) => {
            format!("asks {people} linked people, and every question goes to {places} places")
        }
    };
    Checked { what, wrong }
}

/// A letter is read elsewhere than on this machine.
fn link(config: &Config) -> Checked {
    let url = config.server.public_url.as_deref();
    let wrong = url.is_none().then(|| {
        "letters would lead to the address that we listen on, which readers may not reach; set \
         `[server] public_url`"
            .to_owned()
    });
    Checked { what: format!("links to {}", url.unwrap_or("this machine")), wrong }
}

fn speakers(config: &Config, channel: &ChannelConfig, speaks_for: &[String]) -> Checked {
    let nobody: Vec<&str> = speaks_for
        .iter()
        .map(String::as_str)
        .filter(|name| linked(config, channel, "webhook").all(|linked| linked != *name))
        .collect();
    let wrong = (!nobody.is_empty()).then(|| {
        format!(
            "`speaks_for` names {}, and nobody has that in `identities = {{ webhook = … }}`: their \
             decisions are refused",
            nobody.join(", ")
        )
    });
    let what = match speaks_for.len() {
        0 => "only listens; whoever stands in `speaks_for` can decide here".to_owned(),
        count => format!("speaks for {count} people"),
    };
    Checked { what, wrong }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_linked_by_the_platform_or_by_the_channel() {
        let text = |links: &str| {
            format!(
                "[channels.pager]\nplatform = \"webhook\"\nurl = \"https://x.example/\"\n\
                 secret_env = \"A\"\ninbound_secret_env = \"B\"\nspeaks_for = [\"ana-42\"]\n\
                 [[people]]\nid = \"ana\"\nroles = [\"admin\"]\nidentities = {{ {links} }}\n"
            )
        };
        for (links, asks, good) in [
            ("webhook = \"ana-42\"", 1, true),
            ("pager = \"ana-42\"", 1, true),
            // Here she is somebody else.
            ("webhook = \"ana-42\", pager = \"ana-43\"", 1, false),
            ("email = \"ana@example.com\"", 0, false),
        ] {
            let config =
                Config::parse(&text(links), "h.toml").unwrap_or_else(|why| panic!("{why}"));
            let told = reach(&config, &config.channels[0]);
            assert_eq!(told[0].what, format!("asks {asks} linked people"), "{links}");
            assert_eq!(told.iter().all(|one| one.wrong.is_none()), good, "{links}: {told:?}");
        }
    }
}
