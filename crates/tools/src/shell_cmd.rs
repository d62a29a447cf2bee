//! `shell_cmd`: runs any program that a person approves. Despite its name there is no shell in it
//! unless the configuration asks for one.

mod quote;
mod wrapper;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::call::{Call, ExecutionContext};
use domain::caption::{Caption, CaptionKind};
use domain::hold::Preview;
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::phrase::{PhraseCode, RunDetail};
use domain::tool::{Effects, Place, Tool};
use domain::visible::visible;
use domain::warning::Warning;
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, Recovery, ToolHost};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::bad_tool::BadTool;
use crate::blocking::run_blocking;
use crate::limits::{
    ARGUMENTS_OF_A_COMMAND_MAX, STDIN_BYTES_MAX, TIME_LIMIT_DEFAULT, TIME_LIMIT_MAX,
};
use crate::process::{
    BoundFiles, EndedAttempt, Environment, ExitKind, ProcessJob, RunAs, Runner, bound_files,
    changed_file, path_of, resolve_program,
};
use crate::title::titled;

/// How `shell_cmd` is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShellConfig {
    pub name: String,
    /// Folders that a command may work in; the first is where it works when nobody says.
    pub roots: Vec<PathBuf>,
    pub environment: Environment,
    pub time_limit: Duration,
    pub time_limit_max: Duration,
    /// Offers `command`, which is handed to `sh -c`.
    pub allow_shell: bool,
    /// Another user of this machine, so that commands can touch neither our files nor our processes.
    pub run_as: Option<String>,
}

impl ShellConfig {
    pub fn new(root: impl Into<PathBuf>) -> ShellConfig {
        ShellConfig {
            name: "shell_cmd".into(),
            roots: vec![root.into()],
            environment: Environment::default(),
            time_limit: TIME_LIMIT_DEFAULT,
            time_limit_max: Duration::from_secs(10 * 60),
            allow_shell: false,
            run_as: None,
        }
    }
}

pub struct ShellCmd {
    tool: Tool,
    planner: Arc<ShellPlanner>,
    runner: Runner,
}

/// Reads calls. It looks at files, so it works apart from the threads on which everybody waits.
struct ShellPlanner {
    config: ShellConfig,
    run_as: Option<RunAs>,
}

/// How a command is shown to a person: its words on one line, and what to warn about.
pub fn display_command(argv: &[String]) -> (String, Vec<Warning>) {
    (quote::quote_line(argv), wrapper::warnings(argv))
}

/// A call, read and resolved: what would run, and where.
struct ShellPlan {
    job: ProcessJob,
    context: ExecutionContext,
    title: Caption,
    warnings: Vec<Warning>,
}

impl ShellCmd {
    pub fn new(mut config: ShellConfig, runner: Runner) -> Result<ShellCmd, BadTool> {
        let bad = |why: String| BadTool::new(&config.name, why);
        if config.roots.is_empty() {
            return Err(bad("name at least one folder that commands may work in".into()));
        }
        let roots: Result<Vec<PathBuf>, BadTool> = config
            .roots
            .iter()
            .map(|root| {
                let found = root
                    .canonicalize()
                    .ok()
                    .filter(|root| root.is_dir() && root.to_str().is_some());
                found.ok_or_else(|| bad(format!("`{}` is not a folder", root.display())))
            })
            .collect();
        config.roots = roots?;
        if config.time_limit_max > TIME_LIMIT_MAX || config.time_limit > config.time_limit_max {
            return Err(BadTool::new(
                &config.name,
                format!(
                    "time limits must be ordered: default ≤ max ≤ {} s",
                    TIME_LIMIT_MAX.as_secs()
                ),
            ));
        }
        let run_as = match &config.run_as {
            Some(user) => Some(runner.run_as(user).map_err(|why| BadTool::new(&config.name, why))?),
            None => None,
        };
        let origin = format!(
            "shell_cmd roots={:?} env={} limit={:?}/{:?} shell={} user={:?}",
            config.roots,
            config.environment.digest(),
            config.time_limit,
            config.time_limit_max,
            config.allow_shell,
            config.run_as
        );
        let tool = Tool::new(
            &config.name,
            &tool_description(&config),
            arguments_schema(&config),
            Effects::AtMostOnce,
            Place::Server,
            &origin,
        )
        .map_err(|why| BadTool::new(&config.name, why))?;
        Ok(ShellCmd { tool, planner: Arc::new(ShellPlanner { config, run_as }), runner })
    }

    async fn plan_command(&self, arguments: &Value) -> Result<ShellPlan, String> {
        let (planner, arguments) = (self.planner.clone(), arguments.clone());
        run_blocking(move || planner.plan_command(&arguments)).await
    }

    /// Plans again what was approved, and makes sure that it still means the same.
    async fn approved_plan(&self, call: &Call) -> Result<ProcessJob, String> {
        let plan = self.plan_command(call.arguments.value()).await?;
        if plan.context != call.context {
            // mutant: a-script-is-not-bound begins
            if let Some(why) = changed_file(&call.context.detail, &plan.context.detail) {
                return Err(why);
                // mutant: a-script-is-not-bound ends
            }
            return Err(format!(
                "what would run now is not what was approved: {} in {}, and it was {} in {}",
                one_line(&plan.context.detail),
                plan.context.working_directory.unwrap_or_default(),
                one_line(&call.context.detail),
                call.context.working_directory.as_deref().unwrap_or_default(),
            ));
        }
        Ok(plan.job)
    }
}

impl ShellPlanner {
    fn plan_command(&self, arguments: &Value) -> Result<ShellPlan, String> {
        let (argv, scripted) = self.parse_argv(arguments)?;
        let directory = self.resolve_directory(arguments.get("cwd").and_then(Value::as_str))?;
        let time_limit = self.time_limit(arguments)?;
        let environment = self.config.environment.for_a_child();
        let (name, rest) = argv.split_first().ok_or("`argv` is empty; name a program")?;
        let program = resolve_program(name, &directory, path_of(&environment))
            .map_err(|why| why.to_string())?;
        let program_text = program.to_str().ok_or("the program's path is not UTF-8")?;
        let stdin = arguments.get("stdin").and_then(Value::as_str).unwrap_or_default();
        if stdin.len() > STDIN_BYTES_MAX {
            return Err(format!(
                "`stdin` is longer than {STDIN_BYTES_MAX} bytes; put the data in a file"
            ));
        }
        let mut detail = RunDetail::default();
        detail.push(PhraseCode::Program, &[program_text]);
        detail.push(PhraseCode::Environment, &[&self.config.environment.variable_names()]);
        detail.push(PhraseCode::TimeLimit, &[&time_limit.as_secs().to_string()]);
        let is_own = |path: &Path| is_within(path, &self.config.roots);
        let BoundFiles { files, warnings: unbound } =
            bound_files(&program, rest, &directory, &is_own)?;
        for file in &files {
            file.describe(&mut detail);
        }
        if let Some(user) = &self.run_as {
            detail.push(PhraseCode::AsUser, &[user.user_name()]);
        }
        let directory_text =
            directory.to_str().ok_or("the working directory's path is not UTF-8")?;
        let context = ExecutionContext {
            detail,
            working_directory: Some(directory_text.to_owned()),
            sql: None,
        };
        let title = titled(match scripted {
            true => CaptionKind::RunInShell { script: rest.get(1).cloned().unwrap_or_default() },
            false => CaptionKind::RunCommand { command: quote::quote_line(&argv) },
        });
        let mut job = ProcessJob::new(program, rest.to_vec(), directory);
        job.environment = environment;
        job.stdin = stdin.as_bytes().to_vec();
        job.time_limit = time_limit;
        job.run_as = self.run_as.clone();
        job.files = files;
        let mut warnings = wrapper::warnings(&argv);
        warnings.extend(unbound);
        Ok(ShellPlan { job, context, title, warnings })
    }

    /// The words of the command, and whether they are ours around a script.
    fn parse_argv(&self, arguments: &Value) -> Result<(Vec<String>, bool), String> {
        match (arguments.get("argv"), arguments.get("command")) {
            (Some(_), Some(_)) => Err("give either `argv` or `command`, not both".into()),
            (None, None) => Err("give `argv`, such as [\"git\", \"status\"]".into()),
            (None, Some(_)) if !self.config.allow_shell => {
                Err("`command` is turned off here: give `argv`, such as [\"git\", \"status\"]"
                    .into())
            }
            (None, Some(script)) => {
                let script = script.as_str().filter(|script| !script.trim().is_empty());
                let script = script.ok_or("`command` must be a text that is not empty")?;
                Ok((vec!["sh".into(), "-c".into(), script.into()], true))
            }
            (Some(argv), None) => {
                let words = argv.as_array().ok_or("`argv` must be a list of texts")?;
                if words.len() > ARGUMENTS_OF_A_COMMAND_MAX {
                    return Err(format!(
                        "`argv` has more than {ARGUMENTS_OF_A_COMMAND_MAX} entries"
                    ));
                }
                let words: Option<Vec<String>> =
                    words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
                Ok((words.ok_or("`argv` must be a list of texts")?, false))
            }
        }
    }

    /// Resolved to its end, so that neither `..` nor a symbolic link leads outside.
    fn resolve_directory(&self, wanted: Option<&str>) -> Result<PathBuf, String> {
        let Some(home) = self.config.roots.first() else {
            return Err("no folder is allowed".into());
        };
        let Some(wanted) = wanted else { return Ok(home.clone()) };
        let resolved = home.join(wanted).canonicalize();
        let Some(resolved) = resolved.ok().filter(|folder| folder.is_dir()) else {
            return Err(format!("`cwd`: `{}` is not a folder", visible(wanted)));
        };
        if !is_within(&resolved, &self.config.roots) {
            let roots: Vec<String> =
                self.config.roots.iter().map(|it| it.display().to_string()).collect();
            return Err(format!(
                "`cwd`: `{}` is outside of the allowed folders: {}",
                visible(wanted),
                roots.join(", ")
            ));
        }
        Ok(resolved)
    }

    fn time_limit(&self, arguments: &Value) -> Result<Duration, String> {
        let Some(wanted) = arguments.get("timeout_s") else { return Ok(self.config.time_limit) };
        let max = self.config.time_limit_max.as_secs();
        match wanted.as_u64() {
            Some(seconds) if (1..=max).contains(&seconds) => Ok(Duration::from_secs(seconds)),
            _ => Err(format!("`timeout_s` must be a whole number from 1 to {max}")),
        }
    }
}

#[async_trait]
impl ToolHost for ShellCmd {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, arguments: &Arguments) -> Result<Prepared, PrepareError> {
        let plan = self.plan_command(arguments.value()).await.map_err(PrepareError::Unsound)?;
        Ok(Prepared {
            context: plan.context,
            preview: Preview { warnings: plan.warnings, ..Preview::default() },
            title: Some(plan.title),
            ..Prepared::default()
        })
    }

    async fn run(
        &self,
        call: ClearedCall,
        start: Start,
        stop: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        match self.approved_plan(call.call()).await {
            Ok(job) => {
                let key = call.call().idempotency_key();
                let trace = self.runner.run_attempt(&key, call.attempt(), job, start, stop).await?;
                Ok(trace.into_outcome(read_outcome))
            }
            Err(why) => Ok(Outcome::Failed(Output::text(format!("Nothing was run: {why}")))),
        }
    }

    async fn announce(&self, call: &Call, attempt: u32) -> Result<(), String> {
        let announced = self.runner.announce_attempt(&call.idempotency_key(), attempt).await;
        announced.map_err(|error| error.to_string())
    }

    async fn recover(&self, call: &Call, attempt: u32) -> Recovery {
        self.runner
            .recover_attempt(&call.idempotency_key(), attempt)
            .await
            .into_recovery(read_outcome)
    }

    async fn forget(&self, call: &Call) {
        self.runner.forget_call(&call.idempotency_key()).await;
    }
}

/// Standard output, then standard error if there is any.
fn read_outcome(ended: &EndedAttempt) -> Outcome {
    match describe_failure(ended) {
        None => Outcome::Succeeded(with_leftovers(ended, ended.both.to_output())),
        Some(note) => Outcome::Failed(with_leftovers(ended, ended.with_note(note))),
    }
}

/// How a command that ended by itself failed, if it did.
pub(crate) fn describe_failure(ended: &EndedAttempt) -> Option<String> {
    match ended.exit.how {
        ExitKind::Exited(0) => None,
        ExitKind::Exited(code) => Some(format!("Command failed (exit code {code}):")),
        ExitKind::Signalled(signal) => Some(format!("Command failed (killed by signal {signal}):")),
        _ => Some("Command failed:".into()),
    }
}

/// Says that something was killed which the command meant to leave running.
pub(crate) fn with_leftovers(ended: &EndedAttempt, mut output: Output) -> Output {
    match ended.exit.left_behind {
        0 => {}
        1 => output.text.push_str("\n[a process that it left running was stopped]"),
        n => output.text.push_str(&format!("\n[{n} processes that it left running were stopped]")),
    }
    output
}

fn is_within(folder: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| folder.starts_with(root))
}

fn one_line(detail: &str) -> String {
    detail.replace('\n', ", ")
}

fn tool_description(config: &ShellConfig) -> String {
    let how = if config.allow_shell {
        "Give `argv` (no shell: words reach the program as they are) or `command` (a script for sh)."
    } else {
        "There is no shell: no pipes, globs or variables, and every word of `argv` reaches the program as it is."
    };
    format!(
        "Runs a program on the server and returns what it printed. A person may be asked first. {how}"
    )
}

fn arguments_schema(config: &ShellConfig) -> Value {
    let mut properties = json!({
        "argv": {
            "type": "array", "items": {"type": "string"}, "minItems": 1,
            "maxItems": ARGUMENTS_OF_A_COMMAND_MAX,
            "description": "the program and its arguments, such as [\"git\", \"status\"]",
        },
        "cwd": {"type": "string", "description": "the folder to work in"},
        "timeout_s": {
            "type": "integer", "minimum": 1, "maximum": config.time_limit_max.as_secs(),
            "description": "seconds after which it is stopped",
        },
        "stdin": {"type": "string", "description": "what the program reads from standard input"},
    });
    let mut required = json!(["argv"]);
    if config.allow_shell {
        properties["command"] =
            json!({"type": "string", "description": "a script for sh, in place of argv"});
        required = json!([]);
    }
    json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests;
