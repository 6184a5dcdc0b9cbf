//! What the workers of a trial share: whom they ask, with which requests, and when.

use std::rc::Rc;
use std::time::Duration;

use super::recorder::Books;
use crate::contract;
use crate::generator::Rests;
use crate::operations::{Asked, Maker};

/// What each request of a trial carries, by its sequence number.
#[derive(Debug)]
pub enum Makers {
    One(Maker),
    /// The place, from 0, of each request's operation, and the operations' own.
    Mix {
        order: Vec<u8>,
        each: Vec<Maker>,
    },
}

impl Makers {
    /// The place of its operation in the mix, from 1; 0 without one.
    pub fn place(&self, sequence: u64) -> usize {
        match self {
            Makers::One(_) => 0,
            Makers::Mix { order, .. } => 1 + usize::from(order[((sequence - 1) % order.len() as u64) as usize]),
        }
    }

    pub fn make(&self, sequence: u64) -> Rc<Asked> {
        match self {
            Makers::One(maker) => maker.make(sequence),
            Makers::Mix { each, .. } => each[self.place(sequence) - 1].make(sequence),
        }
    }

    /// A request of each operation.
    pub fn examples(&self) -> Vec<Rc<Asked>> {
        match self {
            Makers::One(maker) => vec![maker.make(1)],
            Makers::Mix { each, .. } => each.iter().map(|maker| maker.make(1)).collect(),
        }
    }

    /// How many operations there are.
    pub fn count(&self) -> usize {
        match self {
            Makers::One(_) => 1,
            Makers::Mix { each, .. } => each.len(),
        }
    }
}

/// When requests are sent.
#[derive(Debug)]
pub enum Schedule {
    /// One after the other, or after a rest.
    Closed(Option<Rests>),
    /// When they are due, nanoseconds from the beginning of the phase.
    Open(Vec<i64>),
}

/// What the workers of a trial share.
#[derive(Debug)]
pub struct Work<C> {
    pub client: C,
    pub makers: Makers,
    pub policy: contract::Connection,
    pub calls: u64,
    pub timeout: Duration,
    pub books: Books,
}
