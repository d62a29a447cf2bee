//! Where words go: standard output for what was asked for, standard error for everything else;
//! colours and prompts only on a terminal.

use std::io::{self, IsTerminal, Write};

use domain::time::Timestamp;
use domain::visible::visible;

/// Where the width is not known.
const COLUMNS_DEFAULT: usize = 80;
/// Nobody can read less.
const COLUMNS_MIN: usize = 40;

/// How a word is painted, on a terminal that wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
}

impl Paint {
    fn code(self) -> &'static str {
        match self {
            Paint::Bold => "1",
            Paint::Dim => "2",
            Paint::Red => "31",
            Paint::Green => "32",
            Paint::Yellow => "33",
        }
    }
}

/// One of the two standard streams, and whether it takes colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    stream: Stream,
    paints: bool,
    /// As wide as this, whatever the stream is.
    fixed_columns: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Out,
    Err,
}

impl Screen {
    fn new(stream: Stream, paints: bool) -> Screen {
        Screen { stream, paints, fixed_columns: None }
    }

    /// Writes it all at once, so that lines of several threads do not mix.
    pub fn print(&self, text: &str) -> io::Result<()> {
        match self.stream {
            Stream::Out => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes())?;
                out.flush()
            }
            Stream::Err => io::stderr().lock().write_all(text.as_bytes()),
        }
    }

    pub fn line(&self, text: &str) -> io::Result<()> {
        self.print(&format!("{text}\n"))
    }

    pub fn paint(&self, paint: Paint, text: &str) -> String {
        painted(self.paints, paint, text)
    }

    /// How long a line may be now. Where no terminal says it, one that most windows hold.
    pub fn columns(&self) -> usize {
        let here = match self.stream {
            Stream::Out => terminal_size::terminal_size_of(io::stdout()),
            Stream::Err => terminal_size::terminal_size_of(io::stderr()),
        };
        let told = here.map(|(width, _)| usize::from(width.0)).filter(|columns| *columns > 0);
        self.fixed_columns.or(told).unwrap_or(COLUMNS_DEFAULT).max(COLUMNS_MIN)
    }

    /// A screen that takes no colours, for text that is compared in tests.
    pub fn plain() -> Screen {
        Screen::of_columns(COLUMNS_DEFAULT)
    }

    /// The same, so wide.
    pub fn of_columns(columns: usize) -> Screen {
        Screen { stream: Stream::Out, paints: false, fixed_columns: Some(columns) }
    }
}

fn painted(paints: bool, paint: Paint, text: &str) -> String {
    if paints { format!("\u{1b}[{}m{text}\u{1b}[0m", paint.code()) } else { text.to_owned() }
}

#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    input_is_terminal: bool,
    output_is_terminal: bool,
    error_is_terminal: bool,
    wants_colour: bool,
}

impl Terminal {
    /// The streams of this process.
    pub fn here() -> Terminal {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Terminal {
            input_is_terminal: io::stdin().is_terminal(),
            output_is_terminal: io::stdout().is_terminal(),
            error_is_terminal: io::stderr().is_terminal(),
            wants_colour: !set("NO_COLOR") && !dumb,
        }
    }

    /// Whether somebody sits there who can be asked something.
    pub fn can_ask(&self) -> bool {
        self.input_is_terminal && (self.output_is_terminal || self.error_is_terminal)
    }

    pub fn out(&self) -> Screen {
        Screen::new(Stream::Out, self.output_is_terminal && self.wants_colour)
    }

    pub fn err(&self) -> Screen {
        Screen::new(Stream::Err, self.error_is_terminal && self.wants_colour)
    }

    /// Where a person looks before answering. When standard output goes elsewhere, or belongs to
    /// JSON, what they must see before saying yes is shown on standard error.
    pub fn for_reading(&self, json: bool) -> Screen {
        let elsewhere = self.can_ask() && !self.output_is_terminal;
        if json || elsewhere { self.err() } else { self.out() }
    }

    /// Prompts go where the person looks, and never into a pipe while there is another way.
    pub fn for_prompts(&self) -> Screen {
        if self.error_is_terminal { self.err() } else { self.out() }
    }

    pub fn note(&self, text: &str) {
        // Nobody can be told that standard error is gone.
        let _ = self.err().line(text);
    }

    /// How far a long piece of work is, in one line that the next one takes the place of. An empty text clears it.
    pub fn progress(&self, text: &str) {
        if self.error_is_terminal {
            // Nobody can be told that standard error is gone.
            let _ = self.err().print(&format!("\r\u{1b}[K{text}"));
        }
    }

    pub fn warn(&self, text: &str) {
        let err = self.err();
        self.note(&format!("{} {text}", err.paint(Paint::Yellow, "warning:")));
    }

    pub fn error(&self, text: &str) {
        let err = self.err();
        self.note(&format!("{} {text}", err.paint(Paint::Red, "error:")));
    }
}

/// The reader of our output has seen enough: no reason to complain.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// Columns as wide as their widest cell. Cells are made visible here, so no caller can forget it.
pub fn table(screen: &Screen, head: &[&str], rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| visible(cell)).collect()).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([head[column].chars().count()]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &[&str]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut text = screen.paint(Paint::Dim, &line(head));
    text.push('\n');
    for row in &rows {
        text.push_str(&line(&row.iter().map(String::as_str).collect::<Vec<_>>()));
        text.push('\n');
    }
    text
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command line is its own program: it only words times for people with this"
)]
pub fn now() -> Timestamp {
    Timestamp::from_ms(jiff::Timestamp::now().as_millisecond())
}

/// `in 4 min`, `2 h ago`: how far away a moment is, rounded down to one unit.
pub fn distance(at: Timestamp, now: Timestamp) -> String {
    let (ms, ahead) = match at.as_ms() - now.as_ms() {
        ms if ms >= 0 => (ms, true),
        ms => (-ms, false),
    };
    let amount = match ms / 1000 {
        0 => return "now".into(),
        s @ 1..=119 => format!("{s} s"),
        s @ 120..=7199 => format!("{} min", s / 60),
        s @ 7200..=172_799 => format!("{} h", s / 3600),
        s => format!("{} days", s / 86_400),
    };
    if ahead { format!("in {amount}") } else { format!("{amount} ago") }
}

/// An RFC 3339 time of the server as a person here reads it: local, with the distance.
pub fn moment(text: &str, now: Timestamp) -> String {
    match Timestamp::parse(text) {
        Some(at) => format!("{} ({})", local(at), distance(at, now)),
        // Not a time after all: show what it says.
        None => visible(text),
    }
}

fn local(at: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(at.as_ms()) {
        Ok(at) => {
            at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
        }
        Err(_) => at.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_worded_for_people() {
        let now = Timestamp::from_ms(1_000_000_000);
        let after =
            |seconds: i64| distance(Timestamp::from_ms(1_000_000_000 + seconds * 1000), now);
        for (seconds, words) in [
            (0, "now"),
            (45, "in 45 s"),
            (-90, "90 s ago"),
            (240, "in 4 min"),
            (-7200, "2 h ago"),
            (3 * 86_400 + 5, "in 3 days"),
        ] {
            assert_eq!(after(seconds), words);
        }
    }

    #[test]
    fn a_time_that_is_none_is_shown_and_made_visible() {
        assert_eq!(moment("soon\u{1b}[2J", Timestamp::from_ms(0)), "soon⟦U+001B⟧[2J");
    }

    #[test]
    fn colours_need_a_terminal_that_wants_them() {
        let terminal = Terminal {
            input_is_terminal: true,
            output_is_terminal: true,
            error_is_terminal: false,
            wants_colour: true,
        };
        assert_eq!(terminal.out().paint(Paint::Red, "x"), "\u{1b}[31mx\u{1b}[0m");
        assert_eq!(terminal.err().paint(Paint::Red, "x"), "x");
        let grey = Terminal { wants_colour: false, ..terminal };
        assert_eq!(grey.out().paint(Paint::Red, "x"), "x");
    }

    #[test]
    fn a_person_is_asked_only_where_they_can_read_and_type() {
        let nobody = Terminal {
            input_is_terminal: false,
            output_is_terminal: true,
            error_is_terminal: true,
            wants_colour: true,
        };
        assert!(!nobody.can_ask());
        // Output in a pipe: what must be seen before "yes" goes to where the person looks.
        let piped = Terminal { input_is_terminal: true, output_is_terminal: false, ..nobody };
        assert!(piped.can_ask());
        assert_eq!(piped.for_reading(false), piped.err());
        assert_eq!(nobody.for_reading(false), nobody.out());
        assert_eq!(nobody.for_reading(true), nobody.err());
    }

    #[test]
    fn tables_line_up_and_hide_nothing() {
        let rows = vec![vec!["a".into(), "1\u{8}".into()], vec!["long".into(), "2".into()]];
        assert_eq!(
            table(&Screen::plain(), &["id", "n"], &rows),
            "id    n\na     1⟦U+0008⟧\nlong  2\n"
        );
    }
}
