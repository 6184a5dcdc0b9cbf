//! The protocol `rest` (`protos/http.md`), by hyper on both ends, and by a client on a bare socket.

mod bodies;

pub mod client;
pub mod raw;
pub mod server;
