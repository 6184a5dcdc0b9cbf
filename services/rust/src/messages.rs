//! What is asked and answered, in plain values (`protos/http.md`, `protos/fields.md`).

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A structured record, its fields in the order of `protos/payloads.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub id: i64,
    pub name: String,
    pub value: f64,
    pub active: bool,
    pub tags: Vec<String>,
}

/// A request with its fields.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    Identity,
    Timestamp { request: String },
    Add { a: i64, b: i64 },
    EchoData(Bytes),
    EchoRecords(Vec<Record>),
    EchoDocument(Value),
    Image { data: Bytes, full_decode: bool },
    Exchange { data: Bytes, reply_size: u32 },
    Transfer { data: Bytes, reply_size: u32 },
}

/// A reply with its fields.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    Identity(String),
    Timestamp { request: String, response: String },
    Sum(i64),
    Data(Bytes),
    Records(Vec<Record>),
    Document(Value),
    Image { width: u32, height: u32 },
}

/// Texts and bytes of more than this are compared at once, as keeping them costs page faults (`protos/timings.md`).
const LARGE_BYTES: usize = 4096;

impl Reply {
    /// About how many bytes of memory it takes.
    pub fn footprint(&self) -> usize {
        size_of::<Reply>()
            + match self {
                Reply::Identity(text) => text.len(),
                Reply::Timestamp { request, response } => request.len() + response.len(),
                Reply::Sum(_) | Reply::Image { .. } => 0,
                Reply::Data(data) => data.len(),
                Reply::Records(records) => records.iter().map(footprint_of_record).sum(),
                Reply::Document(document) => footprint_of_value(document),
            }
    }

    /// Whether a text or a string of bytes of more than 4 KiB stands in it.
    pub fn has_large_buffer(&self) -> bool {
        match self {
            Reply::Data(data) => data.len() > LARGE_BYTES,
            Reply::Records(records) => records.iter().any(|record| record.name.len() > LARGE_BYTES),
            Reply::Document(document) => has_long_text(document),
            Reply::Identity(text) => text.len() > LARGE_BYTES,
            Reply::Timestamp { .. } | Reply::Sum(_) | Reply::Image { .. } => false,
        }
    }
}

const ALLOCATION_BYTES: usize = 16;

fn footprint_of_record(record: &Record) -> usize {
    let tags: usize = record.tags.iter().map(|tag| size_of::<String>() + tag.len() + ALLOCATION_BYTES).sum();
    size_of::<Record>() + record.name.len() + 2 * ALLOCATION_BYTES + tags
}

fn footprint_of_value(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::String(text) => text.len() + ALLOCATION_BYTES,
            Value::Array(items) => items.iter().map(footprint_of_value).sum(),
            Value::Object(fields) => {
                fields.iter().map(|(key, item)| key.len() + 4 * ALLOCATION_BYTES + footprint_of_value(item)).sum()
            }
            _ => 0,
        }
}

fn has_long_text(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() > LARGE_BYTES,
        Value::Array(items) => items.iter().any(has_long_text),
        Value::Object(fields) => fields.values().any(has_long_text),
        _ => false,
    }
}
