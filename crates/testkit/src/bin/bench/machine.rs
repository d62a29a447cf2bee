//! What the figures were measured on. No names of hosts or of people.

use std::fs;
use std::path::Path;
use std::process::Command;

use engine::SystemClock;
use ports::clock::Clock as _;
use serde_json::{Value, json};

/// As a line among the figures.
pub(crate) fn describe(folder: &Path) -> Value {
    json!({
        "measure": "machine", "what": "machine",
        "processor": field("/proc/cpuinfo", "model name"),
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "memory": field("/proc/meminfo", "MemTotal").and_then(|text| gigabytes(&text)),
        "kernel": kernel(), "disk": disk(folder),
    })
}

pub(crate) fn today() -> String {
    SystemClock::new(None).now().to_string().chars().take(10).collect()
}

/// The commit that was measured; `+` says that something was changed since.
pub(crate) fn commit() -> Option<String> {
    let git = |words: &[&str]| {
        let out = Command::new("git").args(words).output().ok()?;
        out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--", "crates", "Cargo.lock", "Cargo.toml"])?;
    Some(if changed.is_empty() { commit } else { commit + "+" })
}

fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn gigabytes(kib: &str) -> Option<String> {
    let kib: f64 = kib.split_whitespace().next()?.parse().ok()?;
    Some(format!("{:.0} GB", kib * 1024.0 / 1e9))
}

/// Without what a distributor or an operator added to it.
fn kernel() -> Option<String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    release.split(['-', '\n']).next().map(str::to_owned)
}

/// The file system of a folder, and what is below it.
fn disk(folder: &Path) -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let (_, device, system) = mounts
        .lines()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            let system = fields.iter().position(|field| *field == "-")? + 1;
            Some((*fields.get(4)?, *fields.get(2)?, *fields.get(system)?))
        })
        .filter(|(point, _, _)| folder.starts_with(point))
        .max_by_key(|(point, _, _)| point.len())?;
    let block = Path::new("/sys/dev/block").join(device);
    let spins = fs::read_to_string(block.join("queue/rotational")).ok();
    let name = fs::canonicalize(&block).ok()?.file_name()?.to_string_lossy().into_owned();
    let kind = match (name.starts_with("vd"), spins.as_deref().map(str::trim)) {
        (true, _) => "a virtual disk",
        (false, Some("0")) => "a solid-state disk",
        (false, Some("1")) => "a spinning disk",
        _ => "a disk of unknown kind",
    };
    Some(format!("{system} on {kind}"))
}

/// Of this process, in millions of bytes.
pub(crate) fn resident() -> Result<f64, Box<dyn std::error::Error>> {
    resident_of("self")
}

/// The same of another process, by its id.
pub(crate) fn resident_of(process: &str) -> Result<f64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()).ok_or("no VmRSS")?;
    Ok(kilobytes.parse::<f64>()? * 1_024.0 / 1e6)
}
