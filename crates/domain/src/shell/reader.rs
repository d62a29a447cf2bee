//! From text to simple commands, in one pass, without recursion. What is not certain is refused.

use std::fmt;

use super::COMMAND_BYTES_MAX;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    /// Names of variables that are set before the command, or by it alone.
    pub(super) assignments: Vec<String>,
    pub(super) words: Vec<ShellWord>,
    pub(super) redirections: Vec<Redirection>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShellWord {
    pub(super) text: String,
    /// An unquoted `*`, `?` or `[`: the shell puts names of files here.
    pub(super) has_glob: bool,
    has_quotes: bool,
}

impl ShellWord {
    pub(super) fn quoted(text: &str) -> ShellWord {
        ShellWord { text: text.to_owned(), has_glob: false, has_quotes: true }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Redirection {
    pub(super) writes: bool,
    pub(super) target: ShellWord,
}

/// Why a command line cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    Has(char),
    Control,
    Blank,
    NoEnd,
    Comment,
    Background,
    HereDocument,
    Missing,
    Keyword,
    Computed,
    TooLong,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unreadable::Has(sign) => {
                return write!(f, "`{sign}` has a meaning to the shell that is not read here");
            }
            Unreadable::Control => "it has a control character",
            Unreadable::Blank => {
                "it has a blank that is not a space, which shells and people take differently"
            }
            Unreadable::NoEnd => "a quote has no end",
            Unreadable::Comment => "it has a comment",
            Unreadable::Background => "it starts something in the background",
            Unreadable::HereDocument => "it has a here-document",
            Unreadable::Missing => "a command or a file name is missing",
            Unreadable::Keyword => "it has a keyword of the shell, such as `if` or `for`",
            Unreadable::Computed => "the name of a program is a pattern",
            Unreadable::TooLong => "it is longer than 64 KiB",
        })
    }
}

const KEYWORDS: [&str; 22] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function", "coproc", "in", "[[", "]]", "repeat", "foreach", "end", "always",
];

enum LineToken {
    Text(ShellWord),
    /// A file follows; whether it is written.
    Redirect(bool),
    /// `|`, `&&`, `||`: another command must follow.
    Joins,
    /// `;` or a line's end.
    Ends,
}

pub(super) fn read_commands(text: &str) -> Result<Vec<SimpleCommand>, Unreadable> {
    if text.len() > COMMAND_BYTES_MAX {
        return Err(Unreadable::TooLong);
    }
    let mut commands = Vec::new();
    let mut command = SimpleCommand::default();
    let mut redirects: Option<bool> = None;
    let mut must_follow = false;
    for token in tokens(text)? {
        match (token, redirects) {
            (LineToken::Text(target), Some(writes)) => {
                command.redirections.push(Redirection { writes, target });
                redirects = None;
            }
            (_, Some(_)) => return Err(Unreadable::Missing),
            (LineToken::Redirect(writes), None) => redirects = Some(writes),
            (LineToken::Text(word), None) => command.push(word)?,
            (LineToken::Joins, None) => {
                finish(&mut commands, &mut command)?;
                must_follow = true;
                continue;
            }
            // A line may end after `&&`.
            (LineToken::Ends, None) if command.is_empty() => continue,
            (LineToken::Ends, None) => finish(&mut commands, &mut command)?,
        }
        must_follow = false;
    }
    if redirects.is_some() || (must_follow && command.is_empty()) {
        return Err(Unreadable::Missing);
    }
    if !command.is_empty() {
        finish(&mut commands, &mut command)?;
    }
    if commands.is_empty() {
        return Err(Unreadable::Missing);
    }
    Ok(commands)
}

fn finish(
    commands: &mut Vec<SimpleCommand>,
    command: &mut SimpleCommand,
) -> Result<(), Unreadable> {
    if command.is_empty() {
        return Err(Unreadable::Missing);
    }
    commands.push(std::mem::take(command));
    Ok(())
}

impl SimpleCommand {
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.assignments.is_empty() && self.redirections.is_empty()
    }

    fn push(&mut self, word: ShellWord) -> Result<(), Unreadable> {
        if !self.words.is_empty() {
            self.words.push(word);
            return Ok(());
        }
        // `"A"=b` is a program of that name to a shell. Taken as an assignment it allows no more.
        if let Some((name, _)) = word.text.split_once('=')
            && is_name(name)
        {
            self.assignments.push(name.to_owned());
            return Ok(());
        }
        if word.has_glob && word.text != "[" || word.text.starts_with('~') {
            return Err(Unreadable::Computed);
        }
        if !word.has_quotes && KEYWORDS.contains(&word.text.as_str()) {
            return Err(Unreadable::Keyword);
        }
        self.words.push(word);
        Ok(())
    }
}

pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn tokens(text: &str) -> Result<Vec<LineToken>, Unreadable> {
    let mut tokens = Vec::new();
    let mut word: Option<ShellWord> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => tokens.extend(word.take().map(LineToken::Text)),
            '\n' => {
                tokens.extend(word.take().map(LineToken::Text));
                tokens.push(LineToken::Ends);
            }
            '\'' => {
                let word = word.get_or_insert_default();
                word.has_quotes = true;
                loop {
                    match chars.next() {
                        None => return Err(Unreadable::NoEnd),
                        Some('\'') => break,
                        Some(c) => word.text.push(plain_in_quotes(c)?),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                word.has_quotes = true;
                loop {
                    match chars.next() {
                        None => return Err(Unreadable::NoEnd),
                        Some('"') => break,
                        Some(c @ ('$' | '`' | '\\' | '!')) => return Err(Unreadable::Has(c)),
                        Some(c) => word.text.push(plain_in_quotes(c)?),
                    }
                }
            }
            '$' | '`' | '\\' | '(' | ')' | '{' | '}' | '!' => return Err(Unreadable::Has(c)),
            '#' if word.is_none() => return Err(Unreadable::Comment),
            ';' => {
                if matches!(chars.peek(), Some(';' | '&')) {
                    return Err(Unreadable::Has(';'));
                }
                // `; ;` and a `;` without a command before it are mistakes to every shell.
                let has_command =
                    word.is_some() || matches!(tokens.last(), Some(LineToken::Text(_)));
                if !has_command {
                    return Err(Unreadable::Missing);
                }
                tokens.extend(word.take().map(LineToken::Text));
                tokens.push(LineToken::Ends);
            }
            '|' => {
                tokens.extend(word.take().map(LineToken::Text));
                chars.next_if(|c| matches!(c, '|' | '&'));
                tokens.push(LineToken::Joins);
            }
            '&' => match chars.next() {
                Some('&') => {
                    tokens.extend(word.take().map(LineToken::Text));
                    tokens.push(LineToken::Joins);
                }
                Some('>') => {
                    tokens.extend(word.take().map(LineToken::Text));
                    chars.next_if_eq(&'>');
                    tokens.push(LineToken::Redirect(true));
                }
                _ => return Err(Unreadable::Background),
            },
            '<' | '>' => {
                // `2>`: the number belongs to the redirection.
                let number = |word: &ShellWord| {
                    !word.has_quotes && word.text.bytes().all(|byte| byte.is_ascii_digit())
                };
                tokens.extend(word.take().filter(|word| !number(word)).map(LineToken::Text));
                match (c, chars.peek()) {
                    ('<', Some('<')) => return Err(Unreadable::HereDocument),
                    (_, Some('(')) => return Err(Unreadable::Has('(')),
                    ('<', Some('>')) | ('>', Some('>' | '|')) => {
                        chars.next();
                        tokens.push(LineToken::Redirect(true));
                    }
                    (_, Some('&')) => {
                        chars.next();
                        match chars.next_if(|c| c.is_ascii_digit() || *c == '-') {
                            // `2>&1`, `>&-`: no file. What follows must be another word.
                            Some(_) if chars.peek().is_none_or(|c| " \t\n;|&<>".contains(*c)) => {}
                            Some(_) => return Err(Unreadable::Has('&')),
                            None => tokens.push(LineToken::Redirect(true)),
                        }
                    }
                    _ => tokens.push(LineToken::Redirect(c == '>')),
                }
            }
            _ => {
                let c = plain(c)?;
                let word = word.get_or_insert_default();
                word.has_glob |= matches!(c, '*' | '?' | '[');
                word.text.push(c);
            }
        }
    }
    tokens.extend(word.map(LineToken::Text));
    Ok(tokens)
}

fn plain(c: char) -> Result<char, Unreadable> {
    match c {
        c if c.is_control() => Err(Unreadable::Control),
        c if c != ' ' && is_blank(c) => Err(Unreadable::Blank),
        c => Ok(c),
    }
}

/// A line's end and a tab are plain text in quotes.
fn plain_in_quotes(c: char) -> Result<char, Unreadable> {
    if matches!(c, '\n' | '\t') { Ok(c) } else { plain(c) }
}

/// White space, and characters that nobody sees.
fn is_blank(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}
