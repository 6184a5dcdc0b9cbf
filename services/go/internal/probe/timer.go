package probe

import (
	"os"

	"golang.org/x/sys/unix"
)

// Timer waits for moments of the monotonic clock. The runtime's own timers count in milliseconds where nothing else goes on;
// a timer descriptor wakes its goroutine as a socket does, and costs no spinning.
type Timer struct {
	file       *os.File
	descriptor int // the file's
	expiries   [8]byte
	spinNS     int64
}

// NewTimer makes a timer for one goroutine. So many nanoseconds before the moment it stops sleeping, and looks at the clock
// until it has come.
func NewTimer(spinNS int64) (*Timer, error) {
	descriptor, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	return &Timer{file: os.NewFile(uintptr(descriptor), "timer"), descriptor: descriptor, spinNS: spinNS}, nil
}

// Until returns at that moment, or at once where it has passed. It gives the time.
func (t *Timer) Until(dueNS int64) int64 {
	now := Now()
	for now < dueNS {
		if dueNS-now > t.spinNS {
			t.sleep(dueNS - t.spinNS)
		}
		now = Now()
	}
	return now
}

func (t *Timer) sleep(untilNS int64) {
	expiry := unix.ItimerSpec{Value: unix.NsecToTimespec(untilNS)}
	if unix.TimerfdSettime(t.descriptor, unix.TFD_TIMER_ABSTIME, &expiry, nil) == nil {
		_, _ = t.file.Read(t.expiries[:])
	}
}

// Close ends it.
func (t *Timer) Close() { _ = t.file.Close() }
