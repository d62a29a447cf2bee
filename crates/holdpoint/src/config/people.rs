//! `[[people]]`: everybody who can answer.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::person::{ADMIN, People, Person, PersonId};
use serde::Deserialize;
use toml::Spanned;

use super::channel::PLATFORMS;
use super::source::{Result, Source};
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

pub(super) fn check(people: Vec<PersonTable>, source: &Source<'_>) -> Result<People> {
    let Some(first) = people.first().map(|person| person.id.span()) else {
        // Somebody must be able to log in and to be asked.
        return Ok(People::new([Person {
            id: PersonId::new("admin"),
            name: "Admin".into(),
            roles: [ADMIN.to_owned()].into(),
            identities: BTreeMap::new(),
        }]));
    };
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut accounts: HashMap<(String, String), String> = HashMap::new();
    let mut checked = Vec::new();
    for person in people {
        let id = person.id.get_ref().clone();
        source.checked(&person.id, checks::person_name(&id))?;
        if let Some(line) = known.insert(id.clone(), source.line(person.id.span())) {
            let message = format!("there is another person `{id}` in line {line}");
            return Err(source.error(person.id.span(), message));
        }
        for (channel, account) in &person.identities {
            if !PLATFORMS.contains(&channel.get_ref().as_str()) {
                let message = super::error::unknown_key(channel.get_ref(), &PLATFORMS);
                return Err(source.error(channel.span(), message));
            }
            let key = (channel.get_ref().clone(), account.get_ref().clone());
            // Or one account could speak for two people, and a quorum of two would be one person.
            if let Some(other) = accounts.insert(key, id.clone()) {
                let message = format!(
                    "this account of `{}` belongs to `{other}` already; one account is one person",
                    channel.get_ref()
                );
                return Err(source.error(account.span(), message));
            }
        }
        checked.push(person.checked(source)?);
    }
    let people = People::new(checked);
    checks::has_admin(&people).map_err(|why| source.error(first, why))?;
    Ok(people)
}

impl PersonTable {
    fn checked(self, source: &Source<'_>) -> Result<Person> {
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
