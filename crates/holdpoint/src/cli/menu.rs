//! Numbered menus and short questions, over any reader and writer: a terminal, a pipe or a test.
//!
//! What is typed is never guessed at. Whatever does not name exactly one thing is asked again, and
//! free text is taken only after somebody said that they want to write some.

use std::io::{BufRead, Read as _, Write};

use domain::visible::visible;

use super::exit::Abandoned;
use super::foreign_lines::behind;
use super::output::Screen;

/// One line of typing; more is a file that was pasted by mistake.
const LINE_BYTES_MAX: u64 = 256 << 10;

/// One thing that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuEntry {
    /// What is sent when it is chosen.
    pub id: String,
    pub label: String,
    pub description: Option<String>,
}

impl MenuEntry {
    pub fn new(id: &str, label: &str) -> MenuEntry {
        MenuEntry { id: id.into(), label: label.into(), description: None }
    }
}

pub struct Menu<'a> {
    input: &'a mut dyn BufRead,
    output: &'a mut dyn Write,
    columns: usize,
}

impl<'a> Menu<'a> {
    pub fn new(input: &'a mut dyn BufRead, output: &'a mut dyn Write) -> Menu<'a> {
        Menu { input, output, columns: Screen::plain().columns() }
    }

    #[must_use]
    pub fn of_columns(self, columns: usize) -> Menu<'a> {
        Menu { columns, ..self }
    }

    pub fn say(&mut self, text: &str) -> anyhow::Result<()> {
        Ok(writeln!(self.output, "{text}")?)
    }

    /// Words of ours, and behind them what somebody else wrote, with a mark on every line.
    pub fn say_foreign(&mut self, ours: &str, shown: &str) -> anyhow::Result<()> {
        behind(ours, shown, self.columns).iter().try_for_each(|line| self.say(line))
    }

    /// One line, without its end and the blanks around it. No more input: nothing was answered.
    pub fn line(&mut self, prompt: &str) -> anyhow::Result<String> {
        write!(self.output, "{prompt} ")?;
        self.output.flush()?;
        let mut bytes = Vec::new();
        (&mut *self.input).take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut bytes)?;
        if bytes.is_empty() {
            writeln!(self.output)?;
            return Err(Abandoned.into());
        }
        if bytes.len() as u64 > LINE_BYTES_MAX {
            anyhow::bail!("more than {LINE_BYTES_MAX} bytes in one line; nothing was answered");
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| anyhow::anyhow!("that is not UTF-8 text; nothing was answered"))?;
        Ok(text.trim().to_owned())
    }

    /// As [`Menu::line`], until there is something in it.
    pub fn text(&mut self, prompt: &str) -> anyhow::Result<String> {
        loop {
            let text = self.line(prompt)?;
            if !text.is_empty() {
                return Ok(text);
            }
            self.say("Please write something (Ctrl-D gives up).")?;
        }
    }

    /// Whether the person typed exactly this word. There is no second try: who means yes can type it.
    pub fn confirms(&mut self, prompt: &str, word: &str) -> anyhow::Result<bool> {
        Ok(self.line(prompt)? == word)
    }

    pub fn yes_or_no(&mut self, prompt: &str, default: Option<bool>) -> anyhow::Result<bool> {
        loop {
            let text = self.line(prompt)?;
            match (text.to_lowercase().as_str(), default) {
                ("y" | "yes" | "true", _) => return Ok(true),
                ("n" | "no" | "false", _) => return Ok(false),
                ("", Some(default)) => return Ok(default),
                _ => self.say("Please type yes or no.")?,
            }
        }
    }

    /// One of these, by number, id or exact label.
    pub fn choose_one(&mut self, entries: &[MenuEntry]) -> anyhow::Result<String> {
        let chosen = self.choose(entries, false, false)?;
        chosen.into_iter().next().ok_or_else(|| Abandoned.into())
    }

    /// The ids of what was chosen; with `allow_other` also what somebody wrote.
    pub fn choose(
        &mut self,
        entries: &[MenuEntry],
        multiple: bool,
        allow_other: bool,
    ) -> anyhow::Result<Vec<String>> {
        for (index, entry) in entries.iter().enumerate() {
            let description = match &entry.description {
                Some(description) => format!(" — {}", visible(description)),
                None => String::new(),
            };
            let label = format!("{}{description}", visible(&entry.label));
            self.say_foreign(&format!("  {}) ", index + 1), &label)?;
        }
        if allow_other {
            self.say(&format!("  {}) something else, in your own words", entries.len() + 1))?;
        }
        let prompt =
            if multiple { "Your choice (several: 1,3):" } else { "Your choice (a number):" };
        loop {
            let typed = self.line(prompt)?;
            match picked(entries, multiple, allow_other, &typed) {
                Ok(picks) => return self.written_out(entries, picks),
                Err(why) => self.say(&why)?,
            }
        }
    }

    fn written_out(
        &mut self,
        entries: &[MenuEntry],
        picks: Vec<Pick>,
    ) -> anyhow::Result<Vec<String>> {
        let mut chosen = Vec::new();
        for pick in picks {
            chosen.push(match pick {
                Pick::Entry(index) => entries[index].id.clone(),
                Pick::Other => self.text("In your own words:")?,
            });
        }
        Ok(chosen)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pick {
    Entry(usize),
    Other,
}

/// What a typed line picks, or why it picks nothing.
fn picked(
    entries: &[MenuEntry],
    multiple: bool,
    allow_other: bool,
    typed: &str,
) -> Result<Vec<Pick>, String> {
    if typed.is_empty() {
        return Err("Please choose by number (Ctrl-D gives up).".into());
    }
    if !multiple {
        return pick(entries, allow_other, typed).map(|pick| vec![pick]);
    }
    // A label may itself contain a comma.
    if entries.iter().any(|entry| entry.label == typed) {
        return pick(entries, allow_other, typed).map(|pick| vec![pick]);
    }
    let mut picks = Vec::new();
    for part in typed.split([',', '，']).map(str::trim).filter(|part| !part.is_empty()) {
        let pick = pick(entries, allow_other, part)?;
        if !picks.contains(&pick) {
            picks.push(pick);
        }
    }
    if picks.is_empty() { Err("Please choose at least one.".into()) } else { Ok(picks) }
}

/// The id of what `--choose` names: by number, id or exact label, as in the menu. `None`: nothing of that name, which
/// the server judges. A number that is also the id or label of another option is not guessed.
pub fn named(entries: &[MenuEntry], typed: &str) -> Result<Option<String>, String> {
    let id = |pick: Pick| match pick {
        Pick::Entry(index) => entries.get(index).map(|entry| entry.id.clone()),
        Pick::Other => None,
    };
    match pick(entries, false, typed) {
        Ok(pick) => Ok(id(pick)),
        Err(_) if !is_named(entries, typed) => Ok(None),
        Err(why) => Err(why),
    }
}

fn is_named(entries: &[MenuEntry], typed: &str) -> bool {
    entries.iter().any(|entry| entry.label == typed || entry.id == typed)
}

fn pick(entries: &[MenuEntry], allow_other: bool, typed: &str) -> Result<Pick, String> {
    let last = entries.len() + usize::from(allow_other);
    let numbered = |text: &str| match text.parse::<usize>() {
        Ok(number) if (1..=entries.len()).contains(&number) => Some(Pick::Entry(number - 1)),
        Ok(number) if allow_other && number == last => Some(Pick::Other),
        _ => None,
    };
    if let Some(pick) = typed.strip_prefix('#').and_then(numbered) {
        return Ok(pick);
    }
    let by_number = numbered(typed);
    let by_name =
        entries.iter().position(|entry| entry.label == typed || entry.id == typed).map(Pick::Entry);
    match (by_number, by_name) {
        (Some(number), Some(name)) if number != name => Err(format!(
            "`{0}` is a number here and also the name of another option: type #{0} for the number.",
            visible(typed)
        )),
        (Some(pick), _) | (None, Some(pick)) => Ok(pick),
        (None, None) => Err(format!("`{}` is none of 1 to {last}.", visible(typed))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strategies() -> Vec<MenuEntry> {
        vec![
            MenuEntry::new("bg", "Blue-Green"),
            MenuEntry::new("c", "Canary"),
            MenuEntry::new("r", "Rolling"),
        ]
    }

    /// Types these lines into a menu; gives what was chosen and everything that was shown.
    fn menu(
        entries: &[MenuEntry],
        multiple: bool,
        other: bool,
        typed: &str,
    ) -> (anyhow::Result<Vec<String>>, String) {
        let mut shown = Vec::new();
        let mut input = typed.as_bytes();
        let chosen = Menu::new(&mut input, &mut shown).choose(entries, multiple, other);
        (chosen, String::from_utf8(shown).unwrap())
    }

    fn chosen(multiple: bool, other: bool, typed: &str) -> Vec<String> {
        menu(&strategies(), multiple, other, typed).0.unwrap()
    }

    #[test]
    fn a_number_a_label_or_an_id_chooses() {
        for typed in ["2\n", "Canary\n", "c\n", " 2 \r\n", "#2\n", "2"] {
            assert_eq!(chosen(false, false, typed), ["c"], "{typed:?}");
        }
    }

    #[test]
    fn an_argument_chooses_as_the_menu_does_and_a_doubtful_number_does_not() {
        let foreign = [
            MenuEntry::new("0", "Cancel"),
            MenuEntry::new("1", "Staging"),
            MenuEntry::new("b", "B"),
        ];
        let named = |typed: &str| named(&foreign, typed);
        for (typed, id) in [("#1", "0"), ("3", "b"), ("b", "b"), ("Cancel", "0"), ("0", "0")] {
            assert_eq!(named(typed), Ok(Some(id.into())), "{typed}");
        }
        let why = named("1").unwrap_err();
        assert!(why.contains("type #1 for the number"), "the card says that 1 is Cancel: {why}");
        assert_eq!(named("later"), Ok(None), "the server judges what is no option");
        assert_eq!(named("4"), Ok(None));
    }

    #[test]
    fn what_names_nothing_is_asked_again() {
        let (chosen, shown) = menu(&strategies(), false, false, "4\n0\ncanary\n1,2\n\n-1\n3\n");
        assert_eq!(chosen.unwrap(), ["r"]);
        assert_eq!(shown.matches("Your choice").count(), 7, "{shown}");
        assert!(shown.contains("`canary` is none of 1 to 3."), "{shown}");
    }

    #[test]
    fn several_are_separated_by_commas() {
        assert_eq!(chosen(true, false, "1,3\n"), ["bg", "r"]);
        assert_eq!(chosen(true, false, "3, Canary, 3\n"), ["r", "c"]);
        // One bad part spoils the line: nothing is chosen by halves.
        let (chosen, shown) = menu(&strategies(), true, false, "1,9\n,\n2\n");
        assert_eq!(chosen.unwrap(), ["c"]);
        assert!(shown.contains("`9` is none") && shown.contains("at least one"), "{shown}");
    }

    #[test]
    fn own_words_are_taken_only_when_asked_for() {
        assert_eq!(chosen(false, true, "4\n\nwait until Monday\n"), ["wait until Monday"]);
        assert_eq!(chosen(true, true, "1,4\na, b\n"), ["bg", "a, b"]);
        // A slip of the pen does not become an answer.
        assert_eq!(chosen(false, true, "Cannary\n2\n"), ["c"]);
        let (_, shown) = menu(&strategies(), false, false, "4\n1\n");
        assert!(!shown.contains("own words"), "{shown}");
    }

    #[test]
    fn a_label_that_looks_like_another_number_is_not_guessed() {
        let entries = [MenuEntry::new("a", "2"), MenuEntry::new("b", "x")];
        let (chosen, shown) = menu(&entries, false, false, "2\n#2\n");
        assert_eq!(chosen.unwrap(), ["b"]);
        assert!(shown.contains("type #2 for the number"), "{shown}");
        let with_comma = [MenuEntry::new("a", "yes, now"), MenuEntry::new("b", "no")];
        assert_eq!(menu(&with_comma, true, false, "yes, now\n").0.unwrap(), ["a"]);
    }

    #[test]
    fn an_end_of_input_answers_nothing() {
        for typed in ["", "9\n", "4\n"] {
            let (chosen, _) = menu(&strategies(), false, true, typed);
            assert!(chosen.unwrap_err().is::<Abandoned>(), "{typed:?}");
        }
    }

    #[test]
    fn options_cannot_draw_on_the_terminal() {
        let entries = [MenuEntry {
            description: Some("\u{1b}]0;x\u{7}".into()),
            ..MenuEntry::new("a", "safe\u{202e}\n  2) hidden")
        }];
        let (_, shown) = menu(&entries, false, false, "1\n");
        assert_eq!(
            shown.lines().next().unwrap(),
            "  1) │ safe⟦U+202E⟧⟦U+000A⟧  2) hidden — ⟦U+001B⟧]0;x⟦U+0007⟧"
        );
    }

    #[test]
    fn only_the_very_word_confirms() {
        for (typed, confirmed) in
            [("yes\n", true), ("yes", true), ("Yes\n", false), ("y\n", false), ("\n", false)]
        {
            let mut input = typed.as_bytes();
            let mut shown = Vec::new();
            let result = Menu::new(&mut input, &mut shown).confirms("Type yes to approve:", "yes");
            assert_eq!(result.unwrap(), confirmed, "{typed:?}");
        }
    }
}
