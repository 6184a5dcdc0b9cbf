//! Both ends of orch in Rust: what answers (`respond`) and what asks and measures (`request`), by `protos/`.

pub mod catalogue;
pub mod contract;
pub mod generator;
pub mod grpc;
pub mod load;
pub mod messages;
pub mod net;
pub mod operations;
pub mod picture;
pub mod probes;
pub mod request;
pub mod respond;
pub mod rest;
pub mod statuses;
pub mod tcp;
