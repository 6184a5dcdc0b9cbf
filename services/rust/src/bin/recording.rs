//! What it costs to record a sample: prints one line of JSON with the nanoseconds of each round, and ends.
//!
//! `rows`: two readings of the clock, and the row in the mapped file. `books`: these, and all that a requester does of a right
//! reply until it makes its next request, with one request in flight and with several: its reply is compared, and counted. A
//! round's length in samples, and how many rounds, may be given.

use std::time::Instant;

use orch_rust::load::{Filler, ROUND, Rows};
use orch_rust::probes::system::monotonic_ns;
use serde_json::{Value, json};

fn main() {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a whole number"));
    let (samples, rounds) = (numbers.next().unwrap_or(ROUND), numbers.next().unwrap_or(10));
    let folder = std::env::temp_dir().join(format!("orch-recording-{}", std::process::id()));
    let path = folder.to_str().expect("a temporary folder's path is a text");
    let books = |has_several| {
        each(samples, rounds, || {
            let mut filler = Filler::new(path, samples, has_several).expect("the record can be made");
            move || filler.fill(samples)
        })
    };
    let rows = each(samples, rounds, || {
        let mut rows = Rows::new(path, samples).expect("the record can be made");
        move || rows.fill(samples)
    });
    let clock = each(samples, rounds, || {
        move || {
            for _ in 0..samples {
                std::hint::black_box(monotonic_ns());
            }
        }
    });
    let told = json!({
        "language": "rust",
        "samples": samples,
        "clock": clock,
        "rows": rows,
        "books": {"1": books(false), "several": books(true)},
    });
    let _ = std::fs::remove_file(path);
    println!("{told}");
}

/// How long each of `rounds` took for a sample, nanoseconds; what is made for one is not timed.
fn each<R: FnMut()>(samples: u64, rounds: u64, make: impl Fn() -> R) -> Value {
    let timed = |_| {
        let mut round = make();
        let begun = Instant::now();
        round();
        begun.elapsed().as_nanos() as f64 / samples as f64
    };
    (0..rounds).map(timed).collect()
}
