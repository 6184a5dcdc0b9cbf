//! Why a trial ends before it is done.

use crate::load::GaveUp;
use crate::statuses::Failure;

/// What a *failed* line says: `kind` is a status, or `trial`, `host` or `fault`.
#[derive(Debug)]
pub struct Refused {
    pub kind: &'static str,
    pub message: String,
}

impl Refused {
    pub fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// The trial asks for what there is not.
    pub fn trial(message: impl Into<String>) -> Self {
        Self::new("trial", message)
    }

    /// It failed before anything was measured.
    pub fn before(what: &str, failure: &Failure) -> Self {
        Self::new(failure.status.name(), format!("{what}: {failure}"))
    }
}

impl From<GaveUp> for Refused {
    fn from(gave_up: GaveUp) -> Self {
        Self { kind: gave_up.kind, message: gave_up.message }
    }
}
