//! The protocol `tcp` (`protos/tcp.md`): frames on a bare connection.

mod frames;

pub mod client;
pub mod server;
