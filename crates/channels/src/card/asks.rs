//! What can be pressed or filled in.

use super::form::CardField;
use ports::channel::{ButtonAction, Pointer};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CardQuestion {
    /// Nothing any more, or nothing that a chat can do: the link is the way.
    Nothing,
    /// Yes or no. Without `allow`, only no: somebody who has not seen everything can still refuse.
    Decide {
        allow: Option<Button>,
        deny: Button,
        /// A no with words for the agent, on platforms that can ask for them.
        explain: Button,
    },
    /// Yes, once more, after a first press of it.
    Confirm {
        back: Button,
        allow: Button,
        deny: Button,
    },
    /// One of these. A platform with too many to draw leaves them to the reply and the link.
    Choose {
        options: Vec<Button>,
        deny: Button,
    },
    /// Several of these at once, which needs a form.
    ChooseSeveral {
        options: Vec<Button>,
        submit: Button,
        deny: Button,
    },
    Fill {
        fields: Vec<CardField>,
        submit: Button,
        deny: Button,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    pub label: String,
    pub pointer: Pointer,
    pub style: Style,
    pub does: Does,
    /// Asks once more before it counts: it says yes to something of high or critical risk.
    pub asks_twice: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Says yes to something that can do harm.
    Danger,
    Plain,
}

/// For platforms that name their buttons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    Allow,
    Deny,
    Choose(u8),
    Submit,
    /// Opens the form for the reason of a no.
    Explain,
    /// Leads from a card that asks once more to the card as it was.
    Back,
}

impl CardQuestion {
    /// What is left when not everything was shown: a no.
    pub(super) fn only_no(&self, explain: &str) -> CardQuestion {
        match self {
            CardQuestion::Nothing => CardQuestion::Nothing,
            CardQuestion::Decide { deny, explain, .. } => {
                CardQuestion::Decide { allow: None, deny: deny.clone(), explain: explain.clone() }
            }
            CardQuestion::Confirm { deny, .. }
            | CardQuestion::Choose { deny, .. }
            | CardQuestion::ChooseSeveral { deny, .. }
            | CardQuestion::Fill { deny, .. } => {
                let explain = Button::new(
                    explain.to_owned(),
                    &deny.pointer,
                    ButtonAction::Explain,
                    Style::Plain,
                );
                CardQuestion::Decide { allow: None, deny: deny.clone(), explain }
            }
        }
    }

    /// Whether a yes, a choice or a form can be given with this card.
    pub fn accepts_approval(&self) -> bool {
        match self {
            CardQuestion::Nothing | CardQuestion::Decide { allow: None, .. } => false,
            CardQuestion::Decide { .. }
            | CardQuestion::Confirm { .. }
            | CardQuestion::Choose { .. }
            | CardQuestion::ChooseSeveral { .. }
            | CardQuestion::Fill { .. } => true,
        }
    }
}

impl Button {
    pub(super) fn new(label: String, at: &Pointer, said: ButtonAction, style: Style) -> Button {
        let does = match said {
            ButtonAction::Allow => Does::Allow,
            ButtonAction::Deny => Does::Deny,
            ButtonAction::Option(number) => Does::Choose(number),
            ButtonAction::Form => Does::Submit,
            ButtonAction::Arm => Does::Allow,
            ButtonAction::Explain => Does::Explain,
            ButtonAction::Back => Does::Back,
        };
        Button { label, pointer: Pointer { said, ..at.clone() }, style, does, asks_twice: false }
    }

    /// As it is drawn where a platform has no dialog of its own: a dangerous one leads to a second step.
    pub(crate) fn first_step(&self) -> Button {
        if self.asks_twice { self.saying(ButtonAction::Arm) } else { self.clone() }
    }

    /// The same button with another meaning.
    pub(crate) fn saying(&self, said: ButtonAction) -> Button {
        Button { pointer: Pointer { said, ..self.pointer.clone() }, ..self.clone() }
    }
}
