//! What is read on stdin, as `protos/schemas/serve.json` and `protos/schemas/trial.json` have it.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

/// What a responder answers, and where.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Serve {
    #[serde(rename = "type")]
    pub kind: String,
    pub contract: i64,
    pub protocol: String,
    pub identity: String,
    #[serde(default)]
    pub implementation: Option<String>,
    #[serde(default = "loopback")]
    pub host: String,
    #[serde(default)]
    pub port: u16,
    #[serde(default, deserialize_with = "texts")]
    pub knobs: BTreeMap<String, String>,
    #[serde(default)]
    pub schema: Option<Schema>,
    #[serde(default)]
    pub operations: Vec<String>,
    #[serde(default, deserialize_with = "texts_or_null")]
    pub resources: BTreeMap<String, String>,
    #[serde(default)]
    pub tls: Option<Tls>,
}

fn loopback() -> String {
    "127.0.0.1".to_owned()
}

/// Of the message that a JSON document travels as.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    pub path: String,
    pub sha256: String,
}

/// A responder's certificate with its chain, and its key: paths of PEM files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    pub certificate: String,
    pub key: String,
}

/// One trial.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    #[serde(rename = "type")]
    pub kind: String,
    pub contract: i64,
    pub protocol: String,
    pub client: String,
    pub operation: String,
    pub record: String,
    #[serde(default)]
    pub target: Option<Target>,
    #[serde(default)]
    pub payload: Payload,
    #[serde(default)]
    pub connection: Connection,
    #[serde(default)]
    pub load: Load,
    #[serde(default)]
    pub warmup: Warmup,
    #[serde(default = "half_a_minute")]
    pub timeout_s: f64,
    #[serde(default)]
    pub seed: u64,
    #[serde(default = "one")]
    pub calls: u64,
    #[serde(default)]
    pub start_at_unix_ns: Option<u64>,
    #[serde(default)]
    pub hold: bool,
    #[serde(default)]
    pub turn_warm_up: Option<u64>,
    #[serde(default, deserialize_with = "texts")]
    pub knobs: BTreeMap<String, String>,
    #[serde(default)]
    pub schema: Option<Schema>,
    #[serde(default)]
    pub tls: Option<Authority>,
    #[serde(default)]
    pub mix: Vec<Mixed>,
}

fn half_a_minute() -> f64 {
    30.0
}

fn one() -> u64 {
    1
}

/// Where to ask, and who should answer there.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub host: String,
    pub port: u16,
    #[serde(default)]
    pub identity: Option<String>,
    #[serde(default)]
    pub anonymous: bool,
}

impl Target {
    /// Host and port as an address of HTTP has them: an IPv6 address stands in brackets.
    #[must_use]
    pub fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

/// Who vouches for the responder's certificate: a PEM file, and its SHA-256.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Authority {
    pub path: String,
    pub sha256: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Connection {
    #[default]
    Reuse,
    PerRequest,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PayloadKind {
    #[default]
    None,
    Bytes,
    Records,
    Json,
    Image,
    Events,
    Exchange,
    Transfer,
    Evolution,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payload {
    #[serde(default)]
    pub kind: PayloadKind,
    #[serde(default)]
    pub size: u64,
    #[serde(default)]
    pub reply_size: u64,
    #[serde(default)]
    pub count: u64,
    #[serde(default)]
    pub per_second: f64,
    #[serde(default)]
    pub path: Option<String>,
    #[serde(default)]
    pub sha256: Option<String>,
    #[serde(default)]
    pub full_decode: bool,
    #[serde(default = "one")]
    pub opening: u64,
    #[serde(default)]
    pub schema_change: SchemaChange,
}

impl Default for Payload {
    fn default() -> Self {
        Self {
            kind: PayloadKind::None,
            size: 0,
            reply_size: 0,
            count: 0,
            per_second: 0.0,
            path: None,
            sha256: None,
            full_decode: false,
            opening: 1,
            schema_change: SchemaChange::None,
        }
    }
}

/// Of an evolution, which no end here codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchemaChange {
    #[default]
    None,
    Added,
    Removed,
    Renamed,
    RenamedWithoutAlias,
    Renumbered,
    Widened,
    Retyped,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    #[default]
    Poisson,
    Uniform,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Thinking {
    #[default]
    Constant,
    Exponential,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    #[serde(default = "one")]
    pub concurrency: u64,
    #[serde(default)]
    pub requests: Option<u64>,
    #[serde(default)]
    pub duration_s: Option<f64>,
    #[serde(default)]
    pub rate_per_s: Option<f64>,
    #[serde(default)]
    pub arrivals: Arrivals,
    #[serde(default)]
    pub think_s: f64,
    #[serde(default)]
    pub thinking: Thinking,
}

impl Default for Load {
    fn default() -> Self {
        Self {
            concurrency: 1,
            requests: None,
            duration_s: None,
            rate_per_s: None,
            arrivals: Arrivals::Poisson,
            think_s: 0.0,
            thinking: Thinking::Constant,
        }
    }
}

/// One operation of a mix.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mixed {
    pub operation: String,
    pub weight: u64,
    #[serde(default)]
    pub payload: Payload,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Warmup {
    #[serde(default = "half_a_thousand")]
    pub requests: u64,
    #[serde(default = "two")]
    pub at_least_s: f64,
    #[serde(default = "one_minute")]
    pub at_most_s: f64,
}

fn half_a_thousand() -> u64 {
    500
}

fn two() -> f64 {
    2.0
}

fn one_minute() -> f64 {
    60.0
}

impl Default for Warmup {
    fn default() -> Self {
        Self { requests: 500, at_least_s: 2.0, at_most_s: 60.0 }
    }
}

/// A JSON object of texts in which no key occurs twice.
fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    struct Texts;

    impl<'de> Visitor<'de> for Texts {
        type Value = BTreeMap<String, String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object of texts")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = BTreeMap::new();
            while let Some((key, value)) = map.next_entry::<String, String>()? {
                if let Some(_twice) = found.insert(key.clone(), value) {
                    return Err(A::Error::custom(format!("the key {key:?} occurs twice")));
                }
            }
            Ok(found)
        }
    }

    deserializer.deserialize_map(Texts)
}

/// The same, or null for none.
fn texts_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    #[derive(Deserialize)]
    struct Given(#[serde(deserialize_with = "texts")] BTreeMap<String, String>);

    Ok(Option::<Given>::deserialize(deserializer)?.map_or_else(BTreeMap::new, |given| given.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_address_stands_in_brackets() {
        for (host, wanted) in [("example.org", "example.org:80"), ("10.0.0.1", "10.0.0.1:80"), ("::1", "[::1]:80")] {
            let target = Target { host: host.to_owned(), port: 80, identity: None, anonymous: false };
            assert_eq!(target.authority(), wanted);
        }
    }
}
