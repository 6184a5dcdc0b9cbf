//! The lines of a requester's stdin behind the trial: the word to measure, and the end, which ends the process.

use std::io::BufRead;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::contract::{complain, moment_of};
use crate::probes::system;

const LONGEST_SHOWN: usize = 80;

/// Read on in a thread: gives the moments from which on it may be measured. The process ends with stdin.
pub fn moments() -> UnboundedReceiver<u64> {
    let (sender, receiver) = unbounded_channel();
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut line = Vec::new();
        while matches!(stdin.read_until(b'\n', &mut line), Ok(1..)) {
            let text = String::from_utf8_lossy(&line);
            match (text.trim(), moment_of(text.trim())) {
                (_, Some(moment)) => {
                    // Nobody waits for it any more where the trial is over.
                    let _ = sender.send(moment);
                }
                ("", None) => {}
                (other, None) => {
                    let shown: String = other.chars().take(LONGEST_SHOWN).collect();
                    complain(&format!("request: unknown line on stdin: {shown:?}; known: measure, measure UNIX_NS"));
                }
            }
            line.clear();
        }
        complain("request: stdin was closed before the work was done");
        system::leave(1);
    });
    receiver
}
