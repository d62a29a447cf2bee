//! Servers whose certificates a company signs itself: over TLS they are reached by whoever knows the
//! company's authority, and by nobody else.

mod reached;
mod refused;
mod site;
