//! The client `tonic`: a channel of one connection, which is opened here.

use std::future::{Ready, ready};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use hyper::rt::Executor;
use hyper_util::rt::TokioIo;
use tokio::task::JoinHandle;
use tonic::client::Grpc;
use tonic::codegen::Service;
use tonic::codegen::http::Uri;
use tonic::transport::{Channel, Endpoint};

use super::LARGEST_MESSAGE;
use super::asking::{call, words_of};
use crate::catalogue::Options;
use crate::contract::Target;
use crate::load::client::{Called, Client, Connection};
use crate::messages::Request;
use crate::net::{Dialer, Stream};
use crate::statuses::{Failure, Status};

const CONNECTION_WINDOW: u32 = 5 << 20; // hyper's own, which holds all streams together

/// Opens connections of `grpc`.
#[derive(Debug)]
pub struct Tonic {
    dialer: Rc<Dialer>,
    endpoint: Endpoint,
}

impl Tonic {
    pub fn new(dialer: Rc<Dialer>, target: &Target, is_secure: bool, options: &Options) -> Result<Self, Failure> {
        let scheme = if is_secure { "https" } else { "http" };
        let invalid = |error: tonic::transport::Error| Failure::new(Status::Protocol, words_of(&error));
        let mut endpoint = Endpoint::from_shared(format!("{scheme}://{}", target.authority())).map_err(invalid)?;
        if let Some(bytes) = options.flow_window {
            let of_all = bytes.max(CONNECTION_WINDOW);
            endpoint = endpoint.initial_stream_window_size(bytes).initial_connection_window_size(of_all);
        }
        Ok(Self { dialer, endpoint })
    }
}

/// One connection, or another handle of it. `socket` is a second descriptor, as tonic keeps the first to itself.
#[derive(Debug)]
pub struct TonicConnection {
    grpc: Grpc<Channel>,
    socket: Arc<OwnedFd>,
    tasks: Arc<Tasks>,
}

/// Runs a channel's tasks, and knows when they are over.
#[derive(Debug, Default)]
struct Tasks {
    begun: Mutex<Vec<JoinHandle<()>>>,
}

/// The same, as tonic takes it.
struct Spawning(Arc<Tasks>);

impl Executor<Pin<Box<dyn Future<Output = ()> + Send>>> for Spawning {
    fn execute(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) {
        let begun = tokio::spawn(task);
        self.0.begun.lock().unwrap_or_else(PoisonError::into_inner).push(begun);
    }
}

/// Gives the one connection that a channel has.
struct Opened(Option<Stream>);

impl Service<Uri> for Opened {
    type Response = TokioIo<Stream>;
    type Error = io::Error;
    type Future = Ready<io::Result<TokioIo<Stream>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        ready(self.0.take().map(TokioIo::new).ok_or_else(|| io::ErrorKind::NotConnected.into()))
    }
}

impl Client for Tonic {
    type Connection = TonicConnection;

    async fn dial(&self) -> Result<TonicConnection, Failure> {
        let stream = self.dialer.dial().await?;
        let socket = Arc::new(stream.as_fd().try_clone_to_owned().map_err(|error| Failure::no_connection(&error))?);
        let tasks = Arc::new(Tasks::default());
        let endpoint = self.endpoint.clone().executor(Spawning(Arc::clone(&tasks)));
        let channel = endpoint
            .connect_with_connector(Opened(Some(stream)))
            .await
            .map_err(|error| Failure::new(Status::Closed, words_of(&error)))?;
        let grpc =
            Grpc::new(channel).max_decoding_message_size(LARGEST_MESSAGE).max_encoding_message_size(LARGEST_MESSAGE);
        Ok(TonicConnection { grpc, socket, tasks })
    }
}

impl Connection for TonicConnection {
    async fn call(&mut self, request: &Request) -> Result<Called, Failure> {
        call(&mut self.grpc, request).await
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn another(&self) -> Option<Self> {
        Some(Self { grpc: self.grpc.clone(), socket: Arc::clone(&self.socket), tasks: Arc::clone(&self.tasks) })
    }

    fn is_over(&self) -> bool {
        let begun = self.tasks.begun.lock().unwrap_or_else(PoisonError::into_inner);
        begun.first().is_some_and(JoinHandle::is_finished)
    }

    /// HTTP/2 tells replies apart.
    async fn has_unasked(&mut self) -> bool {
        false
    }

    async fn close(self) {
        let Self { grpc, socket, tasks } = self;
        drop((grpc, socket)); // then tonic says goodbye and ends
        let begun = std::mem::take(&mut *tasks.begun.lock().unwrap_or_else(PoisonError::into_inner));
        for task in begun {
            let _ = task.await;
        }
    }
}
