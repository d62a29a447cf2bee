//! What `strace` wrote, as calls in their order.

use std::collections::BTreeMap;

/// One call to the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub thread: u32,
    pub name: String,
    /// Its arguments, as strace prints them, and what it returned.
    pub arguments: String,
    pub result: String,
    /// Lines of the log: where it began, and where it was over; the last of all if it never was.
    pub began: usize,
    pub ended: usize,
}

impl Seen {
    /// The file of the first argument, which strace prints as `7</a/b>`.
    pub fn is_on(&self, end: &str) -> bool {
        let first = self.arguments.split(", ").next().unwrap_or_default();
        first.trim_end_matches('>').ends_with(end)
    }

    pub fn is_sync(&self) -> bool {
        matches!(self.name.as_str(), "fsync" | "fdatasync")
    }

    pub fn is_ok(&self) -> bool {
        !self.result.starts_with('-') && !self.result.is_empty()
    }
}

/// Every call, in the order in which they began.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub calls: Vec<Seen>,
}

impl Trace {
    pub fn read(text: &str) -> Trace {
        let mut calls: Vec<Seen> = Vec::new();
        let mut open = BTreeMap::<u32, usize>::new();
        for (at, line) in text.lines().enumerate() {
            let Some((thread, rest)) = line.trim_start().split_once(' ') else { continue };
            let (Ok(thread), rest) = (thread.parse::<u32>(), rest.trim_start()) else { continue };
            if let Some(rest) = rest.strip_prefix("<... ") {
                // `<... fdatasync resumed>) = 0`
                let Some(call) = open.remove(&thread).and_then(|at| calls.get_mut(at)) else {
                    continue;
                };
                let rest = rest.split_once("resumed>").map_or("", |(_, rest)| rest);
                let (more, result) = parts(rest);
                call.arguments.push_str(more);
                (call.result, call.ended) = (result.to_owned(), at);
                continue;
            }
            let Some((name, rest)) = rest.split_once('(') else { continue };
            if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                continue;
            }
            let seen = Seen {
                thread,
                name: name.to_owned(),
                arguments: String::new(),
                result: String::new(),
                began: at,
                ended: usize::MAX,
            };
            let seen = match rest.strip_suffix("<unfinished ...>") {
                Some(begun) => {
                    open.insert(thread, calls.len());
                    Seen { arguments: begun.trim_end().to_owned(), ..seen }
                }
                None => {
                    let (arguments, result) = parts(rest);
                    let (arguments, result) = (arguments.to_owned(), result.to_owned());
                    Seen { arguments, result, ended: at, ..seen }
                }
            };
            calls.push(seen);
        }
        Trace { calls }
    }

    pub fn of(&self, name: &str) -> impl Iterator<Item = &Seen> {
        self.calls.iter().filter(move |call| call.name == name)
    }

    /// The first call of this name whose arguments contain the text.
    pub fn first(&self, name: &str, text: &str) -> Option<&Seen> {
        self.of(name).find(|call| call.arguments.contains(text))
    }

    /// Whatever made the bytes of this file safe.
    pub fn syncs(&self, file: &str) -> impl Iterator<Item = &Seen> {
        let syncs = self.calls.iter().filter(|call| call.is_sync() && call.is_ok());
        syncs.filter(move |call| call.is_on(file))
    }

    /// Calls that failed because they were told to.
    pub fn injected(&self) -> impl Iterator<Item = &Seen> {
        self.calls.iter().filter(|call| call.result.contains("INJECTED"))
    }
}

/// Arguments and result. What is written may well contain `) = `, but what follows does not.
fn parts(rest: &str) -> (&str, &str) {
    match rest.rsplit_once(" = ") {
        Some((arguments, result)) => (arguments.trim_end().trim_end_matches(')'), result.trim()),
        None => (rest, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_were_interrupted_are_put_together_again() {
        let trace = Trace::read(
            "12 pwrite64(7</d/a.db-wal>, \"x) = 1\", 6, 0) = 6\n\
             12 fdatasync(7</d/a.db-wal> <unfinished ...>\n\
             13 sendto(9<socket:[5]>, \"HTTP/1.1 200 OK\\r\\n\", 17, 0, NULL, 0) = 17\n\
             12 <... fdatasync resumed>)  = -1 EIO (Input/output error) (INJECTED)\n\
             13 +++ exited with 0 +++\n\
             12 execve(\"/bin/sh\", [\"sh\"], 0x1 /* 3 vars */ <unfinished ...>\n",
        );
        let told: Vec<(&str, usize, usize, bool)> = trace
            .calls
            .iter()
            .map(|call| (call.name.as_str(), call.began, call.ended, call.is_ok()))
            .collect();
        let never = usize::MAX;
        let wanted = [
            ("pwrite64", 0, 0, true),
            ("fdatasync", 1, 3, false),
            ("sendto", 2, 2, true),
            ("execve", 5, never, false),
        ];
        assert_eq!(told, wanted);
        assert!(trace.calls[0].is_on("a.db-wal") && trace.calls[1].is_on("a.db-wal"));
        assert!(!trace.calls[2].is_on("a.db-wal"));
        assert_eq!(trace.calls[1].result, "-1 EIO (Input/output error) (INJECTED)");
        assert_eq!(trace.of("sendto").count(), 1);
    }
}
