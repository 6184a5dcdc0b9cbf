package load

import (
	"sync/atomic"

	"orch/internal/contract"
	"orch/internal/operation"
	"orch/internal/probe"
)

const (
	noConnection = -1
	lookNS       = int64(100_000_000) // a worker that rests looks so often whether the phase is over
)

// slot is one call of a sample.
type slot struct {
	own        operation.Request  // what is made anew for each
	asked      *operation.Request // that, or one that stays the same
	reply      operation.Reply
	sentNS     int64
	receivedNS int64
	failure    *contract.Failure
}

// lane is a worker's connection to one operation.
type lane struct {
	conn   Conn
	number int64
}

// worker has one request in flight at a time. What others read of it meanwhile is atomic.
type worker struct {
	books   *Books
	number  int64
	dial    []Dialer // of each operation of a mix, or the one
	lanes   []lane
	calls   []slot
	timer   *probe.Timer
	replies keptReplies

	successNS atomic.Int64 // when the last reply came, where there are others
	aloneNS   int64        // the same where there are none

	looked, alike                            int64
	pauseNS, pausedNS, enteringNS, droppedNS int64
	_                                        [64]byte // no other worker's counters in this cache line
}

// succeed notes when a reply came.
func (w *worker) succeed(atNS int64) {
	if w.books.later {
		w.successNS.Store(atNS)
	} else {
		w.aloneNS = atNS
	}
}

func (w *worker) succeededNS() int64 { return max(w.successNS.Load(), w.aloneNS) }

// open opens a kept connection for each operation.
func (w *worker) open() *contract.Failure {
	for place := range w.lanes {
		if failure := w.connect(place); failure != nil {
			return failure
		}
	}
	return nil
}

func (w *worker) connect(place int) *contract.Failure {
	conn, failure := w.dial[place]()
	if failure == nil {
		w.lanes[place] = lane{conn, w.books.connected(conn)}
	}
	return failure
}

func (w *worker) drop(place int) {
	if conn := w.lanes[place].conn; conn != nil {
		conn.Close()
	}
	w.lanes[place] = lane{nil, noConnection}
}

// run makes requests until the phase is over. An error ends the trial.
func (w *worker) run(phase *Phase) error {
	dueNS, nowNS := int64(0), probe.Now()
	if phase.rests != nil {
		dueNS = phase.BeginNS + phase.rests.First(w.number)
		nowNS = w.rest(phase, dueNS)
	}
	for {
		sequence := phase.Take(nowNS)
		if sequence == 0 {
			return nil
		}
		w.pausedNS += w.pauseNS
		if phase.due != nil {
			dueNS = phase.BeginNS + phase.due[sequence-phase.First]
			w.timer.Until(dueNS)
		}
		receivedNS, err := w.sample(phase, sequence, dueNS)
		nowNS = probe.Now()
		w.pauseNS = nowNS - receivedNS
		if err != nil {
			return err
		}
		if phase.rests != nil {
			dueNS = nowNS + phase.rests.After(sequence-phase.First)
			nowNS = w.rest(phase, dueNS)
		}
	}
}

// rest waits until then, or until the phase is over.
func (w *worker) rest(phase *Phase, dueNS int64) int64 {
	nowNS := probe.Now()
	for nowNS < dueNS && !phase.IsOver(nowNS) {
		nowNS = w.timer.Until(min(dueNS, phase.mostNS, nowNS+lookNS))
	}
	return nowNS
}

// sample makes one request, or the calls of one task, and enters what came of it. It gives when the reply was received.
func (w *worker) sample(phase *Phase, sequence, dueNS int64) (int64, error) {
	books := w.books
	place := books.laneOf(sequence)
	for call := range w.calls {
		slot := &w.calls[call]
		slot.asked = books.make((sequence-1)*int64(len(w.calls))+int64(call)+1, place, &slot.own)
		slot.reply, slot.failure = operation.Reply{}, nil
	}
	lane := &w.lanes[place]
	var failure *contract.Failure
	if books.reuses && lane.conn == nil {
		failure = w.connect(place)
	}
	sentNS := probe.Now()
	if !books.reuses {
		failure = w.connect(place)
	}
	made, receivedNS := 0, sentNS
	if failure == nil {
		made, receivedNS = w.call(lane.conn, sentNS)
		failure = w.calls[made-1].failure
	} else {
		receivedNS = probe.Now()
	}
	intendedNS := dueNS
	if dueNS == 0 {
		intendedNS = sentNS
	}
	row := stamps{sequence, phase.Number, lane.number, intendedNS, sentNS, receivedNS}
	var err error
	if failure != nil {
		err = books.failed(w, row, failure, made)
	} else {
		err = books.replied(w, row)
	}
	if !books.reuses {
		w.enteringNS += probe.Now() - receivedNS
		w.drop(place)
	} else if failure != nil && failure.Status.Breaks() || isOver(lane.conn) {
		begunNS := probe.Now()
		w.drop(place)
		w.droppedNS += probe.Now() - begunNS
	}
	return receivedNS, err
}

func isOver(conn Conn) bool {
	ending, can := conn.(Ending)
	return can && ending.IsOver()
}

// call makes the calls of a sample, one after the other, and ends with the first that fails. It gives how many were made, and
// when the last one ended.
func (w *worker) call(conn Conn, sentNS int64) (int, int64) {
	slot := &w.calls[0]
	slot.sentNS = sentNS
	if !w.books.reuses && len(w.calls) > 1 {
		slot.sentNS = probe.Now() // opening the connection is the task's, and no call's
	}
	slot.failure = conn.Call(slot.asked, &slot.reply)
	slot.receivedNS = probe.Now()
	made := 1
	for made < len(w.calls) && slot.failure == nil {
		slot = &w.calls[made]
		slot.sentNS = probe.Now()
		slot.failure = conn.Call(slot.asked, &slot.reply)
		slot.receivedNS = probe.Now()
		made++
	}
	return made, slot.receivedNS
}
