package load

import (
	"fmt"

	"orch/internal/contract"
	"orch/internal/link"
	"orch/internal/operation"
	"orch/internal/probe"
	"orch/internal/record"
)

const (
	filledBytes = 117
	filledRoom  = int64(64 << 20)
)

// Rows are a record alone, to see what it costs: each sample is stamped twice, and its row stored.
type Rows struct{ file *record.Record }

// NewRows makes a file with room for so many rows. An error where there is no place for it.
func NewRows(path string, rows int64) (*Rows, error) {
	file, err := record.Create(path, rows)
	if err != nil {
		return nil, err
	}
	file.ByOne()
	return &Rows{file}, nil
}

// Fill stores so many rows, one after the other.
func (r *Rows) Fill(samples int64) error {
	for sequence := range samples {
		sentNS := probe.Now()
		receivedNS := probe.Now()
		place, err := r.file.Take(1)
		if err != nil {
			return err
		}
		r.file.Store(place, &record.Row{
			Sequence: sequence + 1, Phase: Measured, IntendedNS: sentNS, SentNS: sentNS, ReceivedNS: receivedNS, ServiceNS: -1,
			BytesSent: filledBytes, BytesReceived: filledBytes,
		})
	}
	return nil
}

// Close ends the record.
func (r *Rows) Close() error { return r.file.Close() }

// Filler is a record with its books, and the one request and reply of which its samples are: each reply is compared, too.
type Filler struct {
	books   *Books
	worker  *worker
	entered int64
}

// NewFiller makes a file with room for so many rows. `hasSeveral`: as with several requests in flight, where replies are
// compared by their bytes.
func NewFiller(path string, rows int64, hasSeveral bool) (*Filler, error) {
	trial := &contract.Trial{Operation: "echo", Target: &contract.Target{Host: "127.0.0.1"}}
	trial.SetDefaults()
	trial.Payload = contract.Payload{Kind: "bytes", Size: filledBytes}
	if trial.Load.Concurrency = 1; hasSeveral {
		trial.Load.Concurrency = 2
	}
	each, err := operation.Requests(trial.Operation, trial.Payload, trial.Seed)
	if err != nil {
		return nil, err
	}
	opener, err := link.NewOpener(trial, nil)
	if err != nil {
		return nil, err
	}
	file, err := record.Create(path, rows+1)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Trial: trial, Makes: []operation.Make{each}, Opener: opener, Print: func(any) {}}
	books := newBooks(plan, file)
	if books.workers, err = newWorkers(plan, books); err != nil {
		return nil, err
	}
	made := &Filler{books: books, worker: books.workers[0]}
	made.worker.replies.room = filledRoom
	slot := &made.worker.calls[0]
	slot.asked = each(1, &slot.own)
	body := slot.asked.Data
	slot.reply = operation.Reply{Data: body, Body: body, HoldsBody: true, Sent: filledBytes, Received: filledBytes}
	books.begin(first(1, probe.Now())) // in which the books learn a right reply
	if err := made.enter(WarmUp); err != nil {
		return nil, err
	}
	books.begin(measured(contract.Load{}, nil, nil, probe.Now(), 2))
	return made, nil
}

func (f *Filler) enter(phase int64) error {
	f.entered++
	sentNS := probe.Now()
	receivedNS := probe.Now()
	return f.books.replied(f.worker, stamps{f.entered, phase, 0, sentNS, sentNS, receivedNS})
}

// Fill enters so many samples, one after the other.
func (f *Filler) Fill(samples int64) error {
	for range samples {
		if err := f.enter(Measured); err != nil {
			return err
		}
	}
	return nil
}

// Close verifies what waits, and ends the record. An error where not every sample is a row whose reply was right.
func (f *Filler) Close() error {
	if err := f.books.settle(); err != nil {
		return err
	}
	if rows := f.books.record.Rows(); rows != f.entered {
		return fmt.Errorf("%d samples are %d rows", f.entered, rows)
	}
	for place := range f.entered {
		if row := f.books.record.At(place); row.Sequence != place+1 || row.Status != int64(contract.OK) {
			return fmt.Errorf("row %d is %+v", place, row)
		}
	}
	return f.books.record.Close()
}
