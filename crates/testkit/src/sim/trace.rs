//! What happened, line by line. The whole of it goes into a hash, so that two runs of one seed can be
//! compared; the end of it is kept, so that a failure can be read.

use std::collections::VecDeque;

/// Enough to see how a promise was broken; one seed alone can be told whole.
const TAIL: usize = 120;

#[derive(Debug)]
pub(super) struct Trace {
    hash: u64,
    lines: u64,
    tail: VecDeque<String>,
    whole: bool,
}

impl Trace {
    pub(super) fn new(whole: bool) -> Trace {
        Trace { hash: 0xcbf2_9ce4_8422_2325, lines: 0, tail: VecDeque::new(), whole }
    }

    pub(super) fn note(&mut self, line: String) {
        for byte in line.bytes().chain([b'\n']) {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self.lines += 1;
        if !self.whole && self.tail.len() == TAIL {
            self.tail.pop_front();
        }
        self.tail.push_back(line);
    }

    /// Of every line, in order.
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    pub(super) fn text(&self) -> String {
        self.tail.iter().map(|line| format!("{line}\n")).collect()
    }
}
