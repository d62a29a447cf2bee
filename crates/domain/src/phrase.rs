//! Lines of ours about how a call runs and why there is no preview: the text in English, and which phrase of ours it is.
//!
//! A phrase is a code with its values. The English text is written from it, and is what is approved, stored and digested;
//! surfaces in other languages word the phrase. A record keeps the text and the codes, so a phrase whose values the text does
//! not give back is only its text from the beginning. Text that others wrote, such as the body of a request, has no phrase.

use std::fmt;
use std::ops::Deref;

use crate::scrub::Scrubber;

macro_rules! phrases {
    ($($name:ident $code:literal: $english:literal;)*) => {
        /// A phrase, without what stands in it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum PhraseCode {
            $(
                #[doc = concat!("In English: ", $english)]
                $name,
            )*
        }

        impl PhraseCode {
            /// In the order of this list, so that surfaces can be tested and described.
            pub const ALL: &'static [PhraseCode] = &[$(PhraseCode::$name,)*];

            /// In the API and in records.
            pub fn name(self) -> &'static str {
                match self {
                    $(PhraseCode::$name => $code,)*
                }
            }

            /// The phrase in English, with `{}` for each value.
            pub fn english(self) -> &'static str {
                match self {
                    $(PhraseCode::$name => $english,)*
                }
            }
        }
    };
}

phrases! {
    // How a call runs.
    Program "program": "program {}";
    Environment "environment": "environment {}";
    TimeLimit "time_limit": "time limit {} s";
    BoundFile "bound_file": "file {}";
    BoundFileBeginning "bound_file_beginning": "file {} of its beginning, {} bytes, changed {}";
    AsUser "as_user": "as user {}";
    Database "database": "database {} at {}";
    DatabaseReadOnly "database_read_only": "database {} at {}, read only";
    Postgres "postgres": "database {} at {} as {} (PostgreSQL)";
    PostgresReadOnly "postgres_read_only": "database {} at {} as {} (PostgreSQL), read only";
    RowsNotCounted "rows_not_counted": "rows not counted";
    RowsChanged "rows_changed": "rows changed: {}";
    RowsAlsoChanged "rows_also_changed": "rows changed through triggers and foreign keys: {}";
    McpTool "mcp_tool": "MCP server {} ({}), tool {}";
    ReachedBy "reached_by": "reached by {}";
    ReachedAsUser "reached_as_user": "reached by {} as user {}";
    Definition "definition": "definition {}";
    ServerSaysNothing "server_says_nothing": "the server says nothing about its effects";
    ServerSays "server_says": "the server says that it {}; that is not checked";
    RequestBody "request_body": "body: {}";
    KeySent "key_sent": "with the key of this call as `idempotency-key`";
    PublicAddresses "public_addresses": "to public addresses only";
    AnyAddress "any_address": "to any address, also a private one";
    DemoCloud "demo_cloud": "Shipper Cloud (demo)";
    // Why there is no preview.
    RowsUncounted "rows_uncounted": "how many rows it touches could not be counted: {}";
    DatabaseUnreadable "database_unreadable": "the database cannot be read: {}";
    DatabaseBusy "database_busy": "another program holds the database; try again later";
    RowsBusy "rows_busy": "another program holds these rows; try again later";
    Interrupted "interrupted": "it was stopped, or ran into its time limit";
    DatabaseUnreachable "database_unreachable": "the database cannot be reached: {}";
    NoAnswer "no_answer": "no answer within {} s";
    CertificatesUnreadable "certificates_unreadable": "this machine's certificates cannot be read: {}";
    MarkerNotWritable "marker_not_writable": "the table {} is needed to run changes exactly once, and this user may not write to it; let the owner of the database run: {}";
    MarkerNotMade "marker_not_made": "the table {} is needed to run changes exactly once, and this user may not make it; let the owner of the database run: {}";
    ProgramNotFound "program_not_found": "no program `{}` was found on PATH; name one that is installed";
    ProgramNotExecutable "program_not_executable": "`{}` is not a file that can be executed";
    FileUnreadable "file_unreadable": "`{}` cannot be read: {}";
    TooMuchToCheck "too_much_to_check": "the programs and scripts that it names have more than {} MiB together, which is more than is checked for one command; name fewer at once";
    PreviewFailed "preview_failed": "the tool's preview failed badly";
    PreviewTooSlow "preview_too_slow": "the tool's preview took longer than {} s";
}

/// What an MCP server may say about a tool, yes and no by turns, in the value of [`PhraseCode::ServerSays`].
pub const SERVER_CLAIMS: [&str; 8] = [
    "reads only",
    "writes",
    "may destroy",
    "does not destroy",
    "may be repeated",
    "must not be repeated",
    "reaches the outside",
    "stays inside",
];

/// A phrase with its values. Its text in English is its `Display`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// Which phrase it is.
    pub code: PhraseCode,
    /// What stands in its gaps, in order. They may be foreign.
    pub values: Vec<String>,
}

impl Phrase {
    /// With as many values as the phrase has gaps.
    fn new(code: PhraseCode, values: &[&str]) -> Phrase {
        Phrase { code, values: values.iter().map(|&value| value.to_owned()).collect() }
    }

    /// Whether a record, which has the code and the text, gives the same phrase back.
    fn can_be_stored(&self, text: &str) -> bool {
        self.code.values_in(text).is_some_and(|read| read == self.values)
    }

    fn scrubbed(&self, scrubber: &Scrubber) -> Phrase {
        let values = self.values.iter().map(|value| scrubber.scrub(value)).collect();
        Phrase { code: self.code, values }
    }
}

/// A value that is missing leaves a gap.
impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut values = self.values.iter();
        for (index, piece) in self.code.english().split("{}").enumerate() {
            if index > 0 {
                f.write_str(values.next().map_or("", String::as_str))?;
            }
            f.write_str(piece)?;
        }
        Ok(())
    }
}

impl PhraseCode {
    /// The code of this name. `None`: there is none.
    pub fn parse(name: &str) -> Option<PhraseCode> {
        PhraseCode::ALL.iter().copied().find(|code| code.name() == name)
    }

    /// For records, which keep the text and the code. `None` if the text is not this phrase.
    fn values_in(self, text: &str) -> Option<Vec<&str>> {
        let mut pieces = self.english().split("{}");
        let mut rest = text.strip_prefix(pieces.next()?)?;
        let mut values = Vec::new();
        let mut pieces = pieces.peekable();
        while let Some(piece) = pieces.next() {
            let end = match pieces.peek() {
                Some(_) => rest.find(piece)?,
                None => rest.strip_suffix(piece)?.len(),
            };
            values.push(&rest[..end]);
            rest = &rest[end + piece.len()..];
        }
        rest.is_empty().then_some(values)
    }
}

/// How a call runs, in lines.
///
/// ```
/// use holdpoint_domain::phrase::{PhraseCode, RunDetail};
///
/// let mut detail = RunDetail::default();
/// detail.push(PhraseCode::TimeLimit, &["30"]);
/// assert_eq!(detail, "time limit 30 s");
/// assert_eq!(detail.value_of(PhraseCode::TimeLimit), Some("30"));
/// ```
#[derive(Clone, Debug, Default, Eq)]
pub struct RunDetail {
    text: String,
    /// The lines that are phrases of ours, by their numbers.
    phrases: Vec<(usize, Phrase)>,
}

impl RunDetail {
    /// Adds a line of ours.
    pub fn push(&mut self, code: PhraseCode, values: &[&str]) {
        let phrase = Phrase::new(code, values);
        let line = phrase.to_string();
        let number = self.push_text(&line);
        if !line.contains('\n') && phrase.can_be_stored(&line) {
            self.phrases.push((number, phrase));
        }
    }

    /// Adds what others wrote. Returns the number of its first line.
    pub fn push_text(&mut self, text: &str) -> usize {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let number = self.text.matches('\n').count();
        self.text.push_str(text);
        number
    }

    /// Adds the lines of another detail at the end.
    pub fn append(&mut self, other: &RunDetail) {
        let first = self.push_text(&other.text);
        let moved = other.phrases.iter().map(|(number, phrase)| (first + number, phrase.clone()));
        self.phrases.extend(moved);
    }

    /// From a record. `None` if a line is not the phrase that its code names.
    pub fn stored(text: String, codes: Vec<(usize, PhraseCode)>) -> Option<RunDetail> {
        let are_ordered = codes.is_sorted_by(|(one, _), (next, _)| one < next);
        let mut phrases = Vec::with_capacity(codes.len());
        if !codes.is_empty() {
            let lines: Vec<&str> = text.split('\n').collect();
            for (number, code) in codes {
                let values = code.values_in(lines.get(number)?)?;
                phrases.push((number, Phrase::new(code, &values)));
            }
        }
        are_ordered.then_some(RunDetail { text, phrases })
    }

    /// For records, which keep the text beside them.
    pub fn codes(&self) -> Vec<(usize, PhraseCode)> {
        self.phrases.iter().map(|(number, phrase)| (*number, phrase.code)).collect()
    }

    /// The lines that are phrases of ours, by their numbers.
    pub fn phrases(&self) -> &[(usize, Phrase)] {
        &self.phrases
    }

    /// The first value of the first line of this phrase. What was stored before there were codes is only its text, and
    /// is asked that.
    pub fn value_of(&self, code: PhraseCode) -> Option<&str> {
        if self.phrases.is_empty() {
            return self.text.lines().find_map(|line| code.values_in(line)?.first().copied());
        }
        let (_, phrase) = self.phrases.iter().find(|(_, phrase)| phrase.code == code)?;
        phrase.values.first().map(String::as_str)
    }

    /// Without the secrets that `scrubber` knows. A line that is no longer its phrase has none.
    #[must_use]
    pub fn scrubbed(self, scrubber: &Scrubber) -> RunDetail {
        let text = scrubber.scrub(&self.text);
        if text.matches('\n').count() != self.text.matches('\n').count() {
            return text.into();
        }
        let lines: Vec<&str> = text.split('\n').collect();
        let scrubbed = |(number, phrase): &(usize, Phrase)| (*number, phrase.scrubbed(scrubber));
        let is_line = |(number, phrase): &(usize, Phrase)| {
            lines
                .get(*number)
                .is_some_and(|line| *line == phrase.to_string() && phrase.can_be_stored(line))
        };
        let phrases = self.phrases.iter().map(scrubbed).filter(is_line).collect();
        RunDetail { text, phrases }
    }
}

/// Why there is no preview: words of others, or a phrase of ours whose last value may be another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoPreviewReason {
    text: String,
    /// The outermost first; each of the others is the last value of the one before it.
    phrases: Vec<Phrase>,
}

impl NoPreviewReason {
    /// A reason of ours. One that could not be read back from its text keeps the text alone.
    pub fn new(code: PhraseCode, values: &[&str]) -> NoPreviewReason {
        let phrase = Phrase::new(code, values);
        let text = phrase.to_string();
        let phrases = if phrase.can_be_stored(&text) { vec![phrase] } else { Vec::new() };
        NoPreviewReason { text, phrases }
    }

    /// A phrase with one value, which is another reason.
    pub fn because(code: PhraseCode, of: NoPreviewReason) -> NoPreviewReason {
        let mut outer = NoPreviewReason::new(code, &[&of.text]);
        if !outer.phrases.is_empty() {
            outer.phrases.extend(of.phrases);
        }
        outer
    }

    /// From a record. `None` if the text is not what the codes name.
    pub fn stored(text: String, codes: Vec<PhraseCode>) -> Option<NoPreviewReason> {
        let mut phrases: Vec<Phrase> = Vec::with_capacity(codes.len());
        for code in codes {
            let inner = phrases.last().map(|outer| outer.values.last().map_or("", String::as_str));
            let phrase = Phrase::new(code, &code.values_in(inner.unwrap_or(&text))?);
            phrases.push(phrase);
        }
        Some(NoPreviewReason { text, phrases })
    }

    /// For records, which keep the text beside them; the outermost first.
    pub fn codes(&self) -> Vec<PhraseCode> {
        self.phrases.iter().map(|phrase| phrase.code).collect()
    }

    /// The outermost first. Empty for words of others.
    pub fn phrases(&self) -> &[Phrase] {
        &self.phrases
    }

    /// Without the secrets that `scrubber` knows, in the text and in every value.
    #[must_use]
    pub fn scrubbed(self, scrubber: &Scrubber) -> NoPreviewReason {
        let text = scrubber.scrub(&self.text);
        let phrases: Vec<Phrase> =
            self.phrases.iter().map(|phrase| phrase.scrubbed(scrubber)).collect();
        let mut outer = Some(&text);
        let are_said = phrases.iter().all(|phrase| {
            let said = outer.is_some_and(|text| *text == phrase.to_string());
            outer = phrase.values.last();
            said
        });
        NoPreviewReason { text, phrases: if are_said { phrases } else { Vec::new() } }
    }
}

macro_rules! is_a_text {
    ($type:ident) => {
        /// Most readers want the text.
        impl Deref for $type {
            type Target = str;

            fn deref(&self) -> &str {
                &self.text
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.text)
            }
        }

        /// Words of others: they have no code.
        impl From<String> for $type {
            fn from(text: String) -> $type {
                $type { text, phrases: Vec::new() }
            }
        }

        impl From<&str> for $type {
            fn from(text: &str) -> $type {
                $type::from(text.to_owned())
            }
        }

        impl From<$type> for String {
            fn from(text: $type) -> String {
                text.text
            }
        }

        impl PartialEq<&str> for $type {
            fn eq(&self, text: &&str) -> bool {
                self.text == *text
            }
        }

        impl PartialEq<String> for $type {
            fn eq(&self, text: &String) -> bool {
                self.text == *text
            }
        }
    };
}

is_a_text!(RunDetail);
is_a_text!(NoPreviewReason);

/// By the text, as the digest of a call: what was approved before there were codes is the same with them.
impl PartialEq for RunDetail {
    fn eq(&self, other: &RunDetail) -> bool {
        self.text == other.text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_phrase_has_a_name_of_its_own_and_is_read_back() {
        let mut names: Vec<&str> = PhraseCode::ALL.iter().map(|code| code.name()).collect();
        for code in PhraseCode::ALL {
            assert_eq!(PhraseCode::parse(code.name()), Some(*code));
            let values = ["甲", "乙", "丙"];
            let values = &values[..code.english().matches("{}").count()];
            let phrase = Phrase::new(*code, values);
            let text = phrase.to_string();
            assert!(phrase.can_be_stored(&text), "{text}");
            assert!(values.is_empty() || code.values_in(&text[1..]).is_none(), "{text}");
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PhraseCode::ALL.len());
    }

    #[test]
    fn text_of_others_between_our_lines_has_no_code() {
        let mut detail = RunDetail::default();
        detail.push_text("POST https://api.example/\ntime limit 1 s");
        detail.push(PhraseCode::TimeLimit, &["30"]);
        assert_eq!(detail, "POST https://api.example/\ntime limit 1 s\ntime limit 30 s");
        let limit = Phrase::new(PhraseCode::TimeLimit, &["30"]);
        assert_eq!(detail.phrases(), [(2, limit)]);
        let mut more = RunDetail::default();
        more.push(PhraseCode::RowsNotCounted, &[]);
        more.append(&detail);
        assert_eq!(more.codes(), [(0, PhraseCode::RowsNotCounted), (3, PhraseCode::TimeLimit)]);
    }

    #[test]
    fn values_that_cannot_be_told_apart_leave_the_text_alone() {
        let mut detail = RunDetail::default();
        detail.push(PhraseCode::Database, &["a at b", "/c"]);
        detail.push(PhraseCode::AsUser, &["a\nb"]);
        detail.push(PhraseCode::AsUser, &["c"]);
        assert_eq!(detail, "database a at b at /c\nas user a\nb\nas user c");
        assert_eq!(detail.codes(), [(3, PhraseCode::AsUser)]);
    }

    #[test]
    fn a_code_that_the_text_does_not_say_is_no_record() {
        let stored =
            |number, code| RunDetail::stored("rows changed: 3".into(), vec![(number, code)]);
        assert!(stored(0, PhraseCode::RowsChanged).is_some());
        assert!(stored(0, PhraseCode::RowsNotCounted).is_none());
        assert!(stored(1, PhraseCode::RowsChanged).is_none());
        let twice = vec![(0, PhraseCode::RowsChanged); 2];
        assert!(RunDetail::stored("rows changed: 3".into(), twice).is_none());
        let busy = vec![PhraseCode::RowsUncounted, PhraseCode::DatabaseBusy];
        assert!(NoPreviewReason::stored("it is away".into(), busy).is_none());
    }

    #[test]
    fn a_reason_has_its_own_reason_inside() {
        let busy = NoPreviewReason::new(PhraseCode::DatabaseBusy, &[]);
        let reason = NoPreviewReason::because(PhraseCode::RowsUncounted, busy);
        let codes: Vec<PhraseCode> = reason.phrases().iter().map(|one| one.code).collect();
        assert_eq!(codes, [PhraseCode::RowsUncounted, PhraseCode::DatabaseBusy]);
        let foreign = NoPreviewReason::because(PhraseCode::RowsUncounted, "disk I/O error".into());
        assert_eq!(foreign.phrases()[0].values, ["disk I/O error"]);
        assert_eq!(foreign.codes(), [PhraseCode::RowsUncounted]);
    }

    #[test]
    fn i45_a_secret_leaves_text_and_values() {
        let scrubber = Scrubber::new(&[json!("hunter2-hunter2"), json!("not counted")]);
        let mut detail = RunDetail::default();
        detail.push(PhraseCode::AsUser, &["hunter2-hunter2"]);
        detail.push(PhraseCode::RowsNotCounted, &[]);
        let detail = detail.scrubbed(&scrubber);
        assert!(!format!("{detail:?}").contains("hunter2"), "{detail:?}");
        assert_eq!(detail.codes(), [(0, PhraseCode::AsUser)], "the other line is none of ours now");
        let why = NoPreviewReason::new(PhraseCode::ProgramNotFound, &["hunter2-hunter2"]);
        let why = why.scrubbed(&scrubber);
        assert!(!why.contains("hunter2") && why.codes().len() == 1, "{why:?}");
    }
}
