//! What a tool says about a call before anybody is asked.

use domain::hold::Risk;
use ports::tool_host::{AskAnyway, Prepared};

use crate::title::make_headline;

/// Shown to the approver. It is the program's own word, so nothing that the model wrote should
/// be repeated here as if it were a fact; the arguments are shown beside it anyway.
///
/// ```
/// use domain::hold::Risk;
/// use holdpoint_tools::typed::Preview;
///
/// let preview = Preview::new("Pays 12.50 € back to the card of order 7")
///     .title("Refund order 7")
///     .warning("this order was refunded before")
///     .always_ask("a second refund", Risk::High);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preview {
    prepared: Prepared,
}

impl Preview {
    /// One sentence about what would happen.
    pub fn new(summary: impl Into<String>) -> Preview {
        let mut preview = Preview::default();
        preview.prepared.preview.summary = Some(summary.into().into());
        preview
    }

    /// The headline of the question; `Run NAME` without it.
    #[must_use]
    pub fn title(mut self, title: &str) -> Preview {
        self.prepared.title = Some(make_headline(title));
        self
    }

    /// How many rows, files or things would change.
    #[must_use]
    pub fn rows(mut self, rows: u64) -> Preview {
        self.prepared.preview.rows = Some(rows);
        self
    }

    /// What would change, line by line.
    #[must_use]
    pub fn diff(mut self, diff: impl Into<String>) -> Preview {
        self.prepared.preview.diff = Some(diff.into());
        self
    }

    /// Something that the approver should not overlook. May be said several times.
    #[must_use]
    pub fn warning(mut self, warning: impl Into<String>) -> Preview {
        self.prepared.preview.warnings.push(warning.into().into());
        self
    }

    /// A person must look at this one, also where the policy would allow it.
    #[must_use]
    pub fn always_ask(mut self, why: impl Into<String>, risk: Risk) -> Preview {
        self.prepared.ask = Some(AskAnyway { summary: why.into().into(), risk });
        self
    }

    pub(super) fn prepared(self) -> Prepared {
        self.prepared
    }
}
