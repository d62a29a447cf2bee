//! A card in a platform's own form.

use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    pub value: Value,
    /// Whether this form can be used to say yes. Where it cannot, because something was cut or the
    /// platform has no such input, a yes in words must not count either.
    pub accepts_approval: bool,
}
