//! What a run may use up before a person is asked whether it may go on. Amounts are whole numbers:
//! money is counted in millionths of its unit, time in milliseconds.

use std::fmt;

use crate::limits::TURNS_PER_RUN_MAX;
use crate::time::Timestamp;

/// What a turn, or all turns of a run, cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// All of the requests, cached or not.
    pub input_tokens: u64,
    /// Of these, read from the provider's cache.
    pub cached_tokens: u64,
    /// Written by the model, its thinking included.
    pub output_tokens: u64,
    /// In millionths, by the prices at the time.
    pub money: u64,
}

impl Usage {
    /// Input and output together, which is what a budget of tokens counts.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    fn add(&mut self, more: &Usage) {
        self.input_tokens = self.input_tokens.saturating_add(more.input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(more.cached_tokens);
        self.output_tokens = self.output_tokens.saturating_add(more.output_tokens);
        self.money = self.money.saturating_add(more.money);
    }
}

/// What a model costs: millionths for each million tokens, so one unit for a million tokens is
/// `1_000_000`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// For input that was not in the provider's cache.
    pub input: u64,
    /// For input that the provider had in its cache.
    pub cached: u64,
    /// For what the model writes.
    pub output: u64,
}

impl Prices {
    /// The usage with what it costs. A part of a millionth counts as a whole one: a budget is
    /// never found to have more left than it has.
    ///
    /// ```
    /// use holdpoint_domain::budget::{Prices, Usage};
    /// let prices = Prices { input: 3_000_000, cached: 300_000, output: 15_000_000 };
    /// let turn = Usage { input_tokens: 1_000, cached_tokens: 600, output_tokens: 10, money: 0 };
    /// assert_eq!(prices.applied(turn).money, 400 * 3 + 180 + 10 * 15);
    /// ```
    #[must_use]
    pub fn applied(&self, usage: Usage) -> Usage {
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let fresh = usage.input_tokens - cached;
        let parts =
            [(fresh, self.input), (cached, self.cached), (usage.output_tokens, self.output)];
        let cost = |(tokens, price): (u64, u64)| u128::from(tokens) * u128::from(price);
        let total = parts.into_iter().map(cost).fold(0, u128::saturating_add);
        let money = u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX);
        Usage { money, ..usage }
    }
}

/// What there can be a budget of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Model calls.
    Turns,
    /// Input and output tokens together.
    Tokens,
    /// In millionths of the unit in which prices are stated.
    Money,
    /// While the run is running. The time for which it waits for people does not count.
    Time,
}

impl Resource {
    /// Every resource, in the order in which budgets are looked at.
    pub const ALL: [Resource; 4] =
        [Resource::Turns, Resource::Tokens, Resource::Money, Resource::Time];

    /// The word by which records, configurations and wires tell it.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Turns => "turns",
            Resource::Tokens => "tokens",
            Resource::Money => "money",
            Resource::Time => "time",
        }
    }

    /// The resource of this name. `None`: there is none.
    pub fn parse(text: &str) -> Option<Resource> {
        Resource::ALL.into_iter().find(|resource| resource.name() == text)
    }
}

/// How much a run may use before somebody is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgets {
    /// Model calls. There is always a bound, so that a loop between model and tools ends.
    pub turns: u32,
    /// Input and output together. `None`: no bound.
    pub tokens: Option<u64>,
    /// In millionths of the unit in which prices are stated. `None`: no bound.
    pub money: Option<u64>,
    /// Milliseconds of running; a pause does not count. `None`: no bound.
    pub time_ms: Option<u64>,
}

impl Default for Budgets {
    fn default() -> Budgets {
        Budgets { turns: TURNS_PER_RUN_MAX, tokens: None, money: None, time_ms: None }
    }
}

impl Budgets {
    fn of(&self, resource: Resource) -> Option<u64> {
        match resource {
            Resource::Turns => Some(u64::from(self.turns.min(TURNS_PER_RUN_MAX))),
            Resource::Tokens => self.tokens,
            Resource::Money => self.money,
            Resource::Time => self.time_ms,
        }
    }
}

/// An amount of something, as people read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// What is counted; it says the unit of `much`.
    pub of: Resource,
    /// In turns, tokens, millionths of money, or milliseconds.
    pub much: u64,
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let much = self.much;
        match self.of {
            Resource::Turns if much == 1 => f.write_str("1 turn"),
            Resource::Turns => write!(f, "{much} turns"),
            Resource::Tokens if much == 1 => f.write_str("1 token"),
            Resource::Tokens => write!(f, "{much} tokens"),
            Resource::Money => write!(f, "{} of money", money(much)),
            Resource::Time => write!(f, "{} of running", time(much)),
        }
    }
}

/// Millionths as a decimal number, with at least two places: `2.50`, `0.000003`.
pub fn money(millionths: u64) -> String {
    let places = format!("{:06}", millionths % 1_000_000);
    let kept = places.trim_end_matches('0').len().max(2);
    format!("{}.{}", millionths / 1_000_000, &places[..kept])
}

fn time(ms: u64) -> String {
    let seconds = ms / 1_000;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0) => format!("{ms} ms"),
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// What a run has used, from its first moment, and from when on each budget counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// Model calls so far.
    pub turns: u32,
    /// Tokens and money so far.
    pub usage: Usage,
    ran_ms: u64,
    /// Since when it has been running, if it is.
    running_since: Option<Timestamp>,
    /// What had been used when a person last let it go on, for each of [`Resource::ALL`].
    renewed: [u64; 4],
}

impl Spent {
    /// For a run that starts at `at`, and is running from then on.
    pub fn begin(at: Timestamp) -> Spent {
        Spent {
            turns: 0,
            usage: Usage::default(),
            ran_ms: 0,
            running_since: Some(at),
            renewed: [0; 4],
        }
    }

    /// How long the run has been running until `now`, its pauses left out.
    pub fn time_ms(&self, now: Timestamp) -> u64 {
        let running = self.running_since.map_or(0, |since| now.ms_since(since));
        self.ran_ms.saturating_add(running)
    }

    fn used(&self, resource: Resource, now: Timestamp) -> u64 {
        match resource {
            Resource::Turns => u64::from(self.turns),
            Resource::Tokens => self.usage.tokens(),
            Resource::Money => self.usage.money,
            Resource::Time => self.time_ms(now),
        }
    }

    /// The first budget of which nothing is left.
    pub fn used_up(&self, budgets: &Budgets, now: Timestamp) -> Option<UsedUp> {
        Resource::ALL.into_iter().enumerate().find_map(|(nth, of)| {
            let limit = budgets.of(of)?;
            let used = self.used(of, now).saturating_sub(self.renewed[nth]);
            (used >= limit).then_some(UsedUp { of, used, limit })
        })
    }

    pub(crate) fn turn(&mut self) {
        self.turns = self.turns.saturating_add(1);
    }

    pub(crate) fn counted(&mut self, usage: &Usage) {
        self.usage.add(usage);
    }

    pub(crate) fn runs(&mut self, at: Timestamp) {
        self.running_since.get_or_insert(at);
    }

    pub(crate) fn rests(&mut self, at: Timestamp) {
        self.ran_ms = self.time_ms(at);
        self.running_since = None;
    }

    /// A person let it go on: the same amount again, of this and of nothing else.
    pub(crate) fn renew(&mut self, resource: Resource, at: Timestamp) {
        for (nth, of) in Resource::ALL.into_iter().enumerate() {
            if of == resource {
                self.renewed[nth] = self.used(of, at);
            }
        }
    }
}

/// A budget that is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedUp {
    /// Which of the budgets it is.
    pub of: Resource,
    /// Since the run began, or since a person last let it go on.
    pub used: u64,
    /// The bound that is reached, in the unit of `of`.
    pub limit: u64,
}

impl UsedUp {
    /// The bound, for people.
    pub fn limit(&self) -> Amount {
        Amount { of: self.of, much: self.limit }
    }

    /// What was used, for people.
    pub fn used(&self) -> Amount {
        Amount { of: self.of, much: self.used }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    #[test]
    fn amounts_are_written_for_people() {
        for (of, much, text) in [
            (Resource::Turns, 1, "1 turn"),
            (Resource::Turns, 20, "20 turns"),
            (Resource::Tokens, 1, "1 token"),
            (Resource::Tokens, 100_000, "100000 tokens"),
            (Resource::Money, 2_500_000, "2.50 of money"),
            (Resource::Money, 3, "0.000003 of money"),
            (Resource::Money, 12_345_600, "12.3456 of money"),
            (Resource::Time, 250, "250 ms of running"),
            (Resource::Time, 90_000, "1 min 30 s of running"),
            (Resource::Time, 600_000, "10 min of running"),
            (Resource::Time, 7_200_000, "2 h of running"),
            (Resource::Time, 7_260_000, "2 h 1 min of running"),
        ] {
            assert_eq!(Amount { of, much }.to_string(), text);
        }
    }

    #[test]
    fn a_part_of_a_millionth_is_a_whole_one_and_nothing_overflows() {
        let prices = Prices { input: 1, cached: 1, output: 1 };
        let one = Usage { output_tokens: 1, ..Usage::default() };
        assert_eq!(prices.applied(one).money, 1);
        // More cached than sent makes no sense; it is never cheaper than the whole request cached.
        let odd = Usage { input_tokens: 1_000_000, cached_tokens: 9_000_000, ..Usage::default() };
        assert_eq!(Prices { input: 5, cached: 2, output: 0 }.applied(odd).money, 2);
        let dear = Prices { input: u64::MAX, cached: 0, output: u64::MAX };
        let much = Usage { input_tokens: u64::MAX, output_tokens: u64::MAX, ..Usage::default() };
        assert_eq!(dear.applied(much).money, u64::MAX);
    }

    #[test]
    fn only_the_time_in_which_it_runs_counts() {
        let mut spent = Spent::begin(at(1_000));
        spent.rests(at(1_500));
        assert_eq!(spent.time_ms(at(90_000)), 500);
        spent.runs(at(90_000));
        spent.runs(at(95_000));
        assert_eq!(spent.time_ms(at(90_200)), 700);
        // A clock that goes backwards takes nothing away.
        assert_eq!(spent.time_ms(at(0)), 500);
    }

    #[test]
    fn what_is_renewed_is_the_one_that_was_used_up() {
        let budgets = Budgets { turns: 2, tokens: Some(10), money: None, time_ms: Some(1_000) };
        let mut spent = Spent::begin(at(0));
        spent.turn();
        assert_eq!(spent.used_up(&budgets, at(999)), None);
        spent.turn();
        let turns = UsedUp { of: Resource::Turns, used: 2, limit: 2 };
        assert_eq!(spent.used_up(&budgets, at(999)), Some(turns));
        spent.renew(Resource::Turns, at(999));
        assert_eq!(spent.used_up(&budgets, at(999)), None);
        spent.counted(&Usage { input_tokens: 7, output_tokens: 6, ..Usage::default() });
        let tokens = UsedUp { of: Resource::Tokens, used: 13, limit: 10 };
        assert_eq!(spent.used_up(&budgets, at(2_000)), Some(tokens));
        spent.renew(Resource::Tokens, at(2_000));
        let time = UsedUp { of: Resource::Time, used: 2_000, limit: 1_000 };
        assert_eq!(spent.used_up(&budgets, at(2_000)), Some(time));
        spent.renew(Resource::Time, at(2_000));
        assert_eq!(spent.used_up(&budgets, at(2_999)), None);
        assert_eq!(spent.used_up(&budgets, at(3_000)).map(|up| up.of), Some(Resource::Time));
    }
}
