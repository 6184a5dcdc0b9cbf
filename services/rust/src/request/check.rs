//! Before anything is measured: who answers, and whether rightly.

use serde_json::{Value, json};

use super::parts::Parts;
use super::words::Refused;
use crate::contract::VERSION;
use crate::load::client::{Called, Client, Connection};
use crate::messages::{Reply, Request};
use crate::operations::fault;
use crate::statuses::{Failure, Status};

const LONGEST_NAME: usize = 200;

/// Ask who answers, then each operation once, each on a connection of its own: who it was, and the *checked* line.
pub async fn check<C: Client>(client: &C, parts: &Parts) -> Result<(Option<String>, Value), Refused> {
    let before = |failure: Failure| Refused::before("before measuring", &failure);
    let target = &parts.target;
    let mut met = None;
    if !target.anonymous {
        let came = ask(client, parts, &Request::Identity).await.map_err(before)?;
        let Reply::Identity(name) = came.reply else {
            return Err(Refused::new("wrong-reply", "what answers does not say who it is"));
        };
        refuse_other(&name, parts)?;
        met = Some(name);
    }
    let mut bodies = Vec::new();
    for asked in parts.makers.examples() {
        let came = ask(client, parts, &asked.request).await.map_err(before)?;
        if let Some(why) = fault(&asked, &came.reply) {
            return Err(Refused::new("wrong-reply", format!("before measuring: {why}")));
        }
        bodies.push((came.sent, came.received));
    }
    let mut checked = json!({
        "type": "checked",
        "contract": VERSION,
        "body_bytes_sent": bodies[0].0,
        "body_bytes_received": bodies[0].1,
    });
    if bodies.len() > 1 {
        checked["mix"] = bodies.iter().map(|(sent, received)| json!({"sent": sent, "received": received})).collect();
    }
    Ok((met, checked))
}

async fn ask<C: Client>(client: &C, parts: &Parts, request: &Request) -> Result<Called, Failure> {
    let asking = async {
        let mut connection = client.dial().await?;
        let came = connection.call(request).await;
        connection.close().await;
        came
    };
    let late = |_| Err(Failure::new(Status::Timeout, format!("no reply in {} s", parts.timeout.as_secs_f64())));
    tokio::time::timeout(parts.timeout, asking).await.unwrap_or_else(late)
}

fn refuse_other(name: &str, parts: &Parts) -> Result<(), Refused> {
    let target = &parts.target;
    let shown: String = name.chars().take(LONGEST_NAME).collect();
    let place = target.authority();
    match &target.identity {
        Some(wanted) if wanted != name => Err(Refused::new(
            "wrong-reply",
            format!("another responder answers at {place}: it says {shown:?}, not {wanted:?}"),
        )),
        None if !(1..=LONGEST_NAME).contains(&name.chars().count()) => Err(Refused::new(
            "wrong-reply",
            format!("what answers at {place} does not say who it is: its identity is {shown:?}"),
        )),
        _ => Ok(()),
    }
}
