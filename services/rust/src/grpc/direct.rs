//! The client `tonic-h2`: tonic's calls on a connection of h2 itself, which is opened here.
//!
//! tonic's own channel hands a call to a task that queues it, and hyper sends its head before it asks for its message: two
//! packets. Here both leave in one write.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::RecvStream;
use h2::client::{Builder, SendRequest};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame};
use hyper::header::{HeaderValue, USER_AGENT};
use tokio::task::{JoinHandle, spawn_local};
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::codegen::http::{Request as HttpRequest, Response, Uri};
use tonic::codegen::{Service, StdError};

use super::LARGEST_MESSAGE;
use super::asking::{call, words_of};
use crate::catalogue::Options;
use crate::contract::Target;
use crate::load::client::{Called, Client, Connection};
use crate::messages::Request;
use crate::net::Dialer;
use crate::statuses::{Failure, Status};

const AGENT: &str = "orch";
const STREAM_WINDOW: u32 = 2 << 20; // as hyper and tonic have it
const CONNECTION_WINDOW: u32 = 5 << 20; // likewise; it holds all streams together
const LARGEST_HEADERS: u32 = 16 << 10; // likewise

/// Opens connections of `grpc`.
#[derive(Debug)]
pub struct Direct {
    dialer: Rc<Dialer>,
    origin: Uri,
    opening: Builder,
}

impl Direct {
    pub fn new(dialer: Rc<Dialer>, target: &Target, is_secure: bool, options: &Options) -> Result<Self, Failure> {
        let scheme = if is_secure { "https" } else { "http" };
        let origin = Uri::try_from(format!("{scheme}://{}", target.authority()))
            .map_err(|error| Failure::new(Status::Protocol, error.to_string()))?;
        let bytes = options.flow_window.unwrap_or(STREAM_WINDOW);
        let mut opening = Builder::new();
        opening
            .initial_window_size(bytes)
            .initial_connection_window_size(bytes.max(CONNECTION_WINDOW))
            .max_header_list_size(LARGEST_HEADERS)
            .enable_push(false);
        Ok(Self { dialer, origin, opening })
    }
}

/// One connection, or another handle of it. `socket` is a second descriptor, as h2 keeps the first to itself.
#[derive(Debug)]
pub struct DirectConnection {
    grpc: Grpc<Calls>,
    socket: Rc<OwnedFd>,
    /// Drives the connection; the handle that opened it knows the task.
    driver: Option<JoinHandle<()>>,
}

/// A connection, as tonic takes it.
#[derive(Clone, Debug)]
struct Calls(SendRequest<Bytes>);

impl Service<HttpRequest<Body>> for Calls {
    type Response = Response<Received>;
    type Error = StdError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Received>, StdError>>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        self.0.poll_ready(context).map_err(StdError::from)
    }

    fn call(&mut self, request: HttpRequest<Body>) -> Self::Future {
        let mut sender = self.0.clone();
        Box::pin(async move {
            let (mut head, body) = request.into_parts();
            head.headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
            let message = body.collect().await?.to_bytes(); // it is there already
            let (response, mut sending) = sender.send_request(HttpRequest::from_parts(head, ()), false)?;
            sending.send_data(message, true)?;
            Ok(response.await?.map(|stream| Received { stream, has_data: true }))
        })
    }
}

/// A reply's data and trailers.
#[derive(Debug)]
struct Received {
    stream: RecvStream,
    has_data: bool,
}

impl HttpBody for Received {
    type Data = Bytes;
    type Error = h2::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
        if self.has_data {
            if let Some(came) = ready!(self.stream.poll_data(context)) {
                let data = came?;
                self.stream.flow_control().release_capacity(data.len())?;
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
            self.has_data = false;
        }
        self.stream.poll_trailers(context).map(|came| came.transpose().map(|came| came.map(Frame::trailers)))
    }
}

impl Client for Direct {
    type Connection = DirectConnection;

    async fn dial(&self) -> Result<DirectConnection, Failure> {
        let stream = self.dialer.dial().await?;
        let socket = Rc::new(stream.as_fd().try_clone_to_owned().map_err(|error| Failure::no_connection(&error))?);
        let lost = |error: h2::Error| Failure::new(Status::Closed, words_of(&error));
        let (sender, connection) = self.opening.handshake(stream).await.map_err(lost)?;
        let driver = spawn_local(async move {
            // What ended it is told to whoever waits for a reply.
            let _ = connection.await;
        });
        let grpc = Grpc::with_origin(Calls(sender), self.origin.clone())
            .max_decoding_message_size(LARGEST_MESSAGE)
            .max_encoding_message_size(LARGEST_MESSAGE);
        Ok(DirectConnection { grpc, socket, driver: Some(driver) })
    }
}

impl Connection for DirectConnection {
    async fn call(&mut self, request: &Request) -> Result<Called, Failure> {
        call(&mut self.grpc, request).await
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn another(&self) -> Option<Self> {
        Some(Self { grpc: self.grpc.clone(), socket: Rc::clone(&self.socket), driver: None })
    }

    fn is_over(&self) -> bool {
        self.driver.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// HTTP/2 tells replies apart.
    async fn has_unasked(&mut self) -> bool {
        false
    }

    async fn close(self) {
        let Self { grpc, socket, driver } = self;
        drop((grpc, socket)); // without a handle h2 says goodbye and ends
        if let Some(driver) = driver {
            let _ = driver.await;
        }
    }
}
