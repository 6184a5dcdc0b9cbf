//! The calls of `grpc` by tonic, whatever carries them.

use bytes::Bytes;
use hyper::body::Body as HttpBody;
use prost::Message;
use tonic::body::Body;
use tonic::client::{Grpc, GrpcService};
use tonic::codegen::StdError;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Status as GrpcStatus};

use super::codec::{Came, Coding, UNDECODABLE};
use super::generated as pb;
use super::values::{packed_echo, read_echo_reply};
use crate::load::client::Called;
use crate::messages::{Reply, Request};
use crate::statuses::{Failure, Status};

/// Ask, and wait for the reply.
pub async fn call<T>(grpc: &mut Grpc<T>, request: &Request) -> Result<Called, Failure>
where
    T: GrpcService<Body>,
    T::ResponseBody: HttpBody + Send + 'static,
    <T::ResponseBody as HttpBody>::Error: Into<StdError>,
{
    match request {
        Request::Identity => {
            let (reply, sizes) = ask(grpc, "/orch.v1.Orch/Identity", pb::IdentityRequest {}).await?;
            let pb::IdentityReply { identity } = reply;
            Ok(sizes.with(Reply::Identity(identity)))
        }
        Request::Timestamp { request } => {
            let asked = pb::TimestampRequest { request_timestamp: request.clone() };
            let (reply, sizes) = ask(grpc, "/orch.v1.Orch/Timestamp", asked).await?;
            let pb::TimestampReply { request_timestamp, response_timestamp } = reply;
            Ok(sizes.with(Reply::Timestamp { request: request_timestamp, response: response_timestamp }))
        }
        Request::Add { a, b } => {
            // The generator's numbers have 32 bits.
            let asked = pb::AddRequest { a: *a as i32, b: *b as i32 };
            let (reply, sizes) = ask(grpc, "/orch.v1.Orch/Add", asked).await?;
            let pb::AddReply { sum } = reply;
            Ok(sizes.with(Reply::Sum(sum.into())))
        }
        Request::Image { data, full_decode } => {
            let asked = pb::ImageRequest { data: data.clone(), full_decode: *full_decode };
            let (reply, sizes) = ask(grpc, "/orch.v1.Orch/Image", asked).await?;
            let pb::ImageReply { width, height } = reply;
            Ok(sizes.with(Reply::Image { width, height }))
        }
        Request::Transfer { data, reply_size } => {
            let asked = pb::TransferRequest { data: data.clone(), reply_size: *reply_size };
            let (reply, sizes) = ask(grpc, "/orch.v1.Orch/Transfer", asked).await?;
            let pb::TransferReply { data } = reply;
            Ok(sizes.with(Reply::Data(data)))
        }
        echo => {
            let unknown = || Failure::new(Status::Protocol, "grpc does not carry it");
            let asked = packed_echo(echo).ok_or_else(unknown)?;
            let (reply, sizes) = ask(grpc, "/orch.v1.Orch/Echo", asked).await?;
            let reply = read_echo_reply(reply).map_err(|why| Failure::new(Status::Undecodable, why))?;
            Ok(sizes.with(reply))
        }
    }
}

/// Both messages' sizes, and the bytes of the reply.
struct Sizes {
    sent: usize,
    body: Bytes,
}

impl Sizes {
    fn with(self, reply: Reply) -> Called {
        Called { reply, sent: self.sent, received: self.body.len(), body: Some(self.body) }
    }
}

async fn ask<T, Sent, Received>(
    grpc: &mut Grpc<T>,
    method: &'static str,
    asked: Sent,
) -> Result<(Received, Sizes), Failure>
where
    T: GrpcService<Body>,
    T::ResponseBody: HttpBody + Send + 'static,
    <T::ResponseBody as HttpBody>::Error: Into<StdError>,
    Sent: Message + 'static,
    Received: Message + Default + 'static,
{
    let sent = asked.encoded_len();
    grpc.ready().await.map_err(|error| Failure::new(Status::Closed, words_of(&*error.into())))?;
    let path = PathAndQuery::from_static(method);
    let came = grpc.unary(tonic::Request::new(asked), path, Coding::<Sent, Received>::new()).await;
    let Came { message, body } = came.map_err(failed)?.into_inner();
    Ok((message, Sizes { sent, body }))
}

/// How a call ended, by tonic's word.
fn failed(status: GrpcStatus) -> Failure {
    // One that has a source never came from the other end.
    let is_own = std::error::Error::source(&status).is_some();
    let kind = match status.code() {
        Code::DeadlineExceeded => Status::Timeout,
        Code::Internal if status.message().starts_with(UNDECODABLE) => Status::Undecodable,
        Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled if is_own => Status::Closed,
        Code::Cancelled => Status::Cancelled,
        _ => Status::Protocol,
    };
    let words = std::error::Error::source(&status).map_or_else(String::new, |source| format!(": {}", words_of(source)));
    Failure::new(kind, format!("{:?}: {}{words}", status.code(), status.message()))
}

/// An error with what caused it.
pub fn words_of(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    words
}
