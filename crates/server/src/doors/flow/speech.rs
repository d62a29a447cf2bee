//! Text on its way: from deltas while a message is written, from the message where it is whole already,
//! and from both for a client that joined in the middle. Each word is told once.

use domain::id::MessageId;
use domain::message::{Message, Part};
use engine::Spoken;

use super::step::{FlowStep, SpeechKind};

#[derive(Default)]
pub(crate) struct Speech {
    /// The message that is being written, as far as it was told.
    message: Option<MessageId>,
    text: String,
    reasoning: String,
    open: Option<(SpeechKind, String)>,
    /// Blocks begun so far: each has a name of its own.
    blocks: usize,
}

impl Speech {
    pub(crate) fn hear(&mut self, spoken: Spoken) -> Vec<FlowStep> {
        match spoken {
            Spoken::Text { message, text } => {
                self.tell(message, SpeechKind::Text, text.to_string())
            }
            Spoken::Reasoning { message, text } => {
                self.tell(message, SpeechKind::Reasoning, text.to_string())
            }
            Spoken::Discarded { message } if self.message == Some(message) => {
                let mut steps = self.close();
                steps.push(FlowStep::Withdrawn { message });
                self.forget();
                steps
            }
            Spoken::Discarded { .. } => Vec::new(),
        }
    }

    /// The message is whole: tells what is missing of it.
    pub(crate) fn whole(&mut self, message: &Message) -> Vec<FlowStep> {
        let mut steps = Vec::new();
        let (text, reasoning) =
            (whole_text(message, SpeechKind::Text), whole_text(message, SpeechKind::Reasoning));
        let heard = self.message == Some(message.id);
        if heard && text.starts_with(&self.text) && reasoning.starts_with(&self.reasoning) {
            // Thinking comes before text: what was missed of it is not told after it.
            if self.text.is_empty() {
                let rest = reasoning[self.reasoning.len()..].to_owned();
                steps.extend(self.tell(message.id, SpeechKind::Reasoning, rest));
            }
            let rest = text[self.text.len()..].to_owned();
            steps.extend(self.tell(message.id, SpeechKind::Text, rest));
        } else {
            if heard {
                steps.extend(self.close());
                steps.push(FlowStep::Withdrawn { message: message.id });
                self.forget();
            }
            for (kind, text) in message.parts.iter().filter_map(spoken_part) {
                steps.extend(self.tell(message.id, kind, text.to_owned()));
                steps.extend(self.close());
            }
        }
        steps.extend(self.close());
        self.forget();
        steps
    }

    pub(crate) fn close(&mut self) -> Vec<FlowStep> {
        let open = self.open.take();
        open.map(|(kind, id)| FlowStep::Close { id, kind }).into_iter().collect()
    }

    fn forget(&mut self) {
        self.message = None;
        self.text.clear();
        self.reasoning.clear();
    }

    fn tell(&mut self, message: MessageId, kind: SpeechKind, text: String) -> Vec<FlowStep> {
        let mut steps = Vec::new();
        if text.is_empty() {
            return steps;
        }
        if self.message != Some(message) {
            steps.extend(self.close());
            self.forget();
            self.message = Some(message);
        }
        if self.open.as_ref().is_some_and(|(open, _)| *open != kind) {
            steps.extend(self.close());
        }
        let id = match &self.open {
            Some((_, id)) => id.clone(),
            None => {
                self.blocks += 1;
                let id = format!("{message}-{}", self.blocks);
                self.open = Some((kind, id.clone()));
                steps.push(FlowStep::Open { id: id.clone(), kind });
                id
            }
        };
        match kind {
            SpeechKind::Text => self.text.push_str(&text),
            SpeechKind::Reasoning => self.reasoning.push_str(&text),
        }
        steps.push(FlowStep::Delta { id, kind, text });
        steps
    }
}

fn spoken_part(part: &Part) -> Option<(SpeechKind, &str)> {
    match part {
        Part::Text(text) => Some((SpeechKind::Text, text)),
        Part::Reasoning { text, .. } => Some((SpeechKind::Reasoning, text)),
        Part::File(_) | Part::ToolCall { .. } | Part::ToolResult { .. } => None,
    }
}

fn whole_text(message: &Message, wanted: SpeechKind) -> String {
    let parts = message.parts.iter().filter_map(spoken_part);
    parts.filter(|(kind, _)| *kind == wanted).map(|(_, text)| text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::message::{Origin, Role};
    use domain::time::Timestamp;

    fn id() -> MessageId {
        MessageId::new(1, 1)
    }

    fn message(parts: &[(SpeechKind, &str)]) -> Message {
        let parts = parts.iter().map(|(kind, text)| match kind {
            SpeechKind::Text => Part::Text((*text).to_owned()),
            SpeechKind::Reasoning => Part::Reasoning { text: (*text).to_owned(), opaque: None },
        });
        let at = Timestamp::from_ms(1);
        Message {
            id: id(),
            role: Role::Assistant,
            origin: Origin::Own,
            parts: parts.collect(),
            by: None,
            login_makers: Default::default(),
            at,
        }
    }

    /// What a reader sees: `<` and `>` for the bounds of a block, `!` where it is void.
    fn read(steps: &[FlowStep]) -> String {
        let mut seen = String::new();
        for step in steps {
            match step {
                FlowStep::Open { kind: SpeechKind::Text, .. } => seen.push('<'),
                FlowStep::Open { kind: SpeechKind::Reasoning, .. } => seen.push('('),
                FlowStep::Delta { text, .. } => seen.push_str(text),
                FlowStep::Close { kind: SpeechKind::Text, .. } => seen.push('>'),
                FlowStep::Close { kind: SpeechKind::Reasoning, .. } => seen.push(')'),
                FlowStep::Withdrawn { .. } => seen.push('!'),
                other => panic!("{other:?}"),
            }
        }
        seen
    }

    fn check(heard: &[Spoken], whole: &[(SpeechKind, &str)], seen: &str) {
        let mut speech = Speech::default();
        let mut steps = Vec::new();
        for spoken in heard {
            steps.extend(speech.hear(spoken.clone()));
        }
        steps.extend(speech.whole(&message(whole)));
        assert_eq!(read(&steps), seen);
    }

    fn text(text: &str) -> Spoken {
        Spoken::Text { message: id(), text: text.into() }
    }

    fn thinking(text: &str) -> Spoken {
        Spoken::Reasoning { message: id(), text: text.into() }
    }

    #[test]
    fn each_word_is_told_once_however_it_came() {
        use SpeechKind::{Reasoning, Text};
        check(&[], &[(Reasoning, "hm"), (Text, "yes"), (Text, "no")], "(hm)<yes><no>");
        check(&[text("ye"), text("s")], &[(Text, "yes")], "<yes>");
        check(&[text("ye")], &[(Text, "yes")], "<yes>");
        check(
            &[thinking("h"), thinking("m"), text("y")],
            &[(Reasoning, "hm"), (Text, "yes")],
            "(hm)<yes>",
        );
        check(&[thinking("h")], &[(Reasoning, "hm"), (Text, "yes")], "(hm)<yes>");
        // Joined in the middle: what was thought before is gone.
        check(&[text("yes")], &[(Reasoning, "hm"), (Text, "yes")], "<yes>");
        check(&[], &[], "");
    }

    #[test]
    fn what_is_void_is_said_to_be() {
        let void = Spoken::Discarded { message: id() };
        check(&[text("yea"), void, text("no")], &[(SpeechKind::Text, "no")], "<yea>!<no>");
        check(&[text("yea")], &[(SpeechKind::Text, "no")], "<yea>!<no>");
        let other = Spoken::Discarded { message: MessageId::new(2, 2) };
        check(&[text("n"), other], &[(SpeechKind::Text, "no")], "<no>");
    }
}
