//! `[[people]]`: everybody who can answer.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::person::{ADMIN, People, Person, PersonId};
use serde::Deserialize;
use toml::Spanned;

use super::channel::PLATFORMS;
use super::mistakes::Mistakes;
use super::source::{ConfigSource, Result};
use crate::checks;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PersonTable {
    id: Spanned<String>,
    name: Option<Spanned<String>>,
    #[serde(default)]
    roles: Vec<Spanned<String>>,
    #[serde(default)]
    identities: BTreeMap<Spanned<String>, Spanned<String>>,
}

/// `channels`: each one's name and platform.
pub(super) fn check(
    people: Vec<PersonTable>,
    channels: &[(&str, &str)],
    source: &ConfigSource<'_>,
    mistakes: &mut Mistakes,
) -> People {
    let broken: Vec<Person> = mistakes.broken_in("people").map(stand_in).collect();
    let Some(first) = people.first().map(|person| person.id.span()) else {
        if !broken.is_empty() {
            return People::new(broken);
        }
        // At least one person must be able to log in and to be asked.
        return People::new([Person {
            id: PersonId::new("admin"),
            name: "Admin".into(),
            roles: [ADMIN.to_owned()].into(),
            identities: BTreeMap::new(),
        }]);
    };
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut accounts = Accounts::new();
    let mut all = broken.clone();
    let mut sound = broken.is_empty();
    for person in people {
        let id = person.id.get_ref().clone();
        let roles = person.roles.iter().map(|role| role.get_ref().clone()).collect();
        let stand_in = Person { roles, ..stand_in(&id) };
        let checked = check_one(person, channels, source, &mut known, &mut accounts);
        sound &= checked.is_ok();
        all.push(mistakes.note_named("people", &id, checked).unwrap_or(stand_in));
    }
    let people = People::new(all);
    if sound {
        mistakes.note(checks::has_admin(&people).map_err(|why| source.error(first, why)));
    }
    people
}

/// A person of this name, for the checks of what refers to a person whose table has a mistake.
fn stand_in(id: &str) -> Person {
    let (roles, identities) = Default::default();
    Person { id: PersonId::new(id), name: id.into(), roles, identities }
}

/// By channel and account: whose it is, and under which key it stands.
type Accounts = HashMap<(String, String), (String, String)>;

fn check_one(
    person: PersonTable,
    channels: &[(&str, &str)],
    source: &ConfigSource<'_>,
    known: &mut HashMap<String, usize>,
    accounts: &mut Accounts,
) -> Result<Person> {
    let id = person.id.get_ref().clone();
    source.checked(&person.id, checks::person_name(&id))?;
    if let Some(line) = known.insert(id.clone(), source.line(person.id.span())) {
        let message = format!("there is another person `{id}` in line {line}");
        return Err(source.error(person.id.span(), message));
    }
    for (key, account) in &person.identities {
        linked(key, account, channels, source)?;
        person.stays_in_one_organisation(key, account, channels, source)?;
    }
    for (channel, under, account) in person.accounts(channels) {
        let key = (channel.to_owned(), account.get_ref().clone());
        // Or one account could speak for two people, and a quorum of two would be one person.
        if let Some((other, theirs)) = accounts.insert(key, (id.clone(), under.to_owned())) {
            let message = match (theirs == channel, under == channel) {
                (true, true) => format!(
                    "this account of `{channel}` belongs to `{other}` already; one account is one person"
                ),
                (false, _) => format!(
                    "this account of `{channel}` belongs to `{other}` already, by what stands under \
                     `{theirs}`; one account is one person, so give `{other}` an account of \
                     `{channel}` as well, or take this one out"
                ),
                (true, false) => format!(
                    "this account of `{channel}` belongs to `{other}` already; under `{under}` it \
                     counts there too, so give `{id}` an account of `{channel}` as well, or take this \
                     one out"
                ),
            };
            return Err(source.error(account.span(), message));
        }
    }
    person.checked(source)
}

/// A platform, or one channel there: some platforms name people anew for each app.
fn linked(
    key: &Spanned<String>,
    account: &Spanned<String>,
    channels: &[(&str, &str)],
    source: &ConfigSource<'_>,
) -> Result<()> {
    let name = key.get_ref().as_str();
    let is_platform = PLATFORMS.contains(&name);
    match channels.iter().find(|(channel, _)| *channel == name) {
        Some((_, platform)) if is_platform && *platform != name => {
            let message = format!(
                "`{name}` is a platform, and your channel `{name}` is one of `{platform}`; call that \
                 channel something else"
            );
            return Err(source.error(key.span(), message));
        }
        None if !is_platform => {
            let others = channels.iter().map(|(name, _)| *name);
            let others = others.filter(|name| !PLATFORMS.contains(name));
            let known: Vec<&str> = PLATFORMS.into_iter().chain(others).collect();
            return Err(source.error(key.span(), super::error::unknown_key(name, &known)));
        }
        _ => {}
    }
    if account.get_ref().trim().is_empty() {
        let message = format!("this names no account; take `{name}` out");
        return Err(source.error(account.span(), message));
    }
    Ok(())
}

/// A name that some organisation gave, and that another may give to somebody else.
fn is_local(platform: &str, account: &str) -> bool {
    match platform {
        "dingtalk" => true,
        "feishu" => !account.starts_with("ou_") && !account.starts_with("on_"),
        _ => false,
    }
}

impl PersonTable {
    /// What one organisation calls them must not stand for them in the channel of another.
    fn stays_in_one_organisation(
        &self,
        key: &Spanned<String>,
        account: &Spanned<String>,
        channels: &[(&str, &str)],
        source: &ConfigSource<'_>,
    ) -> Result<()> {
        let (key, account_of) = (key.get_ref().as_str(), account.get_ref().as_str());
        if !PLATFORMS.contains(&key) || !is_local(key, account_of) {
            return Ok(());
        }
        let named = |name: &str| self.identities.keys().any(|key| key.get_ref() == name);
        let counts =
            |(name, platform): &&(&str, &str)| *platform == key && (*name == key || !named(name));
        let there: Vec<&str> = channels.iter().filter(counts).map(|(name, _)| *name).collect();
        if there.len() < 2 {
            return Ok(());
        }
        let such_as = there.iter().find(|name| **name != key).unwrap_or(&key);
        let there_too = match there.contains(&key) {
            true => format!(", and call no channel `{key}`"),
            false => String::new(),
        };
        let message = format!(
            "`{account_of}` is what one organisation calls somebody, and another may call somebody else \
             so: under `{key}` it would count in `{}`; link it by the name of its channel, such as \
             `{such_as} = \"{account_of}\"`{there_too}",
            there.join("` and in `")
        );
        Err(source.error(account.span(), message))
    }

    /// Who they are on each platform and on each channel, as it is looked up, and under which key.
    fn accounts<'a>(
        &'a self,
        channels: &'a [(&'a str, &'a str)],
    ) -> impl Iterator<Item = (&'a str, &'a str, &'a Spanned<String>)> {
        let of = |name: &str| {
            let mut identities = self.identities.iter();
            let found = identities.find(|(key, _)| key.get_ref() == name);
            found.map(|(key, account)| (key.get_ref().as_str(), account))
        };
        let platforms = PLATFORMS.iter().map(|platform| (*platform, *platform));
        let others = channels.iter().copied().filter(|(name, _)| !PLATFORMS.contains(name));
        platforms.chain(others).filter_map(move |(name, platform)| {
            let (under, account) = of(name).or_else(|| of(platform))?;
            Some((name, under, account))
        })
    }

    fn checked(self, source: &ConfigSource<'_>) -> Result<Person> {
        let mut roles = BTreeSet::new();
        for role in &self.roles {
            source.checked(role, checks::role_name(role.get_ref()))?;
            roles.insert(role.get_ref().clone());
        }
        let name = match self.name {
            Some(name) if name.get_ref().trim().is_empty() => {
                return Err(
                    source.error(name.span(), "`name` is empty; leave it out to show the id")
                );
            }
            Some(name) => name.into_inner(),
            None => self.id.get_ref().clone(),
        };
        let identities = self.identities.into_iter();
        Ok(Person {
            id: PersonId::new(self.id.get_ref()),
            name,
            roles,
            identities: identities
                .map(|(channel, account)| (channel.into_inner(), account.into_inner()))
                .collect(),
        })
    }
}
