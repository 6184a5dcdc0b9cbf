//! Both phases of a trial, on the same connections.

use std::cell::RefCell;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use super::parts::Parts;
use super::stdin::Word;
use super::windows::{Windows, next_word};
use super::words::Refused;
use crate::catalogue::{self, End, Options};
use crate::contract::{Connection, Trial, print_line};
use crate::load::client::Client;
use crate::load::{
    Books, Extent, Kind, Loops, Meter, Phase, Record, Recorder, Schedule, Tally, WARM_UP, Work, errors_told,
    expected_rows,
};
use crate::net::{SocketOptions, congestion_among};
use crate::probes::counters::host_counters;
use crate::probes::memory::{LEAST_KEPT, PeakMemory, room_for_replies};
use crate::probes::system::{self, monotonic_ns, wall_ns};
use crate::probes::tcp;

const ALL_BUSY: f64 = 0.9; // of the time of all connections, in which requests were under way
const SATURATED: f64 = 0.85; // of a CPU
const BETWEEN_LOOKS_NS: i64 = 100_000_000;
const REQUESTS_OF_GRACE: f64 = 10.0;
const LEAST_GRACE_S: f64 = 0.005;
const MOST_GRACE_S: f64 = 0.1;
const PAGE: usize = 4096;

/// What a *done* line tells of a trial that was measured.
pub async fn measure<C: Client + 'static>(
    trial: &Trial,
    parts: Parts,
    client: C,
    mut words: UnboundedReceiver<Word>,
) -> Result<Value, Refused> {
    let Parts { client: end, makers, schedule, options, openings, concurrency, timeout, .. } = parts;
    let in_host = |error: std::io::Error| Refused::new("host", format!("record: {}: {error}", trial.record));
    let record = Record::create(&trial.record, expected_rows(trial)).map_err(in_host)?;
    let room = match (concurrency, trial.turn_warm_up) {
        (1, _) => 0,
        (_, None) => touched(room_for_replies()),
        (_, Some(_)) => touched(LEAST_KEPT), // other requesters wait beside it, with theirs
    };
    let timeout_ns = i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX).saturating_mul(trial.calls as i64);
    let recorder = Recorder::new(record, kind_of(trial), concurrency > 1, timeout_ns, room);
    let overlaps = trial.connection == Connection::PerRequest && concurrency > 1;
    let books = Books { recorder: RefCell::new(recorder), meter: RefCell::new(Meter::new(overlaps)) };
    let work = Work { client, makers, policy: trial.connection, calls: trial.calls, timeout, books };
    let mut loops = Loops::new(work, concurrency, options.connections);

    let is_kept = trial.connection == Connection::Reuse;
    openings.set_noting(is_kept);
    let anchor = clocks();
    print_line(&json!({"type": "start", "anchor": anchor}));
    loops.open().await.map_err(|failure| Refused::before("opening connections", &failure))?;
    let warmed = warm(trial, &mut loops, &options.sockets, concurrency).await?;
    let word = hold_back(trial, warmed, &mut words).await;

    let host_before = host_counters();
    let mut memory = PeakMemory::default();
    memory.begin();
    let mut windows = Windows::new(&mut loops, &openings, is_kept, 1 + warmed);
    let played = match (trial.turn_warm_up, word) {
        (None, _) => windows.play(Extent::measured(&trial.load), schedule).await.map(drop),
        (Some(warm_up), word) => windows.take_turns(trial, warm_up, word, &mut words).await,
    };
    let (memory_bytes, memory_since) = memory.read();
    let host_after = host_counters();
    let measured = windows.sums();
    let settled = loops.books().recorder.borrow_mut().settle();
    played?; // what ended a phase is what is said, not what settling finds besides
    settled?;

    let grace = grace(loops.books().recorder.borrow_mut().tally(), concurrency);
    let settings = looked_at(&mut loops, end, &options)?;
    let (unasked, kept) = loops.close(grace).await;
    if unasked > 0 {
        let message = format!("{unasked} of {kept} connections held replies that nobody asked for");
        return Err(Refused::new("wrong-reply", format!("{message}: latencies may be of earlier requests")));
    }
    let books = loops.into_books();
    let mut recorder = books.recorder.into_inner();
    let rows = recorder.rows();
    let mut told = told(recorder.tally(), concurrency, measured.cpu_ns);
    recorder.close()?;
    let meter = books.meter.into_inner();
    for (key, value) in [
        ("rows", json!(rows)),
        ("warmup_requests", json!(warmed + measured.warmed)),
        ("begin_ns", json!(measured.begin_ns)),
        ("wire", meter.wire()),
        ("min_rtt_us", json!(meter.min_rtt_us())),
        ("opening", openings.told()),
        ("memory_bytes", json!(memory_bytes)),
        ("memory_since", json!(memory_since)),
        ("loop_lag_ms", json!(measured.lag_ms)),
        ("settings", settings.into()),
        ("anchor", anchor),
        ("anchor_end", clocks()),
        ("host_before", host_before),
        ("host_after", host_after),
    ] {
        told[key] = value;
    }
    Ok(told)
}

/// Warm up, and set the connections: how many requests that took.
///
/// TCP takes back nothing that it offered, so that a window is set when each connection has carried a request.
async fn warm<C: Client + 'static>(
    trial: &Trial,
    loops: &mut Loops<C>,
    sockets: &SocketOptions,
    concurrency: usize,
) -> Result<u64, Refused> {
    let mut warmed = 0;
    let first = sockets.window.map(|_| Extent::of(concurrency as u64));
    for extent in first.into_iter().chain([Extent::warm_up(&trial.warmup)]) {
        let phase = Phase::new(WARM_UP, monotonic_ns(), 1 + warmed, extent);
        loops.books().recorder.borrow_mut().begin(&phase);
        warmed += loops.play(phase, Schedule::Closed(None)).await?.taken();
        let mut failed = None;
        loops.each_socket(|socket| failed = failed.take().or(sockets.set(socket).err()));
        if let Some(why) = failed {
            return Err(Refused::new("host", why));
        }
    }
    Ok(warmed)
}

/// What is set at the client, and what controls the congestion of its connections.
pub fn settings(client: &End, options: &Options, congestion: Option<String>) -> Map<String, Value> {
    let mut settings = catalogue::settings(client.settings);
    if options.sockets.is_delayed {
        settings.insert("TCP_NODELAY".to_owned(), "off".into());
    }
    if let Some(congestion) = congestion {
        settings.insert("congestion control".to_owned(), congestion.into());
    }
    settings
}

/// What the client was set to; refused where a connection is not set as it was asked for any more.
fn looked_at<C: Client + 'static>(
    loops: &mut Loops<C>,
    end: &End,
    options: &Options,
) -> Result<Map<String, Value>, Refused> {
    let (mut differing, mut controls, mut windows) = (0, Vec::new(), (0, 0));
    loops.each_socket(|socket| {
        differing += u64::from(!options.sockets.are_set(socket));
        controls.extend(tcp::congestion(socket));
        if let Some((offers, is_offered)) = tcp::windows(socket) {
            windows = (offers.max(windows.0), is_offered.max(windows.1));
        }
    });
    if differing > 0 {
        let why = "connections were opened anew while measuring, and are not set as was asked for";
        return Err(Refused::new("host", format!("{differing} {why}")));
    }
    let mut settings = settings(end, options, congestion_among(controls));
    if options.sockets.window.is_some() && windows.0 > 0 && windows.1 > 0 {
        let told = format!("{} B for replies, {} B for requests", windows.0, windows.1);
        settings.insert("TCP windows, at the end".to_owned(), told.into());
    }
    Ok(settings)
}

fn kind_of(trial: &Trial) -> Kind {
    if !trial.mix.is_empty() {
        Kind::Mixed
    } else if trial.calls > 1 {
        Kind::Task
    } else {
        Kind::Request
    }
}

fn clocks() -> Value {
    json!({"wall_ns": wall_ns(), "monotonic_ns": monotonic_ns()})
}

/// Let time pass until the line that the trial is held for, and until the moments that both give; that line.
async fn hold_back(trial: &Trial, warmed: u64, words: &mut UnboundedReceiver<Word>) -> Word {
    let mut at_ns = trial.start_at_unix_ns.unwrap_or(0);
    let mut word = Word::Measure(0);
    if trial.hold {
        print_line(&json!({"type": "warm", "requests": warmed}));
        word = next_word(trial, words).await;
    }
    if let Word::Measure(moment_ns) = word {
        at_ns = at_ns.max(moment_ns);
    }
    // In pieces, as the wall clock may be set meanwhile.
    loop {
        let left_ns = i64::try_from(at_ns).unwrap_or(i64::MAX) - wall_ns();
        if left_ns <= 0 {
            return word;
        }
        tokio::time::sleep(Duration::from_nanos(left_ns.min(BETWEEN_LOOKS_NS).unsigned_abs())).await;
    }
}

/// How long what is still under way has to arrive: behind one reply too many, that to the last request comes last.
fn grace(tally: &Tally, concurrency: usize) -> Duration {
    let of_one = tally.span_ns() as f64 / 1e9 * concurrency as f64 / tally.rows.max(1) as f64;
    Duration::from_secs_f64((REQUESTS_OF_GRACE * of_one).clamp(LEAST_GRACE_S, MOST_GRACE_S))
}

/// The same number of bytes, once the allocator holds them, so that replies that are kept cost no page faults.
fn touched(bytes: u64) -> u64 {
    system::keep_freed_memory();
    let mut memory: Vec<u8> = Vec::with_capacity(bytes as usize);
    for page in memory.spare_capacity_mut().iter_mut().step_by(PAGE) {
        page.write(0);
    }
    std::hint::black_box(&mut memory);
    bytes
}

fn told(tally: &Tally, concurrency: usize, cpu_ns: i64) -> Value {
    let (errors, error_examples) = errors_told(tally);
    let (span_s, cpu_s) = (tally.span_ns() as f64 / 1e9, cpu_ns as f64 / 1e9);
    json!({
        "requests": tally.rows,
        "not_sent": tally.not_sent,
        "not_sent_reason": not_sent_reason(tally, concurrency, cpu_s),
        "verified": tally.verified,
        "verified_in_flight": tally.verified_in_flight,
        "verified_by_bytes": tally.verified_by_bytes,
        "measured_s": span_s,
        "paused_s": tally.paused_ns as f64 / 1e9,
        "entering_s": tally.entering_ns.max(0) as f64 / 1e9,
        "errors": errors,
        "error_examples": error_examples,
        "body_bytes_sent": tally.body_bytes_sent,
        "body_bytes_received": tally.body_bytes_received,
        "connections_opened": tally.connections_opened,
        "cpu_s": cpu_s,
        "cpu_share": if span_s > 0.0 { Some(cpu_s / span_s) } else { None },
    })
}

/// All connections waited for replies, or the requester was behind; None where all were sent.
fn not_sent_reason(tally: &Tally, concurrency: usize, cpu_s: f64) -> Option<&'static str> {
    if tally.not_sent == 0 {
        return None;
    }
    let span_s = tally.span_ns() as f64 / 1e9;
    let has_waited =
        tally.busy_ns as f64 / 1e9 >= ALL_BUSY * span_s * concurrency as f64 && cpu_s <= SATURATED * span_s;
    Some(if has_waited { "connections-busy" } else { "requester-behind" })
}
