//! Whether the bytes of every uploaded file are there, and are those that were uploaded.

use domain::digest::Digesting;
use ports::file_store::{FileStore, FileStoreError, StoredFile};
use ports::store::StoreError;

use super::Check;

/// Files that are looked up at once, and bytes that are read at once.
const PAGE: usize = 500;
const PIECE_BYTES: usize = 1 << 20;

pub(super) async fn check(files: &dyn FileStore) -> Check {
    match unsound(files).await {
        Ok((0, None)) => Check::fine("files", "none was uploaded yet"),
        Ok((sound, None)) => Check::fine("files", format!("the bytes of all {sound} are sound")),
        Ok((_, Some(file))) => {
            let id = file.file.id;
            let detail = format!("the bytes of {id} ({}) are missing or changed", file.file.digest);
            let remedy = "put the folder `files` back from a backup; until then it is not served";
            Check::wrong("files", detail, remedy)
        }
        Err(error) => Check::failed("files", &error.to_string()),
    }
}

/// The first whose bytes are not those that were uploaded, and how many were before it.
async fn unsound(files: &dyn FileStore) -> Result<(usize, Option<StoredFile>), StoreError> {
    let (mut after, mut sound) = (None, 0);
    loop {
        let page = files.files_after(after, PAGE).await?;
        let Some(last) = page.last() else { return Ok((sound, None)) };
        after = Some(last.file.id);
        for file in page {
            if !is_sound(files, &file).await? {
                return Ok((sound, Some(file)));
            }
            sound += 1;
        }
    }
}

async fn is_sound(files: &dyn FileStore, stored: &StoredFile) -> Result<bool, StoreError> {
    let (mut digesting, mut read) = (Digesting::default(), 0);
    while read <= stored.file.bytes {
        match files.read_at(stored.file.digest, read, PIECE_BYTES).await {
            Ok(piece) if piece.is_empty() => break,
            Ok(piece) => {
                digesting.update(&piece);
                read += piece.len() as u64;
            }
            Err(FileStoreError::Missing) => return Ok(false),
            Err(FileStoreError::Store(error)) => return Err(error),
            Err(error) => return Err(StoreError::Unavailable(error.to_string())),
        }
    }
    Ok(digesting.finish() == stored.file.digest)
}

#[cfg(test)]
mod tests {
    use domain::digest::Digest;
    use domain::file::{FileKind, FileName, FileRef};
    use domain::id::{FileId, NodeId};
    use domain::time::Timestamp;
    use ports::file_store::FileQuota;
    use ports::store::Store as _;
    use stores::SqliteStore;

    use super::super::State;
    use super::*;

    #[tokio::test]
    async fn a_changed_or_missing_file_is_named() {
        let place = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(place.path(), NodeId::new(1, 1)).unwrap();
        let files = store.files().unwrap();
        assert!(check(files).await.detail.contains("none"));
        let digest = Digest::of(b"abc");
        let file = FileRef {
            id: FileId::new(1, 1),
            digest,
            bytes: 3,
            kind: FileKind::Text,
            name: FileName::given("a"),
        };
        let at = Timestamp::from_ms(1);
        let stored = StoredFile { file, owner: "ana".into(), key: None, at };
        let quota = FileQuota { owner_files: 1, owner_bytes: 9, bytes: 9 };
        let mut upload = files.begin_upload().await.unwrap();
        upload.write(b"abc").await.unwrap();
        upload.finish(stored.clone(), quota).await.unwrap();
        assert_eq!(check(files).await.state, State::Fine);

        let digits = digest.to_string().replace("sha256:", "");
        let path = place.path().join("files").join(&digits[..2]).join(&digits[2..]);
        for changed in ["abd", "abcd", "ab"] {
            std::fs::write(&path, changed).unwrap();
            let found = check(files).await;
            assert_eq!(found.state, State::Wrong, "{changed}");
            assert!(found.detail.contains(&stored.file.id.to_string()), "{found:?}");
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!(check(files).await.state, State::Wrong);
    }
}
