use clap::CommandFactory as _;
use clap::error::ErrorKind;

use super::*;

const HOLD: &str = "hold_01jd3kq8v2m4x6z8a0c2e4g6j8";

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(std::iter::once("holdpoint").chain(line.split_whitespace()))
}

fn refused(line: &str) -> ErrorKind {
    match parse(line) {
        Ok(cli) => panic!("{line} was taken: {:?}", cli.command),
        Err(error) => {
            assert_eq!(error.exit_code(), 2, "{line}");
            error.kind()
        }
    }
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_says_what_it_does_and_gives_an_example() {
    fn visit(command: &mut clap::Command, path: &str) {
        let path = format!("{path} {}", command.get_name());
        assert!(command.get_about().is_some(), "{path} does not say what it does");
        let help = command.render_long_help().to_string();
        if command.has_subcommands() {
            let written = command.get_subcommands_mut();
            written
                .filter(|inner| inner.get_name() != "help")
                .for_each(|inner| visit(inner, &path));
        } else {
            assert!(help.contains("Example"), "{path} gives no example");
            // These print what they are asked for, and nothing about it.
            let plain = ["gate", "completions", "man"].contains(&command.get_name())
                // These speak JSON as their agent does.
                || ["claude", "codex", "gemini", "cursor"].contains(&command.get_name())
                // These speak MCP.
                || path.contains(" mcp ");
            assert!(plain || help.contains("--json"), "{path} has no --json");
            assert!(help.contains(&format!("\n  {path}")), "{path}: {help}");
        }
    }
    let mut command = Cli::command();
    command.build();
    let mut names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "answer",
            "approve",
            "ask",
            "audit",
            "channels",
            "claim",
            "comment",
            "completions",
            "demo",
            "deny",
            "doctor",
            "freeze",
            "gate",
            "help",
            "hook",
            "init",
            "list",
            "login",
            "logout",
            "man",
            "mcp",
            "policy",
            "reply",
            "serve",
            "show",
            "token"
        ]
    );
    for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help") {
        visit(inner, "holdpoint");
    }
}

#[test]
fn examples_parse() {
    for line in [
        "demo --listen 127.0.0.1:0 --data /tmp/x --doors --json",
        "serve",
        "show hold_01jd3kq8v2m4x6z8a0c2e4g6j8 --json",
        "deny hold_01jd3kq8v2m4x6z8a0c2e4g6j8 --reason no --stop",
        "answer hold_01jd3kq8v2m4x6z8a0c2e4g6j8 --choose A --choose B",
        "answer hold_01jd3kq8v2m4x6z8a0c2e4g6j8 --settle failed --content x",
        "answer hold_01jd3kq8v2m4x6z8a0c2e4g6j8 --perform done --error",
        "ask What? --option A --option B --multiple --other --to dba --to @ana --timeout 5m",
        "policy check holdpoint.toml",
        "policy explain --tool t --args {}",
        "reply explain yes",
        "reply explain -1 --context {} --json",
        "reply explain --json",
        "audit verify x.jsonl --key k --checkpoint c",
        "audit verify x.jsonl --key -6k",
        "token create --program ci --scope ask,run --expires 30d",
        "token login ana",
        "freeze --reason x",
        "freeze",
        "doctor --json",
        "init",
        "init shop --json",
        "list --watch --mine --state all --risk high --search x --limit 5",
        "claim 7Q2 --release",
        "approve 7q2",
        "login http://127.0.0.1:7420/login?code=x",
        "logout",
        "completions zsh",
        "man /tmp/man1",
        "serve --json",
    ] {
        assert!(parse(line).is_ok(), "{line}: {}", parse(line).unwrap_err());
    }
}

#[test]
fn what_makes_no_sense_is_refused_as_usage() {
    assert_eq!(refused("show ses_01jd3kq8v2m4x6z8a0c2e4g6j8"), ErrorKind::ValueValidation);
    assert_eq!(refused(&format!("deny {HOLD}")), ErrorKind::MissingRequiredArgument);
    assert_eq!(
        refused(&format!("answer {HOLD} --choose A --respond B")),
        ErrorKind::ArgumentConflict
    );
    assert_eq!(refused(&format!("answer {HOLD} --choose A --error")), ErrorKind::ArgumentConflict);
    assert_eq!(refused(&format!("answer {HOLD} --error")), ErrorKind::MissingRequiredArgument);
    assert_eq!(refused(&format!("approve {HOLD} --digest abc")), ErrorKind::ValueValidation);
    assert_eq!(refused("ask What? --multiple"), ErrorKind::MissingRequiredArgument);
    assert_eq!(refused("ask What? --timeout 5"), ErrorKind::ValueValidation);
    assert_eq!(refused("gate echo hi"), ErrorKind::UnknownArgument);
    assert_eq!(refused("gate"), ErrorKind::MissingRequiredArgument);
    assert_eq!(refused("token create --scope ask"), ErrorKind::MissingRequiredArgument);
    assert_eq!(
        refused("token create --person a --program b --scope ask"),
        ErrorKind::ArgumentConflict
    );
    assert_eq!(refused("token create --person a --scope rule"), ErrorKind::InvalidValue);
    assert_eq!(refused("freeze --off --reason x"), ErrorKind::ArgumentConflict);
    assert_eq!(refused(""), ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
}

#[test]
fn a_gated_command_keeps_its_own_options() {
    let cli = parse("gate --title T -- rm --title X -- y").unwrap();
    let CliCommand::Gate(args) = cli.command else { panic!("not a gate") };
    assert_eq!(args.command, ["rm", "--title", "X", "--", "y"]);
    assert_eq!(args.title.as_deref(), Some("T"));
}
