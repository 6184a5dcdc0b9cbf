// Package link opens TCP connections, plain or TLS, for every client, accepts them for every server, and knows what the
// kernel counts of them.
package link

import (
	"cmp"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"orch/internal/contract"
	"orch/internal/probe"
)

// Conn is a TCP connection whose counters are read before it is closed, whichever library closes it.
type Conn struct {
	*net.TCPConn
	raw      syscall.RawConn
	meter    *Meter
	isClosed atomic.Bool
	before   counts
	in, out  way
}

// way is one direction of a connection. Its fields are those of the current call; local
// variables would be allocated at each call.
type way struct {
	mutex   sync.Mutex // of one caller at a time
	content []byte
	moved   int
	err     error
	act     func(descriptor uintptr) bool
}

// Read and Write make their system calls past the runtime's scheduler: at each call of an idle program it wakes a thread of its
// own, which delays a request by microseconds. The socket is non-blocking, so no call waits.

// Read reads what has come, or waits for it.
func (c *Conn) Read(into []byte) (int, error) {
	way := &c.in
	way.mutex.Lock()
	defer way.mutex.Unlock()
	way.content, way.moved, way.err = into, 0, nil
	waited := c.raw.Read(way.act)
	err := cmp.Or(waited, way.err)
	if err == nil && way.moved == 0 && len(into) > 0 {
		err = io.EOF
	}
	return way.moved, err
}

func (w *way) read(descriptor uintptr) bool {
	w.moved, w.err = transfer(unix.SYS_READ, descriptor, w.content)
	return w.err != unix.EAGAIN
}

// Write writes all of it.
func (c *Conn) Write(from []byte) (int, error) {
	way := &c.out
	way.mutex.Lock()
	defer way.mutex.Unlock()
	way.content, way.moved, way.err = from, 0, nil
	waited := c.raw.Write(way.act)
	err := cmp.Or(waited, way.err)
	return way.moved, err
}

func (w *way) write(descriptor uintptr) bool {
	count := 0
	for w.err = nil; w.moved < len(w.content) && w.err == nil; w.moved += count {
		count, w.err = transfer(unix.SYS_WRITE, descriptor, w.content[w.moved:])
	}
	return w.err != unix.EAGAIN
}

func transfer(call, descriptor uintptr, content []byte) (int, error) {
	for {
		count, _, fault := unix.RawSyscall(
			call, descriptor, uintptr(unsafe.Pointer(unsafe.SliceData(content))), uintptr(len(content)),
		)
		if fault == 0 {
			return int(count), nil
		} else if fault != unix.EINTR {
			return 0, fault
		}
	}
}

// Close reads the connection's counters, and ends it.
func (c *Conn) Close() error {
	if !c.isClosed.Swap(true) {
		c.meter.closing(c)
	}
	return c.TCPConn.Close()
}

func (c *Conn) control(act func(descriptor int)) { _ = control(c.TCPConn, act) }

// counts are those of TCP_INFO since a connection was opened.
type counts struct {
	wire   contract.Wire
	rttUS  uint32
	isRead bool
}

func (c *Conn) counts() counts {
	var found counts
	c.control(func(descriptor int) {
		info, err := unix.GetsockoptTCPInfo(descriptor, unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			return
		}
		found = counts{
			wire: contract.Wire{
				BytesSent: int64(info.Bytes_sent), BytesReceived: int64(info.Bytes_received),
				SegmentsSent: int64(info.Segs_out), SegmentsReceived: int64(info.Segs_in), Retransmits: int64(info.Total_retrans),
			},
			rttUS:  info.Min_rtt,
			isRead: true,
		}
	})
	return found
}

// Meter sums TCP_INFO over the connections of a trial, from each Begin to its End. Where connections overlap that are opened for one
// request each, a look at every close would disturb the others: then it looks ten times a second, for the smallest round
// trip alone.
type Meter struct {
	mutex      sync.Mutex
	isBlind    bool // connections are not TCP's, and the kernel counts nothing of them
	overlaps   bool
	isCounting bool
	isComplete bool
	nextLookNS int64
	open       map[*Conn]struct{}
	sums       contract.Wire
	rttUS      uint32
}

const (
	betweenLooks = int64(100 * time.Millisecond)
	noRTT        = ^uint32(0)
)

// NewMeter counts the connections of one trial.
func NewMeter(overlaps bool) *Meter {
	return &Meter{overlaps: overlaps, isComplete: true, open: map[*Conn]struct{}{}, rttUS: noRTT}
}

func (m *Meter) opened(connection *net.TCPConn) *Conn {
	raw, _ := connection.SyscallConn() // no error, but of nil
	made := &Conn{TCPConn: connection, raw: raw, meter: m}
	made.in.act, made.out.act = made.in.read, made.out.write
	made.before.isRead = true
	m.mutex.Lock()
	m.open[made] = struct{}{}
	m.mutex.Unlock()
	return made
}

func (m *Meter) closing(connection *Conn) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.open, connection)
	if !m.isCounting {
		return
	}
	if m.overlaps {
		now := probe.Now()
		if now < m.nextLookNS {
			return
		}
		m.nextLookNS = now + betweenLooks
	}
	m.add(connection)
}

func (m *Meter) add(connection *Conn) {
	now, before := connection.counts(), connection.before
	if !now.isRead || !before.isRead {
		m.isComplete = false
		return
	}
	m.sums.BytesSent += now.wire.BytesSent - before.wire.BytesSent
	m.sums.BytesReceived += now.wire.BytesReceived - before.wire.BytesReceived
	m.sums.SegmentsSent += now.wire.SegmentsSent - before.wire.SegmentsSent
	m.sums.SegmentsReceived += now.wire.SegmentsReceived - before.wire.SegmentsReceived
	m.sums.Retransmits += now.wire.Retransmits - before.wire.Retransmits
	if now.rttUS != 0 {
		m.rttUS = min(m.rttUS, now.rttUS)
	}
}

// Begin counts on from here.
func (m *Meter) Begin() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.isCounting = true
	for connection := range m.open {
		connection.before = connection.counts()
	}
}

// End stops counting.
func (m *Meter) End() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for connection := range m.open {
		m.add(connection)
	}
	m.isCounting = false
}

// IsBlind tells whether the connections are not TCP's.
func (m *Meter) IsBlind() bool { return m.isBlind }

// Wire is what was counted; nil where not all of it is known.
func (m *Meter) Wire() *contract.Wire {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.isBlind || m.overlaps || !m.isComplete {
		return nil
	}
	sums := m.sums
	return &sums
}

// MinRTTUS is the smallest round trip that the kernel saw, in microseconds; nil without any.
func (m *Meter) MinRTTUS() *float64 {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.rttUS == noRTT {
		return nil
	}
	found := float64(m.rttUS)
	return &found
}

// Open are the connections that are open now.
func (m *Meter) Open() []*Conn {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	found := make([]*Conn, 0, len(m.open))
	for connection := range m.open {
		found = append(found, connection)
	}
	return found
}

// Set sets all connections that are open.
func (m *Meter) Set(options Options) error {
	if !options.Any() {
		return nil
	}
	for _, connection := range m.Open() {
		if err := setOn(connection.TCPConn, options); err != nil {
			return err
		}
	}
	return nil
}

// Differing is how many of the connections that are open are not set so.
func (m *Meter) Differing(options Options) int {
	found := 0
	if options.Any() {
		for _, connection := range m.Open() {
			connection.control(func(descriptor int) {
				if !options.isSet(descriptor) {
					found++
				}
			})
		}
	}
	return found
}

// Windows are the largest windows of TCP that open connections offer and are offered; false where the kernel does not tell.
func (m *Meter) Windows() (offers, isOffered uint32, isTold bool) {
	for _, connection := range m.Open() {
		connection.control(func(descriptor int) {
			if info, err := unix.GetsockoptTCPInfo(descriptor, unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
				offers, isOffered = max(offers, info.Rcv_wnd), max(isOffered, info.Snd_wnd)
			}
		})
	}
	return offers, isOffered, offers > 0 && isOffered > 0
}
