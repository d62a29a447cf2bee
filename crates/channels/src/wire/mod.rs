//! What connectors have in common on the wire: a value that is never shown, requests that end, and a
//! WebSocket. What is said over them is each platform's business.

mod hidden;
mod pace;
mod rest;
mod socket;

pub use hidden::Hidden;

pub(crate) use pace::between;
pub(crate) use rest::{Answer, Failed, Request, Rest};
pub(crate) use socket::{NoSocket, Socket, open};
