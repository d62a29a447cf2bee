//! One connection, and what a database must be like before anything is written to it.

use std::future::Future;
use std::time::Duration;

use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::task::JoinSet;
use tokio_postgres::Client;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::PgAddress;
use super::error::{PgFailure, UnfitServer};
use super::limits::{ANSWER_WITHIN, CONNECT_WITHIN, IDLE_IN_TRANSACTION};
use super::sql::TypedSql;

pub(super) struct PgConnection {
    pub(super) client: Client,
    /// Moves bytes for as long as this lives, and is ended with it.
    _wire: JoinSet<()>,
}

impl PgConnection {
    pub(super) async fn open(address: &PgAddress) -> Result<PgConnection, PgFailure> {
        let connecting = address.config.connect(tls(address)?);
        let connected = tokio::time::timeout(CONNECT_WITHIN, connecting).await;
        let (client, connection) = connected.map_err(|_| PgFailure::Silent)??;
        let mut wire = JoinSet::new();
        wire.spawn(async move {
            // A statement that waits for an answer gets the error itself.
            let _ = connection.await;
        });
        Ok(PgConnection { client, _wire: wire })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    pub(super) async fn commit(&self) -> Result<(), PgFailure> {
        Ok(self.client.batch_execute("COMMIT").await?)
    }

    /// Nothing of the transaction happens. Whoever cannot say so even now is gone, and then the server does it.
    pub(super) async fn roll_back(&self) -> Result<(), PgFailure> {
        Ok(self.client.batch_execute("ROLLBACK").await?)
    }
}

/// A transaction that ends by itself if this node says nothing for a while: others wait behind it.
pub(super) fn begin() -> String {
    begin_within(ANSWER_WITHIN)
}

/// The same for a node that waits only so long. The server does not notice that a client has gone while it waits for a
/// lock, so it gives up by itself: otherwise each attempt would leave a process behind there.
pub(super) fn begin_within(all: Duration) -> String {
    format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
         SET LOCAL statement_timeout = {all}; \
         SET LOCAL lock_timeout = {all}; \
         SET LOCAL idle_in_transaction_session_timeout = {idle}",
        all = all.as_millis(),
        idle = IDLE_IN_TRANSACTION.as_millis(),
    )
}

/// What takes longer is given up. The connection is of no use then: an answer may still come.
pub(super) async fn in_time<T>(
    within: Duration,
    work: impl Future<Output = Result<T, PgFailure>>,
) -> Result<T, PgFailure> {
    tokio::time::timeout(within, work).await.unwrap_or(Err(PgFailure::Silent))
}

pub(super) fn tls(address: &PgAddress) -> Result<MakeRustlsConnect, PgFailure> {
    // An error means that a provider is installed already, and it is the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = ClientConfig::builder();
    if !address.tls {
        // Never used: the connection is in the clear.
        let nothing = builder.with_root_certificates(RootCertStore::empty());
        return Ok(MakeRustlsConnect::new(nothing.with_no_client_auth()));
    }
    let builder = builder.with_platform_verifier().map_err(|error| {
        PgFailure::Tls(format!("the certificates of this machine cannot be read: {error}"))
    })?;
    Ok(MakeRustlsConnect::new(builder.with_no_client_auth()))
}

const VERSION_MIN: i64 = 130_000;

/// Refuses a server that could lose what it acknowledged.
pub(super) async fn check_server(client: &Client) -> Result<(), PgFailure> {
    let facts = TypedSql::new(
        "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on', \
         current_setting('fsync') = 'off', current_setting('synchronous_commit') = 'off', \
         current_setting('server_version_num')::bigint, \
         current_setting('full_page_writes') = 'off'",
    );
    let Some(row) = facts.row(client).await? else { return Err(PgFailure::Silent) };
    let version: i64 = row.get(3);
    if version < VERSION_MIN {
        return Err(UnfitServer::TooOld { found: version / 10_000 }.into());
    }
    if row.get(0) {
        return Err(UnfitServer::Standby.into());
    }
    for (column, setting) in [(1, "fsync"), (2, "synchronous_commit"), (4, "full_page_writes")] {
        if row.get(column) {
            return Err(UnfitServer::NotDurable { setting }.into());
        }
    }
    Ok(())
}
