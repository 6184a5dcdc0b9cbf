//! The responder `tonic`: tonic's server on one event loop.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::spawn_local;
use tonic::codegen::tokio_stream::Stream as Incoming;
use tonic::transport::Server;
use tonic::transport::server::Connected;
use tonic::{Request, Response, Status};

use super::LARGEST_MESSAGE;
use super::generated as pb;
use super::generated::orch_server::{Orch, OrchServer};
use super::values::{packed_echo_reply, read_echo};
use crate::catalogue::Options;
use crate::messages::{Reply, Request as Asked};
use crate::net::{Listener, Stream};
use crate::respond::{Dispatcher, Met};

const CONNECTION_WINDOW: u32 = 1 << 20; // hyper's own, which holds all streams together

/// Answer for as long as the process goes on; why it does not otherwise.
pub async fn serve(listener: Listener, dispatcher: Arc<Dispatcher>, options: &Options) -> Result<Infallible, String> {
    let (sender, receiver) = unbounded_channel();
    spawn_local(async move {
        loop {
            let accepted = listener.accept().await;
            let (sender, dispatcher) = (sender.clone(), Arc::clone(&dispatcher));
            // Handshakes of TLS do not wait for one another.
            spawn_local(async move {
                let met = Arc::new(Met::new(dispatcher, accepted.peer));
                if let Ok(stream) = accepted.secured().await {
                    let _ = sender.send(Io { stream, met });
                }
            });
        }
    });
    let service =
        OrchServer::new(Service).max_decoding_message_size(LARGEST_MESSAGE).max_encoding_message_size(LARGEST_MESSAGE);
    let mut server = Server::builder();
    if let Some(bytes) = options.flow_window {
        let of_all = bytes.max(CONNECTION_WINDOW);
        server = server.initial_stream_window_size(bytes).initial_connection_window_size(of_all);
    }
    server.serve_with_incoming(service, Accepting(receiver)).await.map_err(|error| error.to_string())?;
    Err("tonic's server ended by itself".to_owned())
}

/// Connections as they come.
struct Accepting(UnboundedReceiver<Io>);

impl Incoming for Accepting {
    type Item = io::Result<Io>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Io>>> {
        self.0.poll_recv(cx).map(|accepted| accepted.map(Ok))
    }
}

/// A connection, and who is at its other end.
struct Io {
    stream: Stream,
    met: Arc<Met>,
}

impl Connected for Io {
    type ConnectInfo = Arc<Met>;

    fn connect_info(&self) -> Arc<Met> {
        Arc::clone(&self.met)
    }
}

impl AsyncRead for Io {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl AsyncWrite for Io {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, from)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, from)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Answers each method by the operation of its name.
struct Service;

fn refused(why: impl Into<String>) -> Status {
    Status::invalid_argument(why)
}

fn unfit() -> Status {
    Status::internal("the reply is of another operation")
}

#[tonic::async_trait]
impl Orch for Service {
    async fn identity(&self, request: Request<pb::IdentityRequest>) -> Result<Response<pb::IdentityReply>, Status> {
        let (met, pb::IdentityRequest {}) = parted(request)?;
        let Reply::Identity(identity) = met.answer(Asked::Identity).map_err(refused)? else { return Err(unfit()) };
        Ok(Response::new(pb::IdentityReply { identity }))
    }

    async fn timestamp(&self, request: Request<pb::TimestampRequest>) -> Result<Response<pb::TimestampReply>, Status> {
        let (met, message) = parted(request)?;
        let asked = Asked::Timestamp { request: message.request_timestamp };
        let Reply::Timestamp { request, response } = met.answer(asked).map_err(refused)? else { return Err(unfit()) };
        Ok(Response::new(pb::TimestampReply { request_timestamp: request, response_timestamp: response }))
    }

    async fn add(&self, request: Request<pb::AddRequest>) -> Result<Response<pb::AddReply>, Status> {
        let (met, pb::AddRequest { a, b }) = parted(request)?;
        let asked = Asked::Add { a: a.into(), b: b.into() };
        let Reply::Sum(sum) = met.answer(asked).map_err(refused)? else { return Err(unfit()) };
        let sum = i32::try_from(sum).map_err(|_| Status::out_of_range(format!("{sum} has more than 32 bits")))?;
        Ok(Response::new(pb::AddReply { sum }))
    }

    async fn echo(&self, request: Request<pb::EchoRequest>) -> Result<Response<pb::EchoReply>, Status> {
        let (met, message) = parted(request)?;
        let reply = met.answer(read_echo(message).map_err(refused)?).map_err(refused)?;
        packed_echo_reply(reply).map(Response::new).ok_or_else(unfit)
    }

    async fn image(&self, request: Request<pb::ImageRequest>) -> Result<Response<pb::ImageReply>, Status> {
        let (met, pb::ImageRequest { data, full_decode }) = parted(request)?;
        let asked = Asked::Image { data, full_decode };
        let Reply::Image { width, height } = met.answer(asked).map_err(refused)? else { return Err(unfit()) };
        Ok(Response::new(pb::ImageReply { width, height }))
    }

    async fn transfer(&self, request: Request<pb::TransferRequest>) -> Result<Response<pb::TransferReply>, Status> {
        let (met, pb::TransferRequest { data, reply_size }) = parted(request)?;
        let asked = Asked::Transfer { data, reply_size };
        let Reply::Data(data) = met.answer(asked).map_err(refused)? else { return Err(unfit()) };
        Ok(Response::new(pb::TransferReply { data }))
    }
}

/// Who asks, and what.
fn parted<M>(request: Request<M>) -> Result<(Arc<Met>, M), Status> {
    let (_, mut extensions, message) = request.into_parts();
    let met = extensions.remove::<Arc<Met>>().ok_or_else(|| Status::internal("nobody knows who asks"))?;
    Ok((met, message))
}
