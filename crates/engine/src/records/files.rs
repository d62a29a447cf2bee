//! Files: how they come in, who sees them, and how they go.
//!
//! The store keeps bytes by digest and believes nobody; what the bytes are is told here as they come, and what is read
//! is digested again before the last of it is given out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use agent::{LoadedFiles, files_to_load};
use domain::answer::Answer;
use domain::digest::Digesting;
use domain::event::TokenScope;
use domain::file::{FileName, FileRef, Sniffer, file_answers};
use domain::hold::{Decision, Hold, Question};
use domain::id::{FileId, HoldId, SessionId, StreamId};
use domain::limits::FILES_PER_MESSAGE_MAX;
use domain::refusal::Refusal;
use domain::session::Session;
use ports::file_store::{FileStore, FileStoreError, FileUpload, FileUse, QuotaBound, StoredFile};
use ports::unpoisoned::Unpoisoned as _;
use serde_json::Value;

use crate::accounts::Caller;
use crate::limits::{FILE_PIECE_BYTES, FILES_KEPT_UNUSED_MS, FILES_SWEPT_AT_ONCE, UPLOADS_OF_ONE};
use crate::{Engine, Error};

/// Why a file is not taken, or not given out. A variant for each remedy.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("a file has at most {max} bytes; send a smaller one, or parts of it")]
    TooLarge { max: u64 },
    #[error("the file is empty; nothing was kept")]
    Empty,
    #[error("you keep {max} files already; remove some that no message has")]
    TooManyFiles { max: u64 },
    #[error("your files would have more than {max} bytes; remove some that no message has")]
    TooManyBytes { max: u64 },
    #[error(
        "{UPLOADS_OF_ONE} files are on their way from you already; send the next when one has arrived"
    )]
    TooManyUploads,
    #[error("this server has no room for more files; an operator can make some")]
    NoRoom,
    /// Never given out: what was stored is not what was uploaded.
    #[error(
        "the stored bytes of this file are missing or changed; an operator can restore them from a backup"
    )]
    Damaged,
    #[error("this file is used; it stays as long as what uses it")]
    InUse,
    #[error("this server's store keeps no files yet")]
    NotKeptHere,
    #[error(transparent)]
    Engine(#[from] Error),
}

impl From<Refusal> for FileError {
    fn from(refusal: Refusal) -> FileError {
        Error::from(refusal).into()
    }
}

impl From<ports::store::StoreError> for FileError {
    fn from(error: ports::store::StoreError) -> FileError {
        Error::from(error).into()
    }
}

impl From<FileStoreError> for FileError {
    fn from(error: FileStoreError) -> FileError {
        match error {
            FileStoreError::OverQuota(_) | FileStoreError::DiskFull => FileError::NoRoom,
            FileStoreError::Missing => FileError::Damaged,
            FileStoreError::Store(error) => error.into(),
        }
    }
}

/// Uploads under way, by caller.
#[derive(Debug, Default)]
pub(crate) struct Uploads(Mutex<HashMap<String, usize>>);

/// One of them, until it is dropped.
struct UploadPlace {
    engine: Engine,
    owner: String,
}

impl Drop for UploadPlace {
    fn drop(&mut self) {
        let mut uploads = self.engine.0.uploads.0.lock().unpoisoned();
        if let Some(count) = uploads.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                uploads.remove(&self.owner);
            }
        }
    }
}

/// A file on its way in. Nothing of it stays if this is dropped.
pub struct Upload {
    place: UploadPlace,
    store: Box<dyn FileUpload>,
    name: FileName,
    key: Option<String>,
    digesting: Digesting,
    sniffer: Sniffer,
    bytes: u64,
}

impl Upload {
    /// The next piece. After an error the upload is over.
    pub async fn write(&mut self, piece: &[u8]) -> Result<(), FileError> {
        let max = self.place.engine.0.limits.file_bytes;
        self.bytes += piece.len() as u64;
        if self.bytes > max {
            return Err(FileError::TooLarge { max });
        }
        self.digesting.update(piece);
        self.sniffer.see(piece);
        Ok(self.store.write(piece).await?)
    }

    /// Everything has come. When this returns the file is on disk.
    pub async fn finish(self) -> Result<StoredFile, FileError> {
        let Upload { place, store, name, key, digesting, sniffer, bytes } = self;
        if bytes == 0 {
            return Err(FileError::Empty);
        }
        let engine = &place.engine;
        let now = engine.now();
        let file = FileRef {
            id: FileId::new(now.as_ms(), engine.0.rng.bits()),
            digest: digesting.finish(),
            bytes,
            kind: sniffer.kind(),
            name,
        };
        let new = StoredFile { file, owner: place.owner.clone(), key, at: now };
        let limits = &engine.0.limits.file_quota;
        let kept = store.finish(new.clone(), *limits).await.map_err(|error| match error {
            FileStoreError::OverQuota(QuotaBound::OwnerFiles) => {
                FileError::TooManyFiles { max: limits.owner_files }
            }
            FileStoreError::OverQuota(QuotaBound::OwnerBytes) => {
                FileError::TooManyBytes { max: limits.owner_bytes }
            }
            error => error.into(),
        })?;
        // An earlier upload under this key must have been this one.
        let is_the_same = kept.file.digest == new.file.digest && kept.file.name == new.file.name;
        if !is_the_same { Err(Error::KeyReused.into()) } else { Ok(kept) }
    }
}

/// The bytes of one file, piece by piece. They were digested once already, and are again as they are read: the last
/// piece comes only if all of them are those that were uploaded.
pub struct FileBytes {
    engine: Engine,
    file: FileRef,
    offset: u64,
    digesting: Option<Digesting>,
}

impl FileBytes {
    fn new(engine: &Engine, file: &FileRef) -> FileBytes {
        let (engine, file) = (engine.clone(), file.clone());
        FileBytes { engine, file, offset: 0, digesting: Some(Digesting::default()) }
    }

    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, FileError> {
        if self.offset == self.file.bytes {
            return Ok(None);
        }
        let store = self.engine.file_store()?;
        let piece = store.read_at(self.file.digest, self.offset, FILE_PIECE_BYTES).await?;
        self.offset += piece.len() as u64;
        let Some(digesting) = &mut self.digesting else { return Err(FileError::Damaged) };
        digesting.update(&piece);
        let is_sound = match self.offset.cmp(&self.file.bytes) {
            std::cmp::Ordering::Less => !piece.is_empty(),
            std::cmp::Ordering::Equal => {
                self.digesting.take().map(Digesting::finish) == Some(self.file.digest)
            }
            std::cmp::Ordering::Greater => false,
        };
        if !is_sound {
            tracing::error!(file = %self.file.id, digest = %self.file.digest, "the stored bytes of a file have changed");
            self.digesting = None;
            return Err(FileError::Damaged);
        }
        Ok(Some(piece))
    }
}

impl Engine {
    fn file_store(&self) -> Result<&dyn FileStore, FileError> {
        self.0.store.files().ok_or(FileError::NotKeptHere)
    }

    /// A place for a file. Anybody who may speak, ask or answer may send one.
    pub async fn begin_upload(
        &self,
        caller: &Caller,
        name: &str,
        key: Option<String>,
    ) -> Result<Upload, FileError> {
        if ![TokenScope::Run, TokenScope::Ask, TokenScope::Answer]
            .iter()
            .any(|scope| caller.has(*scope))
        {
            caller.must_have(TokenScope::Run)?;
        }
        let owner = caller.stable_name();
        let place = {
            let mut uploads = self.0.uploads.0.lock().unpoisoned();
            let count = uploads.entry(owner.clone()).or_default();
            if *count >= UPLOADS_OF_ONE {
                return Err(FileError::TooManyUploads);
            }
            *count += 1;
            UploadPlace { engine: self.clone(), owner }
        };
        let store = self.file_store()?.begin_upload().await?;
        Ok(Upload {
            place,
            store,
            name: FileName::given(name),
            key,
            digesting: Digesting::default(),
            sniffer: Sniffer::default(),
            bytes: 0,
        })
    }

    /// A file that the caller may see: they uploaded it, or see a session in which it is.
    pub async fn file(&self, caller: &Caller, id: FileId) -> Result<StoredFile, FileError> {
        let unseen = || Err(Refusal::NotFound { what: "file" }.into());
        let store = self.file_store()?;
        let Some(file) = store.file(id).await? else { return unseen() };
        if self.owns(caller, &file) {
            return Ok(file);
        }
        for used in store.uses_of(id).await? {
            let sees = match used.stream {
                StreamId::Session(session) => {
                    let session = self.session_with(session, id).await?;
                    session.is_some_and(|session| self.sees_session(caller, &session))
                }
                StreamId::ExternalHold(hold) => {
                    let hold = self.hold_with(hold, id).await?;
                    let confined = caller.confined_to.is_some();
                    hold.is_some_and(|hold| !confined && self.sees_hold(caller, &hold))
                }
                StreamId::Global => false,
            };
            if sees {
                return Ok(file);
            }
        }
        unseen()
    }

    /// A caller whom a door lets act without credentials has uploaded nothing.
    fn owns(&self, caller: &Caller, file: &StoredFile) -> bool {
        caller.confined_to.is_none() && file.owner == caller.stable_name()
    }

    /// The session, if it has the file: a note that it was to get it proves nothing.
    async fn session_with(
        &self,
        session: SessionId,
        file: FileId,
    ) -> Result<Option<Arc<Session>>, Error> {
        let session = match self.load_session(session).await {
            Err(Error::Refused(Refusal::NotFound { .. })) => return Ok(None),
            session => session?,
        };
        Ok(Some(session).filter(|session| has_file(session, file)))
    }

    /// The same of a hold that a program opened about a call that names the file.
    async fn hold_with(&self, hold: HoldId, file: FileId) -> Result<Option<Arc<Hold>>, Error> {
        let hold = self.0.store.hold(hold).await?;
        Ok(hold.filter(|hold| files_of_hold(hold).contains(&file)))
    }

    /// Files that the call of an external hold names, as far as its opener may see them: those who are asked see them,
    /// too. Noted before the commit.
    pub(crate) async fn note_files_of_hold(
        &self,
        caller: &Caller,
        hold: &Hold,
    ) -> Result<(), Error> {
        let Some(store) = self.0.store.files() else { return Ok(()) };
        for file in files_of_hold(hold) {
            match self.file(caller, file).await {
                Ok(_) => drop(store.use_files(&[file], StreamId::ExternalHold(hold.id)).await?),
                // A word that looks like a file of theirs, and is none: the card says so.
                Err(FileError::Engine(Error::Refused(_))) => {}
                Err(FileError::Engine(error)) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Files with which a form is answered: each must be one that the person may see. Noted before the commit, for
    /// those who asked.
    pub(crate) async fn note_files_of_answer(
        &self,
        caller: &Caller,
        hold: &Hold,
        answer: &Answer,
    ) -> Result<(), Error> {
        let (Question::Fill { schema: Some(schema) }, Answer::Fill(value)) =
            (&hold.question, answer)
        else {
            return Ok(());
        };
        let answers = file_answers(schema, value);
        if answers.is_empty() {
            return Ok(());
        }
        let invalid = |field: &str, why: String| Refusal::AnswerInvalid {
            field: field.into(),
            why: why.into(),
        };
        if answers.len() > FILES_PER_MESSAGE_MAX {
            let why = format!("an answer has at most {FILES_PER_MESSAGE_MAX} files");
            return Err(invalid("fill", why).into());
        }
        let store = self.file_store().map_err(|error| invalid("fill", error.to_string()))?;
        for (field, text) in answers {
            let missing = || invalid(field, "give the id of a file that you uploaded".into());
            let id: FileId = text.parse().map_err(|_| missing())?;
            match self.file(caller, id).await {
                Ok(_) => {}
                Err(FileError::Engine(error @ Error::Unavailable(_))) => return Err(error),
                Err(_) => return Err(missing().into()),
            }
            let stream = hold.session().map_or(StreamId::ExternalHold(hold.id), StreamId::Session);
            if !store.use_files(&[id], stream).await? {
                return Err(missing().into());
            }
        }
        Ok(())
    }

    /// Its bytes. An error before the first of them if they are not those that were uploaded.
    pub async fn file_bytes(&self, file: &FileRef) -> Result<FileBytes, FileError> {
        let mut all = FileBytes::new(self, file);
        while all.next().await?.is_some() {}
        Ok(FileBytes::new(self, file))
    }

    /// Removes what the caller uploaded, as long as nothing has it.
    pub async fn remove_file(&self, caller: &Caller, id: FileId) -> Result<(), FileError> {
        let file = self.file(caller, id).await?;
        if !self.owns(caller, &file) {
            let why = "only its sender removes a file";
            return Err(Refusal::NotEntitled { why: why.into() }.into());
        }
        match self.file_store()?.remove_file(id).await? {
            true => Ok(()),
            false => Err(FileError::InUse),
        }
    }

    /// Files that are about to be said in a session, each of which the caller may see. Noted before the commit, so
    /// that none of them goes meanwhile.
    pub(crate) async fn attach_files(
        &self,
        caller: &Caller,
        ids: &[FileId],
        session: SessionId,
    ) -> Result<Vec<FileRef>, Error> {
        let invalid =
            |why: String| Refusal::AnswerInvalid { field: "files".into(), why: why.into() };
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        if ids.len() > FILES_PER_MESSAGE_MAX {
            let why = format!("a message has at most {FILES_PER_MESSAGE_MAX} files");
            return Err(invalid(why).into());
        }
        let mut files: Vec<FileRef> = Vec::new();
        for id in ids {
            let file = match self.file(caller, *id).await {
                Ok(file) => file.file,
                Err(FileError::Engine(Error::Refused(Refusal::NotFound { .. }))) => {
                    return Err(invalid(format!("there is no file {id}; upload it first")).into());
                }
                Err(FileError::Engine(error)) => return Err(error),
                Err(error) => return Err(invalid(error.to_string()).into()),
            };
            if files.iter().any(|known| known.id == file.id) {
                return Err(invalid(format!("{id} is there twice")).into());
            }
            files.push(file);
        }
        let Ok(store) = self.file_store() else { return Ok(Vec::new()) };
        if !store.use_files(ids, StreamId::Session(session)).await? {
            return Err(invalid("a file is gone; upload it again".into()).into());
        }
        Ok(files)
    }

    /// Files that a new session repeats from another one, which has them.
    pub(crate) async fn note_files(&self, ids: &[FileId], session: SessionId) -> Result<(), Error> {
        if let (Some(store), false) = (self.0.store.files(), ids.is_empty()) {
            // One that is gone by now is missed by the other session, too.
            store.use_files(ids, StreamId::Session(session)).await?;
        }
        Ok(())
    }

    /// The commit that has them is on disk.
    pub(crate) async fn confirm_files(&self, files: &[FileId], session: SessionId) {
        let Ok(store) = self.file_store() else { return };
        for file in files {
            if let Err(error) = store.settle_use(*file, StreamId::Session(session), true).await {
                // Looked at again before anything is removed.
                tracing::debug!(%file, %error, "the use of a file is not marked as certain yet");
            }
        }
    }

    /// What the next request to a model needs of files.
    pub(crate) async fn load_files(&self, session: &Session, takes_images: bool) -> LoadedFiles {
        let mut loaded = LoadedFiles::new(takes_images);
        for file in files_to_load(session, takes_images) {
            let bytes = self.whole_file(file).await;
            if let Err(error) = &bytes {
                tracing::error!(session = %session.id, file = %file.id, %error, "a model is not sent a file");
            }
            loaded.insert(file.id, bytes.ok().map(Arc::from));
        }
        loaded
    }

    async fn whole_file(&self, file: &FileRef) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        let mut pieces = FileBytes::new(self, file);
        while let Some(piece) = pieces.next().await? {
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }

    /// Removes what nothing has had for a day.
    pub(crate) async fn forget_files(&self) -> Result<(), Error> {
        let Some(store) = self.0.store.files() else { return Ok(()) };
        let before = self.now().minus_ms(FILES_KEPT_UNUSED_MS);
        // Whether a session has a file is in the journal alone.
        for FileUse { file, stream, .. } in
            store.uncertain_uses(before, FILES_SWEPT_AT_ONCE).await?
        {
            let is_used = match stream {
                StreamId::Session(session) => self.session_with(session, file).await?.is_some(),
                StreamId::ExternalHold(hold) => self.hold_with(hold, file).await?.is_some(),
                StreamId::Global => false,
            };
            store.settle_use(file, stream, is_used).await?;
        }
        while store.forget_files(before, FILES_SWEPT_AT_ONCE).await? == FILES_SWEPT_AT_ONCE {}
        Ok(())
    }
}

/// Arguments that are the id of a file and nothing else.
fn files_of_hold(hold: &Hold) -> Vec<FileId> {
    fn look(value: &Value, found: &mut Vec<FileId>) {
        match value {
            Value::String(text) => found.extend(text.parse::<FileId>()),
            Value::Array(items) => items.iter().for_each(|item| look(item, found)),
            Value::Object(members) => members.values().for_each(|member| look(member, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    if let Some(call) = hold.call() {
        look(call.arguments.value(), &mut found);
    }
    found.extend(answered_files(hold));
    found.truncate(FILES_PER_MESSAGE_MAX);
    found
}

/// Files with which a form was answered.
fn answered_files(hold: &Hold) -> Vec<FileId> {
    let vote = hold.state.decision().and_then(Decision::vote);
    match (&hold.question, vote.map(|vote| &vote.answer)) {
        (Question::Fill { schema: Some(schema) }, Some(Answer::Fill(value))) => {
            let answers = file_answers(schema, value).into_iter();
            answers.filter_map(|(_, text)| text.parse().ok()).collect()
        }
        _ => Vec::new(),
    }
}

fn has_file(session: &Session, id: FileId) -> bool {
    if session.holds.values().any(|hold| answered_files(hold).contains(&id)) {
        return true;
    }
    let queued = session.queue.iter().map(|queued| &queued.message);
    let mut messages = session.transcript.iter().chain(queued);
    messages.any(|message| message.files().any(|file| file.id == id))
}
