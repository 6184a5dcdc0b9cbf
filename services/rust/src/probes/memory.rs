//! The most memory that this process has had at a time, resident, since a moment of its choice.

use std::fs;

use super::system;

const FORGET_PEAK: &str = "5"; // of /proc/PID/clear_refs (proc(5))
/// What replies may take that are verified later, wherever a requester runs.
pub const LEAST_KEPT: u64 = 64 << 20;
const MOST_KEPT: u64 = 256 << 20;

/// A peak that can begin anew where the kernel can.
#[derive(Debug, Default)]
pub struct PeakMemory {
    begins_anew: bool,
}

impl PeakMemory {
    /// Count from here on.
    pub fn begin(&mut self) {
        self.begins_anew = fs::write("/proc/self/clear_refs", FORGET_PEAK).is_ok() || self.begins_anew;
    }

    /// The peak in bytes, and since when it counts: `phase` or `process`.
    pub fn read(&self) -> (u64, &'static str) {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        match kilobytes(&status, "VmHWM:") {
            Some(peak) => (peak * 1024, if self.begins_anew { "phase" } else { "process" }),
            None => (system::usage().ru_maxrss.unsigned_abs() * 1024, "process"),
        }
    }
}

/// How much memory replies may take that are verified later: an eighth of what is free, between 64 and 256 MiB.
pub fn room_for_replies() -> u64 {
    let free = fs::read_to_string("/proc/meminfo").ok().and_then(|told| kilobytes(&told, "MemAvailable:"));
    (free.unwrap_or(0) * 1024 / 8).clamp(LEAST_KEPT, MOST_KEPT)
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
