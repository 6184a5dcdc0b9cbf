//! The client `hyper`: a connection of hyper's own (`client::conn`), without a pool.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::header::{CONNECTION, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use hyper::{Method, Response, StatusCode, Uri, Version};
use hyper_util::rt::TokioIo;
use tokio::task::{JoinHandle, spawn_local};

use super::bodies::{PATHS, Path, body_of_request, query_of, reply_of};
use super::server::OnThisThread;
use crate::catalogue::Options;
use crate::contract::Target;
use crate::load::client::{Called, Client, Connection};
use crate::messages::Request;
use crate::net::{Dialer, Stream};
use crate::statuses::{Failure, Status};

const CONNECTION_WINDOW: u32 = 5 << 20; // hyper's own, which holds all streams together
const AGENT: &str = "orch";
const LONGEST_SHOWN: usize = 200;

type Body = Full<Bytes>;

/// Opens connections of `rest`.
#[derive(Debug)]
pub struct Rest {
    dialer: Rc<Dialer>,
    heads: Rc<Heads>,
    flow_window: Option<u32>,
}

impl Rest {
    pub fn new(dialer: Rc<Dialer>, target: &Target, is_secure: bool, options: &Options) -> Result<Self, Failure> {
        let heads = Rc::new(Heads::new(target, is_secure, options.is_http_2)?);
        Ok(Self { dialer, heads, flow_window: options.flow_window })
    }
}

/// What all requests have alike.
#[derive(Debug)]
struct Heads {
    version: Version,
    host: HeaderValue,
    /// What a path is put behind: nothing over HTTP/1.1.
    base: String,
    /// The targets of those paths that have no query.
    targets: [(Path, Uri); PATHS.len()],
}

impl Heads {
    fn new(target: &Target, is_secure: bool, is_http_2: bool) -> Result<Self, Failure> {
        let authority = target.authority();
        let scheme = if is_secure { "https" } else { "http" };
        let base = if is_http_2 { format!("{scheme}://{authority}") } else { String::new() };
        let mut targets = PATHS.map(|(path, _)| (path, Uri::default()));
        for (path, uri) in &mut targets {
            *uri = uri_of(format!("{base}{}", path.name()))?;
        }
        let version = if is_http_2 { Version::HTTP_2 } else { Version::HTTP_11 };
        Ok(Self { version, host: HeaderValue::try_from(authority).map_err(|error| invalid(&error))?, base, targets })
    }

    fn target(&self, path: Path, request: &Request) -> Result<Uri, Failure> {
        match query_of(request) {
            Some(query) => uri_of(format!("{}{}?{query}", self.base, path.name())),
            None => Ok(self.targets[path as usize].1.clone()),
        }
    }
}

fn uri_of(text: String) -> Result<Uri, Failure> {
    Uri::try_from(text).map_err(|error| invalid(&error))
}

fn invalid(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(Status::Protocol, error.to_string())
}

/// One connection, or another handle of it. `socket` is a second descriptor, as hyper keeps the first to itself.
pub struct RestConnection {
    speaking: Speaking,
    socket: Rc<OwnedFd>,
    heads: Rc<Heads>,
    is_over: bool,
}

/// How requests go out.
enum Speaking {
    /// The connection is driven by whoever waits for a reply, so that no task is woken in between; None once it ended.
    One { sender: http1::SendRequest<Body>, driver: Option<Driver> },
    /// It is driven by a task of its own, as it has frames to answer at any time; the handle that opened it knows the task.
    Two { sender: http2::SendRequest<Body>, driver: Option<JoinHandle<()>> },
}

type Driver = Pin<Box<http1::Connection<TokioIo<Stream>, Body>>>;

impl Client for Rest {
    type Connection = RestConnection;

    async fn dial(&self) -> Result<RestConnection, Failure> {
        let stream = self.dialer.dial().await?;
        let socket = Rc::new(stream.as_fd().try_clone_to_owned().map_err(|error| Failure::no_connection(&error))?);
        let stream = TokioIo::new(stream);
        let speaking = if self.heads.version == Version::HTTP_2 {
            let mut builder = http2::Builder::new(OnThisThread);
            if let Some(bytes) = self.flow_window {
                builder.initial_stream_window_size(bytes).initial_connection_window_size(bytes.max(CONNECTION_WINDOW));
            }
            let (sender, connection) = builder.handshake(stream).await.map_err(failed)?;
            let driver = spawn_local(async move {
                // What ended it is told to whoever waits for a reply.
                let _ = connection.await;
            });
            Speaking::Two { sender, driver: Some(driver) }
        } else {
            let (sender, connection) = http1::handshake(stream).await.map_err(failed)?;
            Speaking::One { sender, driver: Some(Box::pin(connection)) }
        };
        Ok(RestConnection { speaking, socket, heads: Rc::clone(&self.heads), is_over: false })
    }
}

impl Connection for RestConnection {
    async fn call(&mut self, request: &Request) -> Result<Called, Failure> {
        let unknown = || Failure::new(Status::Protocol, "rest does not carry it");
        let path = Path::of(request).ok_or_else(unknown)?;
        let content = body_of_request(request);
        let sent = content.len();
        let message = self.message(path, request, content)?;
        let (status, body, is_last) = match &mut self.speaking {
            Speaking::One { sender, driver } => {
                let asking = async {
                    sender.ready().await.map_err(failed)?;
                    whole(sender.send_request(message).await, Version::HTTP_11).await
                };
                driven(driver, asking).await?
            }
            Speaking::Two { sender, .. } => whole(sender.send_request(message).await, Version::HTTP_2).await?,
        };
        self.is_over |= is_last;
        if status != StatusCode::OK {
            let words: String = String::from_utf8_lossy(&body).chars().take(LONGEST_SHOWN).collect();
            return Err(Failure::new(Status::Protocol, format!("HTTP {}: {words}", status.as_u16())));
        }
        let reply = reply_of(path, &body).map_err(|why| Failure::new(Status::Undecodable, why))?;
        Ok(Called { reply, sent, received: body.len(), body: Some(body) })
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn another(&self) -> Option<Self> {
        let Speaking::Two { sender, .. } = &self.speaking else { return None };
        Some(Self {
            speaking: Speaking::Two { sender: sender.clone(), driver: None },
            socket: Rc::clone(&self.socket),
            heads: Rc::clone(&self.heads),
            is_over: false,
        })
    }

    /// Over HTTP/2 hyper ends a connection after a GOAWAY, and after its replies.
    fn is_over(&self) -> bool {
        match &self.speaking {
            Speaking::One { .. } => self.is_over,
            Speaking::Two { sender, .. } => sender.is_closed(),
        }
    }

    /// HTTP tells replies apart, and hyper ends a connection on which one came that nobody asked for.
    async fn has_unasked(&mut self) -> bool {
        false
    }

    async fn close(self) {
        let Self { speaking, socket, .. } = self;
        drop(socket);
        if let Speaking::Two { sender, driver: Some(driver) } = speaking {
            drop(sender); // then hyper says goodbye and ends
            let _ = driver.await;
        }
    }
}

impl RestConnection {
    fn message(&self, path: Path, request: &Request, content: Bytes) -> Result<hyper::Request<Body>, Failure> {
        let mut message = hyper::Request::new(Full::new(content));
        *message.method_mut() = Method::POST;
        *message.uri_mut() = self.heads.target(path, request)?;
        *message.version_mut() = self.heads.version;
        let headers = message.headers_mut();
        if self.heads.version == Version::HTTP_11 {
            headers.insert(HOST, self.heads.host.clone());
        }
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(path.content_type()));
        Ok(message)
    }
}

/// A reply with its whole body, and whether the connection's end is announced with it.
async fn whole(
    response: Result<Response<Incoming>, hyper::Error>,
    version: Version,
) -> Result<(StatusCode, Bytes, bool), Failure> {
    let response = response.map_err(failed)?;
    if response.version() != version {
        let words = format!("a reply over {:?}, not {version:?}", response.version());
        return Err(Failure::new(Status::Protocol, words));
    }
    let status = response.status();
    let is_last = response.headers().get(CONNECTION).is_some_and(|told| told.as_bytes().eq_ignore_ascii_case(b"close"));
    Ok((status, response.into_body().collect().await.map_err(failed)?.to_bytes(), is_last))
}

/// The same as `asking`, while the connection goes on.
async fn driven<T>(driver: &mut Option<Driver>, asking: impl Future<Output = T>) -> T {
    let mut asking = pin!(asking);
    std::future::poll_fn(|cx| {
        if let Poll::Ready(came) = asking.as_mut().poll(cx) {
            return Poll::Ready(came);
        }
        if let Some(connection) = driver
            && connection.as_mut().poll(cx).is_ready()
        {
            *driver = None; // what ended it is told to whoever asks
        }
        asking.as_mut().poll(cx)
    })
    .await
}

/// How a request ended, by hyper's word.
fn failed(error: hyper::Error) -> Failure {
    let mut words = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    let status = if error.is_parse() { Status::Undecodable } else { Status::Closed };
    Failure::new(status, words)
}
