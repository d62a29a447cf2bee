//! The audit log: no bytes make the verifier stumble, and no change of a sound export stays unseen.

use audit::{Chain, Checkpoint, Signer, checkpoint_line, entry_line, header_line, verify};

use super::{Pieces, text};

pub(super) fn run(bytes: &[u8]) {
    if let Ok(report) = verify(bytes, None, None) {
        assert!(!report.trusted && !report.compared);
        assert_eq!(report.end.count, report.entries);
        let trusted = verify(bytes, Some(report.key), Some(report.end.clone()));
        assert!(
            trusted.is_ok_and(|again| again.trusted && again.compared && again.head == report.head)
        );
    }
    if let Some(Ok(checkpoint)) = text(bytes).map(str::parse::<Checkpoint>) {
        assert_eq!(checkpoint.to_string().parse(), Ok(checkpoint));
    }
    a_change_is_seen(bytes);
}

/// The input says what is in the log, and where one byte of its export is changed.
fn a_change_is_seen(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let (at, flip) =
        ((usize::from(pieces.byte()) << 8) + usize::from(pieces.byte()), pieces.byte());
    let signer = Signer::from_seed(&[7; 32]).expect("any 32 bytes are a seed");
    let mut chain = Chain::default();
    let mut export = header_line(&signer.public_key());
    for number in 0..4 {
        if pieces.is_empty() {
            break;
        }
        let entry = pieces.piece();
        let (seq, hash) = chain.append(entry);
        export.push_str(&entry_line(seq, hash, entry));
        if number == 1 {
            export.push_str(&checkpoint_line(&signer.sign_checkpoint(&chain, 5)));
        }
    }
    let end = signer.sign_end(&chain, 9);
    export.push_str(&checkpoint_line(&end));
    let mut export = export.into_bytes();
    let key = Some(signer.public_key());
    let report = verify(export.as_slice(), key, None).expect("a sound export is sound");
    assert_eq!((report.entries, report.end), (chain.count(), end));
    if flip != 0 {
        let at = at % export.len();
        export[at] ^= flip;
        assert!(verify(export.as_slice(), key, None).is_err(), "byte {at} was changed unseen");
    }
}
