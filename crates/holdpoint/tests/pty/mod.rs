//! A command at a terminal of 80 columns, and what somebody types into it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use nix::pty::{Winsize, openpty};

use crate::demo::Ran;

pub(crate) fn type_into(mut command: Command, typed: &str) -> Ran {
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    let terminal = openpty(Some(&size), None).expect("a terminal");
    let end = || Stdio::from(terminal.slave.try_clone().expect("a copy"));
    command.stdin(end()).stdout(end()).stderr(end()).env("TERM", "xterm");
    let mut child = command.spawn().expect("it starts");
    drop(command);
    drop(terminal.slave);
    let mut master = File::from(terminal.master);
    // What is typed early waits in the terminal until somebody asks for it.
    master.write_all(typed.as_bytes()).expect("typed");
    let mut shown = Vec::new();
    let mut piece = [0; 4096];
    // The other side is closed when the program has ended; Linux calls that an error.
    while let Ok(read @ 1..) = master.read(&mut piece) {
        shown.extend_from_slice(&piece[..read]);
    }
    let code = child.wait().expect("it ends").code().expect("it ended by itself");
    Ran { code, out: String::from_utf8_lossy(&shown).into_owned(), err: String::new() }
}
