//! Makes new input of old: what a fuzzer does, in a few lines and from a seed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Target;
use crate::rng::Rng;

/// Bytes that parsers are often wrong about.
const TOKENS: [&[u8]; 30] = [
    b"\0",
    b"\n",
    b"\r\n",
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"null",
    b"true",
    b"-0",
    b"1e999",
    b"9007199254740993",
    b"0.1",
    b"\xff",
    b"\xe2\x80\xae",
    b"\xef\xbb\xbf",
    b"\xf0\x9f\x98\x80",
    b"'",
    b"--",
    b"/*",
    b";",
    b"%00",
    b"\x1b[2J",
    b" ",
];

/// A changed copy of one of the seeds.
pub fn mutated(seeds: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = if seeds.is_empty() || rng.percent(5) {
        (0..rng.below(40)).map(|_| rng.bits() as u8).collect()
    } else {
        rng.pick(seeds).clone()
    };
    for _ in 0..=rng.below(4) {
        change(&mut bytes, seeds, rng);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], rng: &mut Rng) {
    let place = |rng: &mut Rng, bytes: &[u8]| rng.below(bytes.len() as u64 + 1) as usize;
    let at = place(rng, bytes);
    let to = (at + rng.below(16) as usize).min(bytes.len());
    match rng.below(8) {
        0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
        1 if at < bytes.len() => bytes[at] = rng.bits() as u8,
        2 => drop(bytes.drain(at..to)),
        3 => bytes.truncate(at),
        4 => {
            let copy = bytes[at..to].to_vec();
            let into = place(rng, bytes);
            bytes.splice(into..into, copy);
        }
        5 if !seeds.is_empty() => {
            let other = rng.pick(seeds);
            let from = place(rng, other);
            let until = (from + rng.below(64) as usize).min(other.len());
            bytes.splice(at..to, other[from..until].iter().copied());
        }
        _ => {
            let token = *rng.pick(&TOKENS);
            bytes.splice(at..at, token.iter().copied());
        }
    }
}

/// Whether the target panics on this.
pub fn fails(target: &Target, bytes: &[u8]) -> bool {
    catch_unwind(AssertUnwindSafe(|| (target.run)(bytes))).is_err()
}

/// A shorter input on which it panics as well, as far as leaving parts out gets.
pub fn shrunk(target: &Target, mut bytes: Vec<u8>) -> Vec<u8> {
    let mut length = bytes.len() / 2;
    while length > 0 {
        let mut at = 0;
        while at < bytes.len() {
            let mut shorter = bytes.clone();
            shorter.drain(at..(at + length).min(bytes.len()));
            if fails(target, &shorter) {
                bytes = shorter;
            } else {
                at += length;
            }
        }
        length /= 2;
    }
    bytes
}
