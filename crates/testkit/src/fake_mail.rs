//! A mail server on loopback that keeps what it gets. It speaks as much SMTP as a sender needs, and TLS
//! after `STARTTLS` where it was given a certificate.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite,
    AsyncWriteExt as _, BufReader,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// A running server. Dropping it ends it.
pub struct FakeMail {
    address: SocketAddr,
    shared: Arc<Mutex<State>>,
    _serving: JoinSet<()>,
}

#[derive(Default)]
struct State {
    letters: Vec<Letter>,
    logins: Vec<(String, String)>,
    trouble: Option<(&'static str, MailTrouble)>,
}

#[derive(Clone, Debug)]
pub struct Letter {
    pub from: String,
    pub to: Vec<String>,
    /// With its headers, as it came.
    pub text: String,
}

/// What happens once, at a command: `MAIL`, `RCPT`, `AUTH`, or `.` for the end of a message.
#[derive(Clone, Copy, Debug)]
pub enum MailTrouble {
    /// This line instead; nothing is kept.
    Says(&'static str),
    /// The message is kept, and the connection breaks before anybody hears so.
    Lost,
    /// No word any more.
    Hangs,
}

/// The password that is taken.
pub const PASSWORD: &str = "correct horse";

impl FakeMail {
    pub async fn start() -> FakeMail {
        FakeMail::offering(None).await
    }

    /// It takes nothing before `STARTTLS`.
    pub async fn starttls(acceptor: TlsAcceptor) -> FakeMail {
        FakeMail::offering(Some(acceptor)).await
    }

    async fn offering(starttls: Option<TlsAcceptor>) -> FakeMail {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on loopback");
        let address = listener.local_addr().expect("it is bound");
        let shared: Arc<Mutex<State>> = Arc::default();
        let (all, mut serving) = (shared.clone(), JoinSet::new());
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (all, starttls) = (all.clone(), starttls.clone());
                connections.spawn(async move {
                    // A connection that breaks is the other side's to notice.
                    let _ = connected(stream, starttls, &all).await;
                });
            }
        });
        FakeMail { address, shared, _serving: serving }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn letters(&self) -> Vec<Letter> {
        self.state().letters.clone()
    }

    pub fn logins(&self) -> Vec<(String, String)> {
        self.state().logins.clone()
    }

    pub fn fail(&self, at: &'static str, trouble: MailTrouble) {
        self.state().trouble = Some((at, trouble));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.shared)
    }
}

fn lock(shared: &Mutex<State>) -> MutexGuard<'_, State> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn trouble(shared: &Mutex<State>, at: &str) -> Option<MailTrouble> {
    let mut state = lock(shared);
    let meant = state.trouble.filter(|(meant, _)| at.eq_ignore_ascii_case(meant));
    if meant.is_some() {
        state.trouble = None;
    }
    meant.map(|(_, trouble)| trouble)
}

async fn connected(
    mut stream: TcpStream,
    starttls: Option<TlsAcceptor>,
    shared: &Mutex<State>,
) -> std::io::Result<()> {
    stream.write_all(b"220 fake ESMTP\r\n").await?;
    let Some(acceptor) = starttls else { return serve(stream, shared).await };
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if (&mut stream).take(8_192).read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let answer: &[u8] = match line.trim_end().to_ascii_uppercase().as_str() {
            "STARTTLS" => {
                stream.write_all(b"220 go on\r\n").await?;
                return serve(acceptor.accept(stream.into_inner()).await?, shared).await;
            }
            hello if hello.starts_with("EHLO") => b"250-fake\r\n250 STARTTLS\r\n",
            _ => b"530 STARTTLS first\r\n",
        };
        stream.write_all(answer).await?;
    }
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    shared: &Mutex<State>,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut letter = Letter { from: String::new(), to: Vec::new(), text: String::new() };
    loop {
        let mut line = String::new();
        // No command is longer than this, a message's line neither.
        if (&mut stream).take(8_192).read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let (command, rest) =
            line.trim_end().split_once(' ').unwrap_or_else(|| (line.trim_end(), ""));
        let address = || {
            let inside = rest.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
            inside.map(|(address, _)| address.to_owned()).unwrap_or_default()
        };
        match trouble(shared, command) {
            Some(MailTrouble::Says(answer)) => {
                stream.write_all(format!("{answer}\r\n").as_bytes()).await?;
                continue;
            }
            Some(MailTrouble::Hangs) => std::future::pending().await,
            Some(MailTrouble::Lost) => return Ok(()),
            None => {}
        }
        let answer = match command.to_ascii_uppercase().as_str() {
            "EHLO" => "250-fake\r\n250-8BITMIME\r\n250 AUTH PLAIN",
            "AUTH" => {
                let bytes = STANDARD.decode(rest.trim_start_matches("PLAIN ")).unwrap_or_default();
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let mut parts = text.split('\0').skip(1).map(str::to_owned);
                let login = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                let good = login.1 == PASSWORD;
                lock(shared).logins.push(login);
                if good { "235 welcome" } else { "535 no such user" }
            }
            "MAIL" => {
                letter.from = address();
                "250 well"
            }
            "RCPT" => {
                letter.to.push(address());
                "250 well"
            }
            "DATA" => {
                stream.write_all(b"354 go on\r\n").await?;
                letter.text = data(&mut stream).await?;
                match trouble(shared, ".") {
                    Some(MailTrouble::Says(answer)) => answer,
                    Some(MailTrouble::Hangs) => std::future::pending().await,
                    Some(MailTrouble::Lost) => {
                        lock(shared).letters.push(letter);
                        return Ok(());
                    }
                    None => {
                        lock(shared).letters.push(letter.clone());
                        letter.to.clear();
                        "250 kept"
                    }
                }
            }
            "QUIT" => {
                stream.write_all(b"221 bye\r\n").await?;
                return Ok(());
            }
            _ => "502 what?",
        };
        stream.write_all(format!("{answer}\r\n").as_bytes()).await?;
    }
}

async fn data(stream: &mut (impl AsyncBufRead + Unpin)) -> std::io::Result<String> {
    let mut text = String::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 || line.trim_end() == "." {
            return Ok(text);
        }
        // A line that begins with a point was sent with two.
        text.push_str(line.strip_prefix('.').unwrap_or(&line));
    }
}
