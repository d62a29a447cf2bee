//! `[server.tls]`: its files, read and checked. `serve` and `doctor` both call this, so that they find the same.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use domain::time::Timestamp;
use server::Tls;

use crate::config::TlsFiles;

/// What the server shows to clients, and a warning if clients will refuse it today.
pub fn read_tls(files: &TlsFiles, now: Timestamp) -> Result<(Tls, Option<String>)> {
    let read = |path: &Path| {
        fs::read(path).with_context(|| {
            format!("`{}`, which `[server.tls]` names, cannot be read", path.display())
        })
    };
    let tls = Tls { cert_pem: read(&files.cert_file)?, key_pem: read(&files.key_file)? };
    let warning = tls.check(now).with_context(|| {
        let (certificate, key) = (files.cert_file.display(), files.key_file.display());
        format!("`[server.tls]` with the certificate `{certificate}` and the key `{key}`")
    })?;
    Ok((tls, warning.map(|warning| warning.to_string())))
}
