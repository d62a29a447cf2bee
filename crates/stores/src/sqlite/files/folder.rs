//! The folder with the bytes: `files/ab/cdef…` is named by the digest of its content, `files/new/…` is on its way.
//!
//! No name comes from outside, and every file is written whole under another name, synced, and then renamed.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use domain::digest::Digest;
use ports::file_store::FileStoreError;
use ports::store::StoreError;

const ARRIVING: &str = "new";

#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    /// Names of files on their way; other processes have no business in this folder.
    next: AtomicU64,
}

impl Folder {
    /// Nothing is made before the first upload.
    pub(super) fn beside(database: &Path) -> Folder {
        Folder { root: database.with_file_name("files"), next: AtomicU64::new(0) }
    }

    /// What an earlier process left half done. Only while no upload is under way.
    pub(super) fn clear_arriving(&self) -> io::Result<()> {
        match fs::remove_dir_all(self.root.join(ARRIVING)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// A new file, for its owner alone.
    pub(super) fn arriving(&self) -> io::Result<(PathBuf, File)> {
        let folder = self.root.join(ARRIVING);
        make(&folder)?;
        let path = folder.join(self.next.fetch_add(1, Ordering::Relaxed).to_string());
        let file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&path)?;
        Ok((path, file))
    }

    /// Gives synced bytes their name, and makes the name durable. What was there under it is the same, or damaged.
    pub(super) fn keep(&self, arrived: &Path, digest: Digest) -> io::Result<()> {
        let path = self.path(digest);
        let folder = path.parent().unwrap_or(&self.root);
        make(folder)?;
        fs::rename(arrived, &path)?;
        File::open(folder)?.sync_all()?;
        File::open(&self.root)?.sync_all()?;
        File::open(self.root.parent().unwrap_or(&self.root))?.sync_all()
    }

    pub(super) fn read_at(
        &self,
        digest: Digest,
        offset: u64,
        max: usize,
    ) -> Result<Vec<u8>, FileStoreError> {
        let open = File::open(self.path(digest));
        let read = |mut file: File| {
            file.seek(SeekFrom::Start(offset))?;
            let mut bytes = Vec::new();
            file.take(max as u64).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        open.and_then(read).map_err(|error| match error.kind() {
            ErrorKind::NotFound => FileStoreError::Missing,
            _ => failure(&error),
        })
    }

    pub(super) fn remove(&self, digest: Digest) -> io::Result<()> {
        match fs::remove_file(self.path(digest)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Every digest that has bytes.
    pub(super) fn all(&self) -> io::Result<Vec<Digest>> {
        let mut found = Vec::new();
        let folders = match fs::read_dir(&self.root) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(found),
            folders => folders?,
        };
        for folder in folders {
            let folder = folder?;
            if !folder.file_type()?.is_dir() || folder.file_name() == ARRIVING {
                continue;
            }
            for file in fs::read_dir(folder.path())? {
                let (start, rest) = (folder.file_name(), file?.file_name());
                let digits = [start.to_string_lossy(), rest.to_string_lossy()].concat();
                // What is none of ours is left alone.
                found.extend(format!("sha256:{digits}").parse::<Digest>());
            }
        }
        Ok(found)
    }

    fn path(&self, digest: Digest) -> PathBuf {
        let mut place = [0; 64];
        let (start, rest) = digest.digits(&mut place).split_at(2);
        self.root.join(start).join(rest)
    }
}

fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

pub(super) fn failure(error: &io::Error) -> FileStoreError {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => FileStoreError::DiskFull,
        _ => StoreError::Unavailable(format!("the folder of files: {error}")).into(),
    }
}
