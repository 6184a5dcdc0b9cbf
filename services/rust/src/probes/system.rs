//! Clocks, signals and files of the operating system.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const NS: i64 = 1_000_000_000;

fn read_clock(clock: libc::clockid_t) -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a timespec that the call may write to.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    now.tv_sec * NS + now.tv_nsec
}

/// The monotonic clock of this host, nanoseconds: that of all stamps.
#[inline]
pub fn monotonic_ns() -> i64 {
    read_clock(libc::CLOCK_MONOTONIC)
}

/// Unix time, nanoseconds.
#[inline]
pub fn wall_ns() -> i64 {
    read_clock(libc::CLOCK_REALTIME)
}

/// CPU time of this process, nanoseconds.
pub fn process_cpu_ns() -> i64 {
    read_clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time of this thread, nanoseconds.
pub fn thread_cpu_ns() -> i64 {
    read_clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The resolution of the monotonic clock, nanoseconds.
pub fn clock_resolution_ns() -> i64 {
    let mut resolution = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `resolution` is a timespec that the call may write to.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC, &raw mut resolution) };
    resolution.tv_sec * NS + resolution.tv_nsec
}

/// Ticks per second of `/proc/stat`.
pub fn ticks_per_second() -> i64 {
    // SAFETY: sysconf reads a constant of the system.
    unsafe { libc::sysconf(libc::_SC_CLK_TCK) }
}

/// Raise this process's limit of open files as far as it may go.
pub fn use_every_descriptor() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is an rlimit that the calls may read and write.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// What the kernel counts of this process.
pub fn usage() -> libc::rusage {
    // SAFETY: all fields of rusage are numbers, for which 0 is a value, and the call may write to it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    }
}

/// How busy the host was in the last 1, 5 and 15 minutes.
pub fn load_average() -> Option<[f64; 3]> {
    let mut load = [0.0; 3];
    // SAFETY: `load` has room for the three numbers that are asked for.
    let found = unsafe { libc::getloadavg(load.as_mut_ptr(), 3) };
    (found == 3).then_some(load)
}

/// Have SIGTERM and SIGINT wait in this thread, and in all that it starts, for `await_end`.
pub fn hold_signals() {
    // SAFETY: the set is initialised before it is read.
    unsafe {
        let set = ending_signals();
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
    }
}

/// Wait for SIGTERM or SIGINT, which are held.
pub fn await_end() {
    // SAFETY: the set is initialised before it is read, and `number` may be written to.
    unsafe {
        let set = ending_signals();
        let mut number = 0;
        libc::sigwait(&raw const set, &raw mut number);
    }
}

/// # Safety
/// None is needed: the set is made here.
unsafe fn ending_signals() -> libc::sigset_t {
    // SAFETY: sigemptyset initialises the set, whatever was in it.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGTERM);
        libc::sigaddset(&raw mut set, libc::SIGINT);
        set
    }
}

/// End the process at once, without destructors: other threads may be anywhere.
pub fn leave(status: i32) -> ! {
    // SAFETY: nothing of this process is used afterwards.
    unsafe { libc::_exit(status) }
}

/// Take disk space for a file from `start` to `end`, so that a store to its pages cannot fail.
pub fn reserve(file: &File, start: u64, end: u64) -> io::Result<()> {
    let offset = |bytes: u64| libc::off_t::try_from(bytes).map_err(io::Error::other);
    let (from, length) = (offset(start)?, offset(end - start)?);
    // SAFETY: the descriptor is that of an open file.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), from, length) } {
        0 => Ok(()),
        libc::EINVAL | libc::EOPNOTSUPP => write_zeros(file, start, end),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

fn write_zeros(file: &File, mut start: u64, end: u64) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    let zeros = [0; 1 << 16];
    while start < end {
        let size = zeros.len().min(usize::try_from(end - start).unwrap_or(usize::MAX));
        file.write_all_at(&zeros[..size], start)?;
        start += size as u64;
    }
    Ok(())
}

/// A timer of the monotonic clock that is read like a file.
pub fn timer() -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers alone; what it gives is a new descriptor that nobody else owns.
    unsafe {
        let descriptor = libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC);
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(descriptor))
    }
}

/// Have a timer expire at a moment of the monotonic clock.
pub fn set_timer(timer: &OwnedFd, at_ns: i64) -> io::Result<()> {
    let at_ns = at_ns.max(1); // 0 would disarm it
    let spec = libc::itimerspec {
        it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
        it_value: libc::timespec { tv_sec: at_ns / NS, tv_nsec: at_ns % NS },
    };
    // SAFETY: `spec` is read, and nothing is written as the last pointer is null.
    let result = unsafe {
        libc::timerfd_settime(timer.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &raw const spec, std::ptr::null_mut())
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Read how often a timer expired, so that it is not ready any more.
pub fn drain_timer(timer: &OwnedFd) -> io::Result<()> {
    let mut count = [0_u8; 8];
    // SAFETY: `count` has room for the eight bytes that are asked for.
    let read = unsafe { libc::read(timer.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
    if read == 8 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Have the allocator keep what is freed, so that memory that was touched once costs no page faults again.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn keep_freed_memory() {
    // SAFETY: mallopt takes numbers alone.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 30);
        libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_freed_memory() {}
