//! Frames: a 32-bit length of the body, an 8-bit code, and the body, in network byte order.

use std::io;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::messages::{Reply, Request};

const HEAD: usize = 5;
const LARGEST: usize = 256 << 20;
const READ_AT_ONCE: usize = 16 << 10;
const LEAST_ROOM: usize = 2 << 10;
/// Larger bodies are written by a system call of their own rather than copied behind their head.
const COPIED: usize = 64 << 10;

pub const ERROR: u8 = 255;

/// The code under which a request travels, and its reply.
pub fn code_of(request: &Request) -> u8 {
    match request {
        Request::Identity => 0,
        Request::Timestamp { .. } => 1,
        Request::Add { .. } => 2,
        Request::EchoData(_) => 3,
        Request::EchoRecords(_) => 4,
        Request::EchoDocument(_) => 5,
        Request::Image { .. } => 6,
        Request::Exchange { .. } => 7,
        Request::Transfer { .. } => 8,
    }
}

/// A frame to be sent: its head with the first part of its body, and the rest of it.
#[derive(Debug)]
pub struct Frame<'a> {
    first: &'a mut Vec<u8>,
    rest: Bytes,
}

impl<'a> Frame<'a> {
    /// A request; `into` is what the frame is put together in.
    pub fn of_request(request: &Request, into: &'a mut Vec<u8>) -> Self {
        let mut frame = Self::begin(code_of(request), into);
        match request {
            Request::Identity => {}
            Request::Timestamp { request } => frame.first.put_slice(request.as_bytes()),
            Request::Add { a, b } => {
                // The generator's numbers have 32 bits.
                frame.first.put_i32(*a as i32);
                frame.first.put_i32(*b as i32);
            }
            Request::EchoData(data) => frame.put_data(data),
            Request::EchoRecords(records) => frame.put_json(records),
            Request::EchoDocument(document) => frame.put_json(document),
            Request::Image { data, full_decode } => {
                frame.first.put_u8(u8::from(*full_decode));
                frame.put_data(data);
            }
            Request::Exchange { data, reply_size } | Request::Transfer { data, reply_size } => {
                frame.first.put_u32(*reply_size);
                frame.put_data(data);
            }
        }
        frame.end()
    }

    /// A reply, or the words of an error.
    pub fn of_reply(code: u8, reply: &Result<Reply, String>, into: &'a mut Vec<u8>) -> Self {
        let mut frame = Self::begin(if reply.is_ok() { code } else { ERROR }, into);
        match reply {
            Err(words) | Ok(Reply::Identity(words)) => frame.first.put_slice(words.as_bytes()),
            Ok(Reply::Timestamp { request, response }) => {
                frame.first.put_slice(request.as_bytes());
                frame.first.put_u8(b'\n');
                frame.first.put_slice(response.as_bytes());
            }
            Ok(Reply::Sum(sum)) => frame.first.put_i64(*sum),
            Ok(Reply::Data(data)) => frame.put_data(data),
            Ok(Reply::Records(records)) => frame.put_json(records),
            Ok(Reply::Document(document)) => frame.put_json(document),
            Ok(Reply::Image { width, height }) => {
                frame.first.put_u32(*width);
                frame.first.put_u32(*height);
            }
        }
        frame.end()
    }

    fn begin(code: u8, into: &'a mut Vec<u8>) -> Self {
        into.clear();
        into.put_slice(&[0, 0, 0, 0, code]);
        Self { first: into, rest: Bytes::new() }
    }

    fn put_data(&mut self, data: &Bytes) {
        if data.len() > COPIED {
            self.rest = data.clone();
        } else {
            self.first.put_slice(data);
        }
    }

    fn put_json<T: serde::Serialize>(&mut self, value: &T) {
        // Keys are texts, numbers are finite, and writing to memory does not fail.
        let _ = serde_json::to_writer(&mut *self.first, value);
    }

    fn end(self) -> Self {
        let length = self.body_bytes() as u32;
        self.first[..4].copy_from_slice(&length.to_be_bytes());
        self
    }

    /// The length of its body.
    pub fn body_bytes(&self) -> usize {
        self.first.len() - HEAD + self.rest.len()
    }

    pub async fn send<S: AsyncWrite + Unpin>(&self, stream: &mut S) -> io::Result<()> {
        stream.write_all(self.first).await?;
        if !self.rest.is_empty() {
            stream.write_all(&self.rest).await?;
        }
        stream.flush().await
    }
}

/// What can be read of frames.
#[derive(Debug)]
pub enum Incoming {
    Frame {
        code: u8,
        body: Bytes,
    },
    /// The connection ended between two frames.
    End,
    /// A frame of a body that is larger than any may be.
    TooLarge(usize),
}

/// The next frame; `buffer` holds what was read beyond the last one.
pub async fn read<S: AsyncRead + Unpin>(stream: &mut S, buffer: &mut BytesMut) -> io::Result<Incoming> {
    while buffer.len() < HEAD {
        if !more(stream, buffer, LEAST_ROOM).await? {
            return if buffer.is_empty() { Ok(Incoming::End) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
    }
    let length = (&buffer[..4]).get_u32() as usize;
    let code = buffer[4];
    if length > LARGEST {
        return Ok(Incoming::TooLarge(length));
    }
    while buffer.len() < HEAD + length {
        let missing = HEAD + length - buffer.len();
        if !more(stream, buffer, missing).await? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    buffer.advance(HEAD);
    Ok(Incoming::Frame { code, body: buffer.split_to(length).freeze() })
}

/// Read once, with room for at least `room` bytes; false where the connection ended.
///
/// Room is made for several frames at once, so that a reply that is kept holds little more memory than its own.
async fn more<S: AsyncRead + Unpin>(stream: &mut S, buffer: &mut BytesMut, room: usize) -> io::Result<bool> {
    if buffer.capacity() - buffer.len() < room {
        buffer.reserve(room.max(READ_AT_ONCE));
    }
    Ok(stream.read_buf(buffer).await? > 0)
}

/// A request as it came; why it is none otherwise.
pub fn request_of(code: u8, mut body: Bytes) -> Result<Request, String> {
    match code {
        0 if body.is_empty() => Ok(Request::Identity),
        1 => Ok(Request::Timestamp { request: text_of(&body)? }),
        2 if body.len() == 8 => Ok(Request::Add { a: body.get_i32().into(), b: body.get_i32().into() }),
        3 => Ok(Request::EchoData(body)),
        4 => Ok(Request::EchoRecords(json_of(&body)?)),
        5 => Ok(Request::EchoDocument(json_of(&body)?)),
        6 if !body.is_empty() => Ok(Request::Image { full_decode: body.get_u8() == 1, data: body }),
        7 if body.len() >= 4 => Ok(Request::Exchange { reply_size: body.get_u32(), data: body }),
        8 if body.len() >= 4 => Ok(Request::Transfer { reply_size: body.get_u32(), data: body }),
        0 | 2 | 6 | 7 | 8 => Err(format!("a body of {} bytes does not fit the code {code}", body.len())),
        _ => Err(format!("the code {code} is not known")),
    }
}

/// A reply as it came, by its request's code; why it is none otherwise.
pub fn reply_of(code: u8, mut body: Bytes) -> Result<Reply, String> {
    match code {
        0 => Ok(Reply::Identity(text_of(&body)?)),
        1 => {
            let text = std::str::from_utf8(&body).map_err(|error| error.to_string())?;
            let (request, response) = text.split_once('\n').ok_or("it has no line feed")?;
            Ok(Reply::Timestamp { request: request.to_owned(), response: response.to_owned() })
        }
        2 if body.len() == 8 => Ok(Reply::Sum(body.get_i64())),
        3 | 7 | 8 => Ok(Reply::Data(body)),
        4 => Ok(Reply::Records(json_of(&body)?)),
        5 => Ok(Reply::Document(json_of(&body)?)),
        6 if body.len() == 8 => Ok(Reply::Image { width: body.get_u32(), height: body.get_u32() }),
        _ => Err(format!("a body of {} bytes does not fit the code {code}", body.len())),
    }
}

fn text_of(body: &Bytes) -> Result<String, String> {
    String::from_utf8(body.to_vec()).map_err(|error| error.to_string())
}

fn json_of<T: serde::de::DeserializeOwned>(body: &Bytes) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator;
    use serde_json::json;

    fn body_of(frame: &Frame<'_>) -> Bytes {
        let mut whole = BytesMut::from(&frame.first[HEAD..]);
        whole.put_slice(&frame.rest);
        assert_eq!((&frame.first[..4]).get_u32() as usize, whole.len());
        whole.freeze()
    }

    #[test]
    fn requests_and_replies_come_as_they_were_sent() {
        let data = Bytes::from(vec![7; 100_000]);
        let both = [
            (Request::Identity, Reply::Identity("a nonce".to_owned())),
            (Request::Add { a: -3, b: 1 << 30 }, Reply::Sum(-1)),
            (Request::EchoData(data.clone()), Reply::Data(data.clone())),
            (Request::EchoRecords(generator::records(1, 5)), Reply::Records(generator::records(1, 5))),
            (Request::EchoDocument(json!({"a": [1, 2.5, null]})), Reply::Document(json!([{}, "ü"]))),
            (Request::Image { data: data.clone(), full_decode: true }, Reply::Image { width: 3, height: 4 }),
            (Request::Exchange { data, reply_size: 9 }, Reply::Data(Bytes::from_static(b"abc"))),
        ];
        let mut into = Vec::new();
        for (request, reply) in both {
            let code = code_of(&request);
            let body = body_of(&Frame::of_request(&request, &mut into));
            assert_eq!(request_of(code, body), Ok(request));
            let frame = Frame::of_reply(code, &Ok(reply.clone()), &mut into);
            assert_eq!(frame.first[4], code);
            assert_eq!(reply_of(code, body_of(&frame)), Ok(reply));
        }
    }

    #[test]
    fn an_error_has_its_own_code() {
        let mut into = Vec::new();
        let frame = Frame::of_reply(2, &Err("no".to_owned()), &mut into);
        assert_eq!((frame.first[4], &frame.first[HEAD..]), (ERROR, &b"no"[..]));
    }

    #[test]
    fn what_does_not_fit_is_no_message() {
        for (code, body) in [(2, &b"123"[..]), (5, b"{"), (6, b""), (7, b"12"), (9, b""), (200, b"")] {
            assert!(request_of(code, Bytes::from_static(body)).is_err(), "{code}");
        }
    }
}
