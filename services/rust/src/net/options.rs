//! Options of sockets that a trial's knobs ask for (`protos/process.md`, *Knobs of connections*).
//!
//! A receive window is a buffer (SO_RCVBUF, which also ends the kernel's own tuning of it) and a bound of what is offered
//! of it (TCP_WINDOW_CLAMP).

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use tokio::net::TcpSocket;

use crate::probes::tcp;

/// What is asked of sockets. None and false: what the system gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions {
    pub congestion: Option<String>,
    /// Whether small segments wait for more, as Nagle would have it: the requester's side alone.
    pub is_delayed: bool,
    pub window: Option<u32>,
}

impl SocketOptions {
    pub fn has_any(&self) -> bool {
        *self != Self::default()
    }

    /// Those that a socket that listens hands down.
    pub fn handed_down(&self) -> Self {
        Self { is_delayed: false, ..self.clone() }
    }

    /// Why no socket of this host can be set so, otherwise.
    pub fn refuse_if_impossible(&self) -> Result<(), String> {
        if !self.has_any() {
            return Ok(());
        }
        let tried = TcpSocket::new_v4().map_err(|error| error.to_string())?;
        self.set(tried.as_fd())
    }

    /// Why this host's kernel cannot do it, otherwise.
    pub fn set(&self, socket: BorrowedFd<'_>) -> Result<(), String> {
        if let Some(wanted) = &self.congestion {
            let available = "/proc/sys/net/ipv4/tcp_available_congestion_control";
            set(socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION, wanted.as_bytes()).map_err(|error| {
                let has = said_by(available);
                format!("congestion: {wanted} cannot be set on {}: {error}; its kernel has {has}", host_name())
            })?;
        }
        if self.is_delayed {
            set_number(socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, 0)
                .map_err(|error| format!("nodelay: nagle cannot be set on {}: {error}", host_name()))?;
        }
        self.window.map_or(Ok(()), |window| bound(socket, window))
    }

    /// The window of all connections that this process accepted at that port: TCP forgets it when it meets larger packets.
    pub fn bound_accepted(&self, port: u16) -> Result<(), String> {
        let Some(window) = self.window else { return Ok(()) };
        let Ok(open) = fs::read_dir("/proc/self/fd") else { return Ok(()) };
        for number in open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<RawFd>().ok()) {
            // SAFETY: it is used here alone, and whatever it stands for meanwhile is looked at by calls that may fail.
            let socket = unsafe { BorrowedFd::borrow_raw(number) };
            if tcp::is_accepted_at(socket, port) {
                bound(socket, window)?;
            }
        }
        Ok(())
    }

    /// Whether a connection still has them.
    pub fn are_set(&self, socket: BorrowedFd<'_>) -> bool {
        (self.congestion.is_none() || tcp::congestion(socket) == self.congestion)
            && (!self.is_delayed || number_of(socket, libc::IPPROTO_TCP, libc::TCP_NODELAY) == Some(0))
            && (self.window.is_none()
                || number_of(socket, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP).map(i32::unsigned_abs) == self.window)
    }
}

fn bound(socket: BorrowedFd<'_>, window: u32) -> Result<(), String> {
    let cannot = |why: String| format!("tcp_window: {window} cannot be set on {}: {why}", host_name());
    let doubled = i32::try_from(2 * u64::from(window)).unwrap_or(i32::MAX);
    // Linux gives twice what is asked for; where packets are small, much of a buffer is not theirs.
    let _ = set_number(socket, libc::SOL_SOCKET, libc::SO_RCVBUF, doubled);
    let given = number_of(socket, libc::SOL_SOCKET, libc::SO_RCVBUF).unwrap_or(0);
    if i64::from(given) < i64::from(doubled) {
        let most = said_by("/proc/sys/net/core/rmem_max");
        return Err(cannot(format!("the largest that its kernel gives (net.core.rmem_max) is {most}")));
    }
    set_number(socket, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, i32::try_from(window).unwrap_or(i32::MAX))
        .map_err(|error| cannot(error.to_string()))
}

fn said_by(file: &str) -> String {
    fs::read_to_string(file).map_or_else(|_| "what cannot be read there".to_owned(), |told| told.trim().to_owned())
}

fn host_name() -> String {
    said_by("/proc/sys/kernel/hostname")
}

fn set_number(socket: BorrowedFd<'_>, level: libc::c_int, name: libc::c_int, value: i32) -> io::Result<()> {
    set(socket, level, name, &value.to_ne_bytes())
}

fn set(socket: BorrowedFd<'_>, level: libc::c_int, name: libc::c_int, value: &[u8]) -> io::Result<()> {
    let length = libc::socklen_t::try_from(value.len()).map_err(io::Error::other)?;
    // SAFETY: the kernel reads `length` bytes, which `value` has.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value.as_ptr().cast(), length) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn number_of(socket: BorrowedFd<'_>, level: libc::c_int, name: libc::c_int) -> Option<i32> {
    let (mut value, mut length) = (0_i32, size_of::<i32>() as libc::socklen_t);
    // SAFETY: the kernel writes at most `length` bytes, which `value` has.
    let result = unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, (&raw mut value).cast(), &raw mut length) };
    (result == 0).then_some(value)
}

/// What controls the congestion of connections, each once, in alphabetical order; that of a new one where there are none.
pub fn congestion_among(mut names: Vec<String>) -> Option<String> {
    if names.is_empty() {
        names.extend(TcpSocket::new_v4().ok().and_then(|fresh| tcp::congestion(fresh.as_fd())));
    }
    names.sort();
    names.dedup();
    (!names.is_empty()).then(|| names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_has_what_was_set_and_nothing_else() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        socket.set_nodelay(true).unwrap();
        let wanted = SocketOptions { congestion: Some("reno".to_owned()), is_delayed: true, window: Some(8192) };
        let each = [
            SocketOptions { congestion: wanted.congestion.clone(), ..SocketOptions::default() },
            SocketOptions { is_delayed: true, ..SocketOptions::default() },
            SocketOptions { window: wanted.window, ..SocketOptions::default() },
        ];
        assert!(SocketOptions::default().are_set(socket.as_fd()));
        for one in &each[1..] {
            assert!(!one.are_set(socket.as_fd()), "{one:?}");
        }
        wanted.set(socket.as_fd()).unwrap();
        for one in each.iter().chain([&wanted]) {
            assert!(one.are_set(socket.as_fd()), "{one:?}");
        }
        let names = ["reno", "cubic", "reno"].map(str::to_owned);
        assert_eq!(congestion_among(names.into()).as_deref(), Some("cubic, reno"));
        assert!(congestion_among(Vec::new()).is_some());
    }

    #[test]
    fn what_a_kernel_cannot_do_is_refused_with_what_it_has() {
        let unknown = SocketOptions { congestion: Some("no-such-control".to_owned()), ..SocketOptions::default() };
        let refusal = unknown.refuse_if_impossible().unwrap_err();
        assert!(refusal.contains("no-such-control") && refusal.contains("its kernel has"), "{refusal}");
        let vast = SocketOptions { window: Some(1 << 30), ..SocketOptions::default() };
        assert!(vast.refuse_if_impossible().unwrap_err().contains("rmem_max"));
    }
}
