//! An HTTP client that costs next to nothing, so that it is the server that is measured: one kept
//! connection, requests written as bytes, replies read to their end and hardly looked at.

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

pub(crate) struct Lean {
    connection: BufReader<TcpStream>,
    /// What every request begins with after its first line.
    head: String,
    line: String,
    body: Vec<u8>,
}

impl Lean {
    pub(crate) async fn connect(address: &str, token: &str) -> Result<Lean, Failure> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Lean {
            connection: BufReader::with_capacity(16 << 10, stream),
            head: format!("Host: {address}\r\nAuthorization: Bearer {token}\r\n"),
            line: String::new(),
            body: Vec::new(),
        })
    }

    pub(crate) async fn get(&mut self, path: &str) -> Result<&str, Failure> {
        let request = format!("GET {path} HTTP/1.1\r\n{}\r\n", self.head);
        self.ask(&request).await
    }

    pub(crate) async fn post(
        &mut self,
        path: &str,
        accept: &str,
        body: &str,
    ) -> Result<&str, Failure> {
        let request = format!(
            "POST {path} HTTP/1.1\r\n{}Accept: {accept}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.head,
            body.len()
        );
        self.ask(&request).await
    }

    async fn ask(&mut self, request: &str) -> Result<&str, Failure> {
        self.connection.write_all(request.as_bytes()).await?;
        let status = self.next_line().await?.to_owned();
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let line = self.next_line().await?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or("a header without a colon")?;
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse()?,
                "transfer-encoding" => is_chunked = value.trim() == "chunked",
                _ => {}
            }
        }
        self.body.clear();
        if is_chunked {
            loop {
                let size = usize::from_str_radix(self.next_line().await?, 16)?;
                self.take(size).await?;
                self.next_line().await?;
                if size == 0 {
                    break;
                }
            }
        } else {
            self.take(length).await?;
        }
        let body = std::str::from_utf8(&self.body)?;
        match status.split(' ').nth(1) {
            Some(code) if code.starts_with('2') => Ok(body),
            _ => Err(format!("{status}: {body}").into()),
        }
    }

    async fn take(&mut self, length: usize) -> Result<(), Failure> {
        let begin = self.body.len();
        self.body.resize(begin + length, 0);
        self.connection.read_exact(&mut self.body[begin..]).await?;
        Ok(())
    }

    async fn next_line(&mut self) -> Result<&str, Failure> {
        self.line.clear();
        if self.connection.read_line(&mut self.line).await? == 0 {
            return Err("the server hung up".into());
        }
        Ok(self.line.trim_end())
    }
}

/// The text of a member of a JSON object, found by its name alone.
pub(crate) fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let begin = json.find(&format!("\"{name}\":\""))? + name.len() + 4;
    json[begin..].split('"').next()
}
