//! How often to ping and when to connect again, as the platform wants it.

use std::time::Duration;

use ports::clock::Rng;
use serde_json::Value;

use crate::limits::{FEISHU_REST, FEISHU_TEMPO_MAX, SOCKET_SILENCE};
use crate::wire::between;

/// All in seconds. What it is before the platform says anything are its own defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeepaliveConfig {
    /// -1 for ever.
    reconnects: i64,
    interval: u64,
    nonce: u64,
    ping: u64,
}

impl Default for KeepaliveConfig {
    fn default() -> KeepaliveConfig {
        KeepaliveConfig { reconnects: -1, interval: 120, nonce: 30, ping: 120 }
    }
}

impl KeepaliveConfig {
    /// What is missing or senseless in it stays as it was.
    pub(super) fn apply(&mut self, config: &Value) {
        let read = |key: &str, least: u64, now: u64| {
            config[key].as_u64().filter(|n| (least..=FEISHU_TEMPO_MAX).contains(n)).unwrap_or(now)
        };
        self.reconnects = config["ReconnectCount"].as_i64().unwrap_or(self.reconnects);
        self.interval = read("ReconnectInterval", 1, self.interval);
        self.nonce = read("ReconnectNonce", 0, self.nonce);
        self.ping = read("PingInterval", 1, self.ping);
    }

    pub(super) fn ping(&self) -> Duration {
        Duration::from_secs(self.ping)
    }

    /// After this much silence the connection is dead, whatever it looks like: each ping is answered.
    pub(super) fn silence(&self) -> Duration {
        self.ping() * 2 + SOCKET_SILENCE
    }

    /// How long to wait before connecting again, after so many attempts in vain.
    pub(super) fn pause(&self, failures: u32, rng: &dyn Rng) -> Duration {
        match failures {
            // Everybody was cut off at once; not everybody comes back at once.
            0 | 1 => between(Duration::ZERO, Duration::from_secs(self.nonce), rng),
            // They want no more of it. This channel would be silent for ever, so we ask once
            // in a while all the same.
            tries if self.reconnects >= 0 && i64::from(tries) > self.reconnects => FEISHU_REST,
            _ => Duration::from_secs(self.interval),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Bits(u128);

    impl Rng for Bits {
        fn bits(&self) -> u128 {
            self.0
        }
    }

    #[test]
    fn the_platform_sets_the_pace_within_reason() {
        let mut tempo = KeepaliveConfig::default();
        tempo.apply(&json!({"ReconnectCount": 3, "ReconnectInterval": 5, "ReconnectNonce": 2, "PingInterval": 90}));
        assert_eq!(tempo, KeepaliveConfig { reconnects: 3, interval: 5, nonce: 2, ping: 90 });
        tempo.apply(
            &json!({"ReconnectInterval": 0, "PingInterval": 10_000_000, "ReconnectNonce": -1}),
        );
        assert_eq!(tempo, KeepaliveConfig { reconnects: 3, interval: 5, nonce: 2, ping: 90 });
        tempo.apply(&json!(null));
        tempo.apply(&json!({"PingInterval": 60}));
        assert_eq!(tempo.ping(), Duration::from_secs(60));
    }

    #[test]
    fn it_connects_again_after_a_while_and_never_gives_up() {
        let tempo = KeepaliveConfig { reconnects: 3, interval: 5, nonce: 2, ping: 90 };
        let pause = |failures, bits| tempo.pause(failures, &Bits(bits)).as_millis();
        assert_eq!((pause(0, 0), pause(0, 2_000), pause(1, 1_500)), (0, 2_000, 1_500));
        assert_eq!((pause(2, 7), pause(3, 7)), (5_000, 5_000));
        assert_eq!(pause(4, 7), FEISHU_REST.as_millis());
        assert_eq!(KeepaliveConfig { reconnects: -1, ..tempo }.pause(1_000, &Bits(0)).as_secs(), 5);
    }
}
