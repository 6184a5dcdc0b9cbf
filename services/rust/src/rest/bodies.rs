//! Which path a message has, and how it is written in a body.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::messages::{Reply, Request};

pub const JSON: &str = "application/json";
const BYTES: &str = "application/octet-stream";
const PNG: &str = "image/png";

#[derive(Serialize, Deserialize)]
struct Identity {
    identity: String,
}

#[derive(Serialize)]
struct TimestampAsked<'a> {
    request_timestamp: &'a str,
}

#[derive(Deserialize)]
struct TimestampCame {
    request_timestamp: String,
}

#[derive(Serialize, Deserialize)]
struct TimestampAnswered {
    request_timestamp: String,
    response_timestamp: String,
}

#[derive(Serialize, Deserialize)]
struct AddAsked {
    a: i64,
    b: i64,
}

#[derive(Serialize, Deserialize)]
struct AddAnswered {
    sum: i64,
}

#[derive(Serialize, Deserialize)]
struct ImageAnswered {
    width: u32,
    height: u32,
}

/// A message's path, without its query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    Identity,
    Timestamp,
    Add,
    EchoData,
    EchoRecords,
    EchoDocument,
    Image,
    Transfer,
}

/// Each at the place of its number.
pub const PATHS: [(Path, &str); 8] = [
    (Path::Identity, "/identity"),
    (Path::Timestamp, "/timestamp"),
    (Path::Add, "/add"),
    (Path::EchoData, "/echo/data"),
    (Path::EchoRecords, "/echo/records"),
    (Path::EchoDocument, "/echo/document"),
    (Path::Image, "/image"),
    (Path::Transfer, "/transfer"),
];

impl Path {
    pub fn named(name: &str) -> Option<Self> {
        PATHS.iter().find(|(_, known)| *known == name).map(|(path, _)| *path)
    }

    /// None where `rest` does not carry it.
    pub fn of(request: &Request) -> Option<Self> {
        match request {
            Request::Identity => Some(Path::Identity),
            Request::Timestamp { .. } => Some(Path::Timestamp),
            Request::Add { .. } => Some(Path::Add),
            Request::EchoData(_) => Some(Path::EchoData),
            Request::EchoRecords(_) => Some(Path::EchoRecords),
            Request::EchoDocument(_) => Some(Path::EchoDocument),
            Request::Image { .. } => Some(Path::Image),
            Request::Transfer { .. } => Some(Path::Transfer),
            Request::Exchange { .. } => None,
        }
    }

    pub fn name(self) -> &'static str {
        PATHS[self as usize].1
    }

    /// The content type of its request.
    pub fn content_type(self) -> &'static str {
        match self {
            Path::EchoData | Path::Transfer => BYTES,
            Path::Image => PNG,
            _ => JSON,
        }
    }

    /// The content type of its reply.
    pub fn reply_type(self) -> &'static str {
        if self == Path::Image { JSON } else { self.content_type() }
    }
}

/// What stands behind the path.
pub fn query_of(request: &Request) -> Option<String> {
    match request {
        Request::Image { full_decode, .. } => Some(format!("full_decode={full_decode}")),
        Request::Transfer { reply_size, .. } => Some(format!("reply_size={reply_size}")),
        _ => None,
    }
}

fn written<T: Serialize>(message: &T) -> Bytes {
    let mut body = Vec::new();
    write_json(message, &mut body);
    body.into()
}

fn write_json<T: Serialize>(message: &T, into: &mut Vec<u8>) {
    // Keys are texts, numbers are finite, and writing to memory does not fail.
    let _ = serde_json::to_writer(into, message);
}

/// Where the body of a request is.
#[derive(Debug)]
pub enum Body<'a> {
    /// In the memory that was given.
    Written,
    /// Among the request's fields.
    Kept(&'a Bytes),
}

/// Write the body of a request, where it is not one of its fields.
pub fn write_body<'a>(request: &'a Request, into: &mut Vec<u8>) -> Body<'a> {
    into.clear();
    match request {
        Request::Identity => into.extend_from_slice(b"{}"),
        Request::Timestamp { request } => write_json(&TimestampAsked { request_timestamp: request }, into),
        Request::Add { a, b } => write_json(&AddAsked { a: *a, b: *b }, into),
        Request::EchoRecords(records) => write_json(records, into),
        Request::EchoDocument(document) => write_json(document, into),
        Request::EchoData(data)
        | Request::Image { data, .. }
        | Request::Exchange { data, .. }
        | Request::Transfer { data, .. } => return Body::Kept(data),
    }
    Body::Written
}

pub fn body_of_request(request: &Request) -> Bytes {
    let mut body = Vec::new();
    match write_body(request, &mut body) {
        Body::Written => body.into(),
        Body::Kept(data) => data.clone(),
    }
}

pub fn body_of_reply(reply: Reply) -> Bytes {
    match reply {
        Reply::Identity(identity) => written(&Identity { identity }),
        Reply::Timestamp { request, response } => {
            written(&TimestampAnswered { request_timestamp: request, response_timestamp: response })
        }
        Reply::Sum(sum) => written(&AddAnswered { sum }),
        Reply::Data(data) => data,
        Reply::Records(records) => written(&records),
        Reply::Document(document) => written(&document),
        Reply::Image { width, height } => written(&ImageAnswered { width, height }),
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| error.to_string())
}

/// A request as it came; why it is none otherwise.
pub fn request_of(path: Path, query: Option<&str>, body: Bytes) -> Result<Request, String> {
    Ok(match path {
        Path::Identity => Request::Identity,
        Path::Timestamp => Request::Timestamp { request: read::<TimestampCame>(&body)?.request_timestamp },
        Path::Add => {
            let AddAsked { a, b } = read(&body)?;
            Request::Add { a, b }
        }
        Path::EchoData => Request::EchoData(body),
        Path::EchoRecords => Request::EchoRecords(read(&body)?),
        Path::EchoDocument => Request::EchoDocument(read(&body)?),
        Path::Image => {
            let full_decode = match parameter(query, "full_decode") {
                None | Some("false") => false,
                Some("true") => true,
                Some(other) => return Err(format!("full_decode is true or false, not {other:?}")),
            };
            Request::Image { data: body, full_decode }
        }
        Path::Transfer => {
            let size = parameter(query, "reply_size").ok_or("reply_size is missing in the query")?;
            let reply_size = size.parse().map_err(|error| format!("reply_size: {error}"))?;
            Request::Transfer { data: body, reply_size }
        }
    })
}

fn parameter<'a>(query: Option<&'a str>, name: &str) -> Option<&'a str> {
    query?.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

/// A reply as it came; why it is none otherwise.
pub fn reply_of(path: Path, body: &Bytes) -> Result<Reply, String> {
    Ok(match path {
        Path::Identity => Reply::Identity(read::<Identity>(body)?.identity),
        Path::Timestamp => {
            let TimestampAnswered { request_timestamp, response_timestamp } = read(body)?;
            Reply::Timestamp { request: request_timestamp, response: response_timestamp }
        }
        Path::Add => Reply::Sum(read::<AddAnswered>(body)?.sum),
        Path::EchoData | Path::Transfer => Reply::Data(body.clone()),
        Path::EchoRecords => Reply::Records(read(body)?),
        Path::EchoDocument => Reply::Document(read(body)?),
        Path::Image => {
            let ImageAnswered { width, height } = read(body)?;
            Reply::Image { width, height }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator;
    use serde_json::json;

    #[test]
    fn requests_come_as_they_were_sent() {
        let data = Bytes::from_static(b"bytes");
        for request in [
            Request::Identity,
            Request::Timestamp { request: "now".to_owned() },
            Request::Add { a: -3, b: 4 },
            Request::EchoData(data.clone()),
            Request::EchoRecords(generator::records(1, 3)),
            Request::EchoDocument(json!({"a": [1, 2.5, null, "ü\u{0}"]})),
            Request::Image { data: data.clone(), full_decode: true },
            Request::Image { data: data.clone(), full_decode: false },
            Request::Transfer { data, reply_size: 7 },
        ] {
            let path = Path::of(&request).unwrap();
            assert_eq!(Path::named(path.name()), Some(path));
            assert_eq!(PATHS[path as usize].0, path);
            assert_eq!(request_of(path, query_of(&request).as_deref(), body_of_request(&request)), Ok(request));
        }
    }

    #[test]
    fn replies_come_as_they_were_sent() {
        for (path, reply) in [
            (Path::Identity, Reply::Identity("a nonce".to_owned())),
            (Path::Timestamp, Reply::Timestamp { request: "then".to_owned(), response: "now".to_owned() }),
            (Path::Add, Reply::Sum(-1)),
            (Path::EchoData, Reply::Data(Bytes::from_static(b"bytes"))),
            (Path::EchoRecords, Reply::Records(generator::records(1, 3))),
            (Path::EchoDocument, Reply::Document(json!(null))),
            (Path::Image, Reply::Image { width: 3, height: 4 }),
        ] {
            assert_eq!(reply_of(path, &body_of_reply(reply.clone())), Ok(reply));
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for (path, body) in [
            (Path::Add, r#"{"a": "one", "b": 2}"#),
            (Path::Add, r#"{"a": 1.0, "b": 2}"#),
            (Path::Add, "{"),
            (Path::EchoRecords, r#"{"id": 1}"#),
            (Path::Transfer, ""),
        ] {
            assert!(request_of(path, None, Bytes::from(body)).is_err(), "{path:?} {body}");
        }
        assert_eq!(Path::named("/no/such/message"), None);
    }
}
