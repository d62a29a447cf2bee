//! What a command printed, read back from its file: the beginning and the end, the count, the digest.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::Path;

use domain::digest::Digest;
use domain::outcome::{Cut, Output};
use ring::digest::{Context, SHA256};

use super::lossy::LossyPart;
use super::spool_file::open_spool_file;
use crate::limits::{OUTPUT_BYTES_KEPT, SPOOL_BYTES_MAX};

/// One or two streams, one after the other, each cut to its share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedOutput {
    streams: Vec<CapturedStream>,
    total_bytes: u64,
    /// Of all that was read.
    digest: Digest,
    /// How much of what there is was not read, since it is more than a command may print.
    unread: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct CapturedStream {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl CapturedOutput {
    /// Reads files one after the other, each up to [`SPOOL_BYTES_MAX`]. The digest is that of their bytes
    /// in that order, so for a command that printed to standard output only it is the digest of what it
    /// printed.
    pub(crate) fn read_files(files: &[&Path]) -> io::Result<CapturedOutput> {
        let (mut opened, mut unread) = (Vec::new(), 0u64);
        for path in files {
            opened.push(match open_spool_file(path) {
                Ok(file) => {
                    let over = file.metadata()?.len().saturating_sub(SPOOL_BYTES_MAX);
                    unread = unread.saturating_add(over);
                    Some(file.take(SPOOL_BYTES_MAX))
                }
                // The command never got as far as to have one.
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            });
        }
        let read = CapturedOutput::from_streams(opened)?;
        Ok(CapturedOutput { total_bytes: read.total_bytes.saturating_add(unread), unread, ..read })
    }

    pub(super) fn from_streams<R: Read>(files: Vec<Option<R>>) -> io::Result<CapturedOutput> {
        let mut hash = Context::new(&SHA256);
        let mut total_bytes = 0;
        let mut streams = Vec::new();
        for file in files {
            let mut stream = CapturedStream::default();
            if let Some(mut file) = file {
                total_bytes += stream.take_file(&mut file, &mut hash)?;
            }
            streams.push(stream);
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(hash.finish().as_ref());
        Ok(CapturedOutput { streams, total_bytes, digest: Digest::from_bytes(digest), unread: 0 })
    }

    /// The text that the model gets. The second stream follows under its own heading.
    pub fn to_output(&self) -> Output {
        let mut text = String::new();
        let (mut unreadable, mut is_cut) = (false, false);
        for (index, stream) in self.streams.iter().enumerate() {
            let shown = stream.to_shown();
            unreadable |= shown.is_lossy;
            is_cut |= shown.is_cut;
            if index > 0 && !shown.text.is_empty() {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                text.push_str("[stderr]\n");
            }
            text.push_str(&shown.text);
        }
        if unreadable {
            text.push_str(&format!(
                "\n[not all of this was UTF-8; what was not is shown as \u{fffd}; {} of the whole]",
                self.digest
            ));
        }
        if self.unread > 0 {
            text.push_str(&format!(
                "\n[only the first {SPOOL_BYTES_MAX} bytes of a stream were read, and {} not; {} of what was read]",
                self.unread, self.digest
            ));
            is_cut = true;
        }
        let cut = is_cut.then_some(Cut { total_bytes: self.total_bytes, digest: self.digest });
        Output { text, cut }
    }

    /// The last bytes of everything, for evidence.
    pub(crate) fn last_bytes(&self, bytes: usize) -> String {
        let text = self.to_output().text;
        let from = text.len().saturating_sub(bytes);
        text[text.ceil_char_boundary(from)..].to_owned()
    }
}

/// Three quarters from the beginning, where a program says what it does, and one from the end, where
/// it says how that went.
const HEAD_BYTES: usize = OUTPUT_BYTES_KEPT / 4 * 3;
const TAIL_BYTES: usize = OUTPUT_BYTES_KEPT - HEAD_BYTES;

impl CapturedStream {
    fn take_file(&mut self, file: &mut impl Read, hash: &mut Context) -> io::Result<u64> {
        let mut buffer = vec![0; 64 << 10];
        let mut total = 0;
        loop {
            let read = match file.read(&mut buffer) {
                Ok(0) => return Ok(total),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let bytes = &buffer[..read];
            hash.update(bytes);
            total += read as u64;
            let (head, rest) = bytes.split_at(bytes.len().min(HEAD_BYTES - self.head.len()));
            self.head.extend_from_slice(head);
            self.tail.extend(rest);
            let over = self.tail.len().saturating_sub(TAIL_BYTES);
            self.tail.drain(..over);
            self.left_out += over as u64;
        }
    }

    fn to_shown(&self) -> ShownStream {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.left_out > 0 {
            // The cut may have gone through a character, which does not make the text unreadable.
            let total = (self.head.len() + tail.len()) as u64 + self.left_out;
            return ShownStream::of_both(trim_end(&self.head), trim_start(&tail), total);
        }
        let whole = [self.head.as_slice(), &tail].concat();
        let all = LossyPart::head_of(&whole, OUTPUT_BYTES_KEPT);
        if all.bytes == whole.len() {
            return ShownStream { text: all.text, is_lossy: all.is_lossy, is_cut: false };
        }
        let (head, rest) = whole.split_at(LossyPart::head_of(&whole, HEAD_BYTES).bytes);
        ShownStream::of_both(head, rest, whole.len() as u64)
    }
}

struct ShownStream {
    text: String,
    is_lossy: bool,
    is_cut: bool,
}

impl ShownStream {
    /// The beginning and the end of so many bytes.
    fn of_both(head: &[u8], tail: &[u8], total: u64) -> ShownStream {
        let (head, tail) =
            (LossyPart::head_of(head, HEAD_BYTES), LossyPart::tail_of(tail, TAIL_BYTES));
        let left_out = total - (head.bytes + tail.bytes) as u64;
        ShownStream {
            text: format!("{}\n[… {left_out} bytes left out …]\n{}", head.text, tail.text),
            is_lossy: head.is_lossy || tail.is_lossy,
            is_cut: true,
        }
    }
}

fn trim_end(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

fn trim_start(bytes: &[u8]) -> &[u8] {
    let broken = bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    &bytes[broken..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(streams: &[&[u8]]) -> CapturedOutput {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..streams.len()).map(|n| dir.path().join(n.to_string())).collect();
        for (path, bytes) in paths.iter().zip(streams) {
            std::fs::write(path, bytes).unwrap();
        }
        CapturedOutput::read_files(&paths.iter().map(|path| path.as_path()).collect::<Vec<_>>())
            .unwrap()
    }

    #[test]
    fn short_output_is_whole() {
        assert_eq!(captured(&[b"one\n", b""]).to_output(), Output::text("one\n"));
        assert_eq!(captured(&[b"one", b"oops"]).to_output(), Output::text("one\n[stderr]\noops"));
        let exact = "x".repeat(OUTPUT_BYTES_KEPT);
        assert_eq!(captured(&[exact.as_bytes()]).to_output(), Output::text(exact));
        assert_eq!(
            CapturedOutput::read_files(&[Path::new("/nonexistent")]).unwrap().to_output(),
            Output::text("")
        );
    }

    #[test]
    fn i20_a_cut_is_explicit_with_bytes_and_digest_of_the_whole() {
        let long: String = (0..40_000).map(|n| format!("line {n}\n")).collect();
        let output = captured(&[long.as_bytes(), b""]).to_output();
        assert_eq!(
            output.cut,
            Some(Cut { total_bytes: long.len() as u64, digest: Digest::of(long.as_bytes()) })
        );
        assert!(output.text.starts_with("line 0\n") && output.text.ends_with("line 39999\n"));
        let left_out = long.len() - OUTPUT_BYTES_KEPT;
        assert!(output.text.contains(&format!("[… {left_out} bytes left out …]")));
        assert!(output.text.len() < OUTPUT_BYTES_KEPT + 100);
    }

    #[test]
    fn a_cut_through_a_character_is_not_an_error_but_other_bytes_are_said() {
        let long = "é".repeat(OUTPUT_BYTES_KEPT);
        for shift in ["", "x"] {
            let text = captured(&[format!("{shift}{long}").as_bytes()]).to_output().text;
            assert!(!text.contains('\u{fffd}'));
        }
        let bytes = vec![0xff; OUTPUT_BYTES_KEPT - 1];
        let output = captured(&[&bytes]).to_output();
        assert!(output.text.len() < OUTPUT_BYTES_KEPT + 300, "{}", output.text.len());
        assert_eq!(output.cut.unwrap().total_bytes, bytes.len() as u64, "not all of it is shown");
        assert!(output.text.contains(&format!("[… {} bytes left out …]", bytes.len() - 21_845)));
        let binary = captured(&[b"a\xffb"]).to_output().text;
        assert!(binary.starts_with("a\u{fffd}b\n[not all of this was UTF-8"), "{binary}");
        assert!(binary.contains(&Digest::of(b"a\xffb").to_string()));
    }
}
