//! Where files are kept: bytes by their digest, and a row for each upload. A store that keeps files says so with
//! [`Store::files`](crate::store::Store::files).
//!
//! What is read is not believed: whoever reads digests the bytes again before anything of them is used.

use async_trait::async_trait;
use domain::digest::Digest;
use domain::file::FileRef;
use domain::id::{FileId, StreamId};
use domain::time::Timestamp;

use crate::store::StoreError;

/// One upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// What it is referred to as.
    pub file: FileRef,
    /// Whose it is: the name under which the caller's idempotency keys are kept.
    pub owner: String,
    /// The idempotency key that it came under.
    pub key: Option<String>,
    /// When the upload was finished.
    pub at: Timestamp,
}

/// What may be kept, at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileQuota {
    /// Files of one owner.
    pub owner_files: u64,
    /// Their bytes.
    pub owner_bytes: u64,
    /// Bytes of all files.
    pub bytes: u64,
}

/// Which bound of a [`FileQuota`] a file would break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaBound {
    /// The owner has as many files as one owner may.
    OwnerFiles,
    /// The owner's files have as many bytes as one owner may keep.
    OwnerBytes,
    /// All files together have as many bytes as may be kept.
    Bytes,
}

/// That a stream has a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileUse {
    /// The file that is used.
    pub file: FileId,
    /// The stream whose transcript or calls refer to it. While one does, the file stays.
    pub stream: StreamId,
    /// The stream is known to refer to it. Before that, the commit that was to do so may have failed.
    pub is_certain: bool,
}

/// A variant for each remedy.
#[derive(Debug, thiserror::Error)]
pub enum FileStoreError {
    /// Remove files first, or allow more.
    #[error("there is no room for the file")]
    OverQuota(QuotaBound),
    /// Its bytes are not there, though the row is: restore them from a backup.
    #[error("the bytes of the file are missing")]
    Missing,
    /// Free some space.
    #[error("the disk is full")]
    DiskFull,
    /// As for any other read or write.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Keeps bytes and says who put them there. Safe under any number of callers at once.
#[async_trait]
pub trait FileStore: Send + Sync {
    /// Bytes that are about to come. Nothing of them stays if it is dropped before it is finished.
    async fn begin_upload(&self) -> Result<Box<dyn FileUpload>, FileStoreError>;

    /// The record of a file. `None` if there is none of this id, or no longer.
    async fn file(&self, id: FileId) -> Result<Option<StoredFile>, StoreError>;
    /// What this owner uploaded under an idempotency key, the newest of it.
    async fn file_of_key(&self, owner: &str, key: &str) -> Result<Option<StoredFile>, StoreError>;
    /// Some bytes from a place on, at most so many; none at the end.
    async fn read_at(
        &self,
        digest: Digest,
        offset: u64,
        max: usize,
    ) -> Result<Vec<u8>, FileStoreError>;
    /// All uploads after this one, by id: for those who check them.
    async fn files_after(
        &self,
        after: Option<FileId>,
        limit: usize,
    ) -> Result<Vec<StoredFile>, StoreError>;

    /// Notes, durably, that a stream is about to refer to these files. `false`, and nothing is noted, if one of
    /// them is gone.
    async fn use_files(&self, files: &[FileId], stream: StreamId) -> Result<bool, StoreError>;
    /// What became of that: the stream refers to it for certain, or (`false`) never will.
    async fn settle_use(
        &self,
        file: FileId,
        stream: StreamId,
        is_used: bool,
    ) -> Result<(), StoreError>;
    /// Which streams have it.
    async fn uses_of(&self, file: FileId) -> Result<Vec<FileUse>, StoreError>;
    /// Uncertain uses of files from before this time.
    async fn uncertain_uses(
        &self,
        before: Timestamp,
        limit: usize,
    ) -> Result<Vec<FileUse>, StoreError>;

    /// Removes one that nothing uses. `false`: something does, or it was not there.
    async fn remove_file(&self, id: FileId) -> Result<bool, StoreError>;
    /// Removes files from before this time that nothing uses, at most so many, and bytes that no upload has. How
    /// many files went.
    async fn forget_files(&self, before: Timestamp, limit: usize) -> Result<usize, StoreError>;
}

/// Bytes on their way in.
#[async_trait]
pub trait FileUpload: Send {
    /// The next bytes, in order. A failure leaves the upload to be dropped.
    async fn write(&mut self, piece: &[u8]) -> Result<(), FileStoreError>;
    /// Bytes and row are durable when this returns: all of it, or nothing. The caller has digested the bytes; of
    /// two uploads of one owner under one key the first counts, and is what this returns.
    async fn finish(
        self: Box<Self>,
        file: StoredFile,
        quota: FileQuota,
    ) -> Result<StoredFile, FileStoreError>;
}
