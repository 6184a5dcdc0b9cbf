//! Messages of `orch.proto` as plain values, and back: both ends read every field (`protos/fields.md`).

use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Value as ProtoValue};
use serde_json::{Map, Number, Value};

use super::generated::{self as pb, echo_reply, echo_request};
use crate::messages::{Record, Reply, Request};

const NO_CONTENT: &str = "an echo carries data, records or a document, and this one nothing";
/// From here on a double has no fraction, and may stand for another whole number than was sent.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

fn packed_record(record: Record) -> pb::Record {
    let Record { id, name, value, active, tags } = record;
    pb::Record { id, name, value, active, tags }
}

fn read_record(record: pb::Record) -> Record {
    let pb::Record { id, name, value, active, tags } = record;
    Record { id, name, value, active, tags }
}

fn packed_records(records: Vec<Record>) -> pb::Records {
    pb::Records { items: records.into_iter().map(packed_record).collect() }
}

fn read_records(records: pb::Records) -> Vec<Record> {
    records.items.into_iter().map(read_record).collect()
}

fn packed_document(value: &Value) -> ProtoValue {
    let kind = match value {
        Value::Null => Kind::NullValue(0),
        Value::Bool(is_so) => Kind::BoolValue(*is_so),
        // Whole numbers beyond 2^53 lose digits here, as whoever sends them so is told before.
        Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => Kind::StringValue(text.clone()),
        Value::Array(items) => Kind::ListValue(ListValue { values: items.iter().map(packed_document).collect() }),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, item)| (key.clone(), packed_document(item))).collect();
            Kind::StructValue(Struct { fields })
        }
    };
    ProtoValue { kind: Some(kind) }
}

fn read_document(value: ProtoValue) -> Result<Value, String> {
    Ok(match value.kind.ok_or("a value of a document is none")? {
        Kind::NullValue(_) => Value::Null,
        Kind::BoolValue(is_so) => is_so.into(),
        Kind::NumberValue(number) => read_number(number)?,
        Kind::StringValue(text) => text.into(),
        Kind::ListValue(items) => {
            Value::Array(items.values.into_iter().map(read_document).collect::<Result<_, String>>()?)
        }
        Kind::StructValue(fields) => {
            let read = |(key, item)| Ok::<_, String>((key, read_document(item)?));
            Value::Object(fields.fields.into_iter().map(read).collect::<Result<Map<_, _>, String>>()?)
        }
    })
}

/// 1 and 1.0 are the same number there, and a whole one here.
fn read_number(number: f64) -> Result<Value, String> {
    if number.fract() == 0.0 && number.abs() <= LARGEST_WHOLE && !(number == 0.0 && number.is_sign_negative()) {
        return Ok((number as i64).into());
    }
    Number::from_f64(number).map(Value::Number).ok_or_else(|| format!("{number} is no number of a document"))
}

/// An echo as it is sent; None of another request.
pub fn packed_echo(request: &Request) -> Option<pb::EchoRequest> {
    let content = match request {
        Request::EchoData(data) => echo_request::Content::Data(data.clone()),
        Request::EchoRecords(records) => echo_request::Content::Records(packed_records(records.clone())),
        Request::EchoDocument(document) => echo_request::Content::Document(packed_document(document)),
        _ => return None,
    };
    Some(pb::EchoRequest { content: Some(content) })
}

/// An echo as it came; why it is none otherwise.
pub fn read_echo(message: pb::EchoRequest) -> Result<Request, String> {
    Ok(match message.content.ok_or(NO_CONTENT)? {
        echo_request::Content::Data(data) => Request::EchoData(data),
        echo_request::Content::Records(records) => Request::EchoRecords(read_records(records)),
        echo_request::Content::Document(document) => Request::EchoDocument(read_document(document)?),
    })
}

/// The reply to an echo as it is sent; None of another reply.
pub fn packed_echo_reply(reply: Reply) -> Option<pb::EchoReply> {
    let content = match reply {
        Reply::Data(data) => echo_reply::Content::Data(data),
        Reply::Records(records) => echo_reply::Content::Records(packed_records(records)),
        Reply::Document(document) => echo_reply::Content::Document(packed_document(&document)),
        _ => return None,
    };
    Some(pb::EchoReply { content: Some(content) })
}

/// The reply to an echo as it came; why it is none otherwise.
pub fn read_echo_reply(message: pb::EchoReply) -> Result<Reply, String> {
    Ok(match message.content.ok_or(NO_CONTENT)? {
        echo_reply::Content::Data(data) => Reply::Data(data),
        echo_reply::Content::Records(records) => Reply::Records(read_records(records)),
        echo_reply::Content::Document(document) => Reply::Document(read_document(document)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator;
    use bytes::Bytes;
    use serde_json::json;

    #[test]
    fn echoes_come_as_they_were_sent() {
        let document = json!({"a": [1, 2.5, null, -7, 1e300, true], "": {"ü": "\u{0}"}, "b": []});
        for (request, reply) in [
            (Request::EchoData(Bytes::from_static(b"bytes")), Reply::Data(Bytes::from_static(b"bytes"))),
            (Request::EchoRecords(generator::records(1, 3)), Reply::Records(generator::records(1, 3))),
            (Request::EchoDocument(document.clone()), Reply::Document(document)),
        ] {
            assert_eq!(read_echo(packed_echo(&request).unwrap()), Ok(request));
            assert_eq!(read_echo_reply(packed_echo_reply(reply.clone()).unwrap()), Ok(reply));
        }
        assert_eq!(packed_echo(&Request::Identity), None);
    }

    #[test]
    fn what_holds_nothing_is_no_echo() {
        assert!(read_echo(pb::EchoRequest { content: None }).is_err());
        assert!(read_document(ProtoValue { kind: None }).is_err());
        assert!(read_document(ProtoValue { kind: Some(Kind::NumberValue(f64::NAN)) }).is_err());
    }
}
