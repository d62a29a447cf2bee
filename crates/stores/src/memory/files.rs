//! Files in memory, with the same meaning.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use domain::digest::Digest;
use domain::id::{FileId, StreamId};
use domain::time::Timestamp;
use ports::file_store::{
    FileQuota, FileStore, FileStoreError, FileUpload, FileUse, QuotaBound, StoredFile,
};
use ports::store::StoreError;

use super::MemoryStore;

#[derive(Clone, Default)]
pub(super) struct Files {
    rows: BTreeMap<FileId, StoredFile>,
    bytes: HashMap<Digest, Arc<[u8]>>,
    uses: BTreeMap<(FileId, StreamId), bool>,
}

impl Files {
    fn of_key(&self, owner: &str, key: &str) -> Option<&StoredFile> {
        self.rows.values().find(|file| file.owner == owner && file.key.as_deref() == Some(key))
    }

    fn is_used(&self, id: FileId) -> bool {
        self.uses.keys().any(|(file, _)| *file == id)
    }

    fn add(
        &mut self,
        file: StoredFile,
        bytes: Vec<u8>,
        quota: FileQuota,
    ) -> Result<StoredFile, QuotaBound> {
        let known = file.key.as_deref().and_then(|key| self.of_key(&file.owner, key));
        if let Some(known) = known {
            return Ok(known.clone());
        }
        let own = self.rows.values().filter(|known| known.owner == file.owner);
        let total = |files: &mut dyn Iterator<Item = &StoredFile>| {
            files.map(|known| known.file.bytes).sum::<u64>() + file.file.bytes
        };
        if own.clone().count() as u64 >= quota.owner_files {
            return Err(QuotaBound::OwnerFiles);
        }
        if total(&mut own.into_iter()) > quota.owner_bytes {
            return Err(QuotaBound::OwnerBytes);
        }
        if total(&mut self.rows.values()) > quota.bytes {
            return Err(QuotaBound::Bytes);
        }
        self.bytes.insert(file.file.digest, bytes.into());
        self.rows.insert(file.file.id, file.clone());
        Ok(file)
    }

    fn remove(&mut self, ids: &[FileId]) -> usize {
        ids.iter().for_each(|id| drop(self.rows.remove(id)));
        let rows = &self.rows;
        self.bytes.retain(|digest, _| rows.values().any(|file| file.file.digest == *digest));
        ids.len()
    }
}

#[async_trait]
impl FileStore for MemoryStore {
    async fn begin_upload(&self) -> Result<Box<dyn FileUpload>, FileStoreError> {
        Ok(Box::new(MemoryUpload { store: self.clone(), bytes: Vec::new() }))
    }

    async fn file(&self, id: FileId) -> Result<Option<StoredFile>, StoreError> {
        self.with(|data| data.files.rows.get(&id).cloned())
    }

    async fn file_of_key(&self, owner: &str, key: &str) -> Result<Option<StoredFile>, StoreError> {
        self.with(|data| data.files.of_key(owner, key).cloned())
    }

    async fn read_at(
        &self,
        digest: Digest,
        offset: u64,
        max: usize,
    ) -> Result<Vec<u8>, FileStoreError> {
        let bytes = self.with(|data| data.files.bytes.get(&digest).cloned())?;
        let bytes = bytes.ok_or(FileStoreError::Missing)?;
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        Ok(bytes[from..bytes.len().min(from.saturating_add(max))].to_vec())
    }

    async fn files_after(
        &self,
        after: Option<FileId>,
        limit: usize,
    ) -> Result<Vec<StoredFile>, StoreError> {
        self.with(|data| {
            let later = data.files.rows.values().filter(|file| Some(file.file.id) > after);
            later.take(limit).cloned().collect()
        })
    }

    async fn use_files(&self, files: &[FileId], stream: StreamId) -> Result<bool, StoreError> {
        self.with(|data| {
            if !files.iter().all(|id| data.files.rows.contains_key(id)) {
                return false;
            }
            for id in files {
                data.files.uses.entry((*id, stream)).or_insert(false);
            }
            true
        })
    }

    async fn settle_use(
        &self,
        file: FileId,
        stream: StreamId,
        is_used: bool,
    ) -> Result<(), StoreError> {
        self.with(|data| {
            let uses = &mut data.files.uses;
            match uses.get_mut(&(file, stream)) {
                Some(is_certain) if is_used => *is_certain = true,
                Some(false) => drop(uses.remove(&(file, stream))),
                _ => {}
            }
        })
    }

    async fn uses_of(&self, file: FileId) -> Result<Vec<FileUse>, StoreError> {
        let uses = self.with(|data| data.files.uses.clone())?;
        let uses = uses.into_iter().filter(|((used, _), _)| *used == file);
        Ok(uses.map(|((file, stream), is_certain)| FileUse { file, stream, is_certain }).collect())
    }

    async fn uncertain_uses(
        &self,
        before: Timestamp,
        limit: usize,
    ) -> Result<Vec<FileUse>, StoreError> {
        self.with(|data| {
            let old = |id: &FileId| data.files.rows.get(id).is_some_and(|file| file.at < before);
            let uses = data.files.uses.iter().filter(|((id, _), certain)| !**certain && old(id));
            uses.take(limit)
                .map(|(&(file, stream), &is_certain)| FileUse { file, stream, is_certain })
                .collect()
        })
    }

    async fn remove_file(&self, id: FileId) -> Result<bool, StoreError> {
        self.with(|data| {
            let may_go = data.files.rows.contains_key(&id) && !data.files.is_used(id);
            may_go && data.files.remove(&[id]) > 0
        })
    }

    async fn forget_files(&self, before: Timestamp, limit: usize) -> Result<usize, StoreError> {
        self.with(|data| {
            let files = &data.files;
            let old = files.rows.values().filter(|file| file.at < before);
            let unused = old.map(|file| file.file.id).filter(|id| !files.is_used(*id));
            let ids: Vec<FileId> = unused.take(limit).collect();
            data.files.remove(&ids)
        })
    }
}

struct MemoryUpload {
    store: MemoryStore,
    bytes: Vec<u8>,
}

#[async_trait]
impl FileUpload for MemoryUpload {
    async fn write(&mut self, piece: &[u8]) -> Result<(), FileStoreError> {
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    async fn finish(
        self: Box<Self>,
        file: StoredFile,
        quota: FileQuota,
    ) -> Result<StoredFile, FileStoreError> {
        let MemoryUpload { store, bytes } = *self;
        store.with(|data| data.files.add(file, bytes, quota))?.map_err(FileStoreError::OverQuota)
    }
}
