use std::os::unix::fs::PermissionsExt as _;

use domain::file::{FileKind, FileName, FileRef};
use domain::id::{Bits, NodeId};
use ports::store::Store as _;

use super::*;

const ROOM: FileQuota = FileQuota { owner_files: 9, owner_bytes: 999, bytes: 999 };

fn stored(bytes: &[u8]) -> StoredFile {
    StoredFile {
        file: FileRef {
            id: FileId::new(1, 1),
            digest: Digest::of(bytes),
            bytes: bytes.len() as u64,
            kind: FileKind::Bytes,
            name: FileName::given("../../evil"),
        },
        owner: "ana".into(),
        key: None,
        at: Timestamp::from_ms(1),
    }
}

fn found_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(found_in(&path)),
            false => found.push(path),
        }
    }
    found
}

#[tokio::test]
async fn bytes_are_named_by_their_digest_and_for_their_owner_alone() {
    let place = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(place.path(), NodeId(Bits(1))).unwrap();
    let mut upload = store.begin_upload().await.unwrap();
    upload.write(b"abc").await.unwrap();
    let arriving = found_in(&place.path().join("files"));
    assert_eq!(arriving.len(), 1);
    upload.finish(stored(b"abc"), ROOM).await.unwrap();
    let kept = found_in(&place.path().join("files"));
    let digits = Digest::of(b"abc").to_string().replace("sha256:", "");
    assert_eq!(kept, [place.path().join("files").join(&digits[..2]).join(&digits[2..])]);
    for path in [&kept[0], &place.path().join("files")] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o077, 0, "{path:?}");
    }
}

#[tokio::test]
async fn what_a_crash_left_is_swept_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("files");
    let store = SqliteStore::open(place.path(), NodeId(Bits(1))).unwrap();
    let mut upload = store.begin_upload().await.unwrap();
    upload.write(b"kept").await.unwrap();
    upload.finish(stored(b"kept"), ROOM).await.unwrap();
    store.close().await;
    drop(store);
    // As killed on the way in, and between the name and the row.
    fs::create_dir_all(folder.join("new")).unwrap();
    fs::write(folder.join("new/0"), b"hal").unwrap();
    let digits = Digest::of(b"no row").to_string().replace("sha256:", "");
    fs::create_dir_all(folder.join(&digits[..2])).unwrap();
    fs::write(folder.join(&digits[..2]).join(&digits[2..]), b"no row").unwrap();
    fs::write(folder.join("README"), b"somebody's own").unwrap();

    let store = SqliteStore::open(place.path(), NodeId(Bits(2))).unwrap();
    assert!(!folder.join("new").exists());
    // The first upload of this process gets its name all the same.
    let mut upload = store.begin_upload().await.unwrap();
    upload.write(b"later").await.unwrap();
    assert_eq!(store.forget_files(Timestamp::from_ms(0), 9).await.unwrap(), 0);
    let mut left: Vec<Vec<u8>> =
        found_in(&folder).iter().map(|path| fs::read(path).unwrap()).collect();
    left.sort();
    assert_eq!(left, [b"kept".to_vec(), b"later".to_vec(), b"somebody's own".to_vec()]);
    drop(upload);
    assert!(found_in(&folder.join("new")).is_empty());
    assert!(store.files().is_some());
}
