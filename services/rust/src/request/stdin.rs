//! The lines of a requester's stdin behind the trial: what lets it go on, and the end, which ends the process.

use std::io::BufRead;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::contract::{complain, moment_of};
use crate::probes::system;

const LONGEST_SHOWN: usize = 80;

/// A line that lets a trial go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// From which moment on it may measure, Unix nanoseconds; 0 at once.
    Measure(u64),
    Turn,
    End,
}

impl Word {
    fn of(line: &str) -> Option<Self> {
        match line {
            "turn" => Some(Self::Turn),
            "end" => Some(Self::End),
            _ => moment_of(line).map(Self::Measure),
        }
    }
}

/// Read on in a thread. The process ends with stdin.
pub fn words() -> UnboundedReceiver<Word> {
    let (sender, receiver) = unbounded_channel();
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut line = Vec::new();
        while matches!(stdin.read_until(b'\n', &mut line), Ok(1..)) {
            let text = String::from_utf8_lossy(&line);
            match (text.trim(), Word::of(text.trim())) {
                (_, Some(word)) => {
                    // Nobody waits for it any more where the trial is over.
                    let _ = sender.send(word);
                }
                ("", None) => {}
                (other, None) => {
                    let shown: String = other.chars().take(LONGEST_SHOWN).collect();
                    let known = "measure, measure UNIX_NS, turn, end";
                    complain(&format!("request: unknown line on stdin: {shown:?}; known: {known}"));
                }
            }
            line.clear();
        }
        complain("request: stdin was closed before the work was done");
        system::leave(1);
    });
    receiver
}
