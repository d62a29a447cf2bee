//! One connection, for one piece of work. There is no pool: a call waits for a person far longer than
//! for a handshake, and a fresh connection remembers nothing of what others did on it.

use std::time::Duration;

use domain::phrase::{NoPreviewReason, PhraseCode};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::task::JoinSet;
use tokio_postgres::{CancelToken, Client};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failure::{PgFailure, describe_error};
use super::target::PgTarget;
use crate::limits::{SQL_BUSY_WAIT, SQL_CONNECT_LIMIT, SQL_SILENCE};

pub(super) struct PgSession {
    pub(super) client: Client,
    /// Moves bytes for as long as the session lives, and is ended with it: what was not committed by
    /// then never will be.
    wire: JoinSet<()>,
    tls: MakeRustlsConnect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransactionMode {
    ReadOnly,
    ReadWrite,
}

impl PgSession {
    /// `purpose` is what the database's owner sees in its list of sessions.
    pub(super) async fn connect(target: &PgTarget, purpose: &str) -> Result<PgSession, PgFailure> {
        let tls = MakeRustlsConnect::new(tls_config(target)?);
        let mut config = target.config.clone();
        config.application_name(purpose);
        // A wire that went silent is found out, and does not hold a call for hours.
        config.keepalives_idle(SQL_SILENCE).keepalives_interval(SQL_SILENCE).keepalives_retries(3);
        config.tcp_user_timeout(SQL_SILENCE * 3);
        let away = |why: NoPreviewReason| {
            PgFailure::Away(NoPreviewReason::because(PhraseCode::DatabaseUnreachable, why))
        };
        let opening = tokio::time::timeout(SQL_CONNECT_LIMIT, config.connect(tls.clone()));
        let (client, connection) = match opening.await {
            Ok(Ok(opened)) => opened,
            Ok(Err(error)) => return Err(away(describe_error(&error).into())),
            Err(_) => {
                let seconds = SQL_CONNECT_LIMIT.as_secs().to_string();
                return Err(away(NoPreviewReason::new(PhraseCode::NoAnswer, &[&seconds])));
            }
        };
        let mut wire = JoinSet::new();
        wire.spawn(async move {
            // A query that waits for an answer gets the error itself.
            let _ = connection.await;
        });
        Ok(PgSession { client, wire, tls })
    }

    /// Begins a transaction in which everything is fixed that changes what a statement means or how
    /// long it may take. `public` is where unqualified names are looked for, after the system's own.
    pub(super) async fn begin_transaction(
        &self,
        mode: TransactionMode,
        limit: Duration,
    ) -> Result<(), PgFailure> {
        let mode = match mode {
            TransactionMode::ReadOnly => "READ ONLY",
            TransactionMode::ReadWrite => "READ WRITE",
        };
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED {mode};
             SET LOCAL search_path = public;
             SET LOCAL statement_timeout = {limit};
             SET LOCAL lock_timeout = {wait};
             SET LOCAL idle_in_transaction_session_timeout = {limit};
             SET LOCAL synchronous_commit = on;
             SET LOCAL standard_conforming_strings = on;
             SET LOCAL DateStyle = 'ISO, YMD';
             SET LOCAL TimeZone = 'UTC';
             SET LOCAL IntervalStyle = 'iso_8601';
             SET LOCAL bytea_output = 'hex';
             SET LOCAL extra_float_digits = 1",
            limit = limit.as_millis().max(1),
            wait = SQL_BUSY_WAIT.as_millis(),
        );
        Ok(self.client.batch_execute(&begin).await?)
    }

    /// Breaks off whatever the server is doing for us.
    pub(super) fn canceller(&self) -> (CancelToken, MakeRustlsConnect) {
        (self.client.cancel_token(), self.tls.clone())
    }

    /// Says goodbye. Only a courtesy: the server undoes what was not committed in any case.
    pub(super) async fn disconnect(self) {
        let PgSession { client, mut wire, .. } = self;
        drop(client);
        let _ = tokio::time::timeout(Duration::from_secs(1), wire.join_next()).await;
    }
}

fn tls_config(target: &PgTarget) -> Result<ClientConfig, PgFailure> {
    // An error means that a provider is installed already, and it is the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = ClientConfig::builder();
    if !target.tls {
        // Never used: the connection is in the clear.
        return Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth());
    }
    let builder = builder.with_platform_verifier().map_err(|error| {
        let why = error.to_string();
        PgFailure::Away(NoPreviewReason::new(PhraseCode::CertificatesUnreadable, &[&why]))
    })?;
    Ok(builder.with_no_client_auth())
}
