//! The windows of a measured phase: the only one, or that of each turn.

use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;

use super::stdin::Word;
use crate::contract::{Trial, print_line};
use crate::load::client::Client;
use crate::load::{Extent, GaveUp, Loops, MEASURED, Phase, Schedule, WARM_UP, rows_of_turn};
use crate::net::Openings;
use crate::probes::counters::Disturbance;
use crate::probes::system::{monotonic_ns, process_cpu_ns};

/// Sums over the windows. `warmed`: how many requests the warm-ups of turns had; `begin_ns` is that of the first window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    pub begin_ns: Option<i64>,
    pub cpu_ns: i64,
    pub lag_ms: f64,
    pub warmed: u64,
}

/// One window: when it began, when its last reply came or its time was over, whichever is later, and what came between.
#[derive(Debug)]
pub struct Window {
    begin_ns: i64,
    end_ns: i64,
    requests: u64,
    cpu_ns: i64,
}

/// Makes the windows of a trial, on connections that are open.
pub struct Windows<'a, C: Client> {
    loops: &'a mut Loops<C>,
    openings: &'a Openings,
    are_kept: bool,
    first_sequence: u64,
    sums: Sums,
}

impl<'a, C: Client + 'static> Windows<'a, C> {
    /// `are_kept`: connections are.
    pub fn new(loops: &'a mut Loops<C>, openings: &'a Openings, are_kept: bool, first_sequence: u64) -> Self {
        Self { loops, openings, are_kept, first_sequence, sums: Sums::default() }
    }

    pub fn sums(&self) -> Sums {
        self.sums
    }

    /// Make a turn for each line `turn`, until the line `end`; `word` is the first of these.
    pub async fn take_turns(
        &mut self,
        trial: &Trial,
        warm_up: u64,
        mut word: Word,
        words: &mut UnboundedReceiver<Word>,
    ) -> Result<(), GaveUp> {
        // Without any turn nothing was measured.
        self.begin(MEASURED, Extent::of(0));
        let mut number = 0;
        while word == Word::Turn {
            self.turn(trial, warm_up.saturating_mul(trial.load.concurrency), number).await?;
            number += 1;
            word = next_word(trial, words).await;
        }
        Ok(())
    }

    async fn turn(&mut self, trial: &Trial, warm_up: u64, number: u64) -> Result<(), GaveUp> {
        self.loops.books().recorder.borrow_mut().reserve(rows_of_turn(trial, warm_up))?;
        let before = Disturbance::read(); // before the warm-up: a look into files leaves caches cold
        let phase = self.begin(WARM_UP, Extent::of(warm_up));
        let warmed = self.loops.play(phase, Schedule::Closed(None)).await?.taken();
        self.first_sequence += warmed;
        self.sums.warmed += warmed;
        let window = self.play(Extent::measured(&trial.load), Schedule::Closed(None)).await?;
        let disturbance = Disturbance::read().since(before);
        print_line(&json!({
            "type": "turn",
            "number": number,
            "requests": window.requests,
            "begin_ns": window.begin_ns,
            "end_ns": window.end_ns,
            "cpu_s": window.cpu_ns as f64 / 1e9,
            "waited_s": disturbance.waited_s,
            "stolen_s": disturbance.stolen_s,
        }));
        Ok(())
    }

    /// Make the requests of a window, between two looks at the sockets and at this process's CPU time.
    pub async fn play(&mut self, extent: Extent, schedule: Schedule) -> Result<Window, GaveUp> {
        self.openings.set_noting(true);
        self.loops.begin_counting();
        let cpu_before_ns = process_cpu_ns();
        let phase = self.begin(MEASURED, extent);
        let (begin_ns, closes_ns) = (phase.begin_ns, phase.closes_ns());
        let played = self.loops.play(phase, schedule).await;
        let cpu_ns = process_cpu_ns() - cpu_before_ns;
        self.loops.end_counting();
        self.openings.set_noting(self.are_kept);
        self.sums.begin_ns.get_or_insert(begin_ns);
        self.sums.cpu_ns += cpu_ns;
        self.sums.lag_ms = self.sums.lag_ms.max(self.loops.lag_ms());
        let requests = played?.taken();
        self.first_sequence += requests;
        let last_ns = self.loops.books().recorder.borrow_mut().tally().last_received_ns;
        Ok(Window { begin_ns, end_ns: last_ns.max(closes_ns), requests, cpu_ns })
    }

    fn begin(&mut self, number: i64, extent: Extent) -> Phase {
        let phase = Phase::new(number, monotonic_ns(), self.first_sequence, extent);
        self.loops.books().recorder.borrow_mut().begin(&phase);
        phase
    }
}

/// The next line that this trial is held for. The process ends with stdin: there is one, or nothing is waited for any more.
pub async fn next_word(trial: &Trial, words: &mut UnboundedReceiver<Word>) -> Word {
    loop {
        match words.recv().await {
            Some(Word::Measure(moment_ns)) if trial.turn_warm_up.is_none() => return Word::Measure(moment_ns),
            Some(word @ (Word::Turn | Word::End)) if trial.turn_warm_up.is_some() => return word,
            Some(_) => {}
            None => return Word::End,
        }
    }
}
