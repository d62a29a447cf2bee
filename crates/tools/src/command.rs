//! Tools that are commands of the configuration: JSON arguments on standard input, a result on
//! standard output.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::call::{Call, ExecutionContext};
use domain::caption::CaptionKind;
use domain::hold::Preview;
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::phrase::{NoPreviewReason, PhraseCode, RunDetail};
use domain::tool::{Confirm, Effects, Place, Tool};
use domain::warning::Warning;
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, Recovery, ToolHost};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::bad_tool::BadTool;
use crate::blocking::run_blocking;
use crate::limits::{TIME_LIMIT_DEFAULT, TIME_LIMIT_MAX};
use crate::process::{
    BoundFiles, EndedAttempt, Environment, ProcessJob, RunAs, Runner, bound_files, changed_file,
    path_of, resolve_program,
};
use crate::shell_cmd::{describe_failure, display_command, with_leftovers};
use crate::title::titled;

/// How one command tool is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CommandConfig {
    pub name: String,
    pub description: String,
    pub input_schema: Value,
    pub effects: Effects,
    pub confirm: Confirm,
    /// The program and its fixed arguments. What the model says reaches it on standard input only.
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    pub environment: Environment,
    pub time_limit: Duration,
    /// Another user of this machine, so that the tool can touch neither our files nor our processes.
    pub run_as: Option<String>,
}

impl CommandConfig {
    pub fn new(
        name: &str,
        description: &str,
        input_schema: Value,
        argv: Vec<String>,
    ) -> CommandConfig {
        CommandConfig {
            name: name.into(),
            description: description.into(),
            input_schema,
            effects: Effects::AtMostOnce,
            confirm: Confirm::Held,
            argv,
            cwd: "/".into(),
            environment: Environment::default(),
            time_limit: TIME_LIMIT_DEFAULT,
            run_as: None,
        }
    }
}

/// The variables through which a command learns which call it serves. The same key on every attempt
/// at a call, and another for any other call, lets an idempotent tool recognise a repetition.
pub const CALL_ID: &str = "CALL_ID";
pub const IDEMPOTENCY_KEY: &str = "IDEMPOTENCY_KEY";
pub const CALL_ATTEMPT: &str = "CALL_ATTEMPT";

#[derive(Debug)]
pub struct CommandTool {
    tool: Tool,
    config: Arc<CommandConfig>,
    run_as: Option<RunAs>,
    runner: Runner,
}

/// What would run, and what to warn about.
struct CommandPlan {
    job: ProcessJob,
    context: ExecutionContext,
    warnings: Vec<Warning>,
}

impl CommandTool {
    pub fn new(mut config: CommandConfig, runner: Runner) -> Result<CommandTool, BadTool> {
        let bad = |why: String| BadTool::new(&config.name, why);
        if config.effects == Effects::Transactional {
            return Err(bad(
                "a command cannot be `transactional`: no marker can be read back from it".into(),
            ));
        }
        if config.time_limit.is_zero() || config.time_limit > TIME_LIMIT_MAX {
            return Err(bad(format!(
                "the time limit must be from 1 to {} s",
                TIME_LIMIT_MAX.as_secs()
            )));
        }
        let cwd = config.cwd.canonicalize().ok().filter(|cwd| cwd.is_dir());
        config.cwd =
            cwd.ok_or_else(|| bad(format!("`{}` is not a folder", config.cwd.display())))?;
        let run_as = match &config.run_as {
            Some(user) => Some(runner.run_as(user).map_err(|why| BadTool::new(&config.name, why))?),
            None => None,
        };
        let origin = format!(
            "command argv={:?} cwd={:?} env={} limit={:?} user={:?}",
            config.argv,
            config.cwd,
            config.environment.digest(),
            config.time_limit,
            config.run_as
        );
        let mut tool = Tool::new(
            &config.name,
            &config.description,
            config.input_schema.clone(),
            config.effects,
            Place::Server,
            &origin,
        )
        .map_err(|why| BadTool::new(&config.name, why))?;
        tool.confirm = config.confirm;
        // A program that is missing is better found now than after somebody approved.
        config.plan_command(run_as.as_ref()).map_err(|why| BadTool::new(&config.name, why))?;
        Ok(CommandTool { tool, config: Arc::new(config), run_as, runner })
    }

    /// Looks at files, so it works apart from the threads on which everybody waits.
    async fn plan_command(&self) -> Result<CommandPlan, NoPreviewReason> {
        let (config, run_as) = (self.config.clone(), self.run_as.clone());
        run_blocking(move || config.plan_command(run_as.as_ref())).await
    }
}

impl CommandConfig {
    fn plan_command(&self, run_as: Option<&RunAs>) -> Result<CommandPlan, NoPreviewReason> {
        let environment = self.environment.for_a_child();
        let (name, rest) = self.argv.split_first().ok_or("`argv` is empty; name a program")?;
        let program = resolve_program(name, &self.cwd, path_of(&environment))?;
        let mut words = program.display().to_string();
        if !rest.is_empty() {
            // The configuration's own words, but a person may want to know them.
            words.push_str(&format!(" {}", Value::from(rest.to_vec())));
        }
        let mut detail = RunDetail::default();
        detail.push(PhraseCode::Program, &[&words]);
        detail.push(PhraseCode::Environment, &[&self.environment.variable_names()]);
        detail.push(PhraseCode::TimeLimit, &[&self.time_limit.as_secs_f64().to_string()]);
        // The configuration names its scripts wherever they are.
        let is_own = |path: &Path| {
            !is_of_the_system(path) || (self.cwd.parent().is_some() && path.starts_with(&self.cwd))
        };
        let BoundFiles { files, warnings } = bound_files(&program, rest, &self.cwd, &is_own)?;
        for file in &files {
            file.describe(&mut detail);
        }
        if let Some(user) = run_as {
            detail.push(PhraseCode::AsUser, &[user.user_name()]);
        }
        let mut job = ProcessJob::new(program, rest.to_vec(), &self.cwd);
        job.environment = environment;
        job.time_limit = self.time_limit;
        job.run_as = run_as.cloned();
        job.files = files;
        let cwd = Some(self.cwd.to_string_lossy().into_owned());
        let context = ExecutionContext { detail, working_directory: cwd, sql: None };
        Ok(CommandPlan { job, context, warnings })
    }
}

/// Folders of the system: a person who can write there needs no approval.
fn is_of_the_system(path: &Path) -> bool {
    [
        "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/nix", "/gnu", "/snap",
        "/boot", "/dev", "/proc", "/sys", "/System", "/Library",
    ]
    .iter()
    .any(|folder| path.starts_with(folder))
}

#[async_trait]
impl ToolHost for CommandTool {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, _arguments: &Arguments) -> Result<Prepared, PrepareError> {
        let CommandPlan { context, warnings, .. } =
            self.plan_command().await.map_err(PrepareError::blind)?;
        let title =
            Some(titled(CaptionKind::RunCommand { command: display_command(&self.config.argv).0 }));
        let preview = Preview { warnings, ..Preview::default() };
        Ok(Prepared { context, title, preview, ..Prepared::default() })
    }

    async fn run(
        &self,
        call: ClearedCall,
        start: Start,
        stop: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        let failed = |why: String| Outcome::Failed(Output::text(format!("Nothing was run: {why}")));
        let approved = &call.call().context;
        let mut job = match self.plan_command().await {
            Ok(plan) if plan.context == *approved => plan.job,
            Ok(plan) => {
                let changed = changed_file(&approved.detail, &plan.context.detail);
                let other = || "the tool's settings are not those that were approved".into();
                return Ok(failed(changed.unwrap_or_else(other)));
            }
            Err(why) => return Ok(failed(why.into())),
        };
        let variables = [
            (CALL_ID, call.call().id.to_string()),
            // mutant: key-differs-per-attempt
            (IDEMPOTENCY_KEY, call.call().idempotency_key()),
            (CALL_ATTEMPT, call.attempt().to_string()),
        ];
        job.environment.extend(variables.map(|(name, value)| (name.to_owned(), value)));
        // The approved bytes themselves, not a rendering of what they mean.
        job.stdin = call.call().arguments.bytes().to_vec();
        let key = call.call().idempotency_key();
        let trace = self.runner.run_attempt(&key, call.attempt(), job, start, stop).await?;
        Ok(trace.into_outcome(read_outcome))
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

fn read_outcome(ended: &EndedAttempt) -> Outcome {
    match describe_failure(ended) {
        None => Outcome::Succeeded(with_leftovers(ended, ended.stdout.to_output())),
        Some(note) => Outcome::Failed(with_leftovers(ended, ended.with_note(note))),
    }
}

#[cfg(test)]
mod tests;
