//! Every protocol hands its decoded requests here: they are counted and answered.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::messages::{Reply, Request};
use crate::operations;

/// Who answers, and for how many it did.
#[derive(Debug)]
pub struct Dispatcher {
    identity: String,
    counts: Arc<Counts>,
}

/// What the control thread reads while the event loop counts.
#[derive(Debug, Default)]
pub struct Counts {
    answered: AtomicU64,
    peers: Mutex<HashSet<SocketAddr>>,
}

impl Counts {
    pub fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    pub fn peers(&self) -> usize {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Dispatcher {
    pub fn new(identity: String, counts: Arc<Counts>) -> Self {
        Self { identity, counts }
    }

    /// Count a request, and answer it; why there is no reply otherwise.
    pub fn answer(&self, request: Request) -> Result<Reply, String> {
        self.counts.answered.fetch_add(1, Ordering::Relaxed);
        operations::answer(request, &self.identity)
    }

    /// Count a peer that asked, once however often it is told.
    pub fn count_peer(&self, peer: SocketAddr) {
        self.counts.peers.lock().unwrap_or_else(PoisonError::into_inner).insert(peer);
    }
}

/// The other end of a connection, which counts once it asks something.
#[derive(Debug)]
pub struct Met {
    dispatcher: Arc<Dispatcher>,
    peer: SocketAddr,
    has_asked: AtomicBool,
}

impl Met {
    pub fn new(dispatcher: Arc<Dispatcher>, peer: SocketAddr) -> Self {
        Self { dispatcher, peer, has_asked: AtomicBool::new(false) }
    }

    /// As `Dispatcher::answer`; the peer is counted with its first request.
    pub fn answer(&self, request: Request) -> Result<Reply, String> {
        if !self.has_asked.load(Ordering::Relaxed) {
            self.has_asked.store(true, Ordering::Relaxed);
            self.dispatcher.count_peer(self.peer);
        }
        self.dispatcher.answer(request)
    }
}
