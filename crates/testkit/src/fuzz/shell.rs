//! A command as a person is shown it: every word can be told from its neighbours.

use tools::shell_cmd::display_command;

use super::text;

pub(super) fn run(bytes: &[u8]) {
    // No word of a command can hold a NUL, so it is what separates them here.
    let Some(text) = text(bytes) else { return };
    let argv: Vec<String> = text.split('\0').map(str::to_owned).collect();
    let (line, warnings) = display_command(&argv);
    assert_eq!(words(&line), argv, "the line says exactly these words");
    assert!(line.len() <= 6 * text.len() + 4 * argv.len());
    assert!(warnings.len() <= argv.len(), "each wrapper is named once");
}

/// Takes a line apart as a shell would, of which only quotes are left.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        let word = words.last_mut().expect("there is one");
        match c {
            ' ' => words.push(String::new()),
            '\\' => word.extend(chars.next()),
            '\'' => word.extend(chars.by_ref().take_while(|c| *c != '\'')),
            c => word.push(c),
        }
    }
    words
}
