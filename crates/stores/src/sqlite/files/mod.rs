//! Files: rows in the database, bytes in a folder beside it.
//!
//! An upload is durable in this order: bytes, their name, their row. A crash leaves bytes without a row at worst, which
//! are swept after the next start; there is never a row without bytes.

mod folder;
mod rows;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use domain::digest::Digest;
use domain::id::{FileId, StreamId};
use domain::time::Timestamp;
use ports::file_store::{FileQuota, FileStore, FileStoreError, FileUpload, FileUse, StoredFile};
use ports::store::StoreError;
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{Mutex, oneshot};

use super::aux_write::{AuxOutcome, AuxWrite};
use super::queue::Queue;
use super::reader::Readers;
use super::transaction::{QueuedWrite, WriteJob};
use super::{SqliteStore, shutting_down};
use folder::{Folder, failure};
pub(super) use rows::{FileChange, FileChanged};

/// The folder, and who may change it together with the rows.
#[derive(Debug)]
pub(super) struct FileFolder {
    folder: Folder,
    /// Held while bytes get a name and a row, and while both are taken away: of the same bytes, one may come while
    /// another goes.
    order: Mutex<()>,
    /// Bytes without a row come from a crash alone, so they are looked for once.
    is_swept: AtomicBool,
}

impl FileFolder {
    /// The data directory is ours by now: what is on its way in it is nobody's.
    pub(super) fn open(database: &Path) -> io::Result<FileFolder> {
        let folder = Folder::beside(database);
        folder.clear_arriving()?;
        Ok(FileFolder { folder, order: Mutex::default(), is_swept: AtomicBool::new(false) })
    }
}

/// Work that may wait for the disk.
async fn on_disk<T: Send + 'static>(
    files: &Arc<FileFolder>,
    work: impl FnOnce(&Folder) -> Result<T, FileStoreError> + Send + 'static,
) -> Result<T, FileStoreError> {
    let files = files.clone();
    let done = tokio::task::spawn_blocking(move || work(&files.folder)).await;
    done.unwrap_or_else(|_| Err(shutting_down().into()))
}

impl SqliteStore {
    async fn change_files(&self, change: FileChange) -> Result<FileChanged, StoreError> {
        match self.aux_write(AuxWrite::Files(Box::new(change))).await? {
            AuxOutcome::Files(changed) => Ok(changed),
            _ => Err(StoreError::Unavailable("the rows of files were not changed".into())),
        }
    }

    /// Takes rows away, and then the bytes that no other row has.
    async fn take_files(&self, change: FileChange) -> Result<usize, StoreError> {
        let _order = self.files.order.lock().await;
        let FileChanged::Gone { files, digests } = self.change_files(change).await? else {
            return Ok(0);
        };
        let removed = on_disk(&self.files, move |folder| {
            digests.iter().try_for_each(|digest| folder.remove(*digest)).map_err(|e| failure(&e))
        });
        if let Err(error) = removed.await {
            // Nobody can reach them any more; the next start looks again.
            tracing::warn!(%error, "the bytes of removed files are still on the disk");
        }
        Ok(files)
    }

    async fn sweep_bytes(&self) -> Result<(), FileStoreError> {
        if self.files.is_swept.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let _order = self.files.order.lock().await;
        let all = on_disk(&self.files, |folder| folder.all().map_err(|e| failure(&e))).await?;
        for digest in all {
            if !self.readers.read(move |connection| rows::has_digest(connection, digest)).await? {
                tracing::info!(%digest, "bytes of an upload that was never finished are removed");
                on_disk(&self.files, move |folder| folder.remove(digest).map_err(|e| failure(&e)))
                    .await?;
            }
        }
        Ok(())
    }
}

#[async_trait]
impl FileStore for SqliteStore {
    async fn begin_upload(&self) -> Result<Box<dyn FileUpload>, FileStoreError> {
        let (path, file) =
            on_disk(&self.files, |folder| folder.arriving().map_err(|e| failure(&e))).await?;
        Ok(Box::new(SqliteUpload {
            file: File::from_std(file),
            path,
            files: self.files.clone(),
            writes: self.writes.clone(),
            readers: self.readers.clone(),
        }))
    }

    async fn file(&self, id: FileId) -> Result<Option<StoredFile>, StoreError> {
        self.readers.read(move |connection| rows::find(connection, id)).await
    }

    async fn file_of_key(&self, owner: &str, key: &str) -> Result<Option<StoredFile>, StoreError> {
        find_by_key(&self.readers, owner, key).await
    }

    async fn read_at(
        &self,
        digest: Digest,
        offset: u64,
        max: usize,
    ) -> Result<Vec<u8>, FileStoreError> {
        on_disk(&self.files, move |folder| folder.read_at(digest, offset, max)).await
    }

    async fn files_after(
        &self,
        after: Option<FileId>,
        limit: usize,
    ) -> Result<Vec<StoredFile>, StoreError> {
        self.readers.read(move |connection| rows::after(connection, after, limit)).await
    }

    async fn use_files(&self, files: &[FileId], stream: StreamId) -> Result<bool, StoreError> {
        let change = FileChange::Use { files: files.to_vec(), stream };
        Ok(matches!(self.change_files(change).await?, FileChanged::Done))
    }

    async fn settle_use(
        &self,
        file: FileId,
        stream: StreamId,
        is_used: bool,
    ) -> Result<(), StoreError> {
        self.change_files(FileChange::SettleUse { file, stream, is_used }).await.map(drop)
    }

    async fn uses_of(&self, file: FileId) -> Result<Vec<FileUse>, StoreError> {
        self.readers.read(move |connection| rows::uses_of(connection, file)).await
    }

    async fn uncertain_uses(
        &self,
        before: Timestamp,
        limit: usize,
    ) -> Result<Vec<FileUse>, StoreError> {
        self.readers.read(move |connection| rows::uncertain_uses(connection, before, limit)).await
    }

    async fn remove_file(&self, id: FileId) -> Result<bool, StoreError> {
        Ok(self.take_files(FileChange::Remove { id }).await? > 0)
    }

    async fn forget_files(&self, before: Timestamp, limit: usize) -> Result<usize, StoreError> {
        if let Err(error) = self.sweep_bytes().await {
            tracing::warn!(%error, "bytes without a row could not be looked for");
        }
        self.take_files(FileChange::Forget { before, limit }).await
    }
}

async fn find_by_key(
    readers: &Readers,
    owner: &str,
    key: &str,
) -> Result<Option<StoredFile>, StoreError> {
    let (owner, key) = (owner.to_owned(), key.to_owned());
    readers.read(move |connection| rows::find_by_key(connection, &owner, &key)).await
}

struct SqliteUpload {
    file: File,
    path: PathBuf,
    files: Arc<FileFolder>,
    writes: Arc<Queue<QueuedWrite>>,
    readers: Readers,
}

impl Drop for SqliteUpload {
    fn drop(&mut self) {
        // Gone already if it was finished. What cannot be removed now goes at the next start.
        let _ = fs::remove_file(&self.path);
    }
}

#[async_trait]
impl FileUpload for SqliteUpload {
    async fn write(&mut self, piece: &[u8]) -> Result<(), FileStoreError> {
        self.file.write_all(piece).await.map_err(|error| failure(&error))
    }

    async fn finish(
        mut self: Box<Self>,
        file: StoredFile,
        quota: FileQuota,
    ) -> Result<StoredFile, FileStoreError> {
        self.file.flush().await.map_err(|error| failure(&error))?;
        self.file.sync_all().await.map_err(|error| failure(&error))?;
        let _order = self.files.order.lock().await;
        let (path, digest) = (self.path.clone(), file.file.digest);
        on_disk(&self.files, move |folder| folder.keep(&path, digest).map_err(|e| failure(&e)))
            .await?;
        let (reply, answer) = oneshot::channel();
        let change = FileChange::Add { file: file.clone(), quota };
        let write = AuxWrite::Files(Box::new(change));
        let job = WriteJob::Aux { write, reply };
        if self.writes.push(QueuedWrite::Ready(Box::new(job))).await.is_err() {
            return Err(shutting_down().into());
        }
        let added = match answer.await {
            Ok(Ok(AuxOutcome::Files(changed))) => changed,
            Ok(Err(error)) => return Err(error.into()),
            _ => return Err(shutting_down().into()),
        };
        if let FileChanged::Done = added {
            return Ok(file);
        }
        // Another upload may have the same bytes; without one nobody needs them.
        if !self.readers.read(move |connection| rows::has_digest(connection, digest)).await? {
            on_disk(&self.files, move |folder| folder.remove(digest).map_err(|e| failure(&e)))
                .await?;
        }
        match (added, &file.key) {
            (FileChanged::OverQuota(bound), _) => Err(FileStoreError::OverQuota(bound)),
            (_, Some(key)) => match find_by_key(&self.readers, &file.owner, key).await? {
                Some(first) => Ok(first),
                None => Err(FileStoreError::Missing),
            },
            _ => Err(FileStoreError::Missing),
        }
    }
}
