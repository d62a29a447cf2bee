//! The HTTP client that goes nowhere by itself.

use std::error::Error;
use std::sync::Arc;

use reqwest::{Client, ClientBuilder};

use crate::guard::{AddressGuard, ForbiddenAddress, GuardedResolver, HostResolver};
use crate::trust::certificate_remedy;

/// A client that judges addresses before it connects. An address that is written as a number
/// never comes to a resolver: judge the URL with [`AddressGuard::admit_host`] first.
pub fn guarded_client(names: Arc<dyn HostResolver>, guard: AddressGuard) -> ClientBuilder {
    // An error means that a provider is installed already, and it is the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .dns_resolver(GuardedResolver { names, guard })
        // A proxy from the environment would look names up for us, unguarded.
        .no_proxy()
        // An address was judged; the one that a redirect points to was not.
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        // The caller decides about retries: it knows what the request does.
        .retry(reqwest::retry::never())
        // Each request looks its name up anew: what was public an hour ago may not be now.
        .pool_max_idle_per_host(0)
        .user_agent(concat!("holdpoint/", env!("CARGO_PKG_VERSION")))
}

/// Whether the guard was what stopped it, somewhere below the layers of the HTTP client.
pub fn find_forbidden<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a ForbiddenAddress> {
    error_chain(error).find_map(|cause| cause.downcast_ref())
}

/// What went wrong, down to its cause; the outermost layer alone only says that something did.
/// Where a server was not believed, it also says what to do about it.
pub fn describe_causes(error: &(dyn Error + 'static)) -> String {
    let mut told = String::new();
    for layer in error_chain(error).map(ToString::to_string) {
        // Some layers repeat what is below them.
        if told.is_empty() {
            told = layer;
        } else if !told.ends_with(&layer) {
            told = format!("{told}: {layer}");
        }
    }
    match certificate_remedy(error) {
        Some(remedy) => format!("{told}; {remedy}"),
        None => told,
    }
}

pub(crate) fn error_chain<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}
