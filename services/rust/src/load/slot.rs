//! Where workers keep connections: one each for themselves, or several that all of them share.

use std::cell::{Cell, RefCell};

use tokio::sync::Mutex;

use super::client::{Client, Connection};
use super::deadline::Deadline;
use super::work::Work;
use crate::probes::system::monotonic_ns;
use crate::probes::tcp::{Counts, info};
use crate::statuses::{Failure, Status};

pub const NO_CONNECTION: i64 = -1;

/// A kept connection, its number, and its counts when the phase began.
#[derive(Debug)]
pub struct Slot<K> {
    pub connection: Option<K>,
    pub number: i64,
    pub before: Counts,
}

impl<K> Default for Slot<K> {
    fn default() -> Self {
        Self { connection: None, number: NO_CONNECTION, before: Counts::default() }
    }
}

impl<K: Connection> Slot<K> {
    /// Open its connection.
    pub async fn dial<C>(&mut self, work: &Work<C>, deadline: &mut Deadline) -> Result<(), Failure>
    where
        C: Client<Connection = K>,
    {
        let opened = dial(work, deadline).await?;
        self.keep(work, opened);
        Ok(())
    }

    fn keep<C: Client<Connection = K>>(&mut self, work: &Work<C>, opened: K) {
        self.connection = Some(opened);
        self.number = work.books.recorder.borrow_mut().connected();
        self.before = Counts::default();
    }

    /// Take its connection out, which is not to be trusted any more or needed; it is still to be closed.
    pub fn clear<C: Client<Connection = K>>(&mut self, work: &Work<C>) -> Option<K> {
        self.number = NO_CONNECTION;
        let connection = self.connection.take()?;
        work.books.meter.borrow_mut().look(|| info(connection.socket()), self.before);
        Some(connection)
    }
}

async fn dial<C: Client>(work: &Work<C>, deadline: &mut Deadline) -> Result<C::Connection, Failure> {
    deadline.bound(monotonic_ns(), work.client.dial()).await.map_err(|failure| match failure.status {
        Status::Timeout => Failure::new(Status::Timeout, format!("no connection: {}", failure.words)),
        _ => failure,
    })
}

/// Connections that carry the requests of all workers, several at a time.
#[derive(Debug)]
pub struct Pool<K> {
    places: Vec<Place<K>>,
}

#[derive(Debug)]
struct Place<K> {
    slot: RefCell<Slot<K>>,
    in_flight: Cell<usize>,
    /// Held by whoever opens its connection, so that others wait rather than open another.
    opening: Mutex<()>,
}

impl<K: Connection> Pool<K> {
    pub fn new(count: usize) -> Self {
        let place = || Place { slot: RefCell::default(), in_flight: Cell::new(0), opening: Mutex::default() };
        Self { places: (0..count).map(|_| place()).collect() }
    }

    pub fn slots(&self) -> impl Iterator<Item = &RefCell<Slot<K>>> {
        self.places.iter().map(|place| &place.slot)
    }

    /// Open all of them, one after the other.
    pub async fn open<C>(&self, work: &Work<C>, deadline: &mut Deadline) -> Result<(), Failure>
    where
        C: Client<Connection = K>,
    {
        for place in &self.places {
            let opened = dial(work, deadline).await?;
            place.slot.borrow_mut().keep(work, opened);
        }
        Ok(())
    }

    /// The place of the connection that carries the fewest requests, which carries one more from now on.
    pub fn take(&self) -> usize {
        let (mut least, mut found) = (usize::MAX, 0);
        for (number, place) in self.places.iter().enumerate() {
            if place.in_flight.get() < least {
                (least, found) = (place.in_flight.get(), number);
                if least == 0 {
                    break;
                }
            }
        }
        self.places[found].in_flight.set(least.saturating_add(1));
        found
    }

    /// A request that it carried is over.
    pub fn give_back(&self, place: usize) {
        let in_flight = &self.places[place].in_flight;
        in_flight.set(in_flight.get() - 1);
    }

    /// A handle of the connection at that place, and its number; it is opened where there is none.
    pub async fn handle<C>(&self, place: usize, work: &Work<C>, deadline: &mut Deadline) -> Result<(K, i64), Failure>
    where
        C: Client<Connection = K>,
    {
        let place = &self.places[place];
        let kept = || {
            let slot = place.slot.borrow();
            slot.connection.as_ref().and_then(Connection::another).map(|handle| (handle, slot.number))
        };
        if let Some(found) = kept() {
            return Ok(found);
        }
        let _opening = place.opening.lock().await;
        if let Some(found) = kept() {
            return Ok(found);
        }
        let opened = dial(work, deadline).await?;
        place.slot.borrow_mut().keep(work, opened);
        kept().ok_or_else(|| Failure::new(Status::Protocol, "a connection carries one request at a time"))
    }

    /// The connection of that number broke: nobody is given it any more. Requests that it carries end as they may.
    pub fn give_up<C: Client<Connection = K>>(&self, place: usize, number: i64, work: &Work<C>) {
        let mut slot = self.places[place].slot.borrow_mut();
        if slot.number == number {
            drop(slot.clear(work));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::client::Called;
    use crate::messages::Request;
    use std::os::fd::BorrowedFd;

    struct Nothing;

    impl Connection for Nothing {
        async fn call(&mut self, _: &Request) -> Result<Called, Failure> {
            Err(Failure::new(Status::Closed, ""))
        }

        fn socket(&self) -> BorrowedFd<'_> {
            unreachable!("nobody asks")
        }

        async fn has_unasked(&mut self) -> bool {
            false
        }

        async fn close(self) {}
    }

    #[test]
    fn the_least_used_one_is_next() {
        let pool = Pool::<Nothing>::new(3);
        let taken: Vec<usize> = (0..5).map(|_| pool.take()).collect();
        assert_eq!(taken, [0, 1, 2, 0, 1]);
        pool.give_back(1);
        pool.give_back(1);
        assert_eq!([pool.take(), pool.take(), pool.take()], [1, 1, 2]);
    }
}
