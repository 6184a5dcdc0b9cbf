//! Reads a line strictly: what the contract does not allow is refused in one sentence that names the key.

use std::io::{BufRead, Read};

use serde::de::DeserializeOwned;
use serde_json::{Deserializer, Value};

use super::VERSION;
use super::lines::{Load, Payload, Serve, Trial};

const LONGEST_LINE: usize = 1 << 20; // bytes, without its end
const LARGEST_NUMBER: u64 = (1 << 53) - 1;
const LATEST_NS: u64 = 1 << 62;
const LONGEST_SHOWN: usize = 80;
const LONGEST_S: f64 = 1e6;

/// The first line of stdin, or all there is; why it can be no line otherwise.
pub fn first_line() -> Result<String, String> {
    let mut line = Vec::new();
    let mut stdin = std::io::stdin().lock().take(LONGEST_LINE as u64 + 1);
    stdin.read_until(b'\n', &mut line).map_err(|error| format!("stdin: {error}"))?;
    if line.len() > LONGEST_LINE && line.last() != Some(&b'\n') {
        return Err("the line has more than 1 MiB".to_owned());
    }
    String::from_utf8(line).map_err(|_| "the line is not UTF-8".to_owned())
}

/// A *serve* line; why it is none otherwise.
pub fn read_serve(text: &str) -> Result<Serve, String> {
    read(text, "serve", "responder")
}

/// A *trial* line; why it is none otherwise.
pub fn read_trial(text: &str) -> Result<Trial, String> {
    let trial: Trial = read(text, "trial", "requester")?;
    within("seed", trial.seed, 0, LARGEST_NUMBER)?;
    within("calls", trial.calls, 1, 1000)?;
    within("start_at_unix_ns", trial.start_at_unix_ns.unwrap_or(0), 0, LATEST_NS)?;
    within("turn_warm_up", trial.turn_warm_up.unwrap_or(0), 0, LARGEST_NUMBER)?;
    seconds("timeout_s", trial.timeout_s)?;
    seconds("warmup.at_least_s", trial.warmup.at_least_s)?;
    seconds("warmup.at_most_s", trial.warmup.at_most_s)?;
    within("warmup.requests", trial.warmup.requests, 0, LARGEST_NUMBER)?;
    check_payload("payload", &trial.payload)?;
    check_load(&trial.load)?;
    for mixed in &trial.mix {
        within("mix.weight", mixed.weight, 1, 1_000_000)?;
        check_payload("mix.payload", &mixed.payload)?;
    }
    Ok(trial)
}

fn check_payload(at: &str, payload: &Payload) -> Result<(), String> {
    for (key, value) in [
        ("size", payload.size),
        ("reply_size", payload.reply_size),
        ("count", payload.count),
        ("opening", payload.opening),
    ] {
        within(&format!("{at}.{key}"), value, 0, LARGEST_NUMBER)?;
    }
    between(&format!("{at}.per_second"), payload.per_second, 1e9)
}

fn check_load(load: &Load) -> Result<(), String> {
    within("load.concurrency", load.concurrency, 0, LARGEST_NUMBER)?;
    within("load.requests", load.requests.unwrap_or(0), 0, LARGEST_NUMBER)?;
    seconds("load.duration_s", load.duration_s.unwrap_or(0.0))?;
    between("load.rate_per_s", load.rate_per_s.unwrap_or(0.0), 1e9)?;
    seconds("load.think_s", load.think_s)
}

fn within(key: &str, value: u64, least: u64, most: u64) -> Result<(), String> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(format!("the key {key} must be from {least} to {most}, not {value}"))
}

fn seconds(key: &str, value: f64) -> Result<(), String> {
    between(key, value, LONGEST_S)
}

fn between(key: &str, value: f64, most: f64) -> Result<(), String> {
    if (0.0..=most).contains(&value) {
        return Ok(());
    }
    Err(format!("the key {key} must be from 0 to {most}, not {value}"))
}

fn read<T: DeserializeOwned>(text: &str, kind: &str, reader: &str) -> Result<T, String> {
    if text.trim().is_empty() {
        return Err("stdin ended before a line came".to_owned());
    }
    let line: Value = serde_json::from_str(text).map_err(|error| format!("a line is one JSON object: {error}"))?;
    let Value::Object(fields) = &line else {
        return Err(format!("a line is one JSON object, not {}", shown(&line)));
    };
    let is_of_kind = fields.get("type").is_some_and(|found| found == kind);
    match fields.get("contract") {
        Some(Value::Number(said)) if said.as_i64() == Some(VERSION) => {}
        None | Some(Value::Null) if !is_of_kind => {}
        None | Some(Value::Null) => {
            return Err(format!("this {reader} speaks contract {VERSION}; the orchestrator does not say which"));
        }
        Some(said) => {
            return Err(format!("this {reader} speaks contract {VERSION}; the orchestrator speaks {}", shown(said)));
        }
    }
    if !is_of_kind {
        let found = fields.get("type").unwrap_or(&Value::Null);
        return Err(format!("the orchestrator's line has type {}; known here: {kind}", shown(found)));
    }
    let mut deserializer = Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let (path, why) = (error.path().to_string(), error.inner());
        let at = if path == "." { String::new() } else { format!("{path}: ") };
        format!("the orchestrator's line `{kind}` is not of the contract: {at}{why}")
    })
}

fn shown(value: &Value) -> String {
    value.to_string().chars().take(LONGEST_SHOWN).collect()
}

/// From which moment of the wall clock on a line of stdin lets a requester measure, in Unix nanoseconds (0: at once).
///
/// None for a line that says something else.
pub fn moment_of(line: &str) -> Option<u64> {
    if line == "measure" {
        return Some(0);
    }
    let moment = line.strip_prefix("measure ")?;
    if moment.is_empty() || !moment.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    moment.parse().ok().filter(|ns| *ns <= LATEST_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIAL: &str = r#"{"type": "trial", "contract": 2, "protocol": "tcp", "client": "rust-tcp",
        "operation": "add", "record": "r""#;

    fn trial(more: &str) -> Result<Trial, String> {
        read_trial(&format!("{TRIAL}{more}}}"))
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let read = trial("").unwrap();
        assert_eq!((read.calls, read.load.concurrency, read.warmup.requests), (1, 1, 500));
        assert_eq!((read.timeout_s, read.payload.opening), (30.0, 1));
    }

    #[test]
    fn what_is_not_of_the_contract_is_refused_by_its_key() {
        for (more, named) in [
            (r#", "colour": "red""#, "colour"),
            (r#", "seed": 1.0"#, "seed"),
            (r#", "seed": true"#, "seed"),
            (r#", "seed": -1"#, "seed"),
            (r#", "seed": 9007199254740992"#, "seed"),
            (r#", "calls": 0"#, "calls"),
            (r#", "protocol": "tcp""#, "protocol"),
            (r#", "load": {"rate_per_s": 2e9}"#, "rate_per_s"),
            (r#", "load": {"colour": 1}"#, "colour"),
            (r#", "knobs": {"http": "2", "http": "2"}"#, "http"),
            (r#", "timeout_s": 1e999"#, ""),
        ] {
            let refusal = trial(more).unwrap_err();
            assert!(refusal.contains(named), "{more}: {refusal}");
        }
    }

    #[test]
    fn another_version_is_refused_before_anything_else() {
        let refusal = read_trial(r#"{"type": "trial", "contract": 99, "what": 1}"#).unwrap_err();
        assert!(refusal.contains("99") && refusal.contains('2'), "{refusal}");
    }

    #[test]
    fn only_a_moment_lets_measure() {
        assert_eq!(moment_of("measure"), Some(0));
        assert_eq!(moment_of("measure 1700000000000000000"), Some(1_700_000_000_000_000_000));
        for other in ["measure soon", "measure ", "measure +1", "stats", "measure 99999999999999999999"] {
            assert_eq!(moment_of(other), None, "{other}");
        }
    }
}
