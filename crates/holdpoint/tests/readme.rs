//! What README tells people to type, typed: the lines as they stand there, in their order, into the real
//! program. Only ports, tags and temporary files are other ones, since they differ from day to day.

#[expect(dead_code, reason = "README needs less of it than the tests of the command line")]
mod demo;
mod pty;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use demo::{BINARY, Demo, Ran};
use serde_json::{Value, json};

fn readme() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap()
}

/// The lines of a section that begin with `holdpoint` or `cd`, without what is said about them.
fn commands(section: &str) -> Vec<String> {
    let text = readme();
    let from = text.find(&format!("\n## {section}\n")).expect("the section");
    let rest = &text[from + 4..];
    let section = &rest[..rest.find("\n## ").unwrap_or(rest.len())];
    let blocks = section.split("```\n").skip(1).step_by(2);
    let lines = blocks.flat_map(str::lines).map(|line| line.split(" #").next().unwrap_or(line));
    lines.map(|line| line.trim().to_owned()).collect()
}

/// A line for a shell in which `holdpoint` is found, in a home of its own.
fn shell(line: &str, home: &Path, folder: &Path) -> Command {
    let mut command = Command::new("sh");
    let program = Path::new(BINARY).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    command.args(["-c", line]).current_dir(folder).env("PATH", path);
    command.env("HOME", home).env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
    command.env_remove("HOLDPOINT_TOKEN").env_remove("HOLDPOINT_SERVER");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[tokio::test]
async fn the_five_minutes_of_readme_work_as_they_are_typed() {
    let demo = Demo::start();
    let home = tempfile::tempdir().unwrap();
    let tokens = demo.ready().clone();
    let exported = |line: &str, who: &str| {
        let mut command = shell(line, home.path(), home.path());
        command.env("HOLDPOINT_SERVER", demo.url());
        command.env("HOLDPOINT_TOKEN", tokens[format!("{who}_token")].as_str().unwrap());
        command
    };
    let mut typed = 0;
    for line in commands("Five minutes") {
        let line = line.replace("/tmp/", &format!("{}/", home.path().display()));
        let verb = line.split(' ').nth(1).unwrap_or_default().to_owned();
        typed += 1;
        match verb.as_str() {
            // It runs already.
            "demo" => {}
            "list" | "audit" => {
                let hold = demo.scenario("approve").await;
                let ran = Ran::from(exported(&line, "person").output().unwrap()).ends_with(0);
                if verb == "list" {
                    assert!(ran.out.contains(hold["tag"].as_str().unwrap()), "{}", ran.out);
                }
            }
            "show" | "deny" | "approve" | "answer" => {
                let scenario = if verb == "answer" { "choose" } else { "approve" };
                let hold = demo.scenario(scenario).await;
                let line = line.replace("7Q2", hold["tag"].as_str().unwrap());
                let mut command = exported(&line, "person");
                let (ran, state) = match verb.as_str() {
                    "approve" => (pty::type_into(command, "yes\n"), "approved"),
                    "answer" => (pty::type_into(command, "2\n"), "answered"),
                    "show" => (Ran::from(command.output().unwrap()), "pending"),
                    _ => (Ran::from(command.output().unwrap()), "denied"),
                };
                ran.ends_with(0);
                assert_eq!(demo.hold(hold["id"].as_str().unwrap()).await["state"], state, "{line}");
            }
            "ask" | "gate" => {
                let asking = demo::Asking::start(exported(&line, "program"));
                let hold = demo.hold(&asking.hold).await;
                let digest = hold["digest"].as_str().unwrap();
                if verb == "ask" {
                    demo.person_runs(&["answer", &asking.hold, "--choose", "Canary"]).ends_with(0);
                    assert_eq!(asking.ended().ends_with(0).out, "Canary\n");
                } else {
                    demo.person_runs(&["approve", &asking.hold, "--digest", digest]).ends_with(0);
                    assert_eq!(asking.ended().ends_with(0).out, "hello\n");
                }
            }
            other => panic!("nobody tries `{other}`: {line}"),
        }
    }
    assert_eq!(typed, 10, "README has other lines than this test knows");
}

#[tokio::test]
async fn the_own_set_up_of_readme_works_as_it_is_typed() {
    let home = tempfile::tempdir().unwrap();
    let mut folder = home.path().to_owned();
    let mut served: Option<(Server, String, String)> = None;
    let mut typed = 0;
    for line in commands("Your own set-up") {
        typed += 1;
        let mut words = line.split(' ').skip(1);
        let verb = words.next().unwrap_or_default();
        if let Some(into) = line.strip_prefix("cd ") {
            folder.push(into);
            // Its own port may be taken on the machine of a test.
            let config = folder.join("holdpoint.toml");
            let text = fs::read_to_string(&config).unwrap().replace(":7420", ":0");
            fs::write(&config, text).unwrap();
            continue;
        }
        if verb == "serve" {
            served = Some(Server::start(shell(&line, home.path(), &folder)));
            continue;
        }
        let line = match &served {
            Some((_, _, link)) => line.replace("http://127.0.0.1:7420/login?code=…", link),
            None => line.clone(),
        };
        let mut command = shell(&line.replace(" --watch", ""), home.path(), &folder);
        if let Some((_, url, _)) = &served {
            command.env("HOLDPOINT_SERVER", url);
        }
        let ran = Ran::from(command.output().unwrap()).ends_with(0);
        match verb {
            "init" => assert!(ran.out.contains("Next:"), "{}", ran.out),
            "doctor" => assert!(ran.out.contains("`sql_modify` is ready"), "{}", ran.out),
            "login" => assert!(ran.out.contains("as the person ana"), "{}", ran.out),
            "token" => assert!(ran.out.contains("/login?code="), "{}", ran.out),
            "list" => assert!(ran.out.contains("Nothing waits"), "{}", ran.out),
            "policy" => assert!(ran.out.contains("changes need a dba"), "{}", ran.out),
            other => panic!("nobody tries `{other}`: {line}"),
        }
    }
    assert_eq!(typed, 8, "README has other lines than this test knows");

    // And the first call that is approved does what it says.
    let (_server, url, _) = served.expect("it was started");
    let kept = fs::read(home.path().join(".config/holdpoint/tokens.json")).unwrap();
    let kept: Value = serde_json::from_slice(&kept).unwrap();
    let token = kept["servers"][&url]["token"].as_str().unwrap().to_owned();
    let client = holdpoint::cli::client::Client::with_token(&url, Some(token)).unwrap();
    let session = client.post("/v1/sessions", &json!({"agent": "ops"})).await.unwrap();
    let said = format!("/v1/sessions/{}/messages", session["id"].as_str().unwrap());
    let text = "Delete the abandoned orders.";
    client.post(&said, &json!({"text": text})).await.unwrap();
    let hold = demo::first_pending(&client, session["id"].as_str().unwrap()).await;
    let tag = hold["tag"].as_str().unwrap();
    let mut approve = shell(&format!("holdpoint approve {tag}"), home.path(), &folder);
    approve.env("HOLDPOINT_SERVER", &url);
    pty::type_into(approve, "yes\n").ends_with(0);
    let wait =
        format!("/v1/holds/{}/wait?until=settled&timeout_s=60", hold["id"].as_str().unwrap());
    let settled = client.get(&wait).await.unwrap();
    assert_eq!(settled["outcome"]["state"], "succeeded", "{settled}");
    assert!(settled["outcome"].to_string().contains("214"), "{settled}");
}

#[test]
fn the_example_with_every_key_starts() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("holdpoint.example.toml")).unwrap();
    let config = folder.path().join("holdpoint.example.toml");
    fs::write(&config, text.replace("127.0.0.1:7420", "127.0.0.1:0")).unwrap();
    let line = "holdpoint serve --config holdpoint.example.toml";
    let (_server, url, link) = Server::start(shell(line, folder.path(), folder.path()));
    assert!(link.starts_with(&url) && link.len() <= 80, "{link}");
}

#[test]
fn the_demos_welcome_fits_into_eighty_columns() {
    let data = tempfile::tempdir().unwrap();
    let shop = data.path().join("demo");
    let line = format!("holdpoint demo --listen 127.0.0.1:0 --data {}", shop.display());
    let mut server =
        Server(shell(&format!("exec {line}"), data.path(), data.path()).spawn().unwrap());
    let mut out = BufReader::new(server.0.stdout.take().unwrap());
    let mut text = String::new();
    while !text.contains("Ctrl-C") {
        assert!(out.read_line(&mut text).unwrap() > 0, "it ended: {text}");
    }
    for line in text.lines().filter(|line| !line.starts_with("export HOLDPOINT_TOKEN=")) {
        assert!(line.chars().count() <= 80 || line.contains("Everything is in"), "{line}");
    }
    assert!(text.contains("hp_person_") && text.contains("hp_program_"), "{text}");
    let link = text.lines().find(|line| line.contains("/login?code=")).unwrap();
    assert!(link.starts_with("http://") && link.len() <= 80, "a link of its own line: {link}");
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(&shop).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "its data is its owner's");
}

/// Ended when it is dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    /// The server, its address, and the first login link.
    fn start(mut command: Command) -> (Server, String, String) {
        // The shell gives way to the program, so that ending it ends that.
        let line = command.get_args().last().unwrap().to_str().unwrap().to_owned();
        let mut exec = Command::new("sh");
        exec.args(["-c", &format!("exec {line}")]);
        exec.current_dir(command.get_current_dir().unwrap());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => exec.env(name, value),
                None => exec.env_remove(name),
            };
        }
        command = exec;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut server = Server(command.spawn().unwrap());
        let mut out = BufReader::new(server.0.stdout.take().unwrap());
        let mut text = String::new();
        while !text.contains("/login?code=") {
            assert!(out.read_line(&mut text).unwrap() > 0, "it ended: {text}");
        }
        let url = text.lines().find_map(|line| line.strip_prefix("holdpoint is listening on "));
        let link = text.lines().find(|line| line.contains("/login?code=")).unwrap();
        (server, url.unwrap().to_owned(), link.to_owned())
    }
}
