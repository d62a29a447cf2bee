//! An HTTP client that costs next to nothing, so that it is the server that is measured: one kept
//! connection, requests written as bytes, replies read to their end and hardly looked at. What is
//! sent and what comes have places that are used again.

use std::fmt::Write as _;
use std::ops::Range;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Most replies fit, and so are read at once.
const USUAL_BYTES: usize = 16 << 10;

pub(crate) struct Lean {
    connection: TcpStream,
    /// What every request begins with after its first line.
    head: String,
    request: String,
    /// What came, and up to where it has been looked at.
    read: Vec<u8>,
    at: usize,
    body: Vec<u8>,
}

impl Lean {
    pub(crate) async fn connect(address: &str, token: &str) -> Result<Lean, Failure> {
        let connection = TcpStream::connect(address).await?;
        connection.set_nodelay(true)?;
        Ok(Lean {
            connection,
            head: format!("Host: {address}\r\nAuthorization: Bearer {token}\r\n"),
            request: String::new(),
            read: Vec::with_capacity(USUAL_BYTES),
            at: 0,
            body: Vec::new(),
        })
    }

    pub(crate) async fn get(&mut self, path: &str) -> Result<&str, Failure> {
        self.request.clear();
        write!(self.request, "GET {path} HTTP/1.1\r\n{}\r\n", self.head)?;
        self.ask().await
    }

    pub(crate) async fn post(
        &mut self,
        path: &str,
        accept: &str,
        body: &str,
    ) -> Result<&str, Failure> {
        self.request.clear();
        write!(
            self.request,
            "POST {path} HTTP/1.1\r\n{}Accept: {accept}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.head,
            body.len()
        )?;
        self.ask().await
    }

    async fn ask(&mut self) -> Result<&str, Failure> {
        self.connection.write_all(self.request.as_bytes()).await?;
        let status = self.line().await?;
        let status = std::str::from_utf8(&self.read[status])?;
        let refused = match status.split(' ').nth(1) {
            Some(code) if code.starts_with('2') => None,
            _ => Some(status.to_owned()),
        };
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let line = self.line().await?;
            if line.is_empty() {
                break;
            }
            let line = std::str::from_utf8(&self.read[line])?;
            let (name, value) = line.split_once(':').ok_or("a header without a colon")?;
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse()?;
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                is_chunked = value.trim() == "chunked";
            }
        }
        self.body.clear();
        if is_chunked {
            loop {
                let size = self.line().await?;
                let size = usize::from_str_radix(std::str::from_utf8(&self.read[size])?, 16)?;
                self.take(size).await?;
                self.line().await?;
                if size == 0 {
                    break;
                }
            }
        } else {
            self.take(length).await?;
        }
        let body = std::str::from_utf8(&self.body)?;
        match refused {
            None => Ok(body),
            Some(status) => Err(format!("{status}: {body}").into()),
        }
    }

    async fn take(&mut self, length: usize) -> Result<(), Failure> {
        let mut missing = length;
        loop {
            let came = &self.read[self.at..];
            let taken = &came[..came.len().min(missing)];
            self.body.extend_from_slice(taken);
            self.at += taken.len();
            missing -= taken.len();
            if missing == 0 {
                return Ok(());
            }
            self.more().await?;
        }
    }

    /// Where the next line is, without its end.
    async fn line(&mut self) -> Result<Range<usize>, Failure> {
        loop {
            let rest = &self.read[self.at..];
            // All that we send and are sent here is ASCII up to the body.
            if let Some(length) = rest.iter().position(|byte| *byte == b'\n') {
                let line = self.at..self.at + rest[..length].trim_ascii_end().len();
                self.at += length + 1;
                return Ok(line);
            }
            self.more().await?;
        }
    }

    async fn more(&mut self) -> Result<(), Failure> {
        self.read.drain(..self.at);
        self.at = 0;
        match self.connection.read_buf(&mut self.read).await? {
            0 => Err("the server hung up".into()),
            _ => Ok(()),
        }
    }
}

/// The text of a member of a JSON object, found by its name alone.
pub(crate) fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    json.match_indices(name).find_map(|(at, _)| {
        let text = json[at + name.len()..].strip_prefix("\":\"")?;
        if json[..at].ends_with('"') { text.split('"').next() } else { None }
    })
}
