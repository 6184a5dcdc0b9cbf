//! Connections of both ends: plain TCP, or TLS 1.3 over it.

mod dial;
mod listen;
mod openings;
mod options;
mod stream;
mod tls;

pub use dial::Dialer;
pub use listen::{Accepted, Listener};
pub use openings::Openings;
pub use options::{SocketOptions, congestion_among};
pub use stream::Stream;
pub use tls::{ClientTls, ServerTls, hex};
