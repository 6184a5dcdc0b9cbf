//! The responder `hyper`: hyper's server on one event loop, HTTP/1.1 or HTTP/2 as it is told, and no other.

use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::rt::Executor;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::task::spawn_local;

use super::bodies::{Path, body_of_reply, request_of};
use crate::catalogue::Options;
use crate::net::{Accepted, Listener};
use crate::respond::{Dispatcher, Met};

const CONNECTION_WINDOW: u32 = 1 << 20; // hyper's own, which holds all streams together
const MOST_STREAMS: u32 = 1 << 20; // of a connection at a time: no request waits for a place in its client
const TEXT: &str = "text/plain; charset=utf-8";

/// Runs hyper's tasks on the event loop of this thread.
#[derive(Clone, Copy, Debug)]
pub struct OnThisThread;

impl<F: Future + 'static> Executor<F> for OnThisThread {
    fn execute(&self, future: F) {
        spawn_local(async move {
            future.await;
        });
    }
}

/// Answer for as long as the process goes on.
pub async fn serve(listener: Listener, dispatcher: Arc<Dispatcher>, options: Options) -> Infallible {
    let options = Rc::new(options);
    loop {
        let accepted = listener.accept().await;
        let (dispatcher, options) = (Arc::clone(&dispatcher), Rc::clone(&options));
        // A connection that breaks ends with its task, and is nobody else's concern.
        spawn_local(async move { converse(accepted, dispatcher, &options).await });
    }
}

async fn converse(accepted: Accepted, dispatcher: Arc<Dispatcher>, options: &Options) {
    let peer = accepted.peer;
    let Ok(stream) = accepted.secured().await else { return };
    let stream = TokioIo::new(stream);
    let met = Rc::new(Met::new(dispatcher, peer));
    let service = service_fn(move |request| answer(request, Rc::clone(&met)));
    let ended = if options.is_http_2 {
        let mut builder = http2::Builder::new(OnThisThread);
        builder.max_concurrent_streams(MOST_STREAMS);
        if let Some(bytes) = options.flow_window {
            builder.initial_stream_window_size(bytes).initial_connection_window_size(bytes.max(CONNECTION_WINDOW));
        }
        builder.serve_connection(stream, service).await
    } else {
        http1::Builder::new().serve_connection(stream, service).await
    };
    drop(ended);
}

async fn answer(request: Request<Incoming>, met: Rc<Met>) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let (head, body) = request.into_parts();
    let Some(path) = Path::named(head.uri.path()) else {
        return Ok(refusal(StatusCode::NOT_FOUND, format!("there is no {}", head.uri.path())));
    };
    if head.method != Method::POST {
        return Ok(refusal(StatusCode::METHOD_NOT_ALLOWED, "a request is a POST".to_owned()));
    }
    let body = body.collect().await?.to_bytes();
    let replied = request_of(path, head.uri.query(), body).and_then(|request| met.answer(request));
    Ok(match replied {
        Ok(reply) => response(StatusCode::OK, path.reply_type(), body_of_reply(reply)),
        Err(why) => refusal(StatusCode::BAD_REQUEST, why),
    })
}

fn refusal(status: StatusCode, why: String) -> Response<Full<Bytes>> {
    response(status, TEXT, why.into())
}

fn response(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
