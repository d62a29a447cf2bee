//! What is asked, in lines that are ours and blocks that are foreign. No line holds both: a platform
//! draws a foreign block so that every drawn line of it carries a mark, however it is wrapped.

use domain::digest::Digest;
use domain::view::FOREIGN_MARK;

use super::shown::first_characters;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardBody {
    pub blocks: Vec<CardBlock>,
    pub cut: Option<Cut>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CardBlock {
    /// One line of our own words.
    Ours(String),
    /// Lines of foreign text, each safe to show behind a mark.
    Foreign(Vec<String>),
}

/// The part that a platform had no room for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    pub shown_bytes: usize,
    pub total_bytes: usize,
    /// Of the whole text.
    pub digest: Digest,
}

impl CardBody {
    pub(super) fn whole(blocks: Vec<CardBlock>) -> CardBody {
        CardBody { blocks, cut: None }
    }

    /// As plain text, with a mark before every foreign line.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for block in &self.blocks {
            match block {
                CardBlock::Ours(line) => push_line(&mut text, "", line),
                CardBlock::Foreign(lines) => {
                    lines.iter().for_each(|line| push_line(&mut text, FOREIGN_MARK, line));
                }
            }
        }
        text
    }

    pub(super) fn characters(&self) -> usize {
        self.lines().map(|line| line.chars().count() + 1).sum()
    }

    fn lines(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().flat_map(|block| match block {
            CardBlock::Ours(line) => std::slice::from_ref(line).iter().map(String::as_str),
            CardBlock::Foreign(lines) => lines.as_slice().iter().map(String::as_str),
        })
    }

    /// So many characters of it.
    pub(super) fn cut_to(&self, characters: usize) -> CardBody {
        let mut room = characters;
        let mut blocks = Vec::new();
        for block in &self.blocks {
            match block {
                // Half a line of ours says nothing.
                CardBlock::Ours(line) if line.chars().count() < room => {
                    room -= line.chars().count() + 1;
                    blocks.push(block.clone());
                }
                CardBlock::Ours(_) => break,
                CardBlock::Foreign(lines) => {
                    let mut shown = Vec::new();
                    for line in lines {
                        let length = line.chars().count();
                        if length >= room {
                            let part = first_characters(line, room.saturating_sub(1)).trim_end();
                            shown.extend((!part.is_empty()).then(|| part.to_owned()));
                            room = 0;
                            break;
                        }
                        shown.push(line.clone());
                        room -= length + 1;
                    }
                    blocks.extend((!shown.is_empty()).then_some(CardBlock::Foreign(shown)));
                }
            }
            if room == 0 {
                break;
            }
        }
        let whole = self.text();
        let shown = CardBody::whole(blocks);
        let cut = Cut {
            shown_bytes: shown.text().len(),
            total_bytes: whole.len(),
            digest: Digest::of(whole.as_bytes()),
        };
        CardBody { cut: Some(cut), ..shown }
    }
}

fn push_line(text: &mut String, mark: &str, line: &str) {
    text.push_str(mark);
    text.push_str(line);
    text.push('\n');
}
