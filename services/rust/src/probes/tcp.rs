//! What the kernel knows of a TCP connection (`TCP_INFO`), and its congestion control.

use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use serde_json::{Value, json};

// struct tcp_info of include/uapi/linux/tcp.h grows at its end from kernel to kernel: a field is there if the kernel
// returned that many bytes.
const TOTAL_RETRANS: usize = 100;
const BYTES_ACKED: usize = 120;
const BYTES_RECEIVED: usize = 128;
const SEGMENTS_OUT: usize = 136;
const SEGMENTS_IN: usize = 140;
const MIN_RTT: usize = 148;
const BYTES_SENT: usize = 200;
const SEND_WINDOW: usize = 228; // Linux 5.4
const RECEIVE_WINDOW: usize = 232; // Linux 6.2
const LARGEST: usize = 512;
const NO_RTT_YET: u32 = u32::MAX;

/// One connection's counters since it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    pub counts: Counts,
    pub min_rtt_us: Option<u32>,
}

/// What `wire` of the *done* line sums up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub bytes_sent: u64,
    pub bytes_received: u64,
    pub segments_sent: u64,
    pub segments_received: u64,
    pub retransmits: u64,
}

impl Counts {
    /// This with what came since `before`.
    pub fn add(&mut self, now: Counts, before: Counts) {
        self.bytes_sent += now.bytes_sent - before.bytes_sent;
        self.bytes_received += now.bytes_received - before.bytes_received;
        self.segments_sent += now.segments_sent - before.segments_sent;
        self.segments_received += now.segments_received - before.segments_received;
        self.retransmits += now.retransmits - before.retransmits;
    }

    pub fn told(&self) -> Value {
        json!({
            "bytes_sent": self.bytes_sent,
            "bytes_received": self.bytes_received,
            "segments_sent": self.segments_sent,
            "segments_received": self.segments_received,
            "retransmits": self.retransmits,
        })
    }
}

/// What the kernel says of a connection; None where it says less than is needed.
pub fn info(socket: BorrowedFd<'_>) -> Option<TcpInfo> {
    let mut raw = [0_u8; LARGEST];
    let length = option(socket.as_raw_fd(), libc::TCP_INFO, &mut raw)?;
    parse(&raw[..length])
}

fn parse(raw: &[u8]) -> Option<TcpInfo> {
    let whole = |at: usize| Some(u32::from_ne_bytes(raw.get(at..at + 4)?.try_into().ok()?));
    let long = |at: usize| Some(u64::from_ne_bytes(raw.get(at..at + 8)?.try_into().ok()?));
    Some(TcpInfo {
        counts: Counts {
            bytes_sent: long(BYTES_SENT).or_else(|| long(BYTES_ACKED))?,
            bytes_received: long(BYTES_RECEIVED)?,
            segments_sent: u64::from(whole(SEGMENTS_OUT)?),
            segments_received: u64::from(whole(SEGMENTS_IN)?),
            retransmits: u64::from(whole(TOTAL_RETRANS)?),
        },
        min_rtt_us: whole(MIN_RTT).filter(|rtt| *rtt != NO_RTT_YET),
    })
}

/// The windows that a connection offers and is offered now, bytes; None where the kernel does not say.
pub fn windows(socket: BorrowedFd<'_>) -> Option<(u32, u32)> {
    let mut raw = [0_u8; LARGEST];
    let length = option(socket.as_raw_fd(), libc::TCP_INFO, &mut raw)?;
    let whole = |at: usize| Some(u32::from_ne_bytes(raw[..length].get(at..at + 4)?.try_into().ok()?));
    Some((whole(RECEIVE_WINDOW)?, whole(SEND_WINDOW)?))
}

/// What controls the congestion of a socket's connections.
pub fn congestion(socket: BorrowedFd<'_>) -> Option<String> {
    let mut name = [0_u8; 16];
    let length = option(socket.as_raw_fd(), libc::TCP_CONGESTION, &mut name)?;
    let told = name[..length].split(|byte| *byte == 0).next()?;
    String::from_utf8(told.to_vec()).ok().filter(|name| !name.is_empty())
}

/// Whether it is a connection that was accepted at that port of this host.
pub fn is_accepted_at(socket: BorrowedFd<'_>, port: u16) -> bool {
    let own = port_of(socket, libc::getsockname);
    own == Some(port) && port_of(socket, libc::getpeername).is_some()
}

type NameOf = unsafe extern "C" fn(libc::c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> libc::c_int;

/// None of what is no socket of IP, or has no such name.
fn port_of(socket: BorrowedFd<'_>, name_of: NameOf) -> Option<u16> {
    // SAFETY: an address of zeros is one, and the call writes at most `length` bytes to it.
    let (name, length) = unsafe {
        let mut name: libc::sockaddr_in6 = std::mem::zeroed();
        let mut length = size_of::<libc::sockaddr_in6>() as libc::socklen_t;
        if name_of(socket.as_raw_fd(), (&raw mut name).cast(), &raw mut length) != 0 {
            return None;
        }
        (name, length)
    };
    let is_ip = matches!(libc::c_int::from(name.sin6_family), libc::AF_INET | libc::AF_INET6);
    // Both kinds of addresses have the port at the same place.
    (is_ip && length > 4).then(|| u16::from_be(name.sin6_port))
}

fn option(socket: RawFd, name: libc::c_int, value: &mut [u8]) -> Option<usize> {
    let mut length = libc::socklen_t::try_from(value.len()).ok()?;
    // SAFETY: the kernel writes at most `length` bytes, which `value` has, and how many they were into `length`.
    let result =
        unsafe { libc::getsockopt(socket, libc::IPPROTO_TCP, name, value.as_mut_ptr().cast(), &raw mut length) };
    (result == 0).then_some(length as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    #[test]
    fn bytes_of_a_connection_are_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut other = listener.accept().unwrap().0;
        one.write_all(b"hello").unwrap();
        other.read_exact(&mut [0; 5]).unwrap();
        assert_eq!(info(other.as_fd()).unwrap().counts.bytes_received, 5);
        assert_eq!(info(one.as_fd()).unwrap().counts.bytes_sent, 5);
        let port = listener.local_addr().unwrap().port();
        assert!(is_accepted_at(other.as_fd(), port));
        assert!(!is_accepted_at(one.as_fd(), port));
        assert!(!is_accepted_at(listener.as_fd(), port));
        assert!(!is_accepted_at(std::io::stdin().as_fd(), port));
    }

    #[test]
    fn an_older_kernel_says_less() {
        assert_eq!(parse(&[0; 104]), None);
    }
}
