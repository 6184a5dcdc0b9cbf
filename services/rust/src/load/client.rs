//! What a protocol's client is to the load loops.

use std::os::fd::BorrowedFd;

use bytes::Bytes;

use crate::messages::{Reply, Request};
use crate::statuses::Failure;

/// What came of a call: the reply with every field read, both bodies' sizes, and the reply's body where there is one alone.
#[derive(Debug)]
pub struct Called {
    pub reply: Reply,
    pub sent: usize,
    pub received: usize,
    pub body: Option<Bytes>,
}

/// Opens connections.
pub trait Client {
    type Connection: Connection + 'static;

    /// A connection that can carry a request.
    fn dial(&self) -> impl Future<Output = Result<Self::Connection, Failure>>;
}

/// One connection, which carries one request at a time; several, if there are more handles of it.
pub trait Connection: Sized {
    /// Send a request and read every field of its reply (`protos/fields.md`): what is timed.
    fn call(&mut self, request: &Request) -> impl Future<Output = Result<Called, Failure>>;

    /// Its socket, of which the kernel counts and can be told something.
    fn socket(&self) -> BorrowedFd<'_>;

    /// Another handle of the same connection, for a request beside that of this one; None where it carries no second one.
    fn another(&self) -> Option<Self> {
        None
    }

    /// Whether a reply announced the connection's end: it is opened anew for the next request.
    fn is_over(&self) -> bool {
        false
    }

    /// Whether it holds more than was asked for, where replies are told apart by their order alone.
    fn has_unasked(&mut self) -> impl Future<Output = bool>;

    fn close(self) -> impl Future<Output = ()>;
}
