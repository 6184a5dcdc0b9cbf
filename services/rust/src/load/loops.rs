//! Load loops: one task of the event loop per request in flight; with a single one, no task at all.
//!
//! * One send stamp per sample, taken immediately before the client's call, and one when it returned; making the request,
//!   recording and closing stand outside. Under `per-request`, opening the connection stands inside.
//! * A worker has one request in flight. With think time it rests before each, from the moment that it is ready for it.
//! * When a phase is over nothing more is sent, and what is in flight is awaited.
//! * A connection that failed under `reuse` is dialled anew outside the window of the next request.

use std::cell::{Cell, RefCell};
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::client::{Client, Connection};
use super::deadline::Deadline;
use super::pacer::Pacer;
use super::phase::Phase;
use super::recorder::{Books, Call, GaveUp, Sample};
use super::slot::{NO_CONNECTION, Pool, Slot};
use super::work::{Schedule, Work};
use crate::contract;
use crate::operations::Asked;
use crate::probes::system::monotonic_ns;
use crate::probes::tcp::{Counts, info};
use crate::statuses::{Failure, Status};

const LAG_EVERY_NS: i64 = 20_000_000;

/// One worker between two phases: a kept connection for each operation; none where all workers share theirs.
#[derive(Debug)]
struct Lane<K> {
    slots: Vec<Slot<K>>,
}

/// What a worker did between its requests, nanoseconds.
#[derive(Debug, Default)]
struct Pauses {
    since_reply_ns: i64,
    paused_ns: i64,
    entering_ns: i64,
}

/// Drives the load of a trial. Its methods run within a `LocalSet`.
pub struct Loops<C: Client> {
    work: Rc<Work<C>>,
    lanes: Vec<Lane<C::Connection>>,
    pool: Option<Rc<Pool<C::Connection>>>,
    worst_lag_ns: i64,
}

impl<C: Client + 'static> Loops<C> {
    /// `shared`: so many connections carry all requests.
    pub fn new(work: Work<C>, concurrency: usize, shared: Option<usize>) -> Self {
        let each = if shared.is_some() { 0 } else { work.makers.count() };
        let lane = |_| Lane { slots: (0..each).map(|_| Slot::default()).collect() };
        let pool = shared.map(|count| Rc::new(Pool::new(count)));
        Self { work: Rc::new(work), lanes: (0..concurrency).map(lane).collect(), pool, worst_lag_ns: 0 }
    }

    /// Do something with each place of a connection that is kept.
    fn each_slot(&mut self, mut act: impl FnMut(&mut Slot<C::Connection>)) {
        self.lanes.iter_mut().flat_map(|lane| &mut lane.slots).for_each(&mut act);
        if let Some(pool) = &self.pool {
            pool.slots().for_each(|slot| act(&mut slot.borrow_mut()));
        }
    }

    /// Do something with the socket of each connection that is kept.
    pub fn each_socket(&mut self, mut act: impl FnMut(BorrowedFd<'_>)) {
        self.each_slot(|slot| {
            if let Some(connection) = &slot.connection {
                act(connection.socket());
            }
        });
    }

    pub fn books(&self) -> &Books {
        &self.work.books
    }

    /// The books, when all phases are over.
    pub fn into_books(self) -> Books {
        Rc::into_inner(self.work).expect("all workers have ended").books
    }

    /// Worst lag of the event loop in the last phase.
    pub fn lag_ms(&self) -> f64 {
        self.worst_lag_ns as f64 / 1e6
    }

    /// Under `reuse`, open the connections that are kept, one after the other.
    pub async fn open(&mut self) -> Result<(), Failure> {
        if self.work.policy == contract::Connection::PerRequest {
            return Ok(());
        }
        let mut deadline = Deadline::new(self.work.timeout);
        for slot in self.lanes.iter_mut().flat_map(|lane| &mut lane.slots) {
            slot.dial(&self.work, &mut deadline).await?;
        }
        match &self.pool {
            Some(pool) => pool.open(&self.work, &mut deadline).await,
            None => Ok(()),
        }
    }

    /// Begin to count what the kept connections carry.
    pub fn begin_counting(&mut self) {
        self.work.books.meter.borrow_mut().begin();
        self.each_slot(|slot| {
            let now = slot.connection.as_ref().and_then(|connection| info(connection.socket()));
            slot.before = now.map_or_else(Counts::default, |info| info.counts);
        });
    }

    /// Count no more.
    pub fn end_counting(&mut self) {
        let work = Rc::clone(&self.work);
        self.each_slot(|slot| {
            if let Some(connection) = &slot.connection {
                work.books.meter.borrow_mut().look(|| info(connection.socket()), slot.before);
            }
        });
        work.books.meter.borrow_mut().end();
    }

    /// Make the requests of a phase.
    pub async fn play(&mut self, phase: Phase, schedule: Schedule) -> Result<Phase, GaveUp> {
        let pacer = Rc::new(Pacer::new()?);
        let lag = Rc::new(Cell::new(0));
        let watching = tokio::task::spawn_local(watch(Rc::clone(&pacer), Rc::clone(&lag)));
        let is_closed = matches!(schedule, Schedule::Closed(_));
        let play = Rc::new(Play { phase, schedule, pacer, unsent: RefCell::default() });
        let outcome = self.workers(&play).await;
        watching.abort();
        self.worst_lag_ns = lag.get();
        let pauses = outcome?;
        let mut recorder = self.work.books.recorder.borrow_mut();
        let tally = recorder.tally();
        tally.entering_ns += pauses.iter().map(|pause| pause.entering_ns).sum::<i64>();
        if is_closed {
            tally.paused_ns += pauses.iter().map(|pause| pause.paused_ns).sum::<i64>() / pauses.len().max(1) as i64;
        }
        if let Schedule::Open(due) = &play.schedule {
            let now_ns = monotonic_ns();
            let mut unsent = play.unsent.take();
            unsent.extend(play.phase.taken()..due.len() as u64);
            unsent.sort_unstable();
            for index in unsent {
                let sequence = play.phase.first_sequence + index;
                let place = self.work.makers.place(sequence) as i64;
                recorder.not_sent(sequence, place, play.phase.begin_ns + due[index as usize], now_ns)?;
            }
        }
        drop(recorder);
        Ok(Rc::into_inner(play).expect("all workers have ended").phase)
    }

    async fn workers(&mut self, play: &Rc<Play>) -> Result<Vec<Pauses>, GaveUp> {
        let worker = |number, lane| Worker {
            work: Rc::clone(&self.work),
            play: Rc::clone(play),
            number,
            lane,
            pool: self.pool.clone(),
            deadline: Deadline::new(self.work.timeout),
            pauses: Pauses::default(),
        };
        let mut lanes = std::mem::take(&mut self.lanes);
        if lanes.len() == 1
            && let Some(lane) = lanes.pop()
        {
            let done = worker(0, lane).run().await?;
            self.lanes.push(done.lane);
            return Ok(vec![done.pauses]);
        }
        let mut tasks = JoinSet::new();
        for (number, lane) in lanes.into_iter().enumerate() {
            tasks.spawn_local(worker(number, lane).run());
        }
        let mut done = Vec::new();
        while let Some(ended) = tasks.join_next().await {
            // Those that are still under way are given up with the set.
            done.push(ended.expect("a worker ends by itself")?);
        }
        done.sort_by_key(|worker| worker.number);
        let pauses;
        (self.lanes, pauses) = done.into_iter().map(|worker| (worker.lane, worker.pauses)).unzip();
        Ok(pauses)
    }

    /// Close the connections; how many of how many held more than was asked for, after so long a wait.
    pub async fn close(&mut self, grace: Duration) -> (usize, usize) {
        tokio::time::sleep(grace).await;
        let (mut unasked, mut all) = (0, 0);
        for slot in self.lanes.iter_mut().flat_map(|lane| &mut lane.slots) {
            if let Some(connection) = &mut slot.connection {
                all += 1;
                unasked += usize::from(connection.has_unasked().await);
            }
        }
        let mut left = Vec::new();
        let work = Rc::clone(&self.work);
        self.each_slot(|slot| left.extend(slot.clear(&work)));
        for connection in left {
            connection.close().await;
        }
        (unasked, all)
    }
}

/// What the workers of a phase share.
#[derive(Debug)]
struct Play {
    phase: Phase,
    schedule: Schedule,
    pacer: Rc<Pacer>,
    /// The indices of what was taken and not sent, as the window had closed.
    unsent: RefCell<Vec<u64>>,
}

struct Worker<C: Client> {
    work: Rc<Work<C>>,
    play: Rc<Play>,
    number: usize,
    lane: Lane<C::Connection>,
    pool: Option<Rc<Pool<C::Connection>>>,
    deadline: Deadline,
    pauses: Pauses,
}

impl<C: Client> Worker<C> {
    /// Make requests until the phase is over.
    async fn run(mut self) -> Result<Self, GaveUp> {
        let play = Rc::clone(&self.play);
        let work = Rc::clone(&self.work);
        let calls = work.calls;
        let mut asked = Vec::with_capacity(calls as usize);
        let mut made = Vec::with_capacity(calls as usize);
        let mut rested_ns = 0;
        if let Schedule::Closed(Some(rests)) = &play.schedule {
            rested_ns = play.rest_until(play.phase.begin_ns + rests.first(self.number)).await;
        }
        let mut now_ns = monotonic_ns();
        while let Some((sequence, due_ns)) = play.next(now_ns, rested_ns).await {
            self.pauses.paused_ns += self.pauses.since_reply_ns;
            let first = (sequence - 1) * calls + 1;
            asked.extend((first..first + calls).map(|number| work.makers.make(number)));
            let (received_ns, outcome) = if work.policy == contract::Connection::PerRequest {
                self.on_new(sequence, due_ns, &mut asked, &mut made).await
            } else if let Some(pool) = self.pool.clone() {
                self.on_shared(&pool, sequence, due_ns, &mut asked, &mut made).await
            } else {
                self.on_kept(sequence, due_ns, &mut asked, &mut made).await
            };
            made.clear(); // freed here, and not within the window of the next request
            outcome?;
            now_ns = monotonic_ns();
            self.pauses.since_reply_ns = now_ns - received_ns;
            if let Schedule::Closed(Some(rests)) = &play.schedule {
                rested_ns = now_ns + rests.after(sequence - play.phase.first_sequence);
                if !play.phase.is_over(now_ns) {
                    play.rest_until(rested_ns).await;
                }
                now_ns = monotonic_ns();
            }
        }
        if work.policy == contract::Connection::Reuse {
            // What followed the last reply is no pause, but it was entering.
            self.pauses.entering_ns += self.pauses.paused_ns + self.pauses.since_reply_ns;
        }
        Ok(self)
    }

    /// A sample on a kept connection: when it was over, and whether the trial goes on.
    async fn on_kept(
        &mut self,
        sequence: u64,
        due_ns: i64,
        asked: &mut Vec<Rc<Asked>>,
        made: &mut Vec<Call>,
    ) -> (i64, Result<(), GaveUp>) {
        let work = &self.work;
        let place = work.makers.place(sequence);
        let slot = &mut self.lane.slots[place.saturating_sub(1)];
        let opened = match &slot.connection {
            Some(_) => Ok(()),
            None => slot.dial(work, &mut self.deadline).await,
        };
        let sent_ns = monotonic_ns();
        let failure = match (&mut slot.connection, opened) {
            (Some(connection), Ok(())) => call_all(connection, &mut self.deadline, sent_ns, asked, made).await,
            (_, opened) => opened.err(),
        };
        let connection = slot.number;
        // Not even sent, where there was no connection.
        let received_ns = made.last().map_or(sent_ns, |call| call.received_ns);
        asked.clear();
        let is_over = slot.connection.as_ref().is_some_and(Connection::is_over);
        if is_over || failure.as_ref().is_some_and(|failure| failure.status.breaks_connection()) {
            let begun_ns = monotonic_ns();
            if let Some(connection) = slot.clear(work) {
                connection.close().await;
            }
            self.pauses.entering_ns -= monotonic_ns() - begun_ns;
        }
        let place = place as i64;
        let intended_ns = if due_ns == 0 { sent_ns } else { due_ns };
        let sample = Sample { sequence, connection, place, intended_ns, sent_ns, received_ns, failure, calls: made };
        (received_ns, work.books.recorder.borrow_mut().enter(sample))
    }

    /// A sample on a connection that others use, too.
    async fn on_shared(
        &mut self,
        pool: &Pool<C::Connection>,
        sequence: u64,
        due_ns: i64,
        asked: &mut Vec<Rc<Asked>>,
        made: &mut Vec<Call>,
    ) -> (i64, Result<(), GaveUp>) {
        let work = &self.work;
        let shared = pool.take();
        let opened = pool.handle(shared, work, &mut self.deadline).await;
        let sent_ns = monotonic_ns();
        let (failure, connection) = match opened {
            Ok((mut handle, number)) => (call_all(&mut handle, &mut self.deadline, sent_ns, asked, made).await, number),
            Err(failure) => (Some(failure), NO_CONNECTION),
        };
        pool.give_back(shared);
        let received_ns = made.last().map_or(sent_ns, |call| call.received_ns);
        asked.clear();
        // One that comes too late is taken back by itself, and the others go on.
        if failure.as_ref().is_some_and(|f| f.status.breaks_connection() && f.status != Status::Timeout) {
            pool.give_up(shared, connection, work);
        }
        let place = work.makers.place(sequence) as i64;
        let intended_ns = if due_ns == 0 { sent_ns } else { due_ns };
        let sample = Sample { sequence, connection, place, intended_ns, sent_ns, received_ns, failure, calls: made };
        (received_ns, work.books.recorder.borrow_mut().enter(sample))
    }

    /// A sample on a connection of its own, opened within its window.
    async fn on_new(
        &mut self,
        sequence: u64,
        due_ns: i64,
        asked: &mut Vec<Rc<Asked>>,
        made: &mut Vec<Call>,
    ) -> (i64, Result<(), GaveUp>) {
        let work = &self.work;
        let sent_ns = monotonic_ns();
        let mut opened = self.deadline.bound(sent_ns, work.client.dial()).await;
        let failure = match &mut opened {
            Ok(connection) => {
                let begun_ns = if work.calls == 1 { sent_ns } else { monotonic_ns() };
                call_all(connection, &mut self.deadline, begun_ns, asked, made).await
            }
            Err(failure) => Some(failure.clone()),
        };
        let received_ns = made.last().map_or_else(monotonic_ns, |call| call.received_ns);
        asked.clear();
        let place = work.makers.place(sequence) as i64;
        let intended_ns = if due_ns == 0 { sent_ns } else { due_ns };
        let outcome = {
            let mut recorder = work.books.recorder.borrow_mut();
            let connection = if opened.is_ok() { recorder.connected() } else { NO_CONNECTION };
            let calls = made;
            recorder.enter(Sample { sequence, connection, place, intended_ns, sent_ns, received_ns, failure, calls })
        };
        self.pauses.entering_ns += monotonic_ns() - received_ns;
        if let Ok(connection) = opened {
            work.books.meter.borrow_mut().look(|| info(connection.socket()), Counts::default());
            connection.close().await;
        }
        (received_ns, outcome)
    }
}

impl Play {
    /// The next request's sequence number, once it is to be sent, and when that should be (0: at once); None at the end.
    async fn next(&self, now_ns: i64, rested_ns: i64) -> Option<(u64, i64)> {
        let Schedule::Open(due) = &self.schedule else {
            let sequence = self.phase.take(now_ns);
            if sequence.is_none() {
                self.pacer.release(); // nobody rests any more
            }
            return Some((sequence?, rested_ns));
        };
        let index = self.phase.taken();
        let due_ns = self.phase.begin_ns + due.get(index as usize)?;
        let sequence = self.phase.take_next();
        self.pacer.until(due_ns).await;
        if monotonic_ns() < self.phase.ends_ns() {
            return Some((sequence, due_ns));
        }
        self.unsent.borrow_mut().push(index);
        None
    }

    /// Rest until then, or until the phase is over; gives what it was given.
    async fn rest_until(&self, due_ns: i64) -> i64 {
        self.pacer.until(due_ns.min(self.phase.ends_ns())).await;
        due_ns
    }
}

/// One call after the other; `made` gets what came of each. Why there is no further one, where one failed.
async fn call_all<K: Connection>(
    connection: &mut K,
    deadline: &mut Deadline,
    mut sent_ns: i64,
    asked: &mut Vec<Rc<Asked>>,
    made: &mut Vec<Call>,
) -> Option<Failure> {
    for asked in asked.drain(..) {
        let outcome = deadline.bound(sent_ns, connection.call(&asked.request)).await;
        let received_ns = monotonic_ns();
        let failure = outcome.as_ref().err().cloned();
        made.push(Call { asked, sent_ns, received_ns, outcome });
        if failure.is_some() {
            return failure;
        }
        sent_ns = received_ns;
    }
    None
}

/// Note how late the event loop comes to what is due.
async fn watch(pacer: Rc<Pacer>, worst_ns: Rc<Cell<i64>>) {
    loop {
        let planned_ns = monotonic_ns() + LAG_EVERY_NS;
        pacer.until(planned_ns).await;
        let late_ns = monotonic_ns() - planned_ns;
        if late_ns < 0 {
            return; // everybody was released
        }
        worst_ns.set(worst_ns.get().max(late_ns));
    }
}
