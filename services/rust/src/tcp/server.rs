//! The responder `rust-tcp`: a task of one event loop for each connection.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::BytesMut;
use tokio::task::spawn_local;

use super::frames::{Frame, Incoming, read, request_of};
use crate::net::{Accepted, Listener};
use crate::respond::{Dispatcher, Met};

/// Answer for as long as the process goes on.
pub async fn serve(listener: Listener, dispatcher: Arc<Dispatcher>) -> Infallible {
    loop {
        let accepted = listener.accept().await;
        let dispatcher = Arc::clone(&dispatcher);
        // A connection that breaks ends with its task, and is nobody else's concern.
        spawn_local(converse(accepted, dispatcher));
    }
}

async fn converse(accepted: Accepted, dispatcher: Arc<Dispatcher>) -> std::io::Result<()> {
    let peer = accepted.peer;
    let mut stream = accepted.secured().await?;
    let (mut incoming, mut outgoing) = (BytesMut::new(), Vec::new());
    let met = Met::new(dispatcher, peer);
    loop {
        match read(&mut stream, &mut incoming).await? {
            Incoming::Frame { code, body } => {
                let reply = request_of(code, body).and_then(|request| met.answer(request));
                Frame::of_reply(code, &reply, &mut outgoing).send(&mut stream).await?;
            }
            Incoming::TooLarge(length) => {
                let refusal = Err(format!("a body has at most 256 MiB, not {length} bytes"));
                return Frame::of_reply(0, &refusal, &mut outgoing).send(&mut stream).await;
            }
            Incoming::End => return Ok(()),
        }
    }
}
