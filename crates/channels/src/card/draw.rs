//! A card, from a stored hold and from what a chat needs to know beside it.

use domain::hold::{Hold, Question, Risk};
use domain::person::People;
use domain::view::{Label, View, ViewPart};

use super::asked::blocks;
use super::asks::{Button, CardQuestion, Style};
use super::body::{CardBlock, CardBody};
use super::captioned::quoted;
use super::clock::Zone;
use super::form;
use super::people;
use super::settled::{OutcomeLine, SettledSummary, settled_summary};
use super::shown::{clipped, line};
use super::words::{CardWords, Language};
use crate::limits::{BUTTON_CHARACTERS_MAX, FACT_CHARACTERS_MAX, TITLE_CHARACTERS_MAX};
use ports::channel::{ButtonAction, DeliveryKey, Nonce, Pointer};
use reply_parser::ApprovalCode;

/// Everything on it is safe to show; what a platform's markup would do with it is that platform's
/// business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    pub language: Language,
    pub tone: Tone,
    pub risk: Risk,
    /// What is asked, or how it ended, in our own words.
    pub headline: String,
    /// What it is about: foreign words in one line.
    pub title: String,
    /// Three characters to tell open holds apart.
    pub tag: String,
    /// Until when, in the people's own time.
    pub until: Option<String>,
    /// What others said about how it ended.
    pub outcome: Option<OutcomeLine>,
    pub body: CardBody,
    /// Who asks, who may answer, who voted, and by which rule.
    pub facts: Vec<Fact>,
    pub asks: CardQuestion,
    /// How to answer in words.
    pub hint: Option<String>,
    /// How to say no in words, where a yes is not taken.
    pub deny_hint: Option<String>,
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
    /// Whether it ran is unknown.
    Doubt,
}

/// What is known of the place where a hold is shown.
#[derive(Clone, Debug)]
pub struct CardContext<'a> {
    pub people: &'a People,
    pub language: Language,
    pub zone: Zone,
    pub key: DeliveryKey,
    pub nonce: Nonce,
    pub link: Option<String>,
    /// `None`: here words do not answer.
    pub replies: Option<Replies<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub struct Replies<'a> {
    pub code: Option<&'a ApprovalCode>,
    /// In a group only what is said to us is heard.
    pub mention: bool,
}

impl Card {
    /// The hold as it stands now.
    pub fn draw(hold: &Hold, prompt: &CardContext) -> Card {
        let words = CardWords(prompt.language);
        let pending = hold.is_pending();
        let SettledSummary { tone, headline, outcome } = match pending {
            true => SettledSummary {
                tone: Tone::Waiting,
                headline: question_line(hold, words),
                outcome: None,
            },
            false => settled_summary(hold, prompt, words),
        };
        let asks = if pending { asks(hold, prompt, words) } else { CardQuestion::Nothing };
        let until = hold.expires_at.filter(|_| pending);
        let view = View::of(hold);
        let whole_title = title(&view, words);
        let title = clipped(&whole_title, TITLE_CHARACTERS_MAX);
        Card {
            language: prompt.language,
            tone,
            risk: hold.risk,
            headline,
            tag: line(&hold.tag, 8),
            until: until.map(|at| prompt.zone.moment(at, hold.opened_at)),
            outcome,
            body: CardBody::whole(blocks(&view, words, title == whole_title)),
            title,
            facts: facts(hold, prompt, words),
            hint: hint(hold, prompt, &asks, words),
            deny_hint: deny_hint(prompt, &asks, words),
            asks,
            link: prompt.link.clone(),
        }
    }

    /// Everything to read below the headline, ours and foreign apart: what it is about, what came of it,
    /// the exact call, and then who is concerned.
    pub(crate) fn flow(&self) -> Vec<CardBlock> {
        let mut flow = self.flow_of_the_call();
        flow.extend(self.facts().map(CardBlock::Ours));
        flow
    }

    /// The same without the names of those who are concerned.
    pub(crate) fn flow_of_the_call(&self) -> Vec<CardBlock> {
        let words = CardWords(self.language);
        let mut flow =
            vec![CardBlock::Foreign(vec![self.title.clone()]), CardBlock::Ours(self.subtitle())];
        if let Some(outcome) = &self.outcome {
            flow.push(CardBlock::Ours(words.labelled(outcome.label, "")));
            flow.push(CardBlock::Foreign(vec![outcome.line.clone()]));
        }
        flow.extend(self.body.blocks.iter().cloned());
        flow.extend(self.cut_note().into_iter().flatten().map(CardBlock::Ours));
        flow
    }

    pub(crate) fn facts(&self) -> impl Iterator<Item = String> {
        let words = CardWords(self.language);
        self.facts.iter().map(move |fact| words.labelled(fact.name, &fact.value))
    }

    /// The card that a first press of a dangerous button leads to.
    pub(crate) fn asking_once_more(self) -> Card {
        let words = CardWords(self.language);
        match &self.asks {
            CardQuestion::Decide { allow: Some(allow), deny, .. } if allow.asks_twice => {
                let label = words.approve_now().to_owned();
                let allow = Button { label, ..allow.saying(ButtonAction::Allow) };
                let back = Button::new(
                    words.back().into(),
                    &deny.pointer,
                    ButtonAction::Back,
                    Style::Plain,
                );
                let asks = CardQuestion::Confirm { back, allow, deny: deny.clone() };
                let (question, more) = words.really(&self.tag, self.risk);
                Card { asks, hint: Some(format!("{question} {more}")), ..self }
            }
            _ => self,
        }
    }

    /// As much of the card as a platform takes. One that had to be cut says so and takes no yes.
    pub(crate) fn fitted(&self, fits: impl Fn(&Card) -> bool) -> Card {
        if fits(self) {
            return self.clone();
        }
        let (mut least, mut most) = (0, self.body.characters());
        while least < most {
            let middle = (least + most).div_ceil(2);
            if fits(&self.cut_to(middle)) { least = middle } else { most = middle - 1 }
        }
        self.cut_to(least)
    }

    fn cut_to(&self, characters: usize) -> Card {
        let body = self.body.cut_to(characters);
        // mutant: cut-card-takes-a-yes
        Card { body, asks: self.only_no(), hint: self.deny_hint.clone(), ..self.clone() }
    }

    /// The same question where this platform has no way to ask it: only a no, and the link.
    pub(crate) fn elsewhere(&self) -> Card {
        let hint = match &self.asks {
            CardQuestion::Nothing => self.hint.clone(),
            // What cannot be said in words here must not be offered either.
            _ => {
                let elsewhere = CardWords(self.language).elsewhere().to_owned();
                let hints: Vec<String> =
                    [elsewhere].into_iter().chain(self.deny_hint.clone()).collect();
                let chinese = self.language == Language::Chinese;
                Some(hints.join(if chinese { "" } else { " " }))
            }
        };
        Card { asks: self.only_no(), hint, ..self.clone() }
    }

    fn only_no(&self) -> CardQuestion {
        self.asks.only_no(CardWords(self.language).deny_because())
    }

    /// What must be said about a cut: the sizes, and why there is no yes.
    pub(crate) fn cut_note(&self) -> Option<[String; 2]> {
        let cut = self.body.cut.as_ref()?;
        let words = CardWords(self.language);
        let sizes = words.cut_sizes(cut.shown_bytes, cut.total_bytes, &cut.digest.to_string());
        Some([sizes, words.cut().to_owned()])
    }

    /// One line for a phone that shows no more: what is asked, and about what.
    pub(crate) fn notice(&self) -> String {
        CardWords(self.language).labelled(&self.headline, &self.title)
    }

    /// `#7Q2 · until 14:07 UTC`, as replies name it
    pub(crate) fn subtitle(&self) -> String {
        let words = CardWords(self.language);
        match &self.until {
            Some(until) => format!("#{} · {} {until}", self.tag, words.until()),
            None => format!("#{}", self.tag),
        }
    }
}

/// `🟠 Approval needed · high risk`
fn question_line(hold: &Hold, words: CardWords) -> String {
    let (sign, risk) = (CardWords::risk_sign(hold.risk), words.of_risk(hold.risk));
    format!("{sign} {} · {risk}", words.asked(&hold.question))
}

fn title(view: &View, words: CardWords) -> String {
    let title = view.parts.iter().find_map(|part| match part {
        ViewPart::Quote { label: Label::Title, text, kind, .. } => {
            Some(quoted(text, kind.as_ref(), words).concat())
        }
        _ => None,
    });
    title.unwrap_or_default()
}

fn facts(hold: &Hold, prompt: &CardContext, words: CardWords) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut add = |name, value: Option<String>| {
        facts.extend(value.map(|value| Fact { name, value }));
    };
    add(words.requested_by(), people::asker(hold, prompt.people, words));
    let pending = hold.is_pending();
    add(words.may_answer(), pending.then(|| people::audience(hold, prompt.people, words)));
    add(words.votes(), people::votes(hold, prompt, words));
    add(words.rule(), hold.rule.as_ref().map(|rule| line(rule, FACT_CHARACTERS_MAX)));
    // Short, for people to compare; the page and the record have all of it.
    let digest = hold.digest().to_string();
    add(words.digest(), Some(digest.get(..digest.len().min(19)).unwrap_or_default().to_owned()));
    facts
}

fn asks(hold: &Hold, prompt: &CardContext, words: CardWords) -> CardQuestion {
    let at =
        Pointer { key: prompt.key.clone(), said: ButtonAction::Deny, nonce: prompt.nonce.clone() };
    let button = |label: &str, said, style| Button::new(label.to_owned(), &at, said, style);
    let deny = button(words.deny(), ButtonAction::Deny, Style::Plain);
    let explain = button(words.deny_because(), ButtonAction::Explain, Style::Plain);
    match &hold.question {
        Question::Approve => {
            let allow = button(words.approve(), ButtonAction::Allow, Style::Danger);
            let asks_twice = hold.risk >= Risk::High;
            CardQuestion::Decide { allow: Some(Button { asks_twice, ..allow }), deny, explain }
        }
        Question::Choose { options, multiple, .. } => {
            let choices = options.iter().enumerate().map(|(index, option)| {
                let number = u8::try_from(index + 1).unwrap_or(u8::MAX);
                let label = match option.is_link_opened() {
                    true => words.link_opened(),
                    false => option.label.as_str(),
                };
                let label = line(&format!("{number}. {label}"), BUTTON_CHARACTERS_MAX);
                button(&label, ButtonAction::Option(number), Style::Plain)
            });
            let options = choices.collect();
            match multiple {
                false => CardQuestion::Choose { options, deny },
                true => {
                    let submit = button(words.submit(), ButtonAction::Form, Style::Plain);
                    CardQuestion::ChooseSeveral { options, submit, deny }
                }
            }
        }
        Question::Fill { schema } => match form::fields(schema.as_ref(), words.free_text()) {
            Some(fields) => {
                let submit = button(words.submit(), ButtonAction::Form, Style::Plain);
                CardQuestion::Fill { fields, submit, deny }
            }
            None => CardQuestion::Decide { allow: None, deny, explain },
        },
        Question::Perform { .. } => CardQuestion::Decide { allow: None, deny, explain },
        // What really happened is not for a button: it needs words, and a look.
        Question::Settle => CardQuestion::Nothing,
    }
}

fn hint(
    hold: &Hold,
    prompt: &CardContext,
    asks: &CardQuestion,
    words: CardWords,
) -> Option<String> {
    if !hold.is_pending() {
        return None;
    }
    match (asks, prompt.replies) {
        (CardQuestion::Decide { allow: Some(_), .. }, Some(replies)) => {
            Some(words.reply(replies.code.map(ApprovalCode::as_shown), replies.mention))
        }
        (CardQuestion::Choose { .. }, Some(replies)) => {
            Some(words.reply_with_number(replies.mention))
        }
        (CardQuestion::ChooseSeveral { .. }, Some(replies)) => {
            Some(words.reply_with_numbers(replies.mention))
        }
        (CardQuestion::Nothing | CardQuestion::Decide { allow: None, .. }, _) => {
            Some(words.elsewhere().to_owned())
        }
        _ => None,
    }
}

fn deny_hint(prompt: &CardContext, asks: &CardQuestion, words: CardWords) -> Option<String> {
    let in_words = asks.accepts_approval() && !matches!(asks, CardQuestion::Fill { .. });
    let replies = prompt.replies.filter(|_| in_words)?;
    Some(words.reply_deny(replies.mention))
}
