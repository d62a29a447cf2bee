//! `holdpoint channels`: whether the channels of a configuration work, and what to mend.

use std::sync::Arc;
use std::time::Duration;

use domain::visible::visible;
use engine::{SystemClock, SystemRng};
use ports::channel::{Channel, Checked};
use serde_json::{Value, json};

use super::args::ChannelsCheckArgs;
use super::channel_reach::reach;
use super::exit::Exit;
use super::json;
use super::output::{Paint, Terminal};
use crate::config::{ChannelConfig, Config, listed};
use crate::wiring::channels::{Grounds, open_channel};

/// A platform that says nothing for this long is not reached.
const PATIENCE: Duration = Duration::from_secs(30);

pub async fn check(terminal: &Terminal, args: &ChannelsCheckArgs) -> anyhow::Result<Exit> {
    let config = Config::load(&args.config)?;
    let wanted =
        |channel: &&ChannelConfig| args.name.as_ref().is_none_or(|name| **name == *channel.name);
    let channels: Vec<&ChannelConfig> = config.channels.iter().filter(wanted).collect();
    if let (Some(name), true) = (&args.name, channels.is_empty()) {
        let names: Vec<&str> = config.channels.iter().map(|channel| &*channel.name).collect();
        anyhow::bail!(
            "there is no channel `{}`; the channels are {}",
            visible(name),
            listed(&names)
        );
    }
    let clock = Arc::new(SystemClock::new(None));
    let grounds = Grounds { clock, rng: Arc::new(SystemRng::default()) };
    let mut looked = Vec::new();
    for channel in channels {
        let mut checked = looked_at(channel, &grounds).await;
        checked.extend(reach(&config, channel));
        looked.push((channel, checked));
    }
    let well = looked.iter().all(|(_, checked)| checked.iter().all(|one| one.wrong.is_none()));
    let out = terminal.out();
    if args.json {
        let list: Vec<Value> =
            looked.iter().map(|(channel, checked)| channel_json(channel, checked)).collect();
        out.print(&json::pretty(&json!({"well": well, "channels": list})))?;
        return Ok(if well { Exit::Done } else { Exit::Failed });
    }
    if looked.is_empty() {
        out.print("no channels are configured; add one as `[channels.NAME]`\n")?;
    }
    for (channel, checked) in &looked {
        for one in checked {
            let (paint, mark) = match one.wrong {
                None => (Paint::Green, "ok"),
                Some(_) => (Paint::Red, "wrong"),
            };
            let mark = out.paint(paint, &format!("{mark:6}"));
            let wrong = one.wrong.as_ref().map(|why| format!(": {}", visible(why)));
            let line = format!(
                "{mark} {}: {}{}\n",
                channel.name,
                visible(&one.what),
                wrong.unwrap_or_default()
            );
            out.print(&line)?;
        }
    }
    Ok(if well { Exit::Done } else { Exit::Failed })
}

async fn looked_at(config: &ChannelConfig, grounds: &Grounds) -> Vec<Checked> {
    let wrong = |what: &str, why: String| vec![Checked { what: what.into(), wrong: Some(why) }];
    let channel: Arc<dyn Channel> = match open_channel(config, grounds) {
        Ok(channel) => channel,
        Err(error) => return wrong("configuration", format!("{error:#}")),
    };
    match tokio::time::timeout(PATIENCE, channel.check()).await {
        Ok(checked) => checked,
        Err(_) => wrong("platform", "it does not answer; can this machine reach it?".into()),
    }
}

fn channel_json(channel: &ChannelConfig, checked: &[Checked]) -> Value {
    let checks: Vec<Value> = checked
        .iter()
        .map(|one| json!({"what": one.what, "well": one.wrong.is_none(), "wrong": one.wrong}))
        .collect();
    json!({"name": &*channel.name, "checks": checks})
}
