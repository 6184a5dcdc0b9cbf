//! For how many rows a trial's record makes room beforehand.

use crate::contract::{Load, Trial};
use crate::generator::nanoseconds;

const ROWS_PER_S: u64 = 60_000; // about what this client asks of a quick responder; the record grows should it not do
const SLACK: u64 = 1_000;

pub fn expected_rows(trial: &Trial) -> u64 {
    let warm = trial.warmup.requests.max(in_time(trial.warmup.at_least_s, ROWS_PER_S));
    rows_of(trial, warm.saturating_add(measured_samples(&trial.load)))
}

/// Of a turn, with its warm-up.
pub fn rows_of_turn(trial: &Trial, warm_up: u64) -> u64 {
    rows_of(trial, warm_up.saturating_add(measured_samples(&trial.load)))
}

fn rows_of(trial: &Trial, samples: u64) -> u64 {
    samples.saturating_mul(if trial.calls > 1 { 1 + trial.calls } else { 1 })
}

fn in_time(seconds: f64, per_second: u64) -> u64 {
    nanoseconds(seconds) / 1_000_000_000 * per_second + per_second
}

fn measured_samples(load: &Load) -> u64 {
    let by_time = load.duration_s.map(|seconds| match load.rate_per_s {
        Some(rate) => (seconds * rate * 1.1) as u64 + SLACK,
        None => in_time(seconds, ROWS_PER_S),
    });
    match (load.requests, by_time) {
        (Some(requests), Some(by_time)) => requests.min(by_time),
        (Some(requests), None) => requests,
        (None, by_time) => by_time.unwrap_or(0),
    }
}
