//! The lines of stdin behind the first, and the end of the process.

use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::dispatcher::Counts;
use crate::contract::{complain, print_line};
use crate::net::SocketOptions;
use crate::probes::counters::host_counters;
use crate::probes::memory::PeakMemory;
use crate::probes::system;

/// End the process at SIGTERM or SIGINT, with status 0 once `has_begun`. Both must be held in all threads.
pub fn await_signals(has_begun: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        system::await_end();
        system::leave(i32::from(!has_begun.load(Ordering::Relaxed)));
    });
}

/// Answer the lines of stdin in a thread, until it ends; then end the process. `port` is where connections are accepted.
pub fn obey_stdin(counts: Arc<Counts>, options: SocketOptions, port: u16) {
    std::thread::spawn(move || {
        obey(&counts, &options, port);
        system::leave(0);
    });
}

fn obey(counts: &Counts, options: &SocketOptions, port: u16) {
    let mut memory = PeakMemory::default();
    let mut line = Vec::new();
    let mut stdin = std::io::stdin().lock();
    loop {
        line.clear();
        if !matches!(stdin.read_until(b'\n', &mut line), Ok(1..)) {
            return;
        }
        let text = String::from_utf8_lossy(&line);
        match text.trim() {
            "" => {}
            "stats" => {
                if let Err(why) = options.bound_accepted(port) {
                    complain(&format!("respond: {why}"));
                    system::leave(1);
                }
                print_line(&stats(counts, &mut memory));
            }
            other => {
                let shown: String = other.chars().take(80).collect();
                complain(&format!("respond: unknown line on stdin: {shown:?}; known: stats"));
            }
        }
    }
}

fn stats(counts: &Counts, memory: &mut PeakMemory) -> Value {
    // This thread does nothing but answer these lines.
    let cpu_ns = system::process_cpu_ns() - system::thread_cpu_ns();
    let (memory_bytes, memory_since) = memory.read();
    memory.begin();
    json!({
        "type": "stats",
        "answered": counts.answered(),
        "peers": counts.peers(),
        "cpu_s": cpu_ns.max(0) as f64 / 1e9,
        "memory_bytes": memory_bytes,
        "memory_since": memory_since,
        "host": host_counters(),
    })
}
