//! Keeps what we call out of our own network.
//!
//! A name is looked up once, by the very connection that is about to be made; every address found
//! must be public, and the connection goes to one of those. There is no second look-up, whose
//! answer could be another. Addresses written as numbers never come to the resolver:
//! [`AddressGuard::admit_host`] judges them.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::address::special_purpose;
use crate::limits::ADDRESSES_MAX;

/// Turns a host name into addresses. The system does it, unless a test or an embedder knows better.
#[async_trait]
pub trait HostResolver: Send + Sync {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The names that this machine knows.
pub struct SystemResolver;

#[async_trait]
impl HostResolver for SystemResolver {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((host, 0)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

/// Which addresses may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressGuard {
    PublicOnly,
    /// The configuration says that this machine and private networks may be called.
    Open,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForbiddenAddress {
    #[error("{address} is {what}, and only public addresses may be called")]
    Address { address: IpAddr, what: &'static str },
    #[error("the URL names this machine, and only public addresses may be called")]
    ThisMachine,
}

impl AddressGuard {
    pub fn admit(self, address: IpAddr) -> Result<(), ForbiddenAddress> {
        match (self, special_purpose(address)) {
            (AddressGuard::PublicOnly, Some(what)) => {
                Err(ForbiddenAddress::Address { address, what })
            }
            _ => Ok(()),
        }
    }

    /// Judges as much of a URL's host as can be told without asking for its addresses.
    pub fn admit_host(self, url: &Url) -> Result<(), ForbiddenAddress> {
        let host = url.host_str().unwrap_or_default();
        // The parser has already turned every spelling of a number (0x7f.1, 2130706433) into this one.
        match host.trim_start_matches('[').trim_end_matches(']').parse() {
            Ok(address) => self.admit(address),
            Err(_) if self == AddressGuard::PublicOnly && is_this_machine(host) => {
                Err(ForbiddenAddress::ThisMachine)
            }
            Err(_) => Ok(()),
        }
    }
}

/// Names that mean the loopback whatever the name server says.
fn is_this_machine(host: &str) -> bool {
    let host = host.trim_end_matches('.');
    host == "localhost" || host.ends_with(".localhost")
}

/// The resolver of our HTTP client.
pub(crate) struct GuardedResolver {
    pub(crate) names: Arc<dyn HostResolver>,
    pub(crate) guard: AddressGuard,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (names, guard) = (self.names.clone(), self.guard);
        Box::pin(async move {
            let mut found = names.addresses(name.as_str()).await?;
            if found.is_empty() {
                return Err(
                    io::Error::new(io::ErrorKind::NotFound, "the name has no address").into()
                );
            }
            // One forbidden address forbids the name: a mix of both is an attempt to get around the guard.
            for address in &found {
                guard.admit(*address)?;
            }
            found.truncate(ADDRESSES_MAX);
            // Port 0 is replaced by the one of the URL.
            let addresses = found.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(addresses) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(Vec<&'static str>);

    #[async_trait]
    impl HostResolver for Fixed {
        async fn addresses(&self, _: &str) -> io::Result<Vec<IpAddr>> {
            Ok(self.0.iter().map(|address| address.parse().unwrap()).collect())
        }
    }

    async fn resolved(guard: AddressGuard, addresses: &[&'static str]) -> String {
        let names = Arc::new(Fixed(addresses.to_vec()));
        let resolver = GuardedResolver { names, guard };
        match resolver.resolve("receiver.example".parse().unwrap()).await {
            Ok(found) => found.map(|address| address.to_string()).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        }
    }

    #[tokio::test]
    async fn public_addresses_are_handed_on_as_they_are() {
        assert_eq!(
            resolved(AddressGuard::PublicOnly, &["8.8.8.8", "2606:4700:4700::1111"]).await,
            "8.8.8.8:0 [2606:4700:4700::1111]:0"
        );
    }

    #[tokio::test]
    async fn one_private_address_spoils_the_name() {
        let refused = "10.0.0.1 is a private address, and only public addresses may be called";
        for addresses in [["10.0.0.1", "8.8.8.8"], ["8.8.8.8", "10.0.0.1"]] {
            assert_eq!(resolved(AddressGuard::PublicOnly, &addresses).await, refused);
            assert_eq!(resolved(AddressGuard::Open, &addresses).await.matches(":0").count(), 2);
        }
    }

    #[tokio::test]
    async fn no_address_is_no_receiver() {
        assert_eq!(resolved(AddressGuard::Open, &[]).await, "the name has no address");
    }

    #[tokio::test]
    async fn the_system_knows_this_machine() {
        let found = SystemResolver.addresses("localhost").await.unwrap();
        assert!(!found.is_empty() && found.iter().all(IpAddr::is_loopback), "{found:?}");
    }
}
