//! Both stores mean the same.

use std::sync::{Arc, Mutex};

use holdpoint_stores::conformance::Opener;
use holdpoint_stores::{MemoryStore, SqliteStore};

fn sqlite() -> Box<Opener> {
    let directory = tempfile::tempdir().unwrap();
    Box::new(move |node| SqliteStore::open(directory.path(), node).unwrap())
}

fn memory() -> Box<Opener> {
    let kept = Mutex::new(None::<MemoryStore>);
    Box::new(move |node| {
        let mut kept = kept.lock().unwrap();
        let store = match kept.take() {
            Some(before) => before.again(node),
            None => MemoryStore::new(node),
        };
        *kept = Some(store.clone());
        Arc::new(store)
    })
}

mod on_sqlite {
    holdpoint_stores::store_conformance!(crate::sqlite());
}

mod in_memory {
    holdpoint_stores::store_conformance!(crate::memory());
}
