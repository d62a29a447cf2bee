//! A card, from a stored hold and from what a chat needs to know beside it.

use domain::hold::{Hold, Question, Risk};
use domain::person::People;
use domain::view;

use super::asks::{Asks, Button, Style};
use super::body::Body;
use super::clock::Zone;
use super::form;
use super::settled;
use super::shown::{clipped, line};
use super::words::{Language, Words};
use crate::limits::{BUTTON_CHARACTERS_MAX, FACT_CHARACTERS_MAX, TITLE_CHARACTERS_MAX};
use ports::channel::{Key, Nonce, Pointer, Said};
use replies::Code;

/// Everything on it is safe to show; what a platform's markup would do with it is that platform's
/// business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    pub language: Language,
    pub tone: Tone,
    pub risk: Risk,
    /// What is asked, or how it ended.
    pub headline: String,
    pub title: String,
    /// Three characters to tell open holds apart.
    pub tag: String,
    /// Until when, in the people's own time.
    pub until: Option<String>,
    pub facts: Vec<Fact>,
    pub body: Body,
    pub asks: Asks,
    /// How to answer in words.
    pub hint: Option<String>,
    /// The page with everything on it.
    pub link: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    pub name: &'static str,
    pub value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Waiting,
    /// Allowed or answered.
    Yes,
    No,
    /// Over, without anybody's decision.
    Over,
    /// Nobody knows whether it ran.
    Doubt,
}

/// What is known of the place where a hold is shown.
#[derive(Clone, Debug)]
pub struct Prompt<'a> {
    pub people: &'a People,
    pub language: Language,
    pub zone: Zone,
    pub key: Key,
    pub nonce: Nonce,
    pub link: Option<String>,
    /// `None`: here words do not answer.
    pub replies: Option<Replies<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub struct Replies<'a> {
    pub code: Option<&'a Code>,
    /// In a group only what is said to us is heard.
    pub mention: bool,
}

impl Card {
    /// The hold as it stands now.
    pub fn draw(hold: &Hold, prompt: &Prompt) -> Card {
        let words = Words(prompt.language);
        let pending = hold.is_pending();
        let (tone, headline) = match pending {
            true => {
                let risk = words.of_risk(hold.risk);
                (Tone::Waiting, format!("{} · {risk}", words.asked(&hold.question)))
            }
            false => settled::told(hold, prompt, words),
        };
        let asks = if pending { asks(hold, prompt, words) } else { Asks::Nothing };
        let until = hold.expires_at.filter(|_| pending);
        Card {
            language: prompt.language,
            tone,
            risk: hold.risk,
            headline,
            // Made safe when the hold was made; doing it twice would show marks of marks.
            title: clipped(&hold.title.replace('\n', " "), TITLE_CHARACTERS_MAX),
            tag: line(&hold.tag, 8),
            until: until.map(|at| prompt.zone.moment(at, hold.opened_at)),
            facts: facts(hold, prompt, words),
            body: Body::whole(view::render(hold)),
            hint: hint(hold, prompt, &asks, words),
            asks,
            link: prompt.link.clone(),
        }
    }

    /// As much of the card as a platform takes. One that had to be cut says so and takes no yes.
    pub(crate) fn fitted(&self, fits: impl Fn(&Card) -> bool) -> Card {
        if fits(self) {
            return self.clone();
        }
        let (mut least, mut most) = (0, self.body.text.chars().count());
        while least < most {
            let middle = (least + most).div_ceil(2);
            if fits(&self.cut_to(middle)) { least = middle } else { most = middle - 1 }
        }
        self.cut_to(least)
    }

    fn cut_to(&self, characters: usize) -> Card {
        let body = self.body.cut_to(characters);
        Card { body, asks: self.asks.only_no(), hint: None, ..self.clone() }
    }

    /// The same question where this platform has no way to ask it: only a no, and the link.
    pub(crate) fn elsewhere(&self) -> Card {
        let hint = match &self.asks {
            Asks::Nothing => self.hint.clone(),
            // What cannot be said in words here must not be offered either.
            _ => Some(Words(self.language).elsewhere().to_owned()),
        };
        Card { asks: self.asks.only_no(), hint, ..self.clone() }
    }

    /// What must be said about a cut: first why there is no yes, then the sizes.
    pub(crate) fn cut_note(&self) -> Option<String> {
        let cut = self.body.cut.as_ref()?;
        let words = Words(self.language);
        let sizes = words.cut_sizes(cut.shown_bytes, cut.total_bytes, &cut.digest.to_string());
        Some(format!("{sizes}\n{}", words.cut()))
    }

    /// `7Q2 · until 14:07 UTC`
    pub(crate) fn subtitle(&self) -> String {
        let words = Words(self.language);
        match &self.until {
            Some(until) => format!("{} · {} {until}", self.tag, words.until()),
            None => self.tag.clone(),
        }
    }
}

fn facts(hold: &Hold, prompt: &Prompt, words: Words) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut add = |name, value: &str| {
        facts.push(Fact { name, value: line(value, FACT_CHARACTERS_MAX) });
    };
    if let Some(requester) = &hold.requester {
        add(words.requested_by(), prompt.people.name_of(requester));
    }
    if let Some(agent) = &hold.agent {
        add(words.agent(), agent);
    }
    if let Some(rule) = &hold.rule {
        add(words.rule(), rule);
    }
    // Short, for people to compare; the page and the record have all of it.
    let digest = hold.digest().to_string();
    add(words.digest(), digest.get(..digest.len().min(19)).unwrap_or_default());
    facts
}

fn asks(hold: &Hold, prompt: &Prompt, words: Words) -> Asks {
    let at = Pointer { key: prompt.key.clone(), said: Said::Deny, nonce: prompt.nonce.clone() };
    let button = |label: &str, said, style| Button::new(label.to_owned(), &at, said, style);
    let deny = button(words.deny(), Said::Deny, Style::Plain);
    match &hold.question {
        Question::Approve => {
            let allow = Some(button(words.approve(), Said::Allow, Style::Danger));
            Asks::Decide { allow, deny }
        }
        Question::Choose { options, multiple, .. } => {
            let choices = options.iter().enumerate().map(|(index, option)| {
                let number = u8::try_from(index + 1).unwrap_or(u8::MAX);
                let label = line(&format!("{number}. {}", option.label), BUTTON_CHARACTERS_MAX);
                button(&label, Said::Option(number), Style::Plain)
            });
            let options = choices.collect();
            match multiple {
                false => Asks::Choose { options, deny },
                true => {
                    let submit = button(words.submit(), Said::Form, Style::Plain);
                    Asks::ChooseSeveral { options, submit, deny }
                }
            }
        }
        Question::Fill { schema } => match form::fields(schema.as_ref(), words.free_text()) {
            Some(fields) => {
                let submit = button(words.submit(), Said::Form, Style::Plain);
                Asks::Fill { fields, submit, deny }
            }
            None => Asks::Decide { allow: None, deny },
        },
        Question::Perform { .. } => Asks::Decide { allow: None, deny },
        // What really happened is not for a button: it needs words, and a look.
        Question::Settle => Asks::Nothing,
    }
}

fn hint(hold: &Hold, prompt: &Prompt, asks: &Asks, words: Words) -> Option<String> {
    if !hold.is_pending() {
        return None;
    }
    match (asks, prompt.replies) {
        (Asks::Decide { allow: Some(_), .. }, Some(replies)) => {
            Some(words.reply(replies.code.map(Code::shown), replies.mention))
        }
        (Asks::Choose { .. } | Asks::ChooseSeveral { .. }, Some(replies)) => {
            Some(words.reply_with_number(replies.mention))
        }
        (Asks::Nothing | Asks::Decide { allow: None, .. }, _) => Some(words.elsewhere().to_owned()),
        _ => None,
    }
}
