//! Sums TCP_INFO over the windows of the measured phase, in which connections may come and go.

use serde_json::Value;

use crate::probes::system::monotonic_ns;
use crate::probes::tcp::{Counts, TcpInfo};

const BETWEEN_LOOKS_NS: i64 = 100_000_000;

/// `wire` and `min_rtt_us` of the *done* line.
///
/// Where many short connections `overlap`, a look at every close would disturb the others: then only the smallest round
/// trip is known, from a look now and then, and the sums are not.
#[derive(Debug)]
pub struct Meter {
    overlap: bool,
    is_counting: bool,
    is_complete: bool,
    next_look_ns: i64,
    sums: Counts,
    min_rtt_us: Option<u32>,
}

impl Meter {
    pub fn new(overlap: bool) -> Self {
        Self {
            overlap,
            is_counting: false,
            is_complete: true,
            next_look_ns: 0,
            sums: Counts::default(),
            min_rtt_us: None,
        }
    }

    /// Count on from here, until `end`.
    pub fn begin(&mut self) {
        self.is_counting = true;
    }

    pub fn end(&mut self) {
        self.is_counting = false;
    }

    /// Look at a connection for the last time in the phase. `before`: its counts when the phase began, or it was opened.
    pub fn look(&mut self, connection: impl FnOnce() -> Option<TcpInfo>, before: Counts) {
        if !self.is_counting {
            return;
        }
        if self.overlap {
            let now_ns = monotonic_ns();
            if now_ns < self.next_look_ns {
                return;
            }
            self.next_look_ns = now_ns + BETWEEN_LOOKS_NS;
        }
        match connection() {
            Some(now) => {
                self.sums.add(now.counts, before);
                self.min_rtt_us = self.min_rtt_us.into_iter().chain(now.min_rtt_us).min();
            }
            // Its socket was closed before: sums that lack a part are no sums.
            None => self.is_complete = false,
        }
    }

    pub fn wire(&self) -> Value {
        if self.overlap || !self.is_complete { Value::Null } else { self.sums.told() }
    }

    pub fn min_rtt_us(&self) -> Option<u32> {
        self.min_rtt_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(bytes_sent: u64, min_rtt_us: u32) -> Option<TcpInfo> {
        Some(TcpInfo { counts: Counts { bytes_sent, ..Counts::default() }, min_rtt_us: Some(min_rtt_us) })
    }

    #[test]
    fn what_came_in_the_phase_is_added_up() {
        let mut meter = Meter::new(false);
        meter.look(|| info(1000, 1), Counts::default());
        meter.begin();
        meter.look(|| info(50, 9), Counts { bytes_sent: 20, ..Counts::default() });
        meter.look(|| info(5, 7), Counts::default());
        meter.end();
        meter.look(|| info(1000, 1), Counts::default());
        assert_eq!(meter.wire()["bytes_sent"], 35);
        assert_eq!(meter.min_rtt_us(), Some(7));
        meter.begin();
        meter.look(|| info(7, 8), Counts::default());
        assert_eq!(meter.wire()["bytes_sent"], 42);
        meter.look(|| None, Counts::default());
        assert_eq!(meter.wire(), Value::Null);
    }
}
