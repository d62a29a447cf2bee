//! Makes new input of old: what a fuzzer does, in a few lines and from a seed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Target;
use crate::chance::Chance;

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
pub fn mutated(seeds: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = if seeds.is_empty() || chance.percent(5) {
        (0..chance.below(40)).map(|_| chance.bits() as u8).collect()
    } else {
        chance.pick(seeds).clone()
    };
    for _ in 0..=chance.below(4) {
        change(&mut bytes, seeds, chance);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], chance: &mut Chance) {
    let place = |chance: &mut Chance, bytes: &[u8]| chance.below(bytes.len() as u64 + 1) as usize;
    let at = place(chance, bytes);
    let to = (at + chance.below(16) as usize).min(bytes.len());
    match chance.below(8) {
        0 if at < bytes.len() => bytes[at] ^= 1 << chance.below(8),
        1 if at < bytes.len() => bytes[at] = chance.bits() as u8,
        2 => drop(bytes.drain(at..to)),
        3 => bytes.truncate(at),
        4 => {
            let copy = bytes[at..to].to_vec();
            let into = place(chance, bytes);
            bytes.splice(into..into, copy);
        }
        5 if !seeds.is_empty() => {
            let other = chance.pick(seeds);
            let from = place(chance, other);
            let until = (from + chance.below(64) as usize).min(other.len());
            bytes.splice(at..to, other[from..until].iter().copied());
        }
        _ => {
            let token = *chance.pick(&TOKENS);
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
