// Package record writes the raw timing record of protos/timings.md: rows of a fixed size in a file that is mapped.
package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Kinds of rows.
const (
	Request int64 = iota
	Task
	Part
	Event
	Codec
	Misleading
	Mixed
)

// ResponderMonotonic is the clock of an event's stamp.
const ResponderMonotonic = 2

// Row is one row, in the order of the columns.
type Row struct {
	Sequence      int64
	Phase         int64
	Connection    int64
	IntendedNS    int64
	SentNS        int64
	ReceivedNS    int64
	ServiceNS     int64
	BytesSent     int64
	BytesReceived int64
	Status        int64
	Kind          int64
	Parent        int64
	SenderNS      int64
	SenderClock   int64
}

var columns = [...]string{
	"sequence", "phase", "connection", "intended_ns", "sent_ns", "received_ns", "service_ns", "bytes_sent", "bytes_received",
	"status", "kind", "parent", "sender_ns", "sender_clock",
}

const (
	version       = 2
	headerBytes   = 512
	nameBytes     = 32
	rowBytes      = int64(unsafe.Sizeof(Row{}))
	growRows      = 1 << 17 // 15 MB
	mostAtFirst   = 1 << 22 // 470 MB; a longer trial grows on its way
	populateWrite = 23      // MADV_POPULATE_WRITE, Linux 5.14
)

func header() []byte {
	made := make([]byte, 0, headerBytes)
	made = append(made, "orchtime"...)
	for _, number := range []int64{version, headerBytes, rowBytes, int64(len(columns))} {
		made = binary.LittleEndian.AppendUint64(made, uint64(number))
	}
	made = append(made, make([]byte, headerBytes-nameBytes*len(columns)-len(made))...)
	for _, name := range columns {
		made = append(append(made, name...), make([]byte, nameBytes-len(name))...)
	}
	return made
}

// Record is a file of rows. Rows are stored by as many at once as like; none of it takes a system call, unless the file
// must grow. What was stored outlives this process however it ends, and the disk's space is taken beforehand.
type Record struct {
	file    *os.File
	next    atomic.Int64
	isOnes  bool
	ones    int64 // what `next` is where one goroutine stores at a time
	mapped  atomic.Pointer[mapping]
	growing sync.Mutex
	old     [][]byte
}

// mapping is the whole file, with room for so many rows.
type mapping struct {
	content []byte
	room    int64
}

// Create makes the file with room for so many rows. An error where there is no place for it.
func Create(path string, expectedRows int64) (*Record, error) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, errors.New("a record has little-endian numbers, and this host has none")
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC|unix.O_NONBLOCK, 0o644) // nobody may read a pipe
	if err != nil {
		return nil, err
	}
	if found, err := file.Stat(); err != nil || !found.Mode().IsRegular() {
		file.Close() // and left where it is
		return nil, &os.PathError{Op: "open", Path: path, Err: errors.New("no regular file")}
	}
	made := &Record{file: file}
	if err := made.extend(max(1, min(expectedRows, mostAtFirst))); err != nil {
		file.Close()
		os.Remove(path)
		return nil, err
	}
	return made, nil
}

// ByOne says, before any row, that one goroutine at a time stores rows and asks for their number.
func (r *Record) ByOne() { r.isOnes = true }

// Take gives the place of the first of so many rows that stand together. An error where the disk is full.
func (r *Record) Take(rows int64) (int64, error) {
	var place int64
	if r.isOnes {
		place = r.ones
		r.ones += rows
	} else {
		place = r.next.Add(rows) - rows
	}
	if place+rows > r.mapped.Load().room {
		return place, r.grow(place + rows)
	}
	return place, nil
}

// Store writes a row at a place that was taken, its sequence last: a row without one was never completed.
func (r *Record) Store(place int64, row *Row) {
	at := r.at(place)
	// Column by column: as a whole it is copied by a call, once it has been put together.
	at.Phase, at.Connection, at.IntendedNS, at.SentNS = row.Phase, row.Connection, row.IntendedNS, row.SentNS
	at.ReceivedNS, at.ServiceNS, at.BytesSent, at.BytesReceived = row.ReceivedNS, row.ServiceNS, row.BytesSent, row.BytesReceived
	at.Status, at.Kind, at.Parent, at.SenderNS, at.SenderClock = row.Status, row.Kind, row.Parent, row.SenderNS, row.SenderClock
	seal(at, row.Sequence)
}

// seal is a call, so that it comes after the columns: whoever reads the file when this process is dead finds what was
// stored in the order of the instructions, and nobody reads it earlier.
//
//go:noinline
func seal(at *Row, sequence int64) { at.Sequence = sequence }

// Settle gives a row its status that was stored unverified.
func (r *Record) Settle(place, status int64) { r.at(place).Status = status }

// At is a row as it is stored.
func (r *Record) At(place int64) Row { return *r.at(place) }

func (r *Record) at(place int64) *Row {
	return (*Row)(unsafe.Pointer(&r.mapped.Load().content[headerBytes+place*rowBytes]))
}

// Rows is how many places were taken.
func (r *Record) Rows() int64 {
	if r.isOnes {
		return r.ones
	}
	return r.next.Load()
}

// Close cuts the file to the rows that were stored.
func (r *Record) Close() error {
	for _, content := range append(r.old, r.mapped.Load().content) {
		if err := unix.Munmap(content); err != nil {
			return err
		}
	}
	return errors.Join(r.file.Truncate(headerBytes+r.Rows()*rowBytes), r.file.Close())
}

// Reserve has room for so many rows more, so that none of them makes the file grow.
func (r *Record) Reserve(rows int64) error { return r.grow(r.Rows() + rows) }

func (r *Record) grow(rows int64) error {
	r.growing.Lock()
	defer r.growing.Unlock()
	if room := r.mapped.Load().room; rows > room {
		return r.extend(max(growRows, rows-room))
	}
	return nil
}

// extend maps the file with room for so many rows more. The mapping before it stays: others may be writing there, to the
// same pages.
func (r *Record) extend(rows int64) error {
	room, before := rows, int64(0)
	last := r.mapped.Load()
	if last != nil {
		room += last.room
		before = int64(len(last.content))
	}
	size := headerBytes + room*rowBytes
	if err := r.reserve(before, size); err != nil {
		return errors.Join(fmt.Errorf("no space for the record: %w", err), r.file.Truncate(before))
	}
	content, err := unix.Mmap(int(r.file.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("the record cannot be mapped: %w", err)
	}
	page := int64(os.Getpagesize())
	_ = unix.Madvise(content[before/page*page:], populateWrite) // no page fault at a store, where the kernel can
	if before == 0 {
		copy(content, header())
	}
	r.mapped.Store(&mapping{content: content, room: room})
	if last != nil {
		r.old = append(r.old, last.content)
	}
	return nil
}

// reserve takes the disk's space, so that a full one is an error here and no signal in the middle of a trial.
func (r *Record) reserve(from, to int64) error {
	err := unix.Fallocate(int(r.file.Fd()), 0, from, to-from)
	if !errors.Is(err, unix.EOPNOTSUPP) {
		return err
	}
	zeros := make([]byte, 1<<20)
	for from < to {
		wrote, err := r.file.WriteAt(zeros[:min(int64(len(zeros)), to-from)], from)
		if err != nil {
			return err
		}
		from += int64(wrote)
	}
	return nil
}
