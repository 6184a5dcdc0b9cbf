//! How long connections took to open: TCP's handshake, and that of TLS behind it.

use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

/// The books of one trial, nanoseconds.
#[derive(Debug, Default)]
pub struct Openings {
    noted: Mutex<Noted>,
}

#[derive(Debug, Default)]
struct Noted {
    is_noting: bool,
    connect: Vec<i64>,
    tls: Vec<i64>,
}

impl Openings {
    pub fn note(&self, connect_ns: i64, tls_ns: Option<i64>) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.is_noting {
            noted.connect.push(connect_ns);
            noted.tls.extend(tls_ns);
        }
    }

    /// Whether connections are noted from here on. At first they are not.
    pub fn set_noting(&self, is_noting: bool) {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).is_noting = is_noting;
    }

    /// `opening` of the *done* line; null where nothing was noted.
    pub fn told(&self) -> Value {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.connect.is_empty() {
            return Value::Null;
        }
        let connections = noted.connect.len();
        json!({"connections": connections, "connect_s": median(&mut noted.connect), "tls_s": median(&mut noted.tls)})
    }
}

/// In seconds; None of nothing.
fn median(noted: &mut [i64]) -> Option<f64> {
    noted.sort_unstable();
    let middle = noted.len() / 2;
    match noted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(noted[middle] as f64 / 1e9),
        _ => Some((noted[middle - 1] + noted[middle]) as f64 / 2e9),
    }
}

#[cfg(test)]
mod tests {
    use super::Openings;
    use serde_json::{Value, json};

    #[test]
    fn medians_are_told() {
        let openings = Openings::default();
        openings.note(1, None);
        assert_eq!(openings.told(), Value::Null);
        openings.set_noting(true);
        for ns in [3_000_000_000, 1_000_000_000, 2_000_000_000, 10_000_000_000] {
            openings.note(ns, None);
        }
        assert_eq!(openings.told(), json!({"connections": 4, "connect_s": 2.5, "tls_s": null}));
    }
}
