//! Who is on the other end of a connection, and how they came.

use std::net::{IpAddr, Ipv4Addr};

use axum::http::{Extensions, HeaderMap, HeaderName};

use crate::app::App;

pub(crate) const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Put on every request by the listener.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The caller's own address: a proxy that we trust may speak for somebody else.
pub(crate) fn address(app: &App, extensions: &Extensions, headers: &HeaderMap) -> IpAddr {
    let peer = extensions.get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0);
    behind(peer, headers, |address| app.trusts.as_ref().is_some_and(|trusts| trusts(address)))
}

/// The first stranger on the way, if every proxy before it is one that we trust.
pub(crate) fn behind(peer: IpAddr, headers: &HeaderMap, trusts: impl Fn(IpAddr) -> bool) -> IpAddr {
    if !trusts(peer) {
        return peer;
    }
    // From the right: everything to the left of the first stranger is the stranger's own word.
    let hops = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
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
