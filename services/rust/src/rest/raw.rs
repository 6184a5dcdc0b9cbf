//! The client `rust-raw`: requests of HTTP/1.1 written in one piece, replies parsed by httparse, on a socket of tokio.
//!
//! It is what a generator of load is: no task, no channel, and no message that is built before it is written.

use std::future::poll_fn;
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use bytes::{Buf, Bytes, BytesMut};
use httparse::ParserConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};

use super::bodies::{Body, Path, query_of, reply_of, write_body};
use crate::contract::Target;
use crate::load::client::{Called, Client, Connection};
use crate::messages::Request;
use crate::net::{Dialer, Stream};
use crate::statuses::{Failure, Status};

const READ_AT_ONCE: usize = 16 << 10;
const LEAST_ROOM: usize = 2 << 10;
/// Larger bodies are written by a system call of their own rather than copied behind their head.
const COPIED: usize = 64 << 10;
const LARGEST_HEAD: usize = 64 << 10;
const LARGEST_BODY: usize = 512 << 20;
const MOST_HEADERS: usize = 64;
const LONGEST_SHOWN: usize = 200;

/// Opens connections of `rest`.
#[derive(Debug)]
pub struct Raw {
    dialer: Rc<Dialer>,
    /// What stands between the target and the content's type in every head.
    common: Rc<str>,
}

impl Raw {
    pub fn new(dialer: Rc<Dialer>, target: &Target) -> Self {
        let common = format!(" HTTP/1.1\r\nhost: {}\r\nuser-agent: orch\r\ncontent-type: ", target.authority());
        Self { dialer, common: common.into() }
    }
}

/// One connection, with the memory that its messages are put together in.
#[derive(Debug)]
pub struct RawConnection {
    stream: Stream,
    common: Rc<str>,
    body: Vec<u8>,
    outgoing: Vec<u8>,
    incoming: BytesMut,
    is_over: bool,
}

impl Client for Raw {
    type Connection = RawConnection;

    async fn dial(&self) -> Result<RawConnection, Failure> {
        let stream = self.dialer.dial().await?;
        let common = Rc::clone(&self.common);
        Ok(RawConnection {
            stream,
            common,
            body: Vec::new(),
            outgoing: Vec::new(),
            incoming: BytesMut::new(),
            is_over: false,
        })
    }
}

impl Connection for RawConnection {
    async fn call(&mut self, request: &Request) -> Result<Called, Failure> {
        let unknown = || Failure::new(Status::Protocol, "rest does not carry it");
        let path = Path::of(request).ok_or_else(unknown)?;
        let sent = self.send(path, request).await.map_err(closed)?;
        let (status, body) = self.receive().await?;
        if status != 200 {
            let words: String = String::from_utf8_lossy(&body).chars().take(LONGEST_SHOWN).collect();
            return Err(Failure::new(Status::Protocol, format!("HTTP {status}: {words}")));
        }
        let reply = reply_of(path, &body).map_err(undecodable)?;
        Ok(Called { reply, sent, received: body.len(), body: Some(body) })
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    fn is_over(&self) -> bool {
        self.is_over
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

impl RawConnection {
    /// The length of the body that was sent.
    async fn send(&mut self, path: Path, request: &Request) -> io::Result<usize> {
        let body = write_body(request, &mut self.body);
        let content: &[u8] = match &body {
            Body::Written => &self.body,
            Body::Kept(data) => data,
        };
        let head = &mut self.outgoing;
        head.clear();
        head.extend_from_slice(b"POST ");
        head.extend_from_slice(path.name().as_bytes());
        if let Some(query) = query_of(request) {
            head.push(b'?');
            head.extend_from_slice(query.as_bytes());
        }
        head.extend_from_slice(self.common.as_bytes());
        head.extend_from_slice(path.content_type().as_bytes());
        write!(head, "\r\ncontent-length: {}\r\n\r\n", content.len())?;
        if content.len() > COPIED {
            self.stream.write_all(head).await?;
            self.stream.write_all(content).await?;
        } else {
            head.extend_from_slice(content);
            self.stream.write_all(head).await?;
        }
        self.stream.flush().await?;
        Ok(content.len())
    }

    /// A reply's status and body.
    async fn receive(&mut self) -> Result<(u16, Bytes), Failure> {
        loop {
            let head = loop {
                match head_of(&self.incoming).map_err(undecodable)? {
                    Some(head) => break head,
                    None if self.incoming.len() > LARGEST_HEAD => {
                        return Err(undecodable(format!("a head of more than {LARGEST_HEAD} bytes")));
                    }
                    None => self.more(LEAST_ROOM).await?,
                }
            };
            self.incoming.advance(head.bytes);
            self.is_over |= head.is_last;
            if !(100..200).contains(&head.status) {
                let body = match head.length {
                    Length::Known(bytes) => self.exactly(bytes).await?,
                    Length::Chunked => self.chunks().await?,
                };
                return Ok((head.status, body));
            }
        }
    }

    async fn exactly(&mut self, bytes: usize) -> Result<Bytes, Failure> {
        if bytes > LARGEST_BODY {
            return Err(undecodable(format!("a body of {bytes} bytes")));
        }
        while self.incoming.len() < bytes {
            self.more(bytes - self.incoming.len()).await?;
        }
        Ok(self.incoming.split_to(bytes).freeze())
    }

    async fn chunks(&mut self) -> Result<Bytes, Failure> {
        let mut whole = BytesMut::new();
        loop {
            let (begins, bytes) = match httparse::parse_chunk_size(&self.incoming) {
                Ok(httparse::Status::Complete((begins, bytes))) => {
                    (begins, usize::try_from(bytes).unwrap_or(usize::MAX))
                }
                Ok(httparse::Status::Partial) if self.incoming.len() <= LARGEST_HEAD => {
                    self.more(LEAST_ROOM).await?;
                    continue;
                }
                _ => return Err(undecodable("a chunk without a size".to_owned())),
            };
            self.incoming.advance(begins);
            if bytes.saturating_add(whole.len()) > LARGEST_BODY {
                return Err(undecodable(format!("a chunk of {bytes} bytes")));
            }
            let chunk = self.exactly(bytes).await?;
            // Trailers are neither asked for nor read: nothing but the line's end follows a chunk.
            if &*self.exactly(2).await? != b"\r\n" {
                return Err(undecodable("a chunk that is longer than its size".to_owned()));
            }
            if bytes == 0 {
                return Ok(whole.freeze());
            }
            whole.extend_from_slice(&chunk);
        }
    }

    /// Read once, with room for at least `room` bytes.
    async fn more(&mut self, room: usize) -> Result<(), Failure> {
        if self.incoming.capacity() - self.incoming.len() < room {
            self.incoming.reserve(room.max(READ_AT_ONCE));
        }
        match self.stream.read_buf(&mut self.incoming).await {
            Ok(0) => Err(closed(io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => Ok(()),
            Err(error) => Err(closed(error)),
        }
    }
}

/// What a reply's head says of the rest of it.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    bytes: usize,
    status: u16,
    length: Length,
    /// The connection's end is announced.
    is_last: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Length {
    Known(usize),
    Chunked,
}

/// None where the rest of it is still to come; why it is none otherwise.
fn head_of(incoming: &[u8]) -> Result<Option<Head>, String> {
    let mut headers = [const { MaybeUninit::uninit() }; MOST_HEADERS];
    let mut response = httparse::Response::new(&mut []);
    let parsed = ParserConfig::default().parse_response_with_uninit_headers(&mut response, incoming, &mut headers);
    let httparse::Status::Complete(bytes) = parsed.map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    if response.version != Some(1) {
        return Err("a reply that is not of HTTP/1.1".to_owned());
    }
    let status = response.code.unwrap_or(0);
    let mut found = None;
    let mut is_last = false;
    for header in response.headers.iter() {
        let of_header = if header.name.eq_ignore_ascii_case("content-length") {
            let told = std::str::from_utf8(header.value).ok().and_then(|text| text.trim().parse().ok());
            Length::Known(told.ok_or("a content-length that is no number")?)
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            if !header.value.eq_ignore_ascii_case(b"chunked") {
                return Err("a transfer-encoding that was not asked for".to_owned());
            }
            Length::Chunked
        } else {
            is_last |= header.name.eq_ignore_ascii_case("connection") && header.value.eq_ignore_ascii_case(b"close");
            continue;
        };
        if found.replace(of_header).is_some() {
            return Err("a reply that tells its length twice".to_owned());
        }
    }
    let has_none = (100..200).contains(&status) || status == 204;
    let length = match found {
        Some(length) => length,
        None if has_none => Length::Known(0),
        None => return Err("a reply that does not tell its length".to_owned()),
    };
    Ok(Some(Head { bytes, status, length, is_last }))
}

fn closed(error: io::Error) -> Failure {
    Failure::new(Status::Closed, error.to_string())
}

fn undecodable(why: String) -> Failure {
    Failure::new(Status::Undecodable, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_tells_status_and_length() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: a\r\nContent-Length: 12\r\n\r\nbody";
        let found = head_of(head).unwrap().unwrap();
        assert_eq!(found, Head { bytes: head.len() - 4, status: 200, length: Length::Known(12), is_last: false });
        assert_eq!(head_of(&head[..40]), Ok(None));
        let chunked = head_of(b"HTTP/1.1 400 No\r\ntransfer-encoding: Chunked\r\n\r\n").unwrap().unwrap();
        assert_eq!((chunked.status, chunked.length), (400, Length::Chunked));
    }

    #[test]
    fn what_is_no_reply_to_a_request_is_refused() {
        for head in [
            "HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n",
            "nothing of the kind\r\n\r\n",
        ] {
            assert!(head_of(head.as_bytes()).is_err(), "{head}");
        }
    }
}
