//! Counts the source of both ends for the scorecard: run in this folder, it writes `lines.json`
//! (`protos/schemas/source-lines.json`).
//!
//! An end consists of the modules of its protocol, of the connections that carry it, and of the messages that it turns into
//! bytes. What all ends have alike (contract, load, operations, probes, both programs) is left out.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use serde_json::json;

/// An end: its name, and its modules below `src/`.
type End = (&'static str, &'static [&'static str]);

/// Each protocol, the end that answers, and the ends that ask.
const ENDS: [(&str, End, &[End]); 3] = [
    (
        "tcp",
        (
            "rust-tcp",
            &["messages.rs", "net/listen.rs", "net/stream.rs", "net/tls.rs", "tcp/frames.rs", "tcp/server.rs"],
        ),
        &[(
            "rust-tcp",
            &["messages.rs", "net/dial.rs", "net/stream.rs", "net/tls.rs", "tcp/client.rs", "tcp/frames.rs"],
        )],
    ),
    (
        "rest",
        ("hyper", &["messages.rs", "net/listen.rs", "net/stream.rs", "net/tls.rs", "rest/bodies.rs", "rest/server.rs"]),
        &[
            (
                "hyper",
                &["messages.rs", "net/dial.rs", "net/stream.rs", "net/tls.rs", "rest/bodies.rs", "rest/client.rs"],
            ),
            (
                "rust-raw",
                &["messages.rs", "net/dial.rs", "net/stream.rs", "net/tls.rs", "rest/bodies.rs", "rest/raw.rs"],
            ),
        ],
    ),
    (
        "grpc",
        (
            "tonic",
            &[
                "grpc/generated.rs",
                "grpc/server.rs",
                "grpc/values.rs",
                "messages.rs",
                "net/listen.rs",
                "net/stream.rs",
                "net/tls.rs",
            ],
        ),
        &[
            (
                "tonic",
                &[
                    "grpc/asking.rs",
                    "grpc/client.rs",
                    "grpc/codec.rs",
                    "grpc/generated.rs",
                    "grpc/values.rs",
                    "messages.rs",
                    "net/dial.rs",
                    "net/stream.rs",
                    "net/tls.rs",
                ],
            ),
            (
                "tonic-h2",
                &[
                    "grpc/asking.rs",
                    "grpc/direct.rs",
                    "grpc/codec.rs",
                    "grpc/generated.rs",
                    "grpc/values.rs",
                    "messages.rs",
                    "net/dial.rs",
                    "net/stream.rs",
                    "net/tls.rs",
                ],
            ),
        ],
    ),
];

/// Written by a program.
const GENERATED: [&str; 1] = ["grpc/generated.rs"];

fn main() -> io::Result<()> {
    let mut files = BTreeMap::new();
    let mut protocols = serde_json::Map::new();
    for (protocol, (responder, answering), clients) in ENDS {
        let mut named = |modules: &[&str]| -> io::Result<Vec<String>> {
            let mut names = Vec::new();
            for module in modules {
                let content = fs::read_to_string(format!("src/{module}"))?;
                let name = format!("services/rust/src/{module}");
                files.insert(name.clone(), lines_of(&content));
                names.push(name);
            }
            Ok(names)
        };
        let mut asking = BTreeMap::new();
        for (client, modules) in clients {
            asking.insert(*client, named(modules)?);
        }
        let ends = json!({"responders": {responder: named(answering)?}, "clients": asking});
        protocols.insert(protocol.to_owned(), ends);
    }
    let generated = GENERATED.map(|module| format!("services/rust/src/{module}"));
    let told = json!({"lines": 1, "language": "rust", "files": files, "generated": generated, "protocols": protocols});
    fs::write("lines.json", format!("{told:#}\n"))
}

/// Lines of code: no blank lines, no comments, and not the tests at a module's end.
fn lines_of(content: &str) -> usize {
    content
        .lines()
        .take_while(|line| *line != "#[cfg(test)]")
        .map(str::trim_start)
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .count()
}

#[cfg(test)]
mod tests {
    use super::lines_of;

    #[test]
    fn blank_lines_comments_and_tests_are_left_out() {
        assert_eq!(
            lines_of("//! What it is.\n\nfn one() {\n    // why\n    two(); // how\n}\n\n#[cfg(test)]\nmod tests {}\n"),
            3
        );
    }
}
