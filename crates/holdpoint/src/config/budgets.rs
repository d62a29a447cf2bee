//! `budgets` of an agent: what one run may use before a person is asked whether it may go on.

use domain::budget::{Budgets, Prices};
use domain::limits::TURNS_PER_RUN_MAX;
use serde::Deserialize;
use toml::Spanned;

use super::source::{ConfigSource, Result};
use crate::checks;

/// More than this for one run is a slip of the hand.
const MONEY_MAX: f64 = 1_000_000.0;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BudgetsTable {
    turns: Option<Spanned<u32>>,
    tokens: Option<Spanned<u64>>,
    money: Option<Spanned<Decimal>>,
    time: Option<Spanned<String>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Decimal {
    Whole(u32),
    Broken(f64),
}

impl BudgetsTable {
    pub(super) fn check(
        &self,
        source: &ConfigSource<'_>,
        prices: Option<Prices>,
    ) -> Result<Budgets> {
        let turns = match &self.turns {
            Some(turns) => {
                source.checked(turns, checks::turns(*turns.get_ref()))?;
                *turns.get_ref()
            }
            None => TURNS_PER_RUN_MAX,
        };
        let tokens = match &self.tokens {
            None => None,
            Some(tokens) => {
                let amount = Some(*tokens.get_ref());
                source.checked(tokens, checks::more_than_nothing("tokens", amount))?;
                amount
            }
        };
        let money = match &self.money {
            None => None,
            Some(money) => {
                if prices.is_none() {
                    let message = "a budget of `money` needs a model whose section says what a million tokens cost: `price_input` and `price_output`";
                    return Err(source.error(money.span(), message));
                }
                let amount = Some(millionths(source, "money", money)?);
                source.checked(money, checks::more_than_nothing("money", amount))?;
                amount
            }
        };
        let time_ms = match &self.time {
            None => None,
            Some(time) => {
                let ms = source.duration(time)?.as_millis();
                let amount = Some(u64::try_from(ms).unwrap_or(u64::MAX));
                source.checked(time, checks::more_than_nothing("time", amount))?;
                amount
            }
        };
        Ok(Budgets { turns, tokens, money, time_ms })
    }
}

/// An amount as people write it, in whole millionths: beyond this door nobody counts in fractions.
fn millionths(source: &ConfigSource<'_>, key: &str, given: &Spanned<Decimal>) -> Result<u64> {
    let amount = match given.get_ref() {
        Decimal::Whole(whole) => f64::from(*whole),
        Decimal::Broken(broken) => *broken,
    };
    if !(0.0..=MONEY_MAX).contains(&amount) {
        let message = format!("`{key}` is between 0 and {MONEY_MAX}, like `2.50`");
        return Err(source.error(given.span(), message));
    }
    Ok((amount * 1_000_000.0).round() as u64)
}
