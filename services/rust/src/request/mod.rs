//! The requester: reads one *trial* line, makes the trial, and tells what came of it (`protos/process.md`, *Requester*).

mod check;
mod measure;
mod parts;
mod run;
mod stdin;
mod trial;
mod windows;
mod words;

pub use run::run;
