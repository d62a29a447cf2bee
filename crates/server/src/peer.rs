//! Who is on the other end of a connection, and how they came.

use std::net::{IpAddr, Ipv4Addr};

use axum::http::{Extensions, HeaderMap};

use crate::app::App;

/// Put on every request by the listener.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The caller's own address: a proxy that we trust may speak for somebody else.
pub(crate) fn address(app: &App, extensions: &Extensions, headers: &HeaderMap) -> IpAddr {
    let peer = extensions.get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0);
    let trusts = |address| app.trusts.as_ref().is_some_and(|trusts| trusts(address));
    if !trusts(peer) {
        return peer;
    }
    // From the right: everything to the left of the first stranger is the stranger's own word.
    let hops = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    let hops: Vec<&str> = hops.flat_map(|value| value.split(',')).map(str::trim).collect();
    for hop in hops.iter().rev() {
        match hop.parse::<IpAddr>() {
            Ok(address) if trusts(address) => {}
            Ok(address) => return address,
            Err(_) => return peer,
        }
    }
    peer
}

/// Whether what we send to the caller travels under TLS all the way.
pub(crate) fn is_secure(app: &App, extensions: &Extensions, headers: &HeaderMap) -> bool {
    if app.tls {
        return true;
    }
    let trusted = extensions
        .get::<Peer>()
        .is_some_and(|peer| app.trusts.as_ref().is_some_and(|trusts| trusts(peer.0)));
    trusted && headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https")
}
