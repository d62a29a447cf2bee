//! Mail servers and a program, all behind TLS, and a configuration that leads to them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use testkit::fake_chat::{Asked, Front, Platform, Reply};
use testkit::fake_mail::{FakeMail, PASSWORD};
use testkit::private_ca::{PrivateCa, Shows, TlsFront};
use testkit::served::Served;

pub(crate) const SCRIPT: &str = "default = \"I do not know.\"\n";

pub(crate) struct Receiver;

impl Platform for Receiver {
    fn answer(&self, _: &Asked) -> Reply {
        Reply::new(204, Value::Null)
    }
}

pub(crate) struct Site {
    pub(crate) starttls: FakeMail,
    pub(crate) implicit: FakeMail,
    implicit_front: TlsFront,
    pub(crate) program: Front<Receiver>,
    program_front: TlsFront,
}

/// Where a plain server listens, from its URL.
pub(crate) fn address(url: &str) -> SocketAddr {
    let host = url.split("//").nth(1).expect("a URL").split('/').next().expect("a host");
    host.parse().expect("an address")
}

impl Site {
    pub(crate) async fn new(ca: &PrivateCa, shows: Shows) -> Site {
        let implicit = FakeMail::start().await;
        let program = Front::start(Arc::new(Receiver)).await;
        Site {
            starttls: FakeMail::starttls(ca.acceptor(shows)).await,
            implicit_front: TlsFront::start(ca.acceptor(shows), implicit.address()).await,
            implicit,
            program_front: TlsFront::start(ca.acceptor(shows), address(&program.url())).await,
            program,
        }
    }

    pub(crate) fn config(&self) -> String {
        let (starttls, implicit) = (self.starttls.port(), self.implicit_front.port());
        let program = self.program_front.origin("https");
        format!(
            r#"
[server]
listen = "127.0.0.1:@PORT@"
public_url = "https://hold.example.org"

[store]
url = "sqlite:data"

[[people]]
id = "root"
roles = ["admin"]
identities = {{ webhook = "root-1" }}

[channels.starttls]
platform = "email"
host = "localhost"
port = {starttls}
user = "holdpoint"
password_file = "password"
from = "holdpoint@example.org"
ask = ["ops@example.org"]

[channels.implicit]
platform = "email"
host = "localhost"
port = {implicit}
tls = "implicit"
user = "holdpoint"
password_file = "password"
from = "holdpoint@example.org"
ask = ["ops@example.org"]

[channels.program]
platform = "webhook"
url = "{program}/hook"
secret_file = "out"
inbound_secret_file = "in"
speaks_for = ["root-1"]
allow_private_addresses = true
ask = ["all"]
"#
        )
    }
}

pub(crate) fn secrets(served: &Served) {
    served.write("password", PASSWORD);
    served.write("out", "whsec_b3V0Z29pbmcta2V5");
    served.write("in", "whsec_aW5jb21pbmcta2V5");
}

pub(crate) async fn until(what: &str, is: impl Fn() -> bool) {
    let looking = async {
        while !is() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let came = tokio::time::timeout(Duration::from_secs(30), looking).await;
    assert!(came.is_ok(), "{what} did not come");
}
