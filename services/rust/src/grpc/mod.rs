//! The protocol `grpc` (`protos/orch.proto`), by tonic on both ends.

mod asking;
mod codec;
#[allow(clippy::all, clippy::pedantic)]
#[rustfmt::skip]
mod generated;
mod values;

pub mod client;
pub mod direct;
pub mod server;

/// No message is larger.
const LARGEST_MESSAGE: usize = 512 << 20;
