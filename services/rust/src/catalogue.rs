//! What both programs offer, in `manifest.json`'s words; a test holds the two together.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::net::SocketOptions;

/// A protocol, and this language's one responder and its clients of it.
#[derive(Debug)]
pub struct Protocol {
    pub name: &'static str,
    pub operations: &'static [&'static str],
    pub responder: End,
    /// The first one is the default.
    pub clients: &'static [End],
    pub knobs: &'static [Knob],
}

/// A responder or a client.
#[derive(Debug)]
pub struct End {
    pub name: &'static str,
    pub packages: &'static [&'static str],
    pub settings: &'static [Setting],
    /// Knobs of the protocol that it cannot do.
    pub refuses: &'static [&'static str],
}

/// Its name and its values beside the default; `1..9` stands for the whole numbers from 1 to 9.
type Knob = (&'static str, &'static [&'static str]);
type Setting = (&'static str, &'static str);

const CONGESTION: Knob = ("congestion", &["cubic", "reno", "bbr"]);
const NODELAY: Knob = ("nodelay", &["nagle"]);
const TCP_WINDOW: Knob = ("tcp_window", &["8192..1073741824"]);
const HTTP: Knob = ("http", &["2"]);
const FLOW_WINDOW: Knob = ("flow_window", &["65535..2147483647"]);
const CONNECTIONS: Knob = ("connections", &["1..10000"]);
const TLS: Knob = ("tls", &["tls1.3"]);
const SESSION: Knob = ("session", &["resumed"]);
const ONE_THREAD: Setting = ("event loop", "tokio, one thread");
const NODELAY_IS_ON: Setting = ("TCP_NODELAY", "on");
const JSON: Setting = ("JSON", "compact, by serde_json; records decoded to a struct, documents to a tree of values");
const ONE_CONNECTION: Setting = ("a connection is", "a connection of hyper's own (client::conn), without a pool");
const SHARED: Setting = ("connections: N", "shared, the least used one for the next");
const ONE_PIECE: Setting = ("a request is", "head and body written in one piece, up to 64 KiB");
const MESSAGES: Setting = ("Protocol Buffers", "prost, generated messages");
const CHANNEL: Setting = ("channels", "one with one connection for each request in flight");
const ONE_WRITE: Setting =
    ("a call is", "tonic's client::Grpc on a connection of h2 itself: head and message leave in one write");
const DOCUMENT: Setting = ("document", "google.protobuf.Value, whose numbers are doubles");

pub const PROTOCOLS: [Protocol; 3] = [
    Protocol {
        name: "tcp",
        operations: &["add", "echo", "exchange", "image", "timestamp", "transfer"],
        responder: End {
            name: "rust-tcp",
            packages: &["tokio", "rustls"],
            settings: &[ONE_THREAD, NODELAY_IS_ON],
            refuses: &[],
        },
        clients: &[End {
            name: "rust-tcp",
            packages: &["tokio", "rustls"],
            settings: &[ONE_THREAD, NODELAY_IS_ON],
            refuses: &[],
        }],
        knobs: &[CONGESTION, NODELAY, TCP_WINDOW, TLS, SESSION],
    },
    Protocol {
        name: "rest",
        operations: &["add", "echo", "image", "timestamp", "transfer"],
        responder: End {
            name: "hyper",
            packages: &["hyper", "tokio", "serde_json", "rustls"],
            settings: &[ONE_THREAD, NODELAY_IS_ON, JSON],
            refuses: &[],
        },
        clients: &[
            End {
                name: "hyper",
                packages: &["hyper", "tokio", "serde_json", "rustls"],
                settings: &[ONE_THREAD, NODELAY_IS_ON, JSON, ONE_CONNECTION, SHARED],
                refuses: &[],
            },
            End {
                name: "rust-raw",
                packages: &["httparse", "tokio", "serde_json", "rustls"],
                settings: &[ONE_THREAD, NODELAY_IS_ON, JSON, ONE_PIECE],
                refuses: &["http", "flow_window", "connections"],
            },
        ],
        knobs: &[CONGESTION, NODELAY, TCP_WINDOW, HTTP, FLOW_WINDOW, CONNECTIONS, TLS, SESSION],
    },
    Protocol {
        name: "grpc",
        operations: &["add", "echo", "image", "timestamp", "transfer"],
        responder: End {
            name: "tonic",
            packages: &["tonic", "prost", "hyper", "tokio", "rustls"],
            settings: &[ONE_THREAD, NODELAY_IS_ON, MESSAGES, DOCUMENT],
            refuses: &[],
        },
        clients: &[
            End {
                name: "tonic",
                packages: &["tonic", "prost", "hyper", "tokio", "rustls"],
                settings: &[ONE_THREAD, NODELAY_IS_ON, MESSAGES, DOCUMENT, CHANNEL, SHARED],
                refuses: &[],
            },
            End {
                name: "tonic-h2",
                packages: &["tonic", "prost", "h2", "tokio", "rustls"],
                settings: &[ONE_THREAD, NODELAY_IS_ON, MESSAGES, DOCUMENT, ONE_WRITE, SHARED],
                refuses: &[],
            },
        ],
        knobs: &[CONGESTION, NODELAY, TCP_WINDOW, FLOW_WINDOW, CONNECTIONS, TLS, SESSION],
    },
];

/// The protocol of that name; why there is none otherwise.
pub fn protocol(name: &str) -> Result<&'static Protocol, String> {
    PROTOCOLS
        .iter()
        .find(|protocol| protocol.name == name)
        .ok_or_else(|| format!("the protocol {name:?} is not known here"))
}

/// What the knobs of a line say of connections. None: as the library or the system has it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether both ends are told to speak HTTP/2.
    pub is_http_2: bool,
    /// How many connections carry all requests.
    pub connections: Option<usize>,
    /// HTTP/2's SETTINGS_INITIAL_WINDOW_SIZE.
    pub flow_window: Option<u32>,
    pub sockets: SocketOptions,
}

impl Options {
    /// Of knobs that were not refused.
    pub fn of(knobs: &BTreeMap<String, String>) -> Self {
        let number = |name: &str| knobs.get(name).and_then(|value| value.parse::<u32>().ok());
        Self {
            is_http_2: knobs.get("http").is_some_and(|version| version == "2"),
            connections: number("connections").map(|count| count as usize),
            flow_window: number("flow_window"),
            sockets: SocketOptions {
                congestion: knobs.get("congestion").cloned(),
                is_delayed: knobs.contains_key("nodelay"),
                window: number("tcp_window"),
            },
        }
    }
}

/// Whether a value is among these, or in one of their ranges.
fn is_among(values: &[&str], value: &str) -> bool {
    let is_in = |range: &str| {
        let (least, most) = range.split_once("..")?;
        let number: u64 = value.parse().ok()?;
        let is_within = (least.parse().ok()?..=most.parse().ok()?).contains(&number);
        Some(is_within && number.to_string() == value)
    };
    values.iter().any(|known| *known == value || is_in(known) == Some(true))
}

impl Protocol {
    /// The client of that name; why there is none otherwise.
    pub fn client(&self, name: &str) -> Result<&'static End, String> {
        let names = || self.clients.iter().map(|client| client.name).collect::<Vec<_>>().join(", ");
        self.clients
            .iter()
            .find(|client| client.name == name)
            .ok_or_else(|| format!("{} has no client {name:?}, but {}", self.name, names()))
    }

    /// Why these knobs cannot be, with or without the files of TLS.
    pub fn refuse_knobs(&self, knobs: &BTreeMap<String, String>, has_tls: bool) -> Result<(), String> {
        for (name, value) in knobs {
            let known = self.knobs.iter().find(|(known, _)| known == name);
            if !known.is_some_and(|(_, values)| is_among(values, value)) {
                return Err(format!("{} cannot do the knob {name}: {value}", self.name));
            }
        }
        match (knobs.contains_key("tls"), has_tls) {
            (true, false) => Err("the knob tls needs the files of tls".to_owned()),
            (false, true) => Err("tls is given, and the knob tls does not ask for it".to_owned()),
            (false, false) if knobs.contains_key("session") => Err("the knob session needs the knob tls".to_owned()),
            _ => self.refuse_without_http_2(knobs),
        }
    }

    fn refuse_without_http_2(&self, knobs: &BTreeMap<String, String>) -> Result<(), String> {
        if !self.knobs.contains(&HTTP) || knobs.contains_key("http") {
            return Ok(());
        }
        match ["connections", "flow_window"].iter().find(|name| knobs.contains_key(**name)) {
            None => Ok(()),
            Some(name) => Err(format!("the knob {name} goes with http: 2 alone")),
        }
    }

    /// What ALPN asks for.
    pub fn alpn(&self, knobs: &BTreeMap<String, String>) -> Option<&'static [u8]> {
        match self.name {
            "tcp" => None,
            "rest" if !knobs.contains_key("http") => Some(b"http/1.1"),
            _ => Some(b"h2"),
        }
    }
}

/// Settings as a line tells them.
pub fn settings(of: &[(&str, &str)]) -> Map<String, Value> {
    of.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect()
}

/// The versions of these packages, by the lock file that this was built with.
pub fn versions(packages: &[&str]) -> Map<String, Value> {
    let lock = include_str!("../Cargo.lock");
    let version_of = |package: &str| {
        let (_, behind) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
        Some(behind.split_once('"')?.0.to_owned())
    };
    packages.iter().filter_map(|package| Some(((*package).to_owned(), version_of(package)?.into()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Value {
        serde_json::from_str(include_str!("../manifest.json")).unwrap()
    }

    fn texts(of: &Value) -> Vec<&str> {
        of.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
    }

    #[test]
    fn the_manifest_offers_what_the_programs_do() {
        let manifest = manifest();
        let offered = manifest["protocols"].as_array().unwrap();
        assert_eq!(offered.len(), PROTOCOLS.len());
        for (offered, protocol) in offered.iter().zip(&PROTOCOLS) {
            assert_eq!(offered["name"], protocol.name);
            assert_eq!(texts(&offered["operations"]), protocol.operations);
            assert_eq!(offered["responders"].as_array().unwrap().len(), 1);
            assert_eq!(offered["responders"][0]["name"], protocol.responder.name);
            assert_eq!(offered["clients"].as_array().unwrap().len(), protocol.clients.len());
            for (offered, client) in offered["clients"].as_array().unwrap().iter().zip(protocol.clients) {
                assert_eq!(offered["name"], client.name);
                let refused: Vec<&str> = offered["refuses"].as_object().map_or_else(Vec::new, |told| {
                    told.keys().map(|key| key.split_once(':').map_or(key.as_str(), |(knob, _)| knob)).collect()
                });
                assert_eq!(refused, client.refuses);
            }
            let knobs = offered["knobs"].as_object().unwrap();
            assert_eq!(knobs.len(), protocol.knobs.len());
            for (name, values) in protocol.knobs {
                let default = knobs[*name]["default"].as_str().unwrap();
                let beside: Vec<&str> =
                    texts(&knobs[*name]["values"]).into_iter().filter(|value| *value != default).collect();
                assert_eq!(beside, *values);
            }
        }
    }

    #[test]
    fn the_settings_of_the_manifest_are_told() {
        for (offered, protocol) in manifest()["protocols"].as_array().unwrap().iter().zip(&PROTOCOLS) {
            let clients = protocol.clients.iter().enumerate().map(|(place, client)| ("clients", place, client));
            for (end, place, known) in clients.chain([("responders", 0, &protocol.responder)]) {
                let own = &offered[end][place]["settings"];
                for (key, value) in known.settings {
                    let of_all = &offered["settings"][*key];
                    assert!(own.get(*key).unwrap_or(of_all) == value, "{}: {key}", protocol.name);
                }
            }
        }
    }

    #[test]
    fn packages_have_versions() {
        for protocol in &PROTOCOLS {
            for end in protocol.clients.iter().chain([&protocol.responder]) {
                assert_eq!(versions(end.packages).len(), end.packages.len());
            }
        }
    }

    #[test]
    fn what_is_not_offered_is_refused() {
        let knobs = |all: &[(&str, &str)]| all.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let tcp = protocol("tcp").unwrap();
        assert!(tcp.refuse_knobs(&knobs(&[]), false).is_ok());
        assert!(tcp.refuse_knobs(&knobs(&[("tls", "tls1.3")]), true).is_ok());
        for (told, has_tls) in [
            (knobs(&[("http", "2")]), false),
            (knobs(&[("tls", "tls1.2")]), true),
            (knobs(&[("tls", "tls1.3")]), false),
            (knobs(&[]), true),
            (knobs(&[("session", "resumed")]), false),
        ] {
            assert!(tcp.refuse_knobs(&told, has_tls).is_err(), "{told:?}");
        }
        assert!(protocol("smoke-signals").is_err());
        let rest = protocol("rest").unwrap();
        for (told, is_right) in [
            (knobs(&[("http", "2"), ("connections", "10000")]), true),
            (knobs(&[("http", "2"), ("connections", "0")]), false),
            (knobs(&[("http", "2"), ("connections", "07")]), false),
            (knobs(&[("http", "2"), ("connections", "each")]), false),
            (knobs(&[("connections", "7")]), false),
            (knobs(&[("flow_window", "65535")]), false),
            (knobs(&[("http", "2"), ("flow_window", "65535")]), true),
            (knobs(&[("congestion", "vegas")]), false),
            (knobs(&[("congestion", "reno"), ("tcp_window", "8192"), ("nodelay", "nagle")]), true),
        ] {
            assert_eq!(rest.refuse_knobs(&told, false).is_ok(), is_right, "{told:?}");
        }
    }
}
