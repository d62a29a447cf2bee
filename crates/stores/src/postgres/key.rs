//! The key that signs the log. Each node has a copy of the same file; the database knows only the public half, so
//! that whoever can write to the database cannot sign.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use audit::Signer;

use super::connection::PgConnection;
use super::error::{PgFailure, PgOpenError};
use super::sql::TypedSql;

const FILE: &str = "audit.key";

/// The signing key in this folder; a new one only for new data.
pub(super) async fn signer(
    folder: &Path,
    connection: &PgConnection,
) -> Result<Result<Signer, PgOpenError>, PgFailure> {
    let known = known(connection).await?;
    let signer = match read(folder, known.is_none()) {
        Ok(signer) => signer,
        Err(error) => return Ok(Err(error)),
    };
    let own = signer.public_key().to_string().into_bytes();
    let signed_by = match known {
        Some(known) => known,
        None => {
            TypedSql::new(
                "INSERT INTO holdpoint.meta (key, value) VALUES ('audit_key', $1) \
                 ON CONFLICT (key) DO NOTHING",
            )
            .with(own.clone())
            .run(&connection.client)
            .await?;
            // Another node may have been faster.
            self::known(connection).await?.unwrap_or_default()
        }
    };
    if signed_by != own {
        let why = "is another one than the log was signed with".into();
        return Ok(Err(PgOpenError::Key { path: folder.join(FILE), why }));
    }
    Ok(Ok(signer))
}

async fn known(connection: &PgConnection) -> Result<Option<Vec<u8>>, PgFailure> {
    let known = TypedSql::new("SELECT value FROM holdpoint.meta WHERE key = 'audit_key'");
    Ok(known.row(&connection.client).await?.map(|row| row.get(0)))
}

fn read(folder: &Path, may_make: bool) -> Result<Signer, PgOpenError> {
    let path = folder.join(FILE);
    let bad = |why: String| PgOpenError::Key { path: path.clone(), why };
    let failed = |error: io::Error| PgOpenError::Io { path: path.clone(), error };
    match fs::read(&path) {
        Ok(pkcs8) => Signer::load(&pkcs8).map_err(|error| bad(format!("cannot be read ({error})"))),
        Err(error) if error.kind() == ErrorKind::NotFound && may_make => {
            let (signer, pkcs8) = Signer::create().map_err(|error| bad(error.to_string()))?;
            keep(folder, &pkcs8).map_err(failed)?;
            Ok(signer)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Err(bad("is missing".into())),
        Err(error) => Err(failed(error)),
    }
}

/// Whole or not at all: a half-written key would lock everybody out of their own data.
fn keep(folder: &Path, pkcs8: &[u8]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let half = folder.join("audit.key.new");
    let mut file =
        OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&half)?;
    file.write_all(pkcs8)?;
    file.sync_all()?;
    fs::rename(&half, folder.join(FILE))?;
    File::open(folder)?.sync_all()
}
