use super::*;
use crate::key::Signer;
use crate::{checkpoint_line, entry_line, header_line};

const ENTRIES: [&str; 7] = [
    r#"{"v":1,"events":[{"type":"held","title":"Delete 214 rows"}]}"#,
    r#"{"v":1,"by":"ana","text":"naïve \"quoted\" 删除"}"#,
    r#"{"v":1,"at":"2024-05-05T10:00:00Z"}"#,
    r#"{}"#,
    r#"{}"#,
    r#"{"v":1,"n":[1,2,3]}"#,
    r#"{"v":1,"last":true}"#,
];

fn signer(seed: u8) -> Signer {
    Signer::from_seed(&[seed; 32]).unwrap()
}

/// An export with checkpoints after entries 2 and 5. Lines: header, 1, 2, ✓, 3, 4, 5, ✓, 6, 7, end.
fn export_of(entries: &[&str], signer: &Signer) -> Vec<String> {
    let mut chain = Chain::default();
    let mut lines = vec![header_line(&signer.public_key())];
    for entry in entries {
        let (seq, hash) = chain.append(entry.as_bytes());
        lines.push(entry_line(seq, hash, entry.as_bytes()));
        if [2, 5].contains(&seq) {
            lines.push(checkpoint_line(&signer.sign_checkpoint(&chain, 1_000 + seq as i64)));
        }
    }
    lines.push(checkpoint_line(&signer.sign_end(&chain, 2_000)));
    lines
}

fn export() -> Vec<String> {
    export_of(&ENTRIES, &signer(1))
}

fn known_of(entries: &[&str], signer: &Signer) -> Checkpoint {
    let mut chain = Chain::default();
    for entry in entries {
        chain.append(entry.as_bytes());
    }
    signer.sign_checkpoint(&chain, 3_000)
}

/// How many entries stand before a line of the export.
fn entries_before(lines: &[String], line: usize) -> u64 {
    lines[..line].iter().filter(|line| line.starts_with("{\"seq\"")).count() as u64
}

fn verify_lines(lines: &[String]) -> Result<VerifyReport, VerifyError> {
    verify(lines.concat().as_bytes(), Some(signer(1).public_key()), None)
}

fn found(bytes: &[u8], known: Option<Checkpoint>) -> Tampered {
    match verify(bytes, Some(signer(1).public_key()), known) {
        Err(VerifyError::Tampered(tampered)) => tampered,
        other => panic!("not found: {other:?}\n{}", String::from_utf8_lossy(bytes)),
    }
}

fn found_in(lines: &[String]) -> (u64, TamperKind) {
    let Tampered { index, what, .. } = found(lines.concat().as_bytes(), None);
    (index, what)
}

#[test]
fn a_sound_export_is_sound() {
    let report = verify_lines(&export()).unwrap();
    assert_eq!((report.entries, report.checkpoints, report.trusted), (7, 3, true));
    assert_eq!(report.end.head, report.head);
    let untrusted = verify(export().concat().as_bytes(), None, None).unwrap();
    assert!(!untrusted.trusted && !untrusted.compared);
    let known = known_of(&ENTRIES[..4], &signer(1));
    assert!(verify(export().concat().as_bytes(), None, Some(known)).unwrap().compared);
    let empty = verify_lines(&export_of(&[], &signer(1))).unwrap();
    assert_eq!((empty.entries, empty.head), (0, Hash::NONE));
}

#[test]
fn i43_every_single_byte_change_is_found_and_named() {
    // A header, three entries, a checkpoint and an end; more of them would only take longer.
    let lines = export_of(&ENTRIES[..3], &signer(1));
    let mut bytes = lines.concat().into_bytes();
    let mut start = 0;
    for (number, line) in lines.iter().enumerate() {
        let before = entries_before(&lines, number);
        // A broken entry is named itself; a broken checkpoint by the entries beside it.
        let named = match number {
            0 => 0..=0,
            _ if line.starts_with("{\"seq\"") => before + 1..=before + 1,
            _ => before..=before + 1,
        };
        let check = |bytes: &[u8], at: usize| {
            let tampered = found(bytes, None);
            assert!(named.contains(&tampered.index), "line {number}, byte {at}: {tampered}");
        };
        for at in start..start + line.len() {
            let honest = bytes[at];
            for other in (0..8).map(|bit| honest ^ 1 << bit).chain([b' ', b'\n', b'"', b'0', 0xff])
            {
                if other != honest {
                    bytes[at] = other;
                    check(&bytes, at);
                }
            }
            bytes[at] = honest;
            let mut shorter = bytes.clone();
            shorter.remove(at);
            check(&shorter, at);
            let mut longer = bytes.clone();
            longer.insert(at, b' ');
            check(&longer, at);
        }
        start += line.len();
    }
}

#[test]
fn i43_a_missing_end_is_found_wherever_it_is_cut() {
    let lines = export();
    for keep in 1..lines.len() {
        let entries = entries_before(&lines, keep);
        assert_eq!(found_in(&lines[..keep]), (entries + 1, TamperKind::Truncated));
    }
    let bytes = lines.concat().into_bytes();
    for keep in lines[0].len()..bytes.len() {
        assert_eq!(found(&bytes[..keep], None).what, TamperKind::Truncated, "cut at {keep}");
    }
    assert_eq!(found(b"", None).what, TamperKind::Header);
}

#[test]
fn i43_deleted_lines_are_found_and_named() {
    let lines = export();
    for gone in 1..lines.len() - 1 {
        let mut rest = lines.clone();
        let line = rest.remove(gone);
        if line.starts_with("{\"checkpoint\"") {
            // A later signature covers all that this one did.
            verify_lines(&rest).unwrap();
            continue;
        }
        let seq = entries_before(&lines, gone) + 1;
        assert_eq!(found_in(&rest), (seq, TamperKind::Deleted { last: seq }));
    }
    let mut rest = lines.clone();
    rest.drain(4..7);
    assert_eq!(found_in(&rest), (3, TamperKind::Deleted { last: 5 }));
}

#[test]
fn i43_moved_lines_are_found_and_named() {
    let lines = export();
    for one in 1..lines.len() {
        for other in one + 1..lines.len() {
            let mut swapped = lines.clone();
            swapped.swap(one, other);
            let (index, what) = found_in(&swapped);
            let before = entries_before(&lines, one);
            assert!((before..=before + 1).contains(&index), "{one} and {other}: {index} {what:?}");
        }
    }
    let mut swapped = lines;
    swapped.swap(1, 2);
    assert_eq!(found_in(&swapped), (1, TamperKind::Reordered));
}

#[test]
fn i43_repeated_and_inserted_lines_are_found_and_named() {
    let lines = export();
    for from in 1..lines.len() {
        for to in from + 1..=lines.len() {
            let mut longer = lines.clone();
            longer.insert(to, lines[from].clone());
            let (index, what) = found_in(&longer);
            assert_eq!(index, entries_before(&lines, to) + 1, "line {from} at {to}: {what:?}");
        }
    }
    let mut longer = lines.clone();
    longer.insert(2, entry_line(2, Hash::NONE, b"{}"));
    assert_eq!(found_in(&longer), (2, TamperKind::Inserted));
    let mut longer = lines;
    longer.insert(2, "\n".into());
    assert_eq!(found_in(&longer), (2, TamperKind::Inserted));
}

#[test]
fn i43_a_rewritten_history_is_found_by_its_signatures() {
    let lines = export();
    for from in 0..ENTRIES.len() {
        let mut entries = ENTRIES;
        entries[from] = r#"{"v":1,"forged":true}"#;
        // The forger can make every hash afresh, but has only the old signatures.
        let mut forged = export_of(&entries, &signer(2));
        for (number, line) in forged.iter_mut().enumerate() {
            if number == 0 || line.starts_with("{\"checkpoint\"") {
                line.clone_from(&lines[number]);
            }
        }
        let (index, what) = found_in(&forged);
        let TamperKind::Rewritten { last } = what else { panic!("{what:?}") };
        let seq = from as u64 + 1;
        assert!((index..=last).contains(&seq), "{seq} is not in {index} to {last}");
        assert!([(1, 2), (3, 5), (6, 7)].contains(&(index, last)));
    }
}

#[test]
fn i43_another_key_is_found() {
    let forged = export_of(&ENTRIES, &signer(2));
    assert_eq!(found_in(&forged), (0, TamperKind::WrongKey));
    // With our header, the signatures give it away.
    let mut disguised = forged;
    disguised[0] = header_line(&signer(1).public_key());
    assert_eq!(found_in(&disguised), (2, TamperKind::WrongKey));
    // A signature for another moment does not fit.
    let mut restamped = export();
    restamped[3] = restamped[3].replace("\"at_ms\":1002", "\"at_ms\":1003");
    assert_eq!(found_in(&restamped), (2, TamperKind::BadSignature));
}

#[test]
fn i43_a_fork_is_found_by_the_known_checkpoint() {
    let mut entries = ENTRIES;
    entries[3] = r#"{"v":1,"forged":true}"#;
    // The holder of the key signs a second history.
    let forked = export_of(&entries, &signer(1)).concat();
    for known in 4..=7 {
        let known = known_of(&ENTRIES[..known as usize], &signer(1));
        let tampered = found(forked.as_bytes(), Some(known.clone()));
        assert_eq!((tampered.index, tampered.what), (known.count, TamperKind::Fork));
    }
    let known = known_of(&ENTRIES[..3], &signer(1));
    verify(forked.as_bytes(), None, Some(known)).unwrap();
}

#[test]
fn i43_an_older_log_is_found_by_the_known_checkpoint() {
    let older = export_of(&ENTRIES[..5], &signer(1)).concat();
    let known = known_of(&ENTRIES, &signer(1));
    let tampered = found(older.as_bytes(), Some(known));
    assert_eq!((tampered.index, tampered.what), (6, TamperKind::Truncated));
}

#[test]
fn a_known_checkpoint_of_another_key_is_no_evidence() {
    let known = known_of(&ENTRIES, &signer(2));
    let result = verify(export().concat().as_bytes(), None, Some(known));
    assert!(matches!(result, Err(VerifyError::KnownIsForeign)));
}

#[test]
fn says_it_in_words() {
    let lines = export();
    let says = |lines: &[String]| found(lines.concat().as_bytes(), None).to_string();
    assert_eq!(
        says(&lines[..10]),
        "the log is cut off: from entry 8 on there is no signed end (line 10)"
    );
    let mut rest = lines.clone();
    rest.drain(4..7);
    assert_eq!(says(&rest), "entries 3 to 5 were deleted (line 5)");
    let mut edited = lines;
    edited[2] = edited[2].replace("ana", "eve");
    assert_eq!(says(&edited), "entry 2 was edited (line 3)");
}
