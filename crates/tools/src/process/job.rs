//! One command, decided to the last byte before anything starts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::bound_files::BoundFile;
use super::run_as::RunAs;
use crate::limits::{SPOOL_BYTES_MAX, TIME_LIMIT_DEFAULT};

/// What to run. There is no shell in it: `args` reach the program as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessJob {
    /// An absolute path.
    pub program: PathBuf,
    pub args: Vec<String>,
    pub directory: PathBuf,
    /// All of the child's environment, but for the marker.
    pub environment: BTreeMap<String, String>,
    /// Travels beside the job, not in it, so that it is never written as JSON.
    #[serde(skip)]
    pub stdin: Vec<u8>,
    pub time_limit: Duration,
    pub spool_bytes_max: u64,
    pub run_as: Option<RunAs>,
    /// Must still be what they were when the call was approved.
    #[serde(default)]
    pub files: Vec<BoundFile>,
}

impl ProcessJob {
    pub fn new(
        program: impl Into<PathBuf>,
        args: Vec<String>,
        directory: impl Into<PathBuf>,
    ) -> ProcessJob {
        ProcessJob {
            program: program.into(),
            args,
            directory: directory.into(),
            environment: BTreeMap::new(),
            stdin: Vec::new(),
            time_limit: TIME_LIMIT_DEFAULT,
            spool_bytes_max: SPOOL_BYTES_MAX,
            run_as: None,
            files: Vec::new(),
        }
    }
}
