//! What is read from a disk: a record is whole or refused, and what was read is written and read
//! again as the same.

use std::fmt::Debug;

use ports::store::StoreError;
use stores::conformance::stage;
use stores::record::{grant_again, hold_again, row_again, since_again};

use super::told_plainly;

pub(super) fn run(bytes: &[u8]) {
    again(bytes, row_again);
    again(bytes, hold_again);
    again(bytes, grant_again);
    let call = stage::call(None, 1, "{}");
    let (opener, audience) = (stage::person("eve"), stage::audience(&["ana"], &[]));
    let opened = stage::hold(stage::hold_id(1), Some(call), opener, audience);
    again(bytes, |bytes| since_again(bytes, &opened));
}

/// What was read, and how it would be written.
type Again<T> = Result<(T, Vec<u8>), StoreError>;

fn again<T: PartialEq + Debug>(bytes: &[u8], read: impl Fn(&[u8]) -> Again<T>) {
    match read(bytes) {
        Ok((one, written)) => {
            let (other, again) = read(&written).expect("what we write we can read");
            assert_eq!(one, other, "and it is the same");
            assert_eq!(written, again, "to the byte");
        }
        Err(error) => told_plainly(&error.to_string(), 0),
    }
}
