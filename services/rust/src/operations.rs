//! What is asked, what it is answered with, and whether an answer is right.

use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::contract::{Payload, PayloadKind};
use crate::generator;
use crate::messages::{Reply, Request};
use crate::net::hex;
use crate::picture;

const LARGEST_BODY: u64 = 256 << 20;
const LARGEST_TRANSFER: u64 = 64 << 20;
const MOST_RECORDS: u64 = 1 << 20;
const STAMP_CHARACTERS: usize = 32;
const LONGEST_SHOWN: usize = 120;

/// Every operation that some protocol here carries.
pub const NAMES: [&str; 6] = ["timestamp", "add", "echo", "image", "exchange", "transfer"];

/// Makes the request of each sequence number of a trial.
#[derive(Debug)]
pub enum Maker {
    Timestamp,
    Add(Vec<(i64, i64)>),
    /// The same each time. `size` is what the reply to a picture must say.
    Same(Rc<Asked>),
    Exchange {
        longest: Bytes,
        size: usize,
        reply_size: usize,
        opening: usize,
        usual: Rc<Asked>,
    },
}

/// A request, and what its reply must be where that is not seen from the request.
#[derive(Debug)]
pub struct Asked {
    pub request: Request,
    pub size: Option<(u32, u32)>,
}

impl Asked {
    fn plain(request: Request) -> Rc<Self> {
        Rc::new(Self { request, size: None })
    }
}

impl Maker {
    /// Why operation and payload do not go together otherwise.
    pub fn new(operation: &str, payload: &Payload, seed: u64) -> Result<Self, String> {
        let same = |request| Ok(Maker::Same(Asked::plain(request)));
        match (operation, payload.kind) {
            ("timestamp", PayloadKind::None) => Ok(Maker::Timestamp),
            ("add", PayloadKind::None) => Ok(Maker::Add(generator::pairs(seed))),
            ("echo", PayloadKind::Bytes) => {
                let size = at_most("size", payload.size, LARGEST_BODY)?;
                same(Request::EchoData(generator::stream(&format!("bytes/{seed}"), size).into()))
            }
            ("echo", PayloadKind::Records) => {
                let count = at_most("count", payload.count, MOST_RECORDS)?;
                same(Request::EchoRecords(generator::records(seed, count)))
            }
            ("echo", PayloadKind::Json) => same(Request::EchoDocument(document(payload)?)),
            ("image", PayloadKind::Image) => {
                let (data, full_decode) = (Bytes::from(file(payload)?), payload.full_decode);
                let size = picture::size_of(&data, full_decode)
                    .map_err(|why| format!("image: {}: {why}", payload.path.as_deref().unwrap_or("")))?;
                let request = Request::Image { data, full_decode };
                Ok(Maker::Same(Rc::new(Asked { request, size: Some(size) })))
            }
            ("transfer", PayloadKind::Transfer) => {
                let size = at_most("size", payload.size, LARGEST_TRANSFER)?;
                let reply_size = at_most("reply_size", payload.reply_size, LARGEST_TRANSFER)? as u32;
                same(Request::Transfer { data: generator::REQUEST.first(size), reply_size })
            }
            ("exchange", PayloadKind::Exchange) => exchange(payload, seed),
            (name, kind) if NAMES.contains(&name) => {
                Err(format!("{name} does not carry a payload of kind {}", format!("{kind:?}").to_lowercase()))
            }
            (name, _) => Err(format!("there is no operation {name:?}")),
        }
    }

    /// The request of a sequence number.
    pub fn make(&self, sequence: u64) -> Rc<Asked> {
        match self {
            Maker::Timestamp => Asked::plain(Request::Timestamp { request: stamp() }),
            Maker::Add(pairs) => {
                let (a, b) = pairs[generator::place_of_pair(sequence)];
                Asked::plain(Request::Add { a, b })
            }
            Maker::Same(asked) => Rc::clone(asked),
            Maker::Exchange { longest, size, reply_size, opening, usual } => {
                if sequence != 2 {
                    return Rc::clone(usual);
                }
                let data = longest.slice(..size * opening);
                Asked::plain(Request::Exchange { data, reply_size: (reply_size * opening) as u32 })
            }
        }
    }
}

fn at_most(key: &str, value: u64, most: u64) -> Result<usize, String> {
    if value > most {
        return Err(format!("payload: a {key} of at most {most}, not {value}"));
    }
    Ok(value as usize)
}

fn exchange(payload: &Payload, seed: u64) -> Result<Maker, String> {
    let times = payload.opening.max(1);
    at_most("size", payload.size.saturating_mul(times), LARGEST_BODY)?;
    at_most("reply_size", payload.reply_size.saturating_mul(times), LARGEST_BODY)?;
    let (size, reply_size, opening) = (payload.size as usize, payload.reply_size as usize, payload.opening as usize);
    let longest = Bytes::from(generator::stream(&format!("bytes/{seed}"), size * times as usize));
    let usual = Asked::plain(Request::Exchange { data: longest.slice(..size), reply_size: reply_size as u32 });
    Ok(Maker::Exchange { longest, size, reply_size, opening, usual })
}

fn file(payload: &Payload) -> Result<Vec<u8>, String> {
    let path = payload.path.as_deref().unwrap_or("");
    let wanted = payload.sha256.as_deref().unwrap_or("");
    let content = std::fs::read(path).map_err(|error| format!("payload: {path}: {error}"))?;
    if hex(&Sha256::digest(&content)) != wanted {
        return Err(format!("payload: {path} is not the file whose SHA-256 is {wanted:?}"));
    }
    Ok(content)
}

fn document(payload: &Payload) -> Result<Value, String> {
    let path = payload.path.as_deref().unwrap_or("");
    let text = String::from_utf8(file(payload)?).map_err(|error| format!("payload: {path}: {error}"))?;
    let value = serde_json::from_str(&text).map_err(|error| format!("payload: {path} is not JSON: {error}"))?;
    match beyond_64_bits(&text) {
        None => Ok(value),
        Some(number) => Err(format!("payload: {path}: {number} has more than 64 bits, which serde_json does not keep")),
    }
}

/// A whole number of a JSON text that no integer of 64 bits holds.
fn beyond_64_bits(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        rest = &rest[at..];
        let end = if rest.starts_with('"') {
            end_of_string(rest)
        } else {
            let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
            let end = rest.find(|c| !is_of_number(c)).unwrap_or(rest.len());
            let number = &rest[..end];
            let is_whole = !number.contains(['.', 'e', 'E']);
            if is_whole && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
                return Some(number);
            }
            end
        };
        rest = &rest[end..];
    }
    None
}

fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !is_escaped => return at + 1,
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

/// The reply to a request; why there is none otherwise.
pub fn answer(request: Request, identity: &str) -> Result<Reply, String> {
    match request {
        Request::Identity => Ok(Reply::Identity(identity.to_owned())),
        Request::Timestamp { request } => Ok(Reply::Timestamp { request, response: stamp() }),
        Request::Add { a, b } => a.checked_add(b).map(Reply::Sum).ok_or_else(|| format!("{a} + {b} has 65 bits")),
        Request::EchoData(data) => Ok(Reply::Data(data)),
        Request::EchoRecords(records) => Ok(Reply::Records(records)),
        Request::EchoDocument(document) => Ok(Reply::Document(document)),
        Request::Image { data, full_decode } => {
            picture::size_of(&data, full_decode).map(|(width, height)| Reply::Image { width, height })
        }
        Request::Exchange { reply_size, .. } => known_reply(reply_size, LARGEST_BODY),
        Request::Transfer { data, reply_size } => {
            at_most("size", data.len() as u64, LARGEST_TRANSFER)?;
            if data != generator::REQUEST.first(data.len()) {
                return Err("transfer: these are not the bytes that a transfer sends".to_owned());
            }
            known_reply(reply_size, LARGEST_TRANSFER)
        }
    }
}

fn known_reply(size: u32, most: u64) -> Result<Reply, String> {
    Ok(Reply::Data(generator::REPLY.first(at_most("reply_size", u64::from(size), most)?)))
}

/// Why this is not the right reply to a request; None where it is.
pub fn fault(asked: &Asked, reply: &Reply) -> Option<String> {
    let is_right = match (&asked.request, reply) {
        (Request::Timestamp { request }, Reply::Timestamp { request: came, response }) => {
            request == came && is_stamp(response)
        }
        (Request::Add { a, b }, Reply::Sum(sum)) => a.checked_add(*b) == Some(*sum),
        (Request::EchoData(sent), Reply::Data(came)) => sent == came,
        (Request::EchoRecords(sent), Reply::Records(came)) => sent == came,
        (Request::EchoDocument(sent), Reply::Document(came)) => is_same_document(sent, came),
        (Request::Image { .. }, Reply::Image { width, height }) => asked.size == Some((*width, *height)),
        (Request::Exchange { reply_size, .. } | Request::Transfer { reply_size, .. }, Reply::Data(came)) => {
            *came == generator::REPLY.first(*reply_size as usize)
        }
        _ => false,
    };
    if is_right { None } else { Some(format!("not the right value: {}", shown(reply))) }
}

fn shown(reply: &Reply) -> String {
    format!("{reply:?}").chars().take(LONGEST_SHOWN).collect()
}

/// Whether a document came back: a whole number and another one of the same value are one, as some formats have doubles alone.
fn is_same_document(sent: &Value, came: &Value) -> bool {
    match (sent, came) {
        (Value::Number(one), Value::Number(other)) => {
            one == other
                || one.as_f64() == other.as_f64() && {
                    // Of two integers each bit counts.
                    one.is_f64() || other.is_f64()
                }
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same_document(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|came| is_same_document(value, came)))
        }
        _ => sent == came,
    }
}

/// The wall clock: ISO 8601 in UTC with six digits of the second, cut and not rounded.
pub fn stamp() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    stamp_of(since.as_secs(), since.subsec_micros())
}

fn stamp_of(seconds: u64, micros: u32) -> String {
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let digits = |text: &mut [u8; STAMP_CHARACTERS], at: usize, count: usize, mut value: u64| {
        for place in (at..at + count).rev() {
            text[place] = b'0' + (value % 10) as u8;
            value /= 10;
        }
    };
    let mut text = *b"0000-00-00T00:00:00.000000+00:00";
    digits(&mut text, 0, 4, year);
    digits(&mut text, 5, 2, month);
    digits(&mut text, 8, 2, day);
    digits(&mut text, 11, 2, of_day / 3600);
    digits(&mut text, 14, 2, of_day / 60 % 60);
    digits(&mut text, 17, 2, of_day % 60);
    digits(&mut text, 20, 6, u64::from(micros));
    text.iter().copied().map(char::from).collect()
}

/// Year, month and day of a number of days since 1970, by the Gregorian calendar.
///
/// Counted in years that begin in March, so that the leap day is the last of its year.
fn civil(days: u64) -> (u64, u64, u64) {
    const ERA_DAYS: u64 = 146_097; // of 400 years
    const UNTIL_1970: u64 = 719_468; // from 1 March of the year 0
    let since = days + UNTIL_1970;
    let (era, day) = (since / ERA_DAYS, since % ERA_DAYS);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (of_month, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    (400 * era + year + u64::from(month <= 2), month, of_month)
}

/// Whether a text has the form of a stamp.
fn is_stamp(text: &str) -> bool {
    const FORM: &[u8] = b"dddd-dd-ddTdd:dd:dd.dddddd+00:00";
    let text = text.as_bytes();
    text.len() == FORM.len()
        && text.iter().zip(FORM).all(|(byte, form)| if *form == b'd' { byte.is_ascii_digit() } else { byte == form })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_iso_8601_in_utc() {
        assert_eq!(stamp_of(0, 0), "1970-01-01T00:00:00.000000+00:00");
        assert_eq!(stamp_of(951_782_399, 999_999), "2000-02-28T23:59:59.999999+00:00");
        assert_eq!(stamp_of(951_868_800, 1), "2000-03-01T00:00:00.000001+00:00");
        assert_eq!(stamp_of(1_709_164_800, 123_456), "2024-02-29T00:00:00.123456+00:00");
        assert_eq!(stamp_of(4_102_444_799, 0), "2099-12-31T23:59:59.000000+00:00");
        assert!(is_stamp(&stamp()));
        assert!(!is_stamp("2024-02-29T00:00:00.12345+00:00") && !is_stamp("2024-02-29 00:00:00.123456+00:00"));
    }

    #[test]
    fn whole_numbers_of_more_than_64_bits_are_found_outside_of_texts_alone() {
        assert_eq!(beyond_64_bits(r#"{"a": "99999999999999999999\"1", "b": [18446744073709551615, -3, 1e40]}"#), None);
        assert_eq!(beyond_64_bits(r#"["\\", 18446744073709551616]"#), Some("18446744073709551616"));
    }

    #[test]
    fn a_document_is_the_same_by_value_and_every_bit_of_an_integer_counts() {
        let of = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert!(is_same_document(&of(r#"{"a": 1, "b": [true]}"#), &of(r#"{"b": [true], "a": 1.0}"#)));
        assert!(!is_same_document(&of("9007199254740993"), &of("9007199254740992")));
        assert!(!is_same_document(&of("[1]"), &of("[true]")));
        assert!(!is_same_document(&of(r#"{"a": 1}"#), &of(r#"{"a": 1, "b": 1}"#)));
    }

    #[test]
    fn other_bytes_than_those_of_a_transfer_are_refused() {
        let transfer = |data: &'static [u8]| Request::Transfer { data: Bytes::from_static(data), reply_size: 1 };
        assert!(answer(transfer(b"other bytes"), "").is_err());
        assert_eq!(answer(transfer(b"\xc1"), ""), Ok(Reply::Data(Bytes::from_static(b"\xf0"))));
    }

    #[test]
    fn a_wrong_reply_is_told() {
        let asked = Asked::plain(Request::Add { a: 1, b: 2 });
        assert_eq!(fault(&asked, &Reply::Sum(3)), None);
        assert!(fault(&asked, &Reply::Sum(4)).is_some());
        assert!(fault(&asked, &Reply::Data(Bytes::new())).is_some());
    }
}
