//! What is asked, as people are shown it: typed parts, made by us from stored bytes, with our words
//! and foreign words apart. Every surface draws these parts, each in its own way, and a vote
//! records the digest of all of them: so it can be shown later what a person saw.
//!
//! The text is the same parts for surfaces without a drawing of their own. A line of ours begins at
//! the left edge; every line with a foreign word in it begins with a bar. The model's own words
//! about its call are not here: surfaces show them apart.

mod compose;
mod edit;
mod fields;
mod foreign;
mod form;
mod headline;
mod json_tree;
mod part;
mod rows;
mod spelled;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub(crate) use compose::has_look_alikes;
pub use edit::is_like_an_edit;
pub(crate) use edit::with_edit;
pub use fields::{Field, FieldValue, fields_of};
pub use foreign::ForeignText;
pub use form::{FormField, Input};
pub use headline::{
    ChangedLines, DeployStage, Headline, HeadlineAmount, HeadlineTarget, HeadlineVerb, KnownEffect,
    TargetRole, UndoHint,
};
pub use part::{Author, DiffLine, Label, Picked, Sign, ViewPart};
pub use rows::{FOREIGN_MARK, LINE_END, Row};
pub use spelled::foreign_json;

use crate::digest::Digest;
use crate::hold::Hold;
use crate::json::{canonical, spell};

/// What people are asked, in the order in which they should read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// In reading order.
    pub parts: Vec<ViewPart>,
}

impl View {
    /// The view of a hold as it is now, from what is stored with it.
    pub fn of(hold: &Hold) -> View {
        View { parts: compose::parts(hold) }
    }

    /// Its lines, ours and foreign apart, before anybody wraps them.
    pub fn rows(&self) -> Vec<Row> {
        rows::rows(&self.parts)
    }

    /// For surfaces that only have text. Whoever wraps lines draws [`View::rows`] instead.
    pub fn text(&self) -> String {
        rows::rows_text(&self.rows())
    }

    /// The parts as the HTTP API sends them.
    pub fn json(&self) -> Value {
        spelled::parts(&self.parts).into()
    }

    /// Kept with each vote, so that it can be shown later what a person saw.
    pub fn digest(&self) -> Digest {
        let (parts, text) = (spelled::parts(&self.parts), self.text());
        let digest = signed_digest(|preimage| parts.write_canonical(preimage), &text);
        debug_assert_eq!(digest, digest_of(&parts.into(), &text), "as the API's reply says");
        digest
    }
}

/// Of what the API sends: the canonical JSON of `{"parts": …, "text": …}`.
pub fn digest_of(parts: &Value, text: &str) -> Digest {
    signed_digest(|preimage| preimage.extend(canonical(parts)), text)
}

fn signed_digest(write_parts: impl FnOnce(&mut Vec<u8>), text: &str) -> Digest {
    let mut preimage = br#"{"parts":"#.to_vec();
    // mutant: only-the-text-is-signed
    write_parts(&mut preimage);
    preimage.extend(br#","text":"#);
    spell(text, &mut preimage);
    preimage.push(b'}');
    Digest::of(&preimage)
}

/// See [`View::digest`].
pub fn digest(hold: &Hold) -> Digest {
    View::of(hold).digest()
}

/// The view as text, with a mark on every line of foreign text.
pub fn render(hold: &Hold) -> String {
    View::of(hold).text()
}
