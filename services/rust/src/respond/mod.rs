//! The responder: reads one *serve* line, answers, and tells what it counted (`protos/process.md`, *Responder*).

mod control;
mod dispatcher;
mod run;

pub use dispatcher::{Dispatcher, Met};
pub use run::run;
