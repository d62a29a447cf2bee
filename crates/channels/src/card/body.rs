//! The text of what is asked: the one rendering that all surfaces share.

use domain::digest::Digest;

use super::shown::kept;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    pub text: String,
    pub cut: Option<Cut>,
}

/// The part that a platform had no room for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    pub shown_bytes: usize,
    pub total_bytes: usize,
    /// Of the whole text.
    pub digest: Digest,
}

impl Body {
    pub(super) fn whole(text: String) -> Body {
        Body { text, cut: None }
    }

    /// So many characters of it.
    pub(super) fn cut_to(&self, characters: usize) -> Body {
        let text = kept(&self.text, characters).trim_end().to_owned();
        let cut = Cut {
            shown_bytes: text.len(),
            total_bytes: self.text.len(),
            digest: Digest::of(self.text.as_bytes()),
        };
        Body { text, cut: Some(cut) }
    }
}
