//! The generator of `protos/payloads.md`: content, arrivals and rests, specified to the bit.

use bytes::Bytes;
use sha3::Shake128;
use sha3::digest::{ExtendableOutput, Update, XofReader};

use crate::messages::Record;

const NS: f64 = 1e9;
const DICTIONARY: [&str; 12] = [
    "amber", "basalt", "cedar", "delta", "ember", "fjord", "granite", "harbour", "indigo", "juniper", "kelp", "lagoon",
];
const PAIRS: u64 = 1024;
const RECORD_WORDS: usize = 9;
/// How many exponential rests, and requests of a mix, are drawn for a trial; then they come again.
pub const DRAWN: usize = 65_536;
const GAPS_OF_A_PART: usize = 1024;

/// The first `size` bytes of the stream of a label.
pub fn stream(label: &str, size: usize) -> Vec<u8> {
    let mut hasher = Shake128::default();
    hasher.update(b"orch payload v1/");
    hasher.update(label.as_bytes());
    let mut drawn = vec![0; size];
    hasher.finalize_xof().read(&mut drawn);
    drawn
}

/// The first `count` words of the stream of a label.
pub fn words(label: &str, count: usize) -> Vec<u32> {
    let drawn = stream(label, 4 * count);
    drawn.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

fn below(word: u32, n: u64) -> u64 {
    (u64::from(word) * n) >> 32
}

/// A stream's prefixes of any length, each a slice of one buffer that grows as longer ones are asked for.
#[derive(Debug)]
pub struct Prefixes {
    label: &'static str,
    longest: std::sync::Mutex<Bytes>,
}

impl Prefixes {
    pub const fn new(label: &'static str) -> Self {
        Self { label, longest: std::sync::Mutex::new(Bytes::new()) }
    }

    /// The first `size` bytes.
    pub fn first(&self, size: usize) -> Bytes {
        let mut longest = self.longest.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if longest.len() < size {
            *longest = Bytes::from(stream(self.label, size.next_power_of_two()));
        }
        longest.slice(..size)
    }
}

/// What a transfer sends.
pub static REQUEST: Prefixes = Prefixes::new("request");
/// What an exchange and a transfer are sent back.
pub static REPLY: Prefixes = Prefixes::new("reply");

/// The 1024 pairs of `add`, by the seed.
pub fn pairs(seed: u64) -> Vec<(i64, i64)> {
    let number = |word: u32| i64::from(word / 2) - (1 << 30);
    words(&format!("add/{seed}"), 2 * PAIRS as usize)
        .chunks_exact(2)
        .map(|pair| (number(pair[0]), number(pair[1])))
        .collect()
}

/// Which of the pairs the request of a sequence number carries.
pub fn place_of_pair(sequence: u64) -> usize {
    (sequence % PAIRS) as usize
}

/// The records of an echo.
pub fn records(seed: u64, count: usize) -> Vec<Record> {
    let drawn = words(&format!("records/{seed}"), RECORD_WORDS * count);
    drawn.chunks_exact(RECORD_WORDS).zip(1..).map(|(w, id)| record(id, w)).collect()
}

fn record(id: i64, w: &[u32]) -> Record {
    let one = |word: u32| DICTIONARY[below(word, 12) as usize];
    let mut shuffled = DICTIONARY;
    for j in 0..4 {
        shuffled.swap(j, j + below(w[5 + j], 12 - j as u64) as usize);
    }
    Record {
        id,
        name: format!("{} {}", one(w[0]), one(w[1])),
        value: (2 * below(w[2], 10_000_000) as i64 - 9_999_999) as f64 / 10_000.0,
        active: below(w[3], 2) == 1,
        tags: shuffled[..below(w[4], 5) as usize].iter().map(ToString::to_string).collect(),
    }
}

/// The limits of each of the four digits of an exponential gap.
const LIMITS: [&[u32]; 4] = [
    &[
        3713706681, 4216302226, 4284321136, 4293526495, 4294772305, 4294940907, 4294963725, 4294966813, 4294967231,
        4294967287, 4294967295,
    ],
    &[
        583662026, 1098741956, 1553298400, 1954443053, 2308451966, 2620863736, 2896566156, 3139872687, 3354589947,
        3544077264, 3711299234, 3858872105, 3989104706, 4104034573, 4205459825,
    ],
    &[
        284449529, 566685453, 846725001, 1124585263, 1400283200, 1673835638, 1945259274, 2214570675, 2481786278,
        2746922393, 3009995202, 3271020762, 3530015005, 3786993739, 4041972648,
    ],
    &[
        269419616, 538707711, 807864350, 1076889597, 1345783516, 1614546171, 1883177627, 2151677947, 2420047195,
        2688285435, 2956392732, 3224369149, 3492214750, 3759929599, 4027513760,
    ],
];

/// Exponential gaps, integers below 2^48 whose mean is 2^43, of the streams `<label>/<seed>/<part>`.
struct Gaps {
    label: String,
    part: usize,
    next: usize,
    drawn: Vec<u32>,
}

impl Gaps {
    fn new(label: &str, seed: u64) -> Self {
        Self { label: format!("{label}/{seed}"), part: 0, next: GAPS_OF_A_PART, drawn: Vec::new() }
    }
}

impl Iterator for Gaps {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.next == GAPS_OF_A_PART {
            self.drawn = words(&format!("{}/{}", self.label, self.part), 5 * GAPS_OF_A_PART);
            self.part += 1;
            self.next = 0;
        }
        let w = &self.drawn[5 * self.next..5 * self.next + 5];
        self.next += 1;
        let digits = LIMITS
            .iter()
            .zip(w)
            .fold(0, |x, (limits, word)| x * 16 + limits.partition_point(|limit| limit <= word) as u64);
        Some((digits << 32) + u64::from(w[4]))
    }
}

fn of_mean(mean: u128, gap: u64) -> u128 {
    (mean * u128::from(gap)) >> 43
}

/// When the requests of an open loop are due, nanoseconds from the beginning of the phase.
pub fn arrivals(seed: u64, rate: f64, is_uniform: bool, requests: Option<u64>, duration_s: Option<f64>) -> Vec<i64> {
    let mean = (NS * (1_u64 << 20) as f64 / rate) as u128;
    let most = requests.unwrap_or(u64::MAX);
    let end_ns = duration_s.map_or(u128::MAX, |seconds| u128::from(nanoseconds(seconds)));
    let mut gaps = Gaps::new("arrivals", seed);
    let mut due = Vec::new();
    let mut at: u128 = 0;
    while (due.len() as u64) < most && at >> 20 < end_ns {
        due.push((at >> 20) as i64);
        at += if is_uniform { mean } else { of_mean(mean, gaps.next().unwrap_or_default()) };
    }
    due
}

/// Seconds in whole nanoseconds, rounded down.
pub fn nanoseconds(seconds: f64) -> u64 {
    (seconds * NS) as u64
}

/// How long the workers of a closed loop with think time rest, nanoseconds; `drawn` is empty where all are the mean.
#[derive(Debug)]
pub struct Rests {
    mean_ns: i64,
    workers: usize,
    drawn: Vec<i64>,
}

impl Rests {
    pub fn new(seed: u64, think_s: f64, is_exponential: bool, workers: usize) -> Self {
        let mean_ns = nanoseconds(think_s);
        let mut drawn = Vec::new();
        if is_exponential {
            let gaps = Gaps::new("think", seed).take(DRAWN);
            drawn.extend(gaps.map(|gap| of_mean(u128::from(mean_ns), gap) as i64));
        }
        Self { mean_ns: mean_ns as i64, workers, drawn }
    }

    /// Before the first request of a worker, from 0.
    pub fn first(&self, worker: usize) -> i64 {
        match self.drawn.get(worker % DRAWN) {
            Some(rest) => *rest,
            None => (i128::from(self.mean_ns) * worker as i128 / self.workers as i128) as i64,
        }
    }

    /// After the request of that place, from 0, of the measured phase.
    pub fn after(&self, place: u64) -> i64 {
        let index = (self.workers as u64 + place) % DRAWN as u64;
        self.drawn.get(index as usize).copied().unwrap_or(self.mean_ns)
    }
}

/// The place, from 0, of the operation of each request of a mix, by its sequence number less 1.
pub fn mix_order(seed: u64, weights: &[u64]) -> Vec<u8> {
    let total = weights.iter().sum();
    words(&format!("mix/{seed}"), DRAWN)
        .into_iter()
        .map(|word| {
            let x = below(word, total);
            let mut bound = 0;
            weights
                .iter()
                .take_while(|weight| {
                    bound += **weight;
                    bound <= x
                })
                .count() as u8
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use sha2::{Digest, Sha256};

    fn vectors(part: &str) -> Vec<Value> {
        let all: Value = serde_json::from_str(include_str!("../../../protos/payload-vectors.json")).unwrap();
        let found = all[part].as_array().unwrap().clone();
        assert!(!found.is_empty());
        found
    }

    fn grouped(bytes: &[u8]) -> String {
        let hex = |four: &[u8]| four.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        bytes.chunks(4).map(hex).collect::<Vec<_>>().join(" ")
    }

    fn assert_bytes(bytes: &[u8], gives: &Value) {
        match gives.get("hex") {
            Some(hex) => assert_eq!(grouped(bytes), hex.as_str().unwrap()),
            None => assert_eq!(grouped(&Sha256::digest(bytes)), gives["sha256"].as_str().unwrap()),
        }
    }

    fn assert_times(times: &[i64], gives: &Value) {
        let bytes: Vec<u8> = times.iter().flat_map(|time| time.to_le_bytes()).collect();
        assert_eq!(grouped(&Sha256::digest(bytes)), gives["sha256"].as_str().unwrap());
    }

    #[test]
    fn bytes_are_those_of_the_vectors() {
        for vector in vectors("bytes") {
            let label = format!("bytes/{}", vector["for"]["seed"]);
            assert_bytes(&stream(&label, vector["for"]["size"].as_u64().unwrap() as usize), &vector["gives"]);
        }
        for (part, prefixes) in [("request", &REQUEST), ("reply", &REPLY)] {
            for vector in vectors(part) {
                assert_bytes(&prefixes.first(vector["for"]["size"].as_u64().unwrap() as usize), &vector["gives"]);
            }
        }
    }

    #[test]
    fn pairs_are_those_of_the_vectors() {
        for vector in vectors("add") {
            let (of, gives) = (&vector["for"], &vector["gives"]);
            let (a, b) = pairs(of["seed"].as_u64().unwrap())[place_of_pair(of["sequence"].as_u64().unwrap())];
            assert_eq!((a, b), (gives["a"].as_i64().unwrap(), gives["b"].as_i64().unwrap()));
        }
    }

    #[test]
    fn records_are_those_of_the_vectors() {
        for vector in vectors("records") {
            let (of, gives) = (&vector["for"], &vector["gives"]);
            let made = records(of["seed"].as_u64().unwrap(), of["count"].as_u64().unwrap() as usize);
            match gives.get("records") {
                Some(wanted) => assert_eq!(&serde_json::to_value(made).unwrap(), wanted),
                None => assert_bytes(&serde_json::to_vec(&made).unwrap(), gives),
            }
        }
    }

    #[test]
    fn arrivals_are_those_of_the_vectors() {
        for vector in vectors("arrivals") {
            let (of, gives) = (&vector["for"], &vector["gives"]);
            let due = arrivals(
                of["seed"].as_u64().unwrap(),
                of["rate_per_s"].as_f64().unwrap(),
                of["arrivals"] == "uniform",
                of["requests"].as_u64(),
                of["duration_s"].as_f64(),
            );
            assert_eq!(due.len() as u64, gives["count"].as_u64().unwrap());
            assert_eq!(due.last().copied(), gives["last_ns"].as_i64());
            assert_times(&due, gives);
        }
    }

    #[test]
    fn rests_are_those_of_the_vectors() {
        for vector in vectors("rests") {
            let (of, gives) = (&vector["for"], &vector["gives"]);
            let workers = of["workers"].as_u64().unwrap() as usize;
            let think_s = of["think_s"].as_f64().unwrap();
            let rests = Rests::new(of["seed"].as_u64().unwrap(), think_s, of["thinking"] == "exponential", workers);
            let mut all: Vec<i64> = (0..workers).map(|worker| rests.first(worker)).collect();
            all.extend((0..of["requests"].as_u64().unwrap()).map(|place| rests.after(place)));
            assert_times(&all, gives);
        }
    }

    #[test]
    fn a_mix_draws_by_weight() {
        let order = mix_order(7, &[3, 1]);
        let first = words("mix/7", 1)[0];
        assert_eq!(order.len(), DRAWN);
        assert_eq!(order[0], u8::from(below(first, 4) >= 3));
        let share = order.iter().filter(|place| **place == 0).count() as f64 / DRAWN as f64;
        assert!((0.74..0.76).contains(&share), "{share}");
    }
}
