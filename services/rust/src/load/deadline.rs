//! Bounds calls in time, without a timer of its own for each: one stands for all calls of a worker.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

use crate::probes::system::monotonic_ns;
use crate::statuses::{Failure, Status};

/// A timer that wakes its worker at the deadline of an earlier call, and is then set to that of the one under way.
#[derive(Debug)]
pub struct Deadline {
    limit: Duration,
    limit_ns: i64,
    set: Option<Set>,
}

/// The timer, and whom it wakes.
#[derive(Debug)]
struct Set {
    timer: Pin<Box<Sleep>>,
    wakes: Waker,
}

impl Deadline {
    pub fn new(limit: Duration) -> Self {
        Self { limit, limit_ns: i64::try_from(limit.as_nanos()).unwrap_or(i64::MAX), set: None }
    }

    /// The same as `call`, or a time-out so long after `begun_ns`.
    ///
    /// What a call costs here is a look at the timer's state: it is set and asked anew only where it has run out, which it
    /// does once in a time-out, or would wake somebody else.
    pub async fn bound<T>(
        &mut self,
        begun_ns: i64,
        call: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let mut call = pin!(call);
        poll_fn(|cx| {
            if let Poll::Ready(ended) = call.as_mut().poll(cx) {
                return Poll::Ready(ended);
            }
            match &self.set {
                Some(set) if set.wakes.will_wake(cx.waker()) && !set.timer.is_elapsed() => Poll::Pending,
                _ => self.look(begun_ns, cx).map(Err),
            }
        })
        .await
    }

    fn look(&mut self, begun_ns: i64, cx: &mut Context<'_>) -> Poll<Failure> {
        let limit = self.limit;
        let set = self.set.get_or_insert_with(|| Set { timer: Box::pin(sleep(limit)), wakes: cx.waker().clone() });
        set.wakes.clone_from(cx.waker());
        while set.timer.as_mut().poll(cx).is_ready() {
            let left_ns = begun_ns.saturating_add(self.limit_ns) - monotonic_ns();
            if left_ns <= 0 {
                let words = format!("no reply in {} s", limit.as_secs_f64());
                return Poll::Ready(Failure::new(Status::Timeout, words));
            }
            set.timer.as_mut().reset(Instant::now() + Duration::from_nanos(left_ns.unsigned_abs()));
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn a_call_that_takes_too_long_is_a_time_out_and_the_next_one_has_its_own() {
        run(async {
            let mut deadline = Deadline::new(Duration::from_millis(60));
            let after = |ms| async move {
                sleep(Duration::from_millis(ms)).await;
                Ok(ms)
            };
            for _ in 0..3 {
                // Together they take longer than one may.
                assert!(matches!(deadline.bound(monotonic_ns(), after(30)).await, Ok(30)));
            }
            let begun = Instant::now();
            let failure = deadline.bound(monotonic_ns(), after(60_000)).await.unwrap_err();
            assert_eq!(failure.status, Status::Timeout);
            assert!(begun.elapsed() >= Duration::from_millis(60));
            // Another task is woken, too.
            let local = tokio::task::LocalSet::new();
            let other = local.spawn_local(async move { deadline.bound(monotonic_ns(), after(60_000)).await });
            assert_eq!(local.run_until(other).await.unwrap().unwrap_err().status, Status::Timeout);
        });
    }
}
