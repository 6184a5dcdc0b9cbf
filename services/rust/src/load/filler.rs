//! Samples that nobody waited for, to see what recording one costs.

use std::io;
use std::rc::Rc;

use bytes::Bytes;

use super::client::Called;
use super::phase::{Extent, MEASURED, Phase, WARM_UP};
use super::record::{Kind, Record, Row};
use super::recorder::{Call, Recorder, Sample};
use crate::contract::{Payload, PayloadKind};
use crate::messages::{Reply, Request};
use crate::operations::{Asked, Maker};
use crate::probes::system::monotonic_ns;
use crate::statuses::Status;

/// So many samples are enough to see it.
pub const ROUND: u64 = 200_000;
const BODY_BYTES: u64 = 117;
const TIMEOUT_NS: i64 = 30_000_000_000;
const ROOM_BYTES: u64 = 64 << 20;

/// A record alone: each sample is stamped twice, and its row stored.
#[derive(Debug)]
pub struct Rows {
    record: Record,
}

impl Rows {
    /// # Errors
    /// The file cannot be made.
    pub fn new(path: &str, rows: u64) -> io::Result<Self> {
        Ok(Self { record: Record::create(path, rows + 1)? })
    }

    /// Store so many rows, one after the other.
    ///
    /// # Panics
    /// The disk is full.
    pub fn fill(&mut self, samples: u64) {
        for sequence in 1..=samples as i64 {
            let sent_ns = monotonic_ns();
            let received_ns = monotonic_ns();
            let row = Row {
                sequence,
                phase: MEASURED,
                connection: 0,
                intended_ns: sent_ns,
                sent_ns,
                received_ns,
                bytes_sent: BODY_BYTES as i64,
                bytes_received: BODY_BYTES as i64,
                status: Status::Ok,
                kind: Kind::Request,
                parent: 0,
            };
            self.record.append(&row).expect("the disk has room");
        }
    }
}

/// A record with its books, and the one request and reply of which its samples are: each reply is compared, too.
#[derive(Debug)]
pub struct Filler {
    recorder: Recorder,
    asked: Rc<Asked>,
    body: Bytes,
    made: Vec<Call>,
    entered: u64,
}

impl Filler {
    /// `has_several`: as with several requests in flight, where replies are compared by their bytes.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn new(path: &str, rows: u64, has_several: bool) -> io::Result<Self> {
        let mut recorder =
            Recorder::new(Record::create(path, rows + 1)?, Kind::Request, has_several, TIMEOUT_NS, ROOM_BYTES);
        let payload = Payload { kind: PayloadKind::Bytes, size: BODY_BYTES, ..Payload::default() };
        let asked = Maker::new("echo", &payload, 1).map_err(io::Error::other)?.make(1);
        let Request::EchoData(body) = &asked.request else { return Err(io::ErrorKind::InvalidData.into()) };
        let body = body.clone();
        // In the warm-up every reply is looked at: from then on its bytes are known.
        recorder.begin(&Phase::new(WARM_UP, monotonic_ns(), 1, Extent::of(1)));
        let mut made = Self { recorder, asked, body, made: Vec::with_capacity(1), entered: 0 };
        made.fill(1);
        made.recorder.begin(&Phase::new(MEASURED, monotonic_ns(), 2, Extent::of(rows)));
        Ok(made)
    }

    /// Enter so many samples, one after the other.
    ///
    /// # Panics
    /// The disk is full.
    pub fn fill(&mut self, samples: u64) {
        for _ in 0..samples {
            if self.made.is_empty() {
                // The reply before was kept.
                let (body, sent, received) = (self.body.clone(), self.body.len(), self.body.len());
                let called = Called { reply: Reply::Data(body.clone()), sent, received, body: Some(body) };
                self.made.push(Call { asked: Rc::clone(&self.asked), sent_ns: 0, received_ns: 0, outcome: Ok(called) });
            }
            self.entered += 1;
            let sent_ns = monotonic_ns();
            let received_ns = monotonic_ns();
            let sample = Sample {
                sequence: self.entered,
                connection: 0,
                place: 0,
                intended_ns: sent_ns,
                sent_ns,
                received_ns,
                failure: None,
                calls: &mut self.made,
            };
            self.recorder.enter(sample).expect("the disk has room");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Filler, Rows};

    #[test]
    fn samples_are_rows() {
        let folder = std::env::temp_dir().join(format!("orch-rust-{}-filler", std::process::id()));
        for has_several in [false, true] {
            let mut filler = Filler::new(folder.to_str().unwrap(), 100, has_several).unwrap();
            filler.fill(100);
            filler.recorder.settle().unwrap();
            assert_eq!((filler.recorder.rows(), filler.recorder.tally().verified), (101, 100));
            assert_eq!(filler.recorder.tally().verified_by_bytes > 90, has_several);
        }
        let mut rows = Rows::new(folder.to_str().unwrap(), 100).unwrap();
        rows.fill(100);
        assert_eq!(rows.record.rows(), 100);
        std::fs::remove_file(folder).unwrap();
    }
}
