//! The client `rust-tcp`: frames written and read on a socket of tokio.

use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use bytes::BytesMut;
use tokio::io::{AsyncRead, ReadBuf};

use super::frames::{ERROR, Frame, Incoming, code_of, read, reply_of};
use crate::load::client::{Called, Client, Connection};
use crate::messages::Request;
use crate::net::{Dialer, Stream};
use crate::statuses::{Failure, Status};

/// Opens connections of `tcp`.
#[derive(Debug)]
pub struct Tcp {
    dialer: Rc<Dialer>,
}

impl Tcp {
    pub fn new(dialer: Rc<Dialer>) -> Self {
        Self { dialer }
    }
}

/// One connection, with the memory that its frames are put together in.
#[derive(Debug)]
pub struct TcpConnection {
    stream: Stream,
    outgoing: Vec<u8>,
    incoming: BytesMut,
}

impl Client for Tcp {
    type Connection = TcpConnection;

    async fn dial(&self) -> Result<TcpConnection, Failure> {
        let stream = self.dialer.dial().await?;
        Ok(TcpConnection { stream, outgoing: Vec::new(), incoming: BytesMut::new() })
    }
}

impl Connection for TcpConnection {
    async fn call(&mut self, request: &Request) -> Result<Called, Failure> {
        let frame = Frame::of_request(request, &mut self.outgoing);
        let sent = frame.body_bytes();
        frame.send(&mut self.stream).await.map_err(closed)?;
        let wanted = code_of(request);
        match read(&mut self.stream, &mut self.incoming).await.map_err(closed)? {
            Incoming::Frame { code: ERROR, body } => {
                Err(Failure::new(Status::Protocol, String::from_utf8_lossy(&body).into_owned()))
            }
            Incoming::Frame { code, body } if code == wanted => {
                let reply = reply_of(code, body.clone()).map_err(|why| Failure::new(Status::Undecodable, why))?;
                Ok(Called { reply, sent, received: body.len(), body: Some(body) })
            }
            Incoming::Frame { code, .. } => {
                Err(Failure::new(Status::Undecodable, format!("a frame of code {code} in reply to {wanted}")))
            }
            Incoming::TooLarge(length) => {
                Err(Failure::new(Status::Undecodable, format!("a frame with a body of {length} bytes")))
            }
            Incoming::End => Err(closed(io::ErrorKind::UnexpectedEof.into())),
        }
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    async fn has_unasked(&mut self) -> bool {
        if !self.incoming.is_empty() {
            return true;
        }
        let mut first = [0_u8; 1];
        poll_fn(|cx| {
            let mut into = ReadBuf::new(&mut first);
            let read = Pin::new(&mut self.stream).poll_read(cx, &mut into);
            Poll::Ready(matches!(read, Poll::Ready(Ok(()))) && !into.filled().is_empty())
        })
        .await
    }

    async fn close(self) {
        drop(self);
    }
}

fn closed(error: io::Error) -> Failure {
    Failure::new(Status::Closed, error.to_string())
}
