//! Files: bytes by digest, and a row for each upload.

use domain::digest::Digest;
use domain::file::{FileKind, FileName, FileRef};
use domain::id::{FileId, StreamId};
use ports::file_store::{FileQuota, FileStore, FileStoreError, QuotaBound, StoredFile};
use ports::store::Store;

use super::Opener;
use super::stage::{at, node, session_id};

const ROOM: FileQuota = FileQuota { owner_files: 10, owner_bytes: 1_000, bytes: 5_000 };

fn files(store: &dyn Store) -> &dyn FileStore {
    store.files().expect("a store that keeps files")
}

fn stored(number: u128, bytes: &[u8], owner: &str) -> StoredFile {
    StoredFile {
        file: FileRef {
            id: FileId::new(number as i64, number),
            digest: Digest::of(bytes),
            bytes: bytes.len() as u64,
            kind: FileKind::Text,
            name: FileName::given("notes.txt"),
        },
        owner: owner.into(),
        key: None,
        at: at(number as i64),
    }
}

async fn put(
    files: &dyn FileStore,
    file: &StoredFile,
    bytes: &[u8],
    quota: FileQuota,
) -> Result<StoredFile, FileStoreError> {
    let mut upload = files.begin_upload().await.unwrap();
    for piece in bytes.chunks(7) {
        upload.write(piece).await.unwrap();
    }
    upload.finish(file.clone(), quota).await
}

async fn read(files: &dyn FileStore, digest: Digest) -> Result<Vec<u8>, FileStoreError> {
    let mut all = Vec::new();
    loop {
        let piece = files.read_at(digest, all.len() as u64, 5).await?;
        if piece.is_empty() {
            return Ok(all);
        }
        all.extend(piece);
    }
}

pub async fn bytes_come_back_and_outlive_a_process(open: &Opener) {
    let store = open(node(1));
    let (bytes, file) = (b"what is in the file", stored(1, b"what is in the file", "ana"));
    assert_eq!(put(files(&*store), &file, bytes, ROOM).await.unwrap(), file);
    drop(store);
    let store = open(node(2));
    let store = files(&*store);
    assert_eq!(store.file(file.file.id).await.unwrap(), Some(file.clone()));
    assert_eq!(read(store, file.file.digest).await.unwrap(), bytes);
    assert_eq!(store.files_after(None, 5).await.unwrap(), std::slice::from_ref(&file));
    assert_eq!(store.files_after(Some(file.file.id), 5).await.unwrap(), []);
    let missing = store.read_at(Digest::of(b"other"), 0, 9).await;
    assert!(matches!(missing, Err(FileStoreError::Missing)), "{missing:?}");
}

pub async fn an_upload_that_is_cut_leaves_nothing(open: &Opener) {
    let store = open(node(1));
    let store = files(&*store);
    let mut upload = store.begin_upload().await.unwrap();
    upload.write(b"half of").await.unwrap();
    drop(upload);
    assert_eq!(store.files_after(None, 5).await.unwrap(), []);
    let bytes = store.read_at(Digest::of(b"half of"), 0, 9).await;
    assert!(matches!(bytes, Err(FileStoreError::Missing)), "{bytes:?}");
}

pub async fn what_is_over_the_quota_is_refused(open: &Opener) {
    let store = open(node(1));
    let store = files(&*store);
    let (one, other) = ([b'a'; 60].as_slice(), [b'b'; 60].as_slice());
    let quota = FileQuota { owner_files: 2, owner_bytes: 100, bytes: 150 };
    put(store, &stored(1, one, "ana"), one, quota).await.unwrap();
    for (number, owner, quota, bound) in [
        (2, "ana", quota, QuotaBound::OwnerBytes),
        (3, "ana", FileQuota { owner_files: 1, ..quota }, QuotaBound::OwnerFiles),
        (4, "bob", FileQuota { bytes: 100, ..quota }, QuotaBound::Bytes),
    ] {
        let refused = put(store, &stored(number, other, owner), other, quota).await;
        match refused {
            Err(FileStoreError::OverQuota(found)) => assert_eq!(found, bound),
            other => panic!("{owner}: {other:?}"),
        }
    }
    let left = store.read_at(Digest::of(other), 0, 9).await;
    assert!(matches!(left, Err(FileStoreError::Missing)), "and nothing of it stays: {left:?}");
    put(store, &stored(5, other, "bob"), other, quota).await.unwrap();
    // The same bytes again are a file of their own, and count.
    let full = put(store, &stored(6, other, "bob"), other, quota).await;
    assert!(matches!(full, Err(FileStoreError::OverQuota(_))), "{full:?}");
    assert_eq!(read(store, Digest::of(other)).await.unwrap(), other, "which are still there");
}

pub async fn a_repeated_upload_is_the_first_one(open: &Opener) {
    let store = open(node(1));
    let store = files(&*store);
    let keyed = |number, bytes: &[u8], owner| StoredFile {
        key: Some("k".into()),
        ..stored(number, bytes, owner)
    };
    let first = keyed(1, b"one", "ana");
    assert_eq!(put(store, &first, b"one", ROOM).await.unwrap(), first);
    assert_eq!(put(store, &keyed(2, b"one", "ana"), b"one", ROOM).await.unwrap(), first);
    assert_eq!(put(store, &keyed(3, b"two", "ana"), b"two", ROOM).await.unwrap(), first);
    let others = keyed(4, b"two", "bob");
    assert_eq!(put(store, &others, b"two", ROOM).await.unwrap(), others, "keys never meet");
    assert_eq!(store.file_of_key("ana", "k").await.unwrap(), Some(first));
    assert_eq!(read(store, Digest::of(b"one")).await.unwrap(), b"one");
}

pub async fn only_what_nothing_uses_is_forgotten(open: &Opener) {
    let store = open(node(1));
    let store = files(&*store);
    let session = StreamId::Session(session_id(1));
    let all = [stored(1, b"one", "ana"), stored(2, b"two", "ana"), stored(3, b"one", "bob")];
    for (file, bytes) in all.iter().zip([b"one", b"two", b"one"]) {
        put(store, file, bytes, ROOM).await.unwrap();
    }
    let [one, two, again] = all.map(|file| file.file.id);
    assert!(!store.use_files(&[one, FileId::new(9, 9)], session).await.unwrap(), "one is missing");
    assert!(store.uses_of(one).await.unwrap().is_empty(), "so none is noted");
    assert!(store.use_files(&[one, two], session).await.unwrap());
    store.settle_use(one, session, true).await.unwrap();
    // A note that comes again does not make it uncertain.
    assert!(store.use_files(&[one], session).await.unwrap());
    assert!(store.uses_of(one).await.unwrap()[0].is_certain);
    let uncertain = store.uncertain_uses(at(9), 5).await.unwrap();
    assert_eq!(uncertain.iter().map(|used| used.file).collect::<Vec<_>>(), [two]);
    assert!(store.uncertain_uses(at(2), 5).await.unwrap().is_empty(), "it is not old enough");

    assert!(!store.remove_file(two).await.unwrap(), "it may be used");
    assert_eq!(store.forget_files(at(3), 5).await.unwrap(), 0, "the third is not old enough");
    assert_eq!(store.forget_files(at(4), 5).await.unwrap(), 1);
    assert_eq!(store.file(again).await.unwrap(), None);
    assert_eq!(read(store, Digest::of(b"one")).await.unwrap(), b"one", "another upload has them");

    store.settle_use(one, session, false).await.unwrap();
    assert!(store.uses_of(one).await.unwrap()[0].is_certain, "what is certain stays");
    store.settle_use(two, session, false).await.unwrap();
    assert!(store.remove_file(two).await.unwrap());
    assert!(!store.remove_file(two).await.unwrap());
    let gone = store.read_at(Digest::of(b"two"), 0, 9).await;
    assert!(matches!(gone, Err(FileStoreError::Missing)), "{gone:?}");
}
