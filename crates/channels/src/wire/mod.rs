//! What connectors have in common on the wire: requests that end, a
//! token that is renewed in time, a WebSocket and gestures in the order of their chat. What is said over them is each
//! platform's business.

mod app_api;
mod errands;
mod lanes;
mod pace;
mod pieces;
mod recent;
mod remedy;
mod replies;
mod rest;
#[cfg(feature = "socket")]
mod socket;
mod tokens;
#[cfg(feature = "socket")]
mod work;

pub(crate) use app_api::{ApiCall, ApiResult, AppApi, AppPlatform};
pub(crate) use errands::Errands;
pub(crate) use lanes::Lanes;
pub(crate) use pace::between;
pub(crate) use pieces::{nth, pieces};
pub(crate) use recent::Recent;
pub(crate) use remedy::clock;
pub(crate) use replies::{accepted, json_reply, refusal_reply, status};
pub(crate) use rest::{Request, Rest, RestFailure, RestReply};
#[cfg(feature = "socket")]
pub(crate) use socket::{NoSocket, Socket, open_socket};
pub(crate) use tokens::{AccessToken, Tokens};
#[cfg(feature = "socket")]
pub(crate) use work::{ConnectionEnd, Work, WorkStep, beside, close, finish, send};
