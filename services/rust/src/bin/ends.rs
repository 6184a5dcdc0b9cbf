//! Both ends in one program, so that all of it is linked and optimised once: it is the one by whose name it is started,
//! `respond` or `request`, and takes no arguments (`protos/process.md`).

use std::path::PathBuf;

use orch_rust::probes::system::use_every_descriptor;
use orch_rust::{contract, request, respond};

fn main() {
    use_every_descriptor();
    let started_as = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    match started_as.file_name().and_then(|name| name.to_str()) {
        Some("respond") => respond::run(),
        Some("request") => request::run(),
        _ => {
            contract::complain("start it by a name: respond or request");
            std::process::exit(1);
        }
    }
}
