//! What the disk and SQLite can do at best, with nothing of ours on top.

use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY;
         PRAGMA wal_autocheckpoint=4000;
         CREATE TABLE event (id INTEGER PRIMARY KEY, run BLOB, body BLOB);
         CREATE INDEX event_run ON event (run, id);
         CREATE TABLE run (id BLOB PRIMARY KEY, state TEXT, body BLOB) WITHOUT ROWID;",
    )?;
    Ok(connection)
}

/// What the two statements of a cycle write.
struct Bodies {
    event: Vec<u8>,
    run: Vec<u8>,
}

impl Bodies {
    fn of(event: usize, run: usize) -> Bodies {
        Bodies { event: vec![7; event], run: vec![7; run] }
    }

    fn small() -> Bodies {
        Bodies::of(300, 300)
    }
}

fn cycle(connection: &Connection, run: &[u8], bodies: &Bodies) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO event (run, body) VALUES (?1, ?2)")?
        .execute(params![run, bodies.event])?;
    connection
        .prepare_cached(
            "INSERT INTO run VALUES (?1, 'done', ?2)
             ON CONFLICT (id) DO UPDATE SET state = excluded.state, body = excluded.body",
        )?
        .execute(params![run, bodies.run])?;
    Ok(())
}

/// Floor A, in cycles a second.
pub(crate) fn grouped(file: &Path, time: Duration) -> rusqlite::Result<f64> {
    grouped_with(file, &Bodies::small(), time)
}

/// The same with as many bytes as a cycle of ours takes in the database, with all tables and indexes: 37.2 MB
/// after 8,594 of them. The first row is as long as it can be without pages of its own.
pub(crate) fn grouped_like_ours(file: &Path, time: Duration) -> rusqlite::Result<f64> {
    grouped_with(file, &Bodies::of(3_900, 170), time)
}

fn grouped_with(file: &Path, bodies: &Bodies, time: Duration) -> rusqlite::Result<f64> {
    let connection = open(file)?;
    let (start, mut cycles) = (Instant::now(), 0u64);
    while start.elapsed() < time {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for _ in 0..64 {
            cycle(&connection, &cycles.to_be_bytes(), bodies)?;
            cycles += 1;
        }
        connection.execute_batch("COMMIT")?;
    }
    Ok(cycles as f64 / start.elapsed().as_secs_f64())
}

/// Floor A on every processor at once, each with a database of its own: all cycles of all of them. Floor
/// A has one thread, and all of a core; this says what the other processors can add to it.
pub(crate) fn everywhere(folder: &Path, time: Duration) -> rusqlite::Result<f64> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let rates: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..processors)
            .map(|number| {
                let file = folder.join(format!("floor-a-{number}.db"));
                scope.spawn(move || grouped(&file, time))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    });
    rates.into_iter().sum()
}

/// Both floors before and after something else: machines that are shared with others are not as fast at
/// one moment as at the next, and what is compared should have had the same machine.
pub(crate) struct Around<'a> {
    folder: &'a Path,
    time: Duration,
    is_wanted: bool,
    measured: Cell<u32>,
}

/// In cycles a second; `NaN` if nobody wants to know.
pub(crate) struct Floors {
    pub(crate) a: f64,
    pub(crate) b: f64,
}

impl<'a> Around<'a> {
    pub(crate) fn new(folder: &'a Path, time: Duration, is_wanted: bool) -> Around<'a> {
        Around { folder, time, is_wanted, measured: Cell::new(0) }
    }

    fn once(&self) -> rusqlite::Result<Floors> {
        if !self.is_wanted {
            return Ok(Floors { a: f64::NAN, b: f64::NAN });
        }
        let number = self.measured.replace(self.measured.get() + 1);
        let file = |floor| self.folder.join(format!("floor-{floor}-around-{number}.db"));
        Ok(Floors { a: grouped(&file("a"), self.time / 2)?, b: single(&file("b"), self.time / 2)? })
    }

    /// What was measured, and the means of the floors before and after it.
    pub(crate) async fn measure<T>(
        &self,
        measure: impl Future<Output = Result<T, Box<dyn std::error::Error>>>,
    ) -> Result<(T, Floors), Box<dyn std::error::Error>> {
        let before = self.once()?;
        let measured = measure.await?;
        let after = self.once()?;
        let floors = Floors { a: (before.a + after.a) / 2.0, b: (before.b + after.b) / 2.0 };
        Ok((measured, floors))
    }
}

/// Floor B, in cycles a second: as many commits a cycle as ours takes, one after the other.
pub(crate) fn single(file: &Path, time: Duration) -> rusqlite::Result<f64> {
    let connection = open(file)?;
    let bodies = Bodies::small();
    let (start, mut cycles) = (Instant::now(), 0u64);
    while start.elapsed() < time {
        for _ in 0..5 {
            connection.execute_batch("BEGIN IMMEDIATE")?;
            cycle(&connection, &cycles.to_be_bytes(), &bodies)?;
            connection.execute_batch("COMMIT")?;
        }
        cycles += 1;
    }
    Ok(cycles as f64 / start.elapsed().as_secs_f64())
}
