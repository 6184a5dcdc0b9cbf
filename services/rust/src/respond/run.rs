//! Starts what the *serve* line names.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use tokio::task::LocalSet;

use super::control;
use super::dispatcher::{Counts, Dispatcher};
use crate::catalogue::{self, Options, Protocol};
use crate::contract::{Serve, VERSION, complain, first_line, print_line, read_serve};
use crate::net::{Listener, ServerTls};
use crate::probes::system;
use crate::{grpc, rest, tcp};

/// The program `respond`: it ends with the process.
pub fn run() -> ! {
    system::hold_signals();
    let has_begun = Arc::new(AtomicBool::new(false));
    control::await_signals(Arc::clone(&has_begun));
    let refusal = match first_line().and_then(|line| read_serve(&line)) {
        Err(why) => format!("not a serve line on stdin: {why}"),
        Ok(serve) => match begin(serve, &has_begun) {
            Err(why) => why,
            Ok(never) => match never {},
        },
    };
    complain(&format!("respond: {refusal}"));
    system::leave(1);
}

/// Answer; why that cannot begin otherwise.
fn answer(serve: Serve) -> Result<Infallible, String> {
    let protocol = catalogue::protocol(&serve.protocol)?;
    refuse(&serve, protocol)?;
    let tls = match &serve.tls {
        None => None,
        Some(files) => {
            let resumes = serve.knobs.contains_key("session");
            Some(ServerTls::new(files, protocol.alpn(&serve.knobs), resumes)?)
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no event loop: {error}"))?;
    let local = LocalSet::new();
    local.block_on(&runtime, listen(serve, protocol, tls))
}

/// What there is not, and is not passed over either.
fn refuse(serve: &Serve, protocol: &Protocol) -> Result<(), String> {
    if let Some(name) = &serve.implementation
        && name != protocol.responder.name
    {
        return Err(format!("{} has no responder {name:?}, but {}", protocol.name, protocol.responder.name));
    }
    if let Some(operation) = serve.operations.iter().find(|name| !protocol.operations.contains(&name.as_str())) {
        return Err(format!("{} does not carry the operation {operation:?}", protocol.name));
    }
    if !serve.resources.is_empty() {
        let names: Vec<&str> = serve.resources.keys().map(String::as_str).collect();
        return Err(format!("no operation here needs resources: {}", names.join(", ")));
    }
    if serve.schema.is_some() {
        return Err(format!("{} takes no schema of a document here", protocol.name));
    }
    protocol.refuse_knobs(&serve.knobs, serve.tls.is_some())
}

async fn listen(serve: Serve, protocol: &Protocol, tls: Option<ServerTls>) -> Result<Infallible, String> {
    let cannot = |error: std::io::Error| format!("cannot listen on {}:{}: {error}", serve.host, serve.port);
    let options = Options::of(&serve.knobs);
    let listener = Listener::bind(&serve.host, serve.port, tls, &options.sockets).map_err(cannot)?;
    let port = listener.port().map_err(cannot)?;
    let counts = Arc::new(Counts::default());
    let dispatcher = Dispatcher::new(serve.identity.clone(), Arc::clone(&counts));
    let mut settings = catalogue::settings(protocol.responder.settings);
    if let Some(congestion) = listener.congestion() {
        settings.insert("congestion control".to_owned(), congestion.into());
    }
    control::obey_stdin(counts, options.sockets.clone(), port);
    print_line(&json!({
        "type": "ready",
        "contract": VERSION,
        "port": port,
        "implementation": protocol.responder.name,
        "identity": serve.identity,
        "versions": catalogue::versions(protocol.responder.packages),
        "settings": settings,
    }));
    let dispatcher = Arc::new(dispatcher);
    match protocol.name {
        "tcp" => Ok(tcp::server::serve(listener, dispatcher).await),
        "rest" => Ok(rest::server::serve(listener, dispatcher, options).await),
        "grpc" => grpc::server::serve(listener, dispatcher, &options).await,
        other => Err(format!("nothing answers {other}")),
    }
}

fn begin(serve: Serve, has_begun: &AtomicBool) -> Result<Infallible, String> {
    has_begun.store(true, Ordering::Relaxed);
    answer(serve)
}
