//! How a request can end (`protos/statuses.json`).

/// A status, whose number is its index in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
pub enum Status {
    Ok = 0,
    WrongReply = 1,
    Refused = 2,
    Closed = 3,
    Timeout = 4,
    Protocol = 5,
    Undecodable = 6,
    Cancelled = 7,
    NotSent = 8,
    Unverified = 9,
    Exhausted = 10,
}

impl Status {
    /// Its name in lines.
    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::WrongReply => "wrong-reply",
            Status::Refused => "refused",
            Status::Closed => "closed",
            Status::Timeout => "timeout",
            Status::Protocol => "protocol",
            Status::Undecodable => "undecodable",
            Status::Cancelled => "cancelled",
            Status::NotSent => "not-sent",
            Status::Unverified => "unverified",
            Status::Exhausted => "exhausted",
        }
    }

    /// Whether a connection on which a request ended so cannot be trusted with another one.
    pub fn breaks_connection(self) -> bool {
        matches!(
            self,
            Status::Refused
                | Status::Closed
                | Status::Timeout
                | Status::Undecodable
                | Status::Cancelled
                | Status::Exhausted
        )
    }
}

/// A request that ended without a right reply: how, and in what words.
#[derive(Clone, Debug)]
pub struct Failure {
    pub status: Status,
    pub words: String,
}

impl Failure {
    pub fn new(status: Status, words: impl Into<String>) -> Self {
        Self { status, words: words.into() }
    }

    /// No connection: this host has no local port or file descriptor left, or it was refused.
    pub fn no_connection(error: &std::io::Error) -> Self {
        let is_exhausted = matches!(error.raw_os_error(), Some(libc::EADDRNOTAVAIL | libc::EMFILE | libc::ENFILE));
        Self::new(if is_exhausted { Status::Exhausted } else { Status::Refused }, error.to_string())
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.words.is_empty() {
            f.write_str(self.status.name())
        } else {
            write!(f, "{}: {}", self.status.name(), self.words)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Status;

    #[test]
    fn names_and_numbers_are_those_of_the_contract() {
        let told: serde_json::Value = serde_json::from_str(include_str!("../../../protos/statuses.json")).unwrap();
        let all = [
            Status::Ok,
            Status::WrongReply,
            Status::Refused,
            Status::Closed,
            Status::Timeout,
            Status::Protocol,
            Status::Undecodable,
            Status::Cancelled,
            Status::NotSent,
            Status::Unverified,
            Status::Exhausted,
        ];
        let named: Vec<(i64, &str)> = told["statuses"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["index"].as_i64().unwrap(), one["name"].as_str().unwrap()))
            .collect();
        assert_eq!(named, all.map(|status| (status as i64, status.name())));
    }
}
