//! One trial, from the check of both ends to its *done* line.

use serde_json::{Map, Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::LocalSet;

use super::check::check;
use super::measure::{measure, settings};
use super::parts::Parts;
use super::stdin::Word;
use super::words::Refused;
use crate::catalogue;
use crate::contract::{Connection, Trial, VERSION, print_line};
use crate::load::client::Client;
use crate::net::congestion_among;
use crate::probes::system;
use crate::statuses::Failure;
use crate::{grpc, rest, tcp};

/// What it prints last, its *done* line; Refused where it cannot be made, or goes on no more.
pub fn make_trial(trial: &Trial, words: UnboundedReceiver<Word>) -> Result<Value, Refused> {
    let parts = Parts::of(trial)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Refused::new("host", format!("no event loop: {error}")))?;
    // Of connections that open at once, and of those of the check, nothing is told.
    let is_noted = trial.connection == Connection::Reuse || parts.concurrency == 1;
    let dialers = (parts.dialer(false)?, parts.dialer(is_noted)?);
    let before = |failure: Failure| Refused::before("before measuring", &failure);
    let local = LocalSet::new();
    match parts.client.name {
        "rust-tcp" => {
            let clients = (tcp::client::Tcp::new(dialers.0), tcp::client::Tcp::new(dialers.1));
            local.block_on(&runtime, go(trial, parts, clients, words))
        }
        "hyper" => {
            let client = |dialer| {
                rest::client::Rest::new(dialer, &parts.target, parts.tls.is_some(), &parts.options).map_err(before)
            };
            let clients = (client(dialers.0)?, client(dialers.1)?);
            local.block_on(&runtime, go(trial, parts, clients, words))
        }
        "rust-raw" => {
            let client = |dialer| rest::raw::Raw::new(dialer, &parts.target);
            let clients = (client(dialers.0), client(dialers.1));
            local.block_on(&runtime, go(trial, parts, clients, words))
        }
        "tonic" => {
            let client = |dialer| {
                grpc::client::Tonic::new(dialer, &parts.target, parts.tls.is_some(), &parts.options).map_err(before)
            };
            let clients = (client(dialers.0)?, client(dialers.1)?);
            local.block_on(&runtime, go(trial, parts, clients, words))
        }
        "tonic-h2" => {
            let client = |dialer| {
                grpc::direct::Direct::new(dialer, &parts.target, parts.tls.is_some(), &parts.options).map_err(before)
            };
            let clients = (client(dialers.0)?, client(dialers.1)?);
            local.block_on(&runtime, go(trial, parts, clients, words))
        }
        other => Err(Refused::trial(format!("nothing asks {other}"))),
    }
}

async fn go<C: Client + 'static>(
    trial: &Trial,
    parts: Parts,
    (checking, client): (C, C),
    words: UnboundedReceiver<Word>,
) -> Result<Value, Refused> {
    let (met, checked) = check(&checking, &parts).await?;
    if trial.knobs.contains_key("session") && !parts.tls.as_ref().is_some_and(|tls| tls.has_resumed()) {
        return Err(Refused::new("refused", "tls: the second connection of the check resumed no session of the first"));
    }
    print_line(&checked);
    let mut done = Map::from_iter([
        ("type".to_owned(), "done".into()),
        ("contract".to_owned(), VERSION.into()),
        ("identity".to_owned(), met.into()),
        ("client".to_owned(), parts.client.name.into()),
        ("versions".to_owned(), catalogue::versions(parts.client.packages).into()),
        ("settings".to_owned(), settings(parts.client, &parts.options, congestion_among(Vec::new())).into()),
        ("clock_resolution_ns".to_owned(), system::clock_resolution_ns().into()),
    ]);
    let tls = parts.tls.clone();
    if trial.load.requests == Some(0) {
        let nothing = json!({"rows": 0, "warmup_requests": 0, "requests": 0, "errors": {}});
        extend(&mut done, nothing);
    } else {
        extend(&mut done, measure(trial, parts, client, words).await?);
    }
    // Last, as it tells of all handshakes.
    done.insert("tls".to_owned(), tls.map_or(Value::Null, |tls| tls.told()));
    Ok(done.into())
}

fn extend(line: &mut Map<String, Value>, more: Value) {
    if let Value::Object(fields) = more {
        line.extend(fields);
    }
}
