//! One connection to the mail server, in steps: before the message itself is handed over, nothing was
//! sent; after that it may have been.

use std::time::Duration;

use lettre::Message;
use lettre::message::Mailbox;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use ports::channel::ChannelError;
use ports::clock::Clock;

use super::settings::{EmailSettings, Tls};
use crate::limits::{EMAIL_LOGIN_WITHIN, EMAIL_SEND_WITHIN};

const MECHANISMS: [Mechanism; 2] = [Mechanism::Plain, Mechanism::Login];

pub(super) struct Smtp(AsyncSmtpConnection);

impl Smtp {
    /// Connected, over TLS as it should be, and logged in.
    pub(super) async fn open(
        settings: &EmailSettings,
        from: &Mailbox,
        clock: &dyn Clock,
    ) -> Result<Smtp, ChannelError> {
        within(clock, EMAIL_LOGIN_WITHIN, Box::pin(connect(settings, from)))
            .await
            .unwrap_or_else(|| Err(again(format!("{} does not answer in time", settings.host))))
    }

    pub(super) async fn send(
        &mut self,
        message: &Message,
        clock: &dyn Clock,
    ) -> Result<(), ChannelError> {
        let (envelope, bytes) = (message.envelope(), message.formatted());
        let sent = Box::pin(self.0.send(envelope, &bytes));
        match within(clock, EMAIL_SEND_WITHIN, sent).await {
            Some(Ok(_)) => {}
            Some(Err(error)) if error.is_transient() => return Err(again(error_text(&error))),
            Some(Err(error)) if error.is_permanent() || error.is_client() => {
                return Err(ChannelError::Never(error_text(&error)));
            }
            Some(Err(error)) => return Err(ChannelError::Unknown(error_text(&error))),
            None => {
                let why = "the mail server does not say whether it has the message";
                return Err(ChannelError::Unknown(why.into()));
            }
        }
        self.close(clock).await;
        Ok(())
    }

    /// Courtesy: what was taken is taken.
    pub(super) async fn close(&mut self, clock: &dyn Clock) {
        let _ = within(clock, EMAIL_LOGIN_WITHIN, Box::pin(self.0.quit())).await;
    }
}

async fn connect(settings: &EmailSettings, from: &Mailbox) -> Result<Smtp, ChannelError> {
    let host = &settings.host;
    let hello = ClientId::Domain(from.email.domain().to_owned());
    let failed = |error: Error| match error.is_permanent() || error.is_client() || error.is_tls() {
        true => ChannelError::Never(format!("{host}: {}", error_text(&error))),
        false => again(format!("{host}: {}", error_text(&error))),
    };
    // An error means that the same one is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let parameters = || TlsParameters::new_rustls(host.clone()).map_err(failed);
    let first = match settings.tls {
        Tls::Implicit => Some(parameters()?),
        Tls::Starttls | Tls::Off => None,
    };
    let address = (host.as_str(), settings.port);
    let mut connection = AsyncSmtpConnection::connect_tokio1(address, None, &hello, first, None)
        .await
        .map_err(failed)?;
    if settings.tls == Tls::Starttls {
        if !connection.can_starttls() {
            return Err(ChannelError::Never(format!(
                "{host} does not offer STARTTLS, and nothing is sent in the clear; is `tls` or `port` \
                 another one?"
            )));
        }
        connection.starttls(parameters()?, &hello).await.map_err(failed)?;
    }
    if let Some(login) = &settings.login {
        let credentials = Credentials::new(login.user.clone(), login.password.expose().to_owned());
        connection.auth(&MECHANISMS, &credentials).await.map_err(|error| {
            match error.is_permanent() || error.is_client() {
                true => ChannelError::Never(format!(
                    "{host} does not take the user and the password: {}",
                    login.password.scrub(&error_text(&error))
                )),
                false => failed(error),
            }
        })?;
    }
    Ok(Smtp(connection))
}

fn again(why: String) -> ChannelError {
    ChannelError::Again { after: None, why }
}

fn error_text(error: &Error) -> String {
    domain::visible::visible(&egress::describe_causes(error))
}

async fn within<T>(
    clock: &dyn Clock,
    limit: Duration,
    work: impl Future<Output = T> + Unpin,
) -> Option<T> {
    tokio::select! {
        biased;
        done = work => Some(done),
        () = clock.sleep(limit) => None,
    }
}
