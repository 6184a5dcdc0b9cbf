//! Which requests a phase of a trial has: numbers them, and says when the phase is over.

use std::cell::Cell;

use crate::contract::{Load, Warmup};
use crate::generator::nanoseconds;

pub const WARM_UP: i64 = 0;
pub const MEASURED: i64 = 1;

/// More nanoseconds than any phase has, from its beginning on.
const NEVER_NS: i64 = 1 << 62;

/// How long a phase goes on: to `requests` and to `least_ns`, whichever is later, but not beyond `most_ns`.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    requests: u64,
    least_ns: i64,
    most_ns: i64,
}

impl Extent {
    /// Until so many requests and so many seconds are both reached, but never longer than `at_most_s`.
    pub fn warm_up(warmup: &Warmup) -> Self {
        Self {
            requests: warmup.requests,
            least_ns: nanoseconds(warmup.at_least_s) as i64,
            most_ns: nanoseconds(warmup.at_most_s) as i64,
        }
    }

    /// Until so many requests.
    pub fn of(requests: u64) -> Self {
        Self { requests, least_ns: 0, most_ns: NEVER_NS }
    }

    /// Until so many requests or so many seconds, whichever comes first.
    pub fn measured(load: &Load) -> Self {
        Self {
            requests: load.requests.unwrap_or(u64::MAX),
            least_ns: 0,
            most_ns: load.duration_s.map_or(NEVER_NS, |seconds| nanoseconds(seconds) as i64),
        }
    }
}

/// One phase. Workers `take` a number each before they send.
#[derive(Debug)]
pub struct Phase {
    pub number: i64,
    pub begin_ns: i64,
    pub first_sequence: u64,
    requests: u64,
    least_ns: i64,
    most_ns: Cell<i64>,
    taken: Cell<u64>,
}

impl Phase {
    pub fn new(number: i64, begin_ns: i64, first_sequence: u64, extent: Extent) -> Self {
        Self {
            number,
            begin_ns,
            first_sequence,
            requests: extent.requests,
            least_ns: begin_ns + extent.least_ns,
            most_ns: Cell::new(begin_ns + extent.most_ns),
            taken: Cell::new(0),
        }
    }

    /// The next sequence number; None when the phase is over.
    pub fn take(&self, now_ns: i64) -> Option<u64> {
        (!self.is_over(now_ns)).then(|| self.take_next())
    }

    /// The next sequence number, whether the phase is over or not.
    pub fn take_next(&self) -> u64 {
        let taken = self.taken.get();
        self.taken.set(taken + 1);
        self.first_sequence + taken
    }

    pub fn is_over(&self, now_ns: i64) -> bool {
        now_ns >= self.most_ns.get() || (self.taken.get() >= self.requests && now_ns >= self.least_ns)
    }

    /// When it is over at the latest.
    pub fn ends_ns(&self) -> i64 {
        self.most_ns.get()
    }

    /// When it closes by time alone: at its beginning where a number of requests ends it.
    pub fn closes_ns(&self) -> i64 {
        if self.requests == u64::MAX { self.ends_ns() } else { self.begin_ns }
    }

    /// No number is given any more.
    pub fn end(&self) {
        self.most_ns.set(i64::MIN);
    }

    /// How many numbers were given.
    pub fn taken(&self) -> u64 {
        self.taken.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(requests: u64, least_ns: i64, most_ns: i64) -> Phase {
        Phase::new(MEASURED, 100, 5, Extent { requests, least_ns, most_ns })
    }

    #[test]
    fn numbers_follow_one_another_until_there_are_enough() {
        let phase = phase(2, 0, NEVER_NS);
        assert_eq!([phase.take(100), phase.take(101), phase.take(102)], [Some(5), Some(6), None]);
        assert_eq!(phase.taken(), 2);
    }

    #[test]
    fn a_warm_up_goes_on_until_requests_and_time_are_both_reached() {
        let phase = phase(1, 50, 80);
        assert_eq!([phase.take(100), phase.take(149), phase.take(150)], [Some(5), Some(6), None]);
        let never_enough = Phase::new(WARM_UP, 100, 1, Extent { requests: 1000, least_ns: 50, most_ns: 80 });
        assert_eq!([never_enough.take(179), never_enough.take(180)], [Some(1), None]);
    }

    #[test]
    fn a_phase_that_was_ended_is_over() {
        let phase = phase(10, 0, NEVER_NS);
        phase.end();
        assert_eq!(phase.take(100), None);
    }
}
