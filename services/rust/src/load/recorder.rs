//! The books of a trial: every reply verified, every request a row, errors by kind.
//!
//! With one request in flight this is called while none is. With several, whatever it does stands in the latency of the
//! others: then a row is stored as not verified yet, and `settle` looks at the reply when the phase is over. Still looked
//! at at once are those that `protos/timings.md` names (*When a row is stored, and when a reply is verified*).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::client::Called;
use super::meter::Meter;
use super::phase::{MEASURED, Phase};
use super::record::{Kind, Record, Row};
use crate::contract::print_line;
use crate::messages::Reply;
use crate::operations::{Asked, fault};
use crate::statuses::{Failure, Status};

const NS: i64 = 1_000_000_000;
const MOST_IN_A_ROW: u64 = 50;
const MOST_SILENT_TIMEOUTS: u64 = 3;
const EXAMPLE_CHARACTERS: usize = 300;
const BESIDE_A_REPLY: usize = 300; // of its stamps, its request, and its place among those that wait

/// Nothing succeeds any more, or cannot be written down. `kind` as a *failed* line has it.
#[derive(Debug)]
pub struct GaveUp {
    pub kind: &'static str,
    pub message: String,
}

impl From<std::io::Error> for GaveUp {
    fn from(error: std::io::Error) -> Self {
        Self { kind: "host", message: format!("record: {error}") }
    }
}

/// One call of a sample, and what came of it.
#[derive(Debug)]
pub struct Call {
    pub asked: Rc<Asked>,
    pub sent_ns: i64,
    pub received_ns: i64,
    pub outcome: Result<Called, Failure>,
}

/// A request, or a task, that is over. `place` is that of its operation in the mix, from 1, or 0; `failure` is why it has
/// no further call.
#[derive(Debug)]
pub struct Sample<'a> {
    pub sequence: u64,
    pub connection: i64,
    pub place: i64,
    pub intended_ns: i64,
    pub sent_ns: i64,
    pub received_ns: i64,
    pub failure: Option<Failure>,
    pub calls: &'a mut Vec<Call>,
}

/// Counts of one phase. `rows` are the requests sent, `busy_ns` the time that they were under way, added up; `windows_ns`
/// goes from first send to last reply of each window before the one to which `first_sent_ns` belongs.
#[derive(Debug, Default)]
pub struct Tally {
    pub rows: u64,
    pub not_sent: u64,
    pub busy_ns: i64,
    pub verified: u64,
    pub verified_in_flight: u64,
    pub verified_by_bytes: u64,
    pub errors: BTreeMap<&'static str, u64>,
    pub error_examples: BTreeMap<&'static str, String>,
    pub body_bytes_sent: u64,
    pub body_bytes_received: u64,
    pub connections_opened: u64,
    pub paused_ns: i64,
    pub entering_ns: i64,
    windows_ns: i64,
    pub first_sent_ns: Option<i64>,
    pub last_received_ns: i64,
}

impl Tally {
    /// First send to last reply of each window, added up, nanoseconds.
    pub fn span_ns(&self) -> i64 {
        self.windows_ns + self.first_sent_ns.map_or(0, |first| self.last_received_ns - first)
    }

    fn begin_window(&mut self) {
        self.windows_ns = self.span_ns();
        self.first_sent_ns = None;
    }

    fn note(&mut self, failure: &Failure) {
        let words = if failure.words.is_empty() { failure.status.name() } else { &failure.words };
        let example = || words.chars().take(EXAMPLE_CHARACTERS).collect();
        self.error_examples.entry(failure.status.name()).or_insert_with(example);
    }

    fn count(&mut self, status: Status, (sent, received): (i64, i64)) {
        if status == Status::Ok {
            self.verified += 1;
            self.body_bytes_sent += sent.unsigned_abs();
            self.body_bytes_received += received.unsigned_abs();
        } else {
            *self.errors.entry(status.name()).or_insert(0) += 1;
        }
    }
}

/// What all workers of a trial write to.
#[derive(Debug)]
pub struct Books {
    pub recorder: RefCell<Recorder>,
    pub meter: RefCell<Meter>,
}

/// A reply that was found right: whoever answers the same request with the same bytes is right, too.
#[derive(Debug)]
struct Known {
    asked: Rc<Asked>,
    body: Bytes,
}

/// Replies whose rows are stored and that are not looked at yet.
#[derive(Debug)]
struct Waiting {
    row: u64,
    sizes: (i64, i64),
    replies: Vec<(Rc<Asked>, Reply)>,
    one: Option<(Rc<Asked>, Reply)>,
}

#[derive(Debug)]
pub struct Recorder {
    record: Record,
    kind: Kind,
    has_several_in_flight: bool,
    silence_ns: i64,
    room_bytes: usize,
    phase: i64,
    phase_begin_ns: i64,
    tally: Tally,
    /// Of the measured phase, while a warm-up goes on between two of its windows.
    measured: Tally,
    next_progress_ns: i64,
    failures_in_a_row: u64,
    last_success_ns: i64,
    connections: i64,
    keeps: bool,
    /// Replies before are kept; 0: none is.
    keep_until_ns: i64,
    /// How many may wait, once the first has shown how large they are.
    most_waiting: Option<usize>,
    waiting: Vec<Waiting>,
    /// When the latest of those that were kept since the last failure came.
    kept_latest_ns: Option<i64>,
    known: Option<Known>,
}

impl Recorder {
    /// `timeout_ns` is that of a sample, `room_bytes` what replies that wait may take.
    pub fn new(record: Record, kind: Kind, has_several_in_flight: bool, timeout_ns: i64, room_bytes: u64) -> Self {
        Self {
            record,
            kind,
            has_several_in_flight,
            silence_ns: timeout_ns.saturating_mul(MOST_SILENT_TIMEOUTS as i64),
            room_bytes: usize::try_from(room_bytes).unwrap_or(usize::MAX),
            phase: 0,
            phase_begin_ns: 0,
            tally: Tally::default(),
            measured: Tally::default(),
            next_progress_ns: 0,
            failures_in_a_row: 0,
            last_success_ns: 0,
            connections: 0,
            keeps: false,
            keep_until_ns: 0,
            most_waiting: None,
            waiting: Vec::new(),
            kept_latest_ns: None,
            known: None,
        }
    }

    /// Start a warm-up with an empty tally, or a window of the measured phase. In a warm-up no reply is kept.
    pub fn begin(&mut self, phase: &Phase) {
        if self.phase == MEASURED {
            self.measured = std::mem::take(&mut self.tally);
        }
        self.tally = if phase.number == MEASURED { std::mem::take(&mut self.measured) } else { Tally::default() };
        self.tally.begin_window();
        if self.kept_latest_ns.take().is_some() {
            self.failures_in_a_row = 0;
        }
        self.phase = phase.number;
        self.phase_begin_ns = phase.begin_ns;
        self.last_success_ns = phase.begin_ns;
        self.next_progress_ns = phase.begin_ns + NS;
        self.keeps = self.has_several_in_flight && phase.number == MEASURED;
        self.keep_until_ns = if self.keeps { self.next_progress_ns } else { 0 };
    }

    /// Have room in the record for so many rows more.
    pub fn reserve(&mut self, rows: u64) -> Result<(), GaveUp> {
        Ok(self.record.reserve(rows)?)
    }

    /// Counts of the phase, but for replies that wait.
    pub fn tally(&mut self) -> &mut Tally {
        &mut self.tally
    }

    /// How many rows are stored.
    pub fn rows(&self) -> u64 {
        self.record.rows()
    }

    /// The number of a connection that is opened now.
    pub fn connected(&mut self) -> i64 {
        self.connections += 1;
        self.tally.connections_opened += 1;
        self.connections - 1
    }

    /// A sample is over: keep its replies for `settle`, or verify them.
    pub fn enter(&mut self, mut sample: Sample<'_>) -> Result<(), GaveUp> {
        self.tally.rows += 1;
        self.tally.busy_ns += sample.received_ns - sample.sent_ns;
        let first_sent_ns = self.tally.first_sent_ns.map_or(sample.sent_ns, |first| first.min(sample.sent_ns));
        self.tally.first_sent_ns = Some(first_sent_ns);
        self.tally.last_received_ns = self.tally.last_received_ns.max(sample.received_ns);
        if sample.failure.is_none() && sample.received_ns < self.keep_until_ns && self.keep(&mut sample)? {
            self.kept_latest_ns = Some(sample.received_ns);
            return Ok(());
        }
        self.verify(&sample)
    }

    /// Whether its replies are let go as right, or wait.
    fn keep(&mut self, sample: &mut Sample<'_>) -> Result<bool, GaveUp> {
        let [Call { asked, outcome: Ok(called), .. }] = &sample.calls[..] else {
            return self.wait(sample);
        };
        if let Some(known) = self.known.as_ref().filter(|known| Rc::ptr_eq(&known.asked, asked)) {
            if called.body.as_ref() != Some(&known.body) {
                return Ok(false);
            }
            if is_taken_by_its_bytes(sample.sequence) {
                let sizes = (called.sent as i64, called.received as i64);
                self.store(sample, Status::Ok, sizes, &[])?;
                self.tally.count(Status::Ok, sizes);
                self.tally.verified_by_bytes += 1;
                return Ok(true);
            }
        }
        self.wait(sample)
    }

    fn wait(&mut self, sample: &mut Sample<'_>) -> Result<bool, GaveUp> {
        if self.waiting.len() >= self.most_that_wait(sample.calls) {
            return Ok(false);
        }
        let sizes = sizes_of(sample.calls);
        let unverified = vec![Status::Unverified; if self.kind == Kind::Task { sample.calls.len() } else { 0 }];
        let row = self.store(sample, Status::Unverified, sizes, &unverified)?;
        let mut replies =
            sample.calls.drain(..).filter_map(|call| call.outcome.ok().map(|called| (call.asked, called.reply)));
        let waiting = if self.kind == Kind::Task {
            Waiting { row, sizes, replies: replies.collect(), one: None }
        } else {
            Waiting { row, sizes, replies: Vec::new(), one: replies.next() }
        };
        self.waiting.push(waiting);
        Ok(true)
    }

    fn most_that_wait(&mut self, calls: &[Call]) -> usize {
        let room = self.room_bytes;
        *self.most_waiting.get_or_insert_with(|| {
            let replies = || calls.iter().filter_map(|call| call.outcome.as_ref().ok()).map(|called| &called.reply);
            if replies().any(Reply::has_large_buffer) {
                return 0;
            }
            room / replies().map(|reply| reply.footprint() + BESIDE_A_REPLY).sum::<usize>().max(1)
        })
    }

    /// Look at the replies of a sample now, and store its rows.
    fn verify(&mut self, sample: &Sample<'_>) -> Result<(), GaveUp> {
        let mut wrong = None;
        let mut statuses = Vec::new(); // of parts: what is no task allocates nothing here
        for call in sample.calls.iter() {
            let why = match &call.outcome {
                Ok(called) => fault(&call.asked, &called.reply).map(|why| Failure::new(Status::WrongReply, why)),
                Err(failure) => Some(failure.clone()),
            };
            if self.kind == Kind::Task {
                statuses.push(why.as_ref().map_or(Status::Ok, |failure| failure.status));
            }
            wrong = wrong.or(why);
        }
        let failure = sample.failure.clone().or(wrong);
        let status = failure.as_ref().map_or(Status::Ok, |failure| failure.status);
        let sizes = if sample.failure.is_none() { sizes_of(sample.calls) } else { (-1, -1) };
        self.store(sample, status, sizes, &statuses)?;
        self.tally.count(status, sizes);
        if self.has_several_in_flight && sample.failure.is_none() {
            self.tally.verified_in_flight += 1;
        }
        if sample.received_ns >= self.next_progress_ns {
            self.report_progress(sample.received_ns);
        }
        match failure {
            None => {
                self.succeed(sample);
                Ok(())
            }
            Some(failure) => {
                self.tally.note(&failure);
                if sample.failure.is_none() {
                    self.keep_until_ns = 0;
                }
                self.fail_once_more(&failure, sample.received_ns)
            }
        }
    }

    fn succeed(&mut self, sample: &Sample<'_>) {
        self.failures_in_a_row = 0;
        self.last_success_ns = sample.received_ns;
        if !self.has_several_in_flight {
            return;
        }
        self.keep_until_ns = if self.keeps { self.next_progress_ns } else { 0 };
        if let [Call { asked, outcome: Ok(Called { body: Some(body), .. }), .. }] = &sample.calls[..]
            && self.kind != Kind::Task
            && !self.known.as_ref().is_some_and(|known| Rc::ptr_eq(&known.asked, asked))
        {
            self.known = Some(Known { asked: Rc::clone(asked), body: body.clone() });
        }
    }

    /// A request of an open loop was due and not sent before the window closed: neither reply nor error.
    pub fn not_sent(&mut self, sequence: u64, place: i64, intended_ns: i64, now_ns: i64) -> Result<(), GaveUp> {
        self.tally.not_sent += 1;
        let sample = Sample {
            sequence,
            connection: -1,
            place,
            intended_ns,
            sent_ns: now_ns,
            received_ns: now_ns,
            failure: None,
            calls: &mut Vec::new(),
        };
        self.store(&sample, Status::NotSent, (-1, -1), &[]).map(drop)
    }

    /// Store the row of a sample, and behind it those of its parts, if it has any; the place of the first.
    fn store(
        &mut self,
        sample: &Sample<'_>,
        status: Status,
        (bytes_sent, bytes_received): (i64, i64),
        parts: &[Status],
    ) -> Result<u64, GaveUp> {
        let row = Row {
            sequence: sample.sequence as i64,
            phase: self.phase,
            connection: sample.connection,
            intended_ns: sample.intended_ns,
            sent_ns: sample.sent_ns,
            received_ns: sample.received_ns,
            bytes_sent,
            bytes_received,
            status,
            kind: self.kind,
            parent: sample.place,
        };
        let place = self.record.append(&row)?;
        for (number, (call, status)) in (1..).zip(sample.calls.iter().zip(parts)) {
            let (bytes_sent, bytes_received) = sizes_of(std::slice::from_ref(call));
            self.record.append(&Row {
                sequence: number,
                intended_ns: call.sent_ns,
                sent_ns: call.sent_ns,
                received_ns: call.received_ns,
                bytes_sent,
                bytes_received,
                status: *status,
                kind: Kind::Part,
                parent: sample.sequence as i64,
                ..row
            })?;
        }
        Ok(place)
    }

    /// Verify what waits, now that the phase is over.
    pub fn settle(&mut self) -> Result<(), GaveUp> {
        let mut wrong_in_a_row = 0;
        let mut hopeless = None;
        for waiting in std::mem::take(&mut self.waiting) {
            let mut wrong = None;
            let replies = waiting.replies.iter().chain(waiting.one.as_ref());
            for (place, (asked, reply)) in (1..).zip(replies) {
                let why = fault(asked, reply);
                if self.kind == Kind::Task {
                    let status = if why.is_none() { Status::Ok } else { Status::WrongReply };
                    self.record.set_status(waiting.row + place, status);
                }
                wrong = wrong.or(why);
            }
            let status = if wrong.is_none() { Status::Ok } else { Status::WrongReply };
            self.record.set_status(waiting.row, status);
            self.tally.count(status, waiting.sizes);
            wrong_in_a_row = if wrong.is_none() { 0 } else { wrong_in_a_row + 1 };
            if let Some(why) = wrong {
                let failure = Failure::new(Status::WrongReply, why);
                self.tally.note(&failure);
                if wrong_in_a_row >= MOST_IN_A_ROW {
                    hopeless = Some(failure);
                }
            }
        }
        match hopeless {
            None => Ok(()),
            Some(failure) => Err(GaveUp {
                kind: failure.status.name(),
                message: format!("{MOST_IN_A_ROW} or more replies in a row were wrong; the last: {failure}"),
            }),
        }
    }

    /// A reply that was kept since the last failure counts as a success.
    fn fail_once_more(&mut self, failure: &Failure, now_ns: i64) -> Result<(), GaveUp> {
        if let Some(latest_ns) = self.kept_latest_ns.take() {
            self.failures_in_a_row = 0;
            self.last_success_ns = latest_ns;
        }
        self.failures_in_a_row += 1;
        let failures = self.failures_in_a_row;
        let silent_ns = now_ns - self.last_success_ns;
        let message = if failures >= MOST_IN_A_ROW {
            format!("{failures} requests in a row failed; the last: {failure}")
        } else if failures >= MOST_SILENT_TIMEOUTS && silent_ns > self.silence_ns {
            format!("no right reply for {} s; the last failure: {failure}", silent_ns / NS)
        } else {
            return Ok(());
        };
        Err(GaveUp { kind: failure.status.name(), message })
    }

    /// At most one line a second.
    fn report_progress(&mut self, now_ns: i64) {
        self.next_progress_ns = now_ns + NS;
        print_line(&json!({
            "type": "progress",
            "phase": if self.phase == MEASURED { "measured" } else { "warm-up" },
            "requests": self.tally.rows,
            "elapsed_s": (now_ns - self.phase_begin_ns) as f64 / 1e9,
        }));
    }

    /// Cut the record to its rows.
    pub fn close(self) -> Result<(), GaveUp> {
        Ok(self.record.close()?)
    }
}

/// Both bodies' sizes, of all calls together; -1 where one has none.
fn sizes_of(calls: &[Call]) -> (i64, i64) {
    calls
        .iter()
        .try_fold((0, 0), |(sent, received), call| match &call.outcome {
            Ok(called) => Ok((sent + called.sent as i64, received + called.received as i64)),
            Err(_) => Err((-1, -1)),
        })
        .unwrap_or_else(|unknown| unknown)
}

/// Of all but one reply in 64; of that one the value is looked at, whatever its bytes. Spread without a period.
fn is_taken_by_its_bytes(sequence: u64) -> bool {
    (sequence.wrapping_mul(0x9E37_79B1) >> 20) & 63 != 0
}

/// Errors of a phase as a line tells them.
pub fn errors_told(tally: &Tally) -> (Value, Value) {
    (json!(tally.errors), json!(tally.error_examples))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Load, Payload, PayloadKind};
    use crate::load::phase::{Extent, WARM_UP};
    use crate::messages::Request;
    use crate::operations::Maker;

    struct Trial {
        recorder: Recorder,
        path: std::path::PathBuf,
    }

    impl Drop for Trial {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    fn trial(name: &str, kind: Kind, has_several: bool) -> Trial {
        let path = std::env::temp_dir().join(format!("orch-rust-{}-{name}", std::process::id()));
        let record = Record::create(path.to_str().unwrap(), 1000).unwrap();
        Trial { recorder: Recorder::new(record, kind, has_several, NS, 1 << 20), path }
    }

    fn phase(number: i64) -> Phase {
        Phase::new(number, 0, 1, Extent::measured(&Load::default()))
    }

    fn bytes_asked() -> Rc<Asked> {
        let payload = Payload { kind: PayloadKind::Bytes, size: 3, ..Payload::default() };
        Maker::new("echo", &payload, 1).unwrap().make(1)
    }

    fn call(asked: &Rc<Asked>, came: &[u8]) -> Call {
        let body = Bytes::copy_from_slice(came);
        let called = Called { reply: Reply::Data(body.clone()), sent: 3, received: came.len(), body: Some(body) };
        Call { asked: Rc::clone(asked), sent_ns: 10, received_ns: 20, outcome: Ok(called) }
    }

    fn right(asked: &Asked) -> Vec<u8> {
        match &asked.request {
            Request::EchoData(data) => data.to_vec(),
            other => panic!("{other:?}"),
        }
    }

    fn enter(trial: &mut Trial, sequence: u64, mut calls: Vec<Call>) -> Result<(), GaveUp> {
        let calls = &mut calls;
        let sample = Sample {
            sequence,
            connection: 0,
            place: 0,
            intended_ns: 10,
            sent_ns: 10,
            received_ns: 20,
            failure: None,
            calls,
        };
        trial.recorder.enter(sample)
    }

    fn statuses(trial: &Trial) -> Vec<i64> {
        let content = std::fs::read(&trial.path).unwrap();
        let number = |row: &[u8], at: usize| i64::from_le_bytes(row[8 * at..8 * (at + 1)].try_into().unwrap());
        content[512..].chunks_exact(112).take_while(|row| number(row, 0) != 0).map(|row| number(row, 9)).collect()
    }

    #[test]
    fn with_one_in_flight_each_reply_is_verified_at_once() {
        let mut trial = trial("one", Kind::Request, false);
        trial.recorder.begin(&phase(MEASURED));
        let asked = bytes_asked();
        enter(&mut trial, 1, vec![call(&asked, &right(&asked))]).unwrap();
        enter(&mut trial, 2, vec![call(&asked, b"no")]).unwrap();
        assert_eq!(statuses(&trial), [0, 1]);
        let tally = trial.recorder.tally();
        assert_eq!((tally.verified, tally.verified_in_flight, tally.errors["wrong-reply"]), (1, 0, 1));
        assert_eq!(tally.body_bytes_sent, 3);
    }

    #[test]
    fn with_several_in_flight_rows_wait_and_known_bytes_are_taken() {
        let mut trial = trial("several", Kind::Request, true);
        let asked = bytes_asked();
        trial.recorder.begin(&phase(WARM_UP));
        enter(&mut trial, 1, vec![call(&asked, &right(&asked))]).unwrap();
        trial.recorder.begin(&phase(MEASURED));
        for sequence in 2..=200 {
            enter(&mut trial, sequence, vec![call(&asked, &right(&asked))]).unwrap();
        }
        let looked_at = (2..=200).filter(|sequence| !is_taken_by_its_bytes(*sequence)).count() as u64;
        assert!(looked_at > 0);
        assert_eq!(statuses(&trial).iter().filter(|status| **status == 9).count() as u64, looked_at);
        trial.recorder.settle().unwrap();
        assert_eq!(statuses(&trial), vec![0; 200]);
        let tally = trial.recorder.tally();
        assert_eq!((tally.verified, tally.verified_by_bytes), (199, 199 - looked_at));
        assert_eq!(tally.verified_in_flight, 0);
        // Of other bytes it is looked at at once.
        enter(&mut trial, 201, vec![call(&asked, b"no")]).unwrap();
        assert_eq!((statuses(&trial)[200], trial.recorder.tally().verified_in_flight), (1, 1));
    }

    #[test]
    fn wrong_replies_that_wait_are_found_when_the_phase_is_over() {
        let mut trial = trial("wait", Kind::Request, true);
        trial.recorder.begin(&phase(MEASURED));
        let maker = Maker::new("add", &Payload::default(), 7).unwrap();
        for sequence in 1..=50 {
            let called = Called { reply: Reply::Sum(i64::MAX), sent: 8, received: 8, body: None };
            let asked = maker.make(sequence);
            enter(&mut trial, sequence, vec![Call { asked, sent_ns: 10, received_ns: 20, outcome: Ok(called) }])
                .unwrap();
        }
        assert_eq!(statuses(&trial), [9; 50]);
        assert_eq!(trial.recorder.settle().unwrap_err().kind, "wrong-reply");
        assert_eq!(statuses(&trial), [1; 50]);
    }

    #[test]
    fn windows_have_one_tally_and_warm_ups_between_them_none() {
        let mut trial = trial("windows", Kind::Request, true);
        let asked = bytes_asked();
        let whole = right(&asked);
        for (sequence, number) in (1..).zip([WARM_UP, WARM_UP, MEASURED, WARM_UP, MEASURED, MEASURED]) {
            trial.recorder.begin(&phase(number));
            let came = if sequence == 4 { b"no" } else { &whole[..] };
            enter(&mut trial, sequence, vec![call(&asked, came)]).unwrap();
        }
        trial.recorder.settle().unwrap();
        assert_eq!(statuses(&trial), [0, 0, 0, 1, 0, 0]);
        let tally = trial.recorder.tally();
        assert_eq!((tally.rows, tally.verified, tally.span_ns()), (3, 3, 30));
        assert!(tally.errors.is_empty() && tally.error_examples.is_empty());
    }

    #[test]
    fn failures_in_a_row_are_counted_over_windows() {
        let mut trial = trial("row", Kind::Request, false);
        let asked = bytes_asked();
        for (sequence, number) in (1..=49).zip([WARM_UP, MEASURED].into_iter().cycle()) {
            trial.recorder.begin(&phase(number));
            enter(&mut trial, sequence, vec![call(&asked, b"no")]).unwrap();
        }
        assert!(enter(&mut trial, 50, vec![call(&asked, b"no")]).is_err());
    }

    #[test]
    fn a_task_is_followed_by_its_parts() {
        let mut trial = trial("task", Kind::Task, false);
        trial.recorder.begin(&phase(MEASURED));
        let asked = bytes_asked();
        let whole = right(&asked);
        enter(&mut trial, 1, vec![call(&asked, &whole), call(&asked, b"no"), call(&asked, &whole)]).unwrap();
        assert_eq!(statuses(&trial), [1, 0, 1, 0]);
    }

    #[test]
    fn fifty_failures_in_a_row_end_it() {
        let mut trial = trial("fifty", Kind::Request, false);
        trial.recorder.begin(&phase(MEASURED));
        let asked = bytes_asked();
        for sequence in 1..=49 {
            enter(&mut trial, sequence, vec![call(&asked, b"no")]).unwrap();
        }
        assert_eq!(enter(&mut trial, 50, vec![call(&asked, b"no")]).unwrap_err().kind, "wrong-reply");
        assert_eq!(statuses(&trial).len(), 50);
    }
}
