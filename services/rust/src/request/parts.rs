//! What a trial's names stand for, and what it cannot ask for.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::words::Refused;
use crate::catalogue::{self, End, Options, Protocol};
use crate::contract::{Arrivals, Connection, Target, Thinking, Trial};
use crate::generator::{Rests, arrivals, mix_order};
use crate::load::{Makers, Schedule};
use crate::net::{ClientTls, Dialer, Openings};
use crate::operations::Maker;

const SLOWEST_RATE: f64 = 1e-6; // one request in eleven days
const MOST_IN_FLIGHT: u64 = 100_000;

/// Everything of a trial that can be had before anybody is asked.
#[derive(Debug)]
pub struct Parts {
    pub client: &'static End,
    pub target: Target,
    pub makers: Makers,
    pub schedule: Schedule,
    pub options: Options,
    pub tls: Option<Arc<ClientTls>>,
    pub openings: Arc<Openings>,
    pub concurrency: usize,
    pub timeout: Duration,
}

impl Parts {
    /// Refused for what there is not.
    pub fn of(trial: &Trial) -> Result<Self, Refused> {
        let protocol = catalogue::protocol(&trial.protocol).map_err(Refused::trial)?;
        let client = protocol.client(&trial.client).map_err(Refused::trial)?;
        let target = trial
            .target
            .clone()
            .ok_or_else(|| Refused::trial("it names no target, and there is nobody to ask without one"))?;
        refuse_load(trial).map_err(Refused::trial)?;
        refuse_turns(trial).map_err(Refused::trial)?;
        protocol.refuse_knobs(&trial.knobs, trial.tls.is_some()).map_err(Refused::trial)?;
        if let Some(name) = client.refuses.iter().find(|name| trial.knobs.contains_key(**name)) {
            return Err(Refused::trial(format!("{} cannot do the knob {name}", client.name)));
        }
        let resumes = trial.knobs.contains_key("session");
        if resumes && trial.connection == Connection::Reuse {
            return Err(Refused::trial("session: resumed goes with a connection per request alone"));
        }
        let options = Options::of(&trial.knobs);
        refuse_options(trial, &options).map_err(Refused::trial)?;
        options.sockets.refuse_if_impossible().map_err(|why| Refused::new("host", why))?;
        if trial.schema.is_some() {
            return Err(Refused::trial(format!("{} takes no schema of a document here", protocol.name)));
        }
        let makers = makers(trial, protocol).map_err(Refused::trial)?;
        let tls = match &trial.tls {
            None => None,
            Some(authority) => {
                let made = ClientTls::new(authority, &target.host, protocol.alpn(&trial.knobs), resumes);
                Some(Arc::new(made.map_err(Refused::trial)?))
            }
        };
        Ok(Self {
            client,
            target,
            makers,
            schedule: schedule(trial),
            options,
            tls,
            openings: Arc::default(),
            concurrency: trial.load.concurrency as usize,
            timeout: Duration::from_secs_f64(trial.timeout_s),
        })
    }

    /// How connections are opened; `is_noted`: how long that takes.
    pub fn dialer(&self, is_noted: bool) -> Result<Rc<Dialer>, Refused> {
        let openings = is_noted.then(|| Arc::clone(&self.openings));
        Dialer::new(&self.target, self.tls.clone(), openings)
            .map(Rc::new)
            .map_err(|failure| Refused::before("before measuring", &failure))
    }
}

fn refuse_load(trial: &Trial) -> Result<(), String> {
    let load = &trial.load;
    if load.requests.is_none() && load.duration_s.is_none() {
        return Err("load: give requests, duration_s, or both; nothing would end this trial".to_owned());
    }
    if !(1..=MOST_IN_FLIGHT).contains(&load.concurrency) {
        return Err(format!("load: a concurrency from 1 to {MOST_IN_FLIGHT}, not {}", load.concurrency));
    }
    if let Some(rate) = load.rate_per_s {
        if rate < SLOWEST_RATE {
            return Err(format!("load: an open loop needs a rate of at least {SLOWEST_RATE} a second, not {rate}"));
        }
        if load.think_s > 0.0 {
            return Err("load: an open loop has a schedule and no think time".to_owned());
        }
    }
    Ok(())
}

fn refuse_turns(trial: &Trial) -> Result<(), String> {
    let load = &trial.load;
    let reason = if trial.turn_warm_up.is_none() {
        return Ok(());
    } else if !trial.hold {
        "turns need hold"
    } else if load.rate_per_s.is_some() || load.think_s > 0.0 {
        "turns need a closed loop without think time"
    } else {
        return Ok(());
    };
    Err(format!("turn_warm_up: {reason}"))
}

/// What is set on connections that are kept does not go with those that are not.
fn refuse_options(trial: &Trial, options: &Options) -> Result<(), String> {
    if options.connections.is_some() && !trial.mix.is_empty() {
        return Err("connections: of a mix each operation has connections of its own".to_owned());
    }
    if trial.connection == Connection::PerRequest && (options.connections.is_some() || options.sockets.has_any()) {
        return Err("connections and options of sockets go with connections that are kept alone".to_owned());
    }
    Ok(())
}

fn schedule(trial: &Trial) -> Schedule {
    let load = &trial.load;
    match load.rate_per_s {
        Some(rate) => {
            let is_uniform = load.arrivals == Arrivals::Uniform;
            Schedule::Open(arrivals(trial.seed, rate, is_uniform, load.requests, load.duration_s))
        }
        None if load.think_s > 0.0 => {
            let is_exponential = load.thinking == Thinking::Exponential;
            Schedule::Closed(Some(Rests::new(trial.seed, load.think_s, is_exponential, load.concurrency as usize)))
        }
        None => Schedule::Closed(None),
    }
}

fn makers(trial: &Trial, protocol: &Protocol) -> Result<Makers, String> {
    let carried = |operation: &str| {
        if protocol.operations.contains(&operation) {
            return Ok(());
        }
        Err(format!("{} does not carry the operation {operation:?}", protocol.name))
    };
    carried(&trial.operation)?;
    let Some(first) = trial.mix.first() else {
        return Ok(Makers::One(Maker::new(&trial.operation, &trial.payload, trial.seed)?));
    };
    if !(2..=usize::from(u8::MAX)).contains(&trial.mix.len()) {
        return Err("mix: two operations or more, and not more than 255".to_owned());
    }
    if (&first.operation, &first.payload) != (&trial.operation, &trial.payload) || trial.calls != 1 {
        return Err("mix: each request is one call, and the first operation is that of the trial".to_owned());
    }
    let mut each = Vec::new();
    for mixed in &trial.mix {
        carried(&mixed.operation)?;
        each.push(Maker::new(&mixed.operation, &mixed.payload, trial.seed)?);
    }
    let weights: Vec<u64> = trial.mix.iter().map(|mixed| mixed.weight).collect();
    Ok(Makers::Mix { order: mix_order(trial.seed, &weights), each })
}
