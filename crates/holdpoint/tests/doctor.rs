//! `holdpoint doctor` finds what `serve` trips over: certificates and keys that are no good, ports that are taken,
//! MCP servers that do not start. The certificates are made anew for each test, by `openssl`.

mod mcp_stub;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

fn holdpoint(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdpoint"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.env_remove("HOLDPOINT_TOKEN").env_remove("HOLDPOINT_SERVER");
    command.env("XDG_CONFIG_HOME", "/nonexistent").env("HOLDPOINT_LOG", "info");
    command
}

fn text(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(text).unwrap()
}

fn openssl(folder: &Path, line: &str) {
    let mut command = Command::new("openssl");
    command.args(line.split(' ')).current_dir(folder).stdin(Stdio::null());
    let output = command.output().expect("openssl");
    assert!(output.status.success(), "openssl {line}: {}", text(&output));
}

const SETTINGS: &str = "\
[ca]
default_ca = own
[own]
new_certs_dir = .
database = index.txt
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = leaf
[any]
commonName = supplied
[leaf]
basicConstraints = CA:FALSE
subjectAltName = DNS:localhost
";

/// A folder with keys and certificates of two servers.
fn certificates() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let openssl = |line: &str| openssl(folder.path(), line);
    let own = "req -x509 -new -subj /CN=server -addext subjectAltName=DNS:localhost";
    openssl("ecparam -name prime256v1 -genkey -noout -out ec.key");
    openssl("genrsa -out rsa.key 2048");
    openssl("ecparam -name secp521r1 -genkey -noout -out p521.key");
    openssl(&format!("{own} -key ec.key -days 30 -out ec.pem"));
    openssl(&format!("{own} -key p521.key -days 30 -out p521.pem"));
    // `req` has no option for a certificate that is old already.
    fs::write(folder.path().join("ca.cnf"), SETTINGS).unwrap();
    fs::write(folder.path().join("index.txt"), "").unwrap();
    openssl("req -new -subj /CN=server -key ec.key -out request");
    openssl(
        "ca -batch -notext -selfsign -config ca.cnf -keyfile ec.key -in request \
         -startdate 20200101000000Z -enddate 20210101000000Z -out old.pem",
    );
    openssl("x509 -in ec.pem -outform der -out ec.der");
    openssl("pkey -in ec.key -outform der -out key.der");
    openssl("pkcs8 -topk8 -in ec.key -passout pass:secret -out locked.key");
    fs::write(folder.path().join("empty.pem"), "").unwrap();
    let certificate = fs::read_to_string(folder.path().join("ec.pem")).unwrap();
    let damaged = certificate.replacen('M', "A", 3);
    fs::write(folder.path().join("damaged.pem"), damaged).unwrap();
    folder
}

fn configure(folder: &Path, more: &str) {
    fs::write(folder.join("holdpoint.toml"), more).unwrap();
}

fn with_tls(folder: &Path, certificate: &str, key: &str) {
    let tls = format!("tls = {{ cert_file = \"{certificate}\", key_file = \"{key}\" }}");
    configure(folder, &format!("[server]\nlisten = \"127.0.0.1:0\"\n{tls}\n{PEOPLE}"));
}

const PEOPLE: &str = "[[people]]\nid = \"ana\"\nname = \"Ana\"\nroles = [\"admin\"]\n";

#[test]
fn a_certificate_or_key_that_serve_refuses_is_found_by_the_doctor_in_the_same_words() {
    let folder = certificates();
    let folder = folder.path();
    for (certificate, key, wrong, remedy) in [
        ("ec.der", "ec.key", "has no certificate in PEM form", "openssl x509 -inform der"),
        ("empty.pem", "ec.key", "has no certificate in PEM form", "BEGIN CERTIFICATE"),
        ("ec.key", "ec.key", "no certificate in it", "put the server's certificate first"),
        ("damaged.pem", "ec.key", "a certificate that is damaged", "get it anew"),
        ("ec.pem", "key.der", "has no private key in PEM form", "openssl pkey -inform der"),
        ("ec.pem", "ec.pem", "no private key in it", "put the key of the server's certificate"),
        ("ec.pem", "locked.key", "the private key is encrypted", "decrypt it with `openssl pkey"),
        ("p521.pem", "p521.key", "of a type that is not supported", "P-256"),
        ("ec.pem", "rsa.key", "does not belong to the certificate", "name the key"),
        ("no-such.pem", "ec.key", "no-such.pem`, which `[server.tls]` names", "cannot be read"),
        ("ec.pem", "no-such.key", "no-such.key`, which `[server.tls]` names", "cannot be read"),
    ] {
        with_tls(folder, certificate, key);
        let doctor = holdpoint(&["doctor"], folder).output().unwrap();
        let told = text(&doctor);
        assert_eq!(doctor.status.code(), Some(1), "{certificate}, {key}: {told}");
        let line = told.lines().find(|line| line.starts_with("✗ TLS")).expect(&told);
        assert!(line.contains(wrong) && line.contains(remedy), "{certificate}, {key}: {line}");

        let serve = holdpoint(&["serve"], folder).output().unwrap();
        let said = text(&serve);
        assert_eq!(serve.status.code(), Some(1), "{certificate}, {key}: {said}");
        let (_, sentence) = line.split_once("TLS ").unwrap();
        let sentence = sentence.trim();
        assert!(said.replace(['\n', ' '], "").contains(&sentence.replace(' ', "")), "{said}");
    }
}

#[test]
fn a_good_certificate_is_ready_and_an_expired_one_is_a_warning_of_both() {
    let folder = certificates();
    let folder = folder.path();
    with_tls(folder, "ec.pem", "ec.key");
    let doctor = holdpoint(&["doctor"], folder).output().unwrap();
    let told = text(&doctor);
    assert!(told.contains("✓ TLS") && told.contains("`[server.tls]` is ready"), "{told}");
    assert_eq!(doctor.status.code(), Some(0), "{told}");

    with_tls(folder, "old.pem", "ec.key");
    let doctor = holdpoint(&["doctor"], folder).output().unwrap();
    let told = text(&doctor);
    assert!(told.contains("! TLS") && told.contains("expired at 2021-01-01T00:00:00"), "{told}");
    assert!(told.contains("get a new one"), "{told}");
    assert_eq!(doctor.status.code(), Some(0), "it starts all the same: {told}");

    let mut serve = Started(holdpoint(&["serve"], folder).stderr(Stdio::piped()).spawn().unwrap());
    let log = BufReader::new(serve.0.stderr.take().unwrap());
    let warned = log.lines().map(Result::unwrap).find(|line| line.contains("expired at 2021"));
    assert!(warned.is_some(), "it ended without a warning");
}

struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_port_that_a_doors_page_cannot_have_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap();
    let door = |listen: &str, page: &str| {
        format!(
            "[server]\nlisten = \"{listen}\"\n{PEOPLE}\
             [models.none]\nprovider = \"scripted\"\nscript = \"builtin:demo\"\n\
             [[agents]]\nid = \"ops\"\nmodel = \"none\"\n\
             [doors.worlds]\nenabled = true\nagents = [\"ops\"]\nfiles = \"page\"\nfiles_listen = \"{page}\"\n"
        )
    };
    configure(folder.path(), &door("127.0.0.1:0", &taken.to_string()));
    let told = text(&holdpoint(&["doctor"], folder.path()).output().unwrap());
    let line = told.lines().find(|line| line.starts_with("✗ port")).expect(&told);
    assert!(line.contains(&taken.to_string()), "{told}");
    assert!(line.contains("set another `[doors.worlds] files_listen`"), "{told}");
}

#[test]
fn an_mcp_server_starts_in_the_folder_of_a_configuration_that_is_named_by_a_relative_path() {
    let folder = tempfile::tempdir().unwrap();
    let tool = "[[tools]]\nname = \"notes\"\nkind = \"mcp\"\nargv = [\"/bin/sh\", \"notes.sh\"]\n";
    configure(folder.path(), &format!("[server]\nlisten = \"127.0.0.1:0\"\n{tool}{PEOPLE}"));
    fs::write(folder.path().join("notes.sh"), mcp_stub::NOTES).unwrap();
    let told = text(&holdpoint(&["doctor"], folder.path()).output().unwrap());
    assert!(told.contains("`notes` is ready"), "{told}");
}
