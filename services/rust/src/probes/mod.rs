//! What this process and its host count, and the system calls that tell it.

pub mod counters;
pub mod memory;
pub mod system;
pub mod tcp;
