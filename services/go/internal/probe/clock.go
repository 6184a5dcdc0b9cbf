// Package probe reads what this host and this process tell: clocks, counters, memory, sockets.
package probe

import (
	"time"
	_ "unsafe" // for nanotime

	"golang.org/x/sys/unix"

	"orch/internal/contract"
)

// Now reads CLOCK_MONOTONIC, nanoseconds. It is the runtime's own reading, without a system call: package time has the same
// clock, but tells nobody where it begins.
//
//go:linkname Now runtime.nanotime
func Now() int64

// WallNow reads the wall clock, Unix nanoseconds.
func WallNow() int64 { return time.Now().UnixNano() }

// Anchor reads both clocks together, the wall clock between two readings of the other.
func Anchor() contract.Clocks {
	before := Now()
	wall := WallNow()
	return contract.Clocks{WallNS: wall, MonotonicNS: before + (Now()-before)/2}
}

// ClockResolutionNS is that of the monotonic clock, by the system's word.
func ClockResolutionNS() float64 {
	var resolution unix.Timespec
	if unix.ClockGetres(unix.CLOCK_MONOTONIC, &resolution) != nil {
		return 1
	}
	return float64(resolution.Nano())
}

// CPUSeconds is the CPU time that this process has used.
func CPUSeconds() float64 { return clockSeconds(unix.CLOCK_PROCESS_CPUTIME_ID) }

// ThreadCPUSeconds is the CPU time that this thread has used.
func ThreadCPUSeconds() float64 { return clockSeconds(unix.CLOCK_THREAD_CPUTIME_ID) }

func clockSeconds(clock int32) float64 {
	var now unix.Timespec
	if unix.ClockGettime(clock, &now) != nil {
		return 0
	}
	return float64(now.Nano()) / 1e9
}
