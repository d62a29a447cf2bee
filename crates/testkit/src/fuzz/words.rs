//! Everything with one spelling: what is read is written again as it was.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use domain::answer::Settlement;
use domain::digest::Digest;
use domain::event::TokenScope;
use domain::hold::Risk;
use domain::id::{
    CallId, CommitId, GrantId, HoldId, MessageId, NodeId, RunId, SessionId, StreamId, TokenId,
};
use domain::time::Timestamp;
use domain::tool::Effects;

use super::{text, told_plainly};

pub(super) fn run(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let kinds = [
        one_spelling::<SessionId>(text),
        one_spelling::<RunId>(text),
        one_spelling::<MessageId>(text),
        one_spelling::<CallId>(text),
        one_spelling::<HoldId>(text),
        one_spelling::<GrantId>(text),
        one_spelling::<TokenId>(text),
        one_spelling::<CommitId>(text),
        one_spelling::<NodeId>(text),
    ];
    assert!(kinds.iter().filter(|is| **is).count() <= 1, "an id says what it is");
    one_spelling::<StreamId>(text);
    one_spelling::<Digest>(text);
    one_spelling::<::audit::Hash>(text);
    one_spelling::<::audit::PublicKey>(text);
    if let Some(at) = Timestamp::parse(text) {
        assert_eq!(Timestamp::parse(&at.to_string()), Some(at), "a time is the same again");
    }
    let names = [
        Risk::parse(text).map(Risk::name),
        Settlement::parse(text).map(Settlement::name),
        TokenScope::parse(text).map(TokenScope::name),
        Effects::parse(text).map(Effects::name),
    ];
    for name in names.into_iter().flatten() {
        assert_eq!(name, text);
    }
    if let Err(why) = holdpoint::cli::duration::parse(text) {
        told_plainly(&why, bytes.len());
    }
}

fn one_spelling<T: FromStr<Err: Display + Debug> + Display>(text: &str) -> bool {
    match text.parse::<T>() {
        Ok(read) => {
            assert_eq!(read.to_string(), text, "there is one spelling");
            true
        }
        Err(why) => {
            let told = why.to_string();
            told_plainly(&told, 0);
            false
        }
    }
}
