//! Wakes workers at stamps of the monotonic clock, more exactly than the event loop's own timers, which count in milliseconds.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::task::{Poll, Waker};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::AbortHandle;

use crate::probes::system::{drain_timer, monotonic_ns, set_timer, timer};

/// One timer of an event loop, for any number of workers.
#[derive(Debug)]
pub struct Pacer {
    shared: Rc<Shared>,
    driver: AbortHandle,
}

#[derive(Debug)]
struct Shared {
    timer: AsyncFd<OwnedFd>,
    waiting: RefCell<BinaryHeap<Reverse<Waiting>>>,
    numbers: Cell<u64>,
    is_released: Cell<bool>,
}

#[derive(Debug)]
struct Waiting {
    due_ns: i64,
    number: u64,
    waker: Waker,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due_ns, self.number).cmp(&(other.due_ns, other.number))
    }
}

impl Pacer {
    /// Within a `LocalSet`.
    pub fn new() -> io::Result<Self> {
        let shared = Rc::new(Shared {
            // SAFETY: the descriptor is owned by what is registered, and is the same for as long as it stands.
            timer: unsafe { AsyncFd::register_with_interest(timer()?, Interest::READABLE) }.map_err(io::Error::from)?,
            waiting: RefCell::default(),
            numbers: Cell::new(0),
            is_released: Cell::new(false),
        });
        let driver = tokio::task::spawn_local(drive(Rc::clone(&shared))).abort_handle();
        Ok(Self { shared, driver })
    }

    /// Return at `due_ns`, at once when that has passed, or when nobody is to wait any more.
    pub async fn until(&self, due_ns: i64) {
        let mut is_entered = false;
        poll_fn(|cx| {
            let now_ns = monotonic_ns();
            if now_ns >= due_ns || self.shared.is_released.get() {
                return Poll::Ready(());
            }
            if !is_entered {
                is_entered = true;
                self.enter(due_ns, cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    /// Nobody waits from now on.
    pub fn release(&self) {
        self.shared.is_released.set(true);
        for Reverse(waiting) in self.shared.waiting.borrow_mut().drain() {
            waiting.waker.wake();
        }
    }

    fn enter(&self, due_ns: i64, waker: Waker) {
        let number = self.shared.numbers.get();
        self.shared.numbers.set(number + 1);
        let mut waiting = self.shared.waiting.borrow_mut();
        let is_first = waiting.peek().is_none_or(|Reverse(first)| due_ns < first.due_ns);
        waiting.push(Reverse(Waiting { due_ns, number, waker }));
        if is_first {
            set(&self.shared.timer, due_ns);
        }
    }
}

impl Drop for Pacer {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// A timer of this process, and a moment that is not negative: nothing can be wrong with them.
fn set(timer: &AsyncFd<OwnedFd>, due_ns: i64) {
    set_timer(timer.get_ref(), due_ns).expect("a timer can be set");
}

async fn drive(shared: Rc<Shared>) {
    while let Ok(mut ready) = shared.timer.readable().await {
        // It may have been set anew meanwhile, and have nothing to read.
        let _ = drain_timer(shared.timer.get_ref());
        ready.clear_ready();
        drop(ready);
        let now_ns = monotonic_ns();
        let mut waiting = shared.waiting.borrow_mut();
        while waiting.peek().is_some_and(|Reverse(first)| first.due_ns <= now_ns) {
            if let Some(Reverse(due)) = waiting.pop() {
                due.waker.wake();
            }
        }
        if let Some(Reverse(next)) = waiting.peek() {
            set(&shared.timer, next.due_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::task::LocalSet;

    fn run<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        LocalSet::new().block_on(&runtime, future)
    }

    #[test]
    fn nobody_is_woken_early_and_all_are_woken_in_their_order() {
        run(async {
            let pacer = Rc::new(Pacer::new().unwrap());
            let begin_ns = monotonic_ns();
            let woken = Rc::new(RefCell::new(Vec::new()));
            let tasks: Vec<_> = [30, 10, 20]
                .into_iter()
                .map(|ms| {
                    let (pacer, woken, due_ns) = (Rc::clone(&pacer), Rc::clone(&woken), begin_ns + ms * 1_000_000);
                    tokio::task::spawn_local(async move {
                        pacer.until(due_ns).await;
                        woken.borrow_mut().push((ms, monotonic_ns() >= due_ns));
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            assert_eq!(*woken.borrow(), [(10, true), (20, true), (30, true)]);
        });
    }

    #[test]
    fn whoever_waits_is_released() {
        run(async {
            let pacer = Rc::new(Pacer::new().unwrap());
            let waiting = Rc::clone(&pacer);
            let task = tokio::task::spawn_local(async move { waiting.until(i64::MAX / 2).await });
            tokio::task::yield_now().await;
            pacer.release();
            task.await.unwrap();
        });
    }
}
