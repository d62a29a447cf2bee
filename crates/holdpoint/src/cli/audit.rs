//! The audit log: fetched from the server, verified without it.

use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::path::Path;

use anyhow::Context as _;
use audit::{Checkpoint, PublicKey, VerifyError, VerifyReport};
use domain::visible::visible;
use serde_json::{Value, json};

use super::args::{AuditExportArgs, AuditVerifyArgs};
use super::client::Client;
use super::exit::{Exit, UsageError};
use super::json;
use super::output::{Paint, Screen, Terminal};

/// Streams the export as it comes, to the byte: the verifier compares bytes.
pub async fn export(
    client: &Client,
    terminal: &Terminal,
    args: &AuditExportArgs,
) -> anyhow::Result<Exit> {
    let mut reply = client.download("/v1/audit/export").await?;
    let mut sink: Box<dyn io::Write> = match &args.out {
        Some(path) => Box::new(new_file(path)?),
        None => Box::new(io::stdout()),
    };
    let mut bytes = 0usize;
    while let Some(chunk) = reply.chunk().await.context("the export broke off: it is not whole")? {
        sink.write_all(&chunk)?;
        bytes += chunk.len();
    }
    sink.flush()?;
    if let Some(path) = &args.out {
        let path = visible(&path.to_string_lossy());
        if args.json {
            let out = terminal.out();
            out.print(&json::pretty(&json!({"file": path, "bytes": bytes})))?;
            return Ok(Exit::Done);
        }
        terminal.note(&format!("{bytes} bytes in {path}; check it with `holdpoint audit verify`."));
    }
    Ok(Exit::Done)
}

/// An older export may be the only proof of something: it is never overwritten.
fn new_file(path: &Path) -> anyhow::Result<File> {
    File::create_new(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => UsageError(format!(
            "{} exists already; name another file",
            visible(&path.to_string_lossy())
        ))
        .into(),
        _ => anyhow::Error::new(error)
            .context(format!("cannot write {}", visible(&path.to_string_lossy()))),
    })
}

pub fn verify(terminal: &Terminal, args: &AuditVerifyArgs) -> anyhow::Result<Exit> {
    let key = args.key.as_deref().map(read_key).transpose()?;
    let known = args.checkpoint.as_deref().map(read_checkpoint).transpose()?;
    let file = open_file(&args.file)?;
    let out = terminal.out();
    match audit::verify(BufReader::new(file), key, known) {
        Ok(report) => {
            if args.json {
                out.print(&json::pretty(&sound(&report)?))?;
            } else {
                out.print(&worded(&out, &report))?;
            }
            if !report.trusted {
                terminal.warn(&format!(
                    "the key in the file was taken on trust, and anybody can sign a log of their own\n  → pass the key that you know: --key {}",
                    report.key
                ));
            }
            Ok(Exit::Done)
        }
        Err(VerifyError::Tampered(tampered)) => {
            if args.json {
                out.print(&json::pretty(&json!({
                    "sound": false,
                    "first_bad_index": tampered.index,
                    "line": tampered.line,
                    "why": tampered.to_string(),
                })))?;
            }
            anyhow::bail!("the log was tampered with: {tampered}")
        }
        Err(failed) => Err(failed.into()),
    }
}

fn sound(report: &VerifyReport) -> anyhow::Result<Value> {
    Ok(json!({
        "sound": true,
        "entries": report.entries,
        "checkpoints": report.checkpoints,
        "head": report.head.to_string(),
        "key": report.key.to_string(),
        "trusted": report.trusted,
        "compared": report.compared,
        "end": serde_json::from_str::<Value>(&report.end.to_string())?,
    }))
}

fn worded(screen: &Screen, report: &VerifyReport) -> String {
    let compared = if report.compared { ", and what you kept is in it" } else { "" };
    format!(
        "{} {} entries, {} signed checkpoints{compared}.\nkey   {}\nhead  {}\nKeep this for the next time (--checkpoint):\n{}\n",
        screen.paint(Paint::Green, "Sound:"),
        report.entries,
        report.checkpoints,
        report.key,
        report.head,
        report.end
    )
}

/// A key as text, or a file that holds nothing else.
fn read_key(key: &str) -> anyhow::Result<PublicKey> {
    if let Ok(key) = key.parse() {
        return Ok(key);
    }
    let text = std::fs::read_to_string(key).map_err(|error| {
        UsageError(format!(
            "`{}` is neither a public key nor a file that can be read ({error})",
            visible(key)
        ))
    })?;
    text.trim().parse().with_context(|| format!("in {}", visible(key)))
}

fn read_checkpoint(path: &Path) -> anyhow::Result<Checkpoint> {
    let name = visible(&path.to_string_lossy());
    let text = std::fs::read_to_string(path)
        .map_err(|error| UsageError(format!("cannot read {name}: {error}")))?;
    text.trim().parse().with_context(|| format!("in {name}"))
}

fn open_file(path: &Path) -> anyhow::Result<File> {
    File::open(path).map_err(|error| {
        UsageError(format!("cannot read {}: {error}", visible(&path.to_string_lossy()))).into()
    })
}

#[cfg(test)]
mod tests {
    use audit::{Chain, Signer, checkpoint_line, entry_line, header_line};

    use super::*;

    /// A log of three entries, and its signer.
    fn log() -> (String, Signer) {
        let signer = Signer::from_seed(&[7; 32]).unwrap();
        let mut chain = Chain::default();
        let mut text = header_line(&signer.public_key());
        for entry in ["{\"n\":1}", "{\"n\":2}", "{\"n\":3}"] {
            let (seq, hash) = chain.append(entry.as_bytes());
            text.push_str(&entry_line(seq, hash, entry.as_bytes()));
        }
        text.push_str(&checkpoint_line(&signer.sign_end(&chain, 5)));
        (text, signer)
    }

    fn check(text: &str, key: Option<String>, checkpoint: Option<&str>) -> anyhow::Result<Exit> {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("audit.jsonl");
        std::fs::write(&file, text).unwrap();
        let checkpoint = checkpoint.map(|text| {
            let path = directory.path().join("checkpoint.json");
            std::fs::write(&path, text).unwrap();
            path
        });
        verify(&Terminal::here(), &AuditVerifyArgs { file, key, checkpoint, json: false })
    }

    #[test]
    fn a_sound_log_is_sound_with_key_and_checkpoint() {
        let (text, signer) = log();
        let last = text.lines().last().unwrap().to_owned();
        let key = signer.public_key().to_string();
        assert_eq!(check(&text, Some(key), Some(&last)).unwrap(), Exit::Done);
        assert_eq!(check(&text, None, None).unwrap(), Exit::Done);
    }

    #[test]
    fn tampering_names_the_first_bad_entry() {
        let (text, _) = log();
        let error = check(&text.replace("\\\"n\\\":2", "\\\"n\\\":9"), None, None).unwrap_err();
        assert!(error.to_string().contains("entry 2 was edited (line 3)"), "{error}");
        assert_eq!(super::super::exit::of_error(&error), Exit::Failed);
        let cut: String = text.lines().take(3).map(|line| format!("{line}\n")).collect();
        let error = check(&cut, None, None).unwrap_err();
        assert!(error.to_string().contains("cut off: from entry 3"), "{error}");
    }

    #[test]
    fn another_key_or_a_missing_file_is_told() {
        let (text, _) = log();
        let other = Signer::from_seed(&[8; 32]).unwrap().public_key().to_string();
        let error = check(&text, Some(other), None).unwrap_err();
        assert!(error.to_string().contains("another key"), "{error}");
        let error = check(&text, Some("no-such-key-file".into()), None).unwrap_err();
        assert!(error.is::<UsageError>(), "{error}");
    }

    #[test]
    fn an_export_never_replaces_another() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.jsonl");
        drop(new_file(&path).unwrap());
        assert!(new_file(&path).unwrap_err().is::<UsageError>());
    }
}
