//! The lines between the orchestrator and the end programs (`protos/process.md`), read strictly and printed.

mod lines;
mod print;
mod read;

pub use lines::{
    Arrivals, Authority, Connection, Load, Mixed, Payload, PayloadKind, Serve, Target, Thinking, Tls, Trial, Warmup,
};
pub use print::{complain, on_one_line, print_line};
pub use read::{first_line, moment_of, read_serve, read_trial};

/// The version of the contract that both programs speak.
pub const VERSION: i64 = 2;
