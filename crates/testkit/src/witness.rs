//! What tools left in the world: a file that only they append to, one line per effect.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// One effect, in the words of the tool that had it.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub call: String,
    pub key: String,
    pub attempt: u64,
    /// Exactly what the tool got on its standard input.
    pub input: Value,
}

impl Line {
    fn read(line: &str) -> Option<Line> {
        let mut words = line.splitn(4, ' ');
        let (call, key) = (words.next()?.to_owned(), words.next()?.to_owned());
        let attempt = words.next()?.parse().ok()?;
        let input = serde_json::from_str(words.next()?).ok()?;
        (call.starts_with("call_") && key.starts_with(&call)).then_some(Line {
            call,
            key,
            attempt,
            input,
        })
    }
}

#[derive(Clone, Debug)]
pub struct Witness(PathBuf);

impl Witness {
    pub fn new(file: &Path) -> Witness {
        Witness(file.to_owned())
    }

    /// A shell script that is such a tool. It pauses before it says what it did, and half of the
    /// calls also before they do it, so that a kill can land on either side.
    pub const SCRIPT: &str = "\
input=$(cat)
case $CALL_ID in *[0-9a-f]) ;; *) sleep 0.02 ;; esac
printf '%s %s %s %s\\n' \"$CALL_ID\" \"$IDEMPOTENCY_KEY\" \"$CALL_ATTEMPT\" \"$input\" >> \"$1\"
sleep 0.03
printf 'did %s' \"$IDEMPOTENCY_KEY\"
";

    pub fn lines(&self) -> Result<Vec<Line>, String> {
        let text = match std::fs::read_to_string(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error.to_string()),
        };
        let read = |line: &str| {
            Line::read(line).ok_or_else(|| format!("{line:?} is no line of a witness"))
        };
        text.lines().map(read).collect()
    }

    pub fn has_seen(&self, call: &str) -> bool {
        // What cannot be read is found by the checks at the end.
        self.lines().unwrap_or_default().iter().any(|line| line.call == call)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_script_leaves_a_line_that_can_be_read() {
        let dir = tempfile::tempdir().unwrap();
        let (script, file) = (dir.path().join("append.sh"), dir.path().join("witness"));
        std::fs::write(&script, Witness::SCRIPT).unwrap();
        let witness = Witness::new(&file);
        assert_eq!(witness.lines(), Ok(Vec::new()));
        let input = dir.path().join("input");
        std::fs::write(&input, r#"{"note":"a b"}"#).unwrap();
        let ran = std::process::Command::new("/bin/sh")
            .args([&script, &file])
            .envs([("CALL_ID", "call_1"), ("IDEMPOTENCY_KEY", "call_1-1"), ("CALL_ATTEMPT", "2")])
            .stdin(std::fs::File::open(&input).unwrap())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(ran.stdout).unwrap(), "did call_1-1");
        let line = Line {
            call: "call_1".into(),
            key: "call_1-1".into(),
            attempt: 2,
            input: json!({"note": "a b"}),
        };
        assert_eq!(witness.lines(), Ok(vec![line]));
        assert!(witness.has_seen("call_1") && !witness.has_seen("call_2"));
    }

    #[test]
    fn anything_else_in_the_file_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("witness");
        for line in ["", "call_1 call_1-1 x {}", "call_1 call_2-1 1 {}", "call_1 call_1-1 1 {"] {
            std::fs::write(&file, format!("{line}\n")).unwrap();
            assert!(Witness::new(&file).lines().is_err(), "{line:?}");
        }
    }
}
