package load

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"

	"orch/internal/contract"
	"orch/internal/operation"
	"orch/internal/record"
)

const (
	mostFailures  = 50
	mostSilent    = 3 // time-outs
	mostExample   = 300
	second        = int64(1_000_000_000)
	lookedAtOneIn = 64
)

// stamps are the first columns of a sample's row.
type stamps struct {
	sequence, phase, connection, intendedNS, sentNS, receivedNS int64
}

// known is a reply that was found right: whoever answers the same request with the same bytes is right, too.
type known struct {
	request *operation.Request
	body    []byte
	isLarge bool
}

// kept is a reply that waits to be verified.
type kept struct {
	place  int64 // of its row
	task   int64 // of the row of its task, where it is the last call of one; else -1
	number int64 // of its request
	lane   int
	stamp  string // of its request, which cannot be made again
	reply  operation.Reply
}

const keptInChunk = 512

// keptReplies are a worker's own, in pieces, so that none is moved when there are more.
type keptReplies struct {
	chunks [][]kept
	room   int64 // bytes
}

// add gives the place for one more, nil where there is no room for so many bytes.
func (k *keptReplies) add(size int64) *kept {
	if k.room -= size; k.room < 0 {
		return nil
	}
	last := len(k.chunks) - 1
	if last < 0 || len(k.chunks[last]) == keptInChunk {
		k.chunks = append(k.chunks, make([]kept, 0, keptInChunk))
		last++
	}
	k.chunks[last] = k.chunks[last][:len(k.chunks[last])+1]
	return &k.chunks[last][len(k.chunks[last])-1]
}

// Books are what is entered of a trial: rows, failures, and replies that wait to be verified.
type Books struct {
	record    *record.Record
	kind      int64 // of a sample's row
	reuses    bool
	later     bool // whether replies are verified when the phase is over, as several are in flight
	makes     []operation.Make
	drawn     []int // of a mix, the place of the operation by sequence
	silenceNS int64
	report    func(contract.Progress)
	workers   []*worker

	connections atomic.Int64
	shared      sync.Map
	progressNS  atomic.Int64 // the next line is due
	known       atomic.Pointer[known]
	isDoubtful  atomic.Bool // the last reply that was looked at was wrong
	keeps       bool        // replies of this phase
	phase       *Phase
	firstRow    int64

	mutex       sync.Mutex // for failures, which are few
	inARow      int64
	succeededNS int64 // the latest success that a failure found
	examples    map[string]string
}

func (b *Books) laneOf(sequence int64) int {
	if b.drawn == nil {
		return 0
	}
	return b.drawn[(sequence-1)%int64(len(b.drawn))]
}

func (b *Books) parentOf(sequence int64) int64 {
	if b.drawn == nil {
		return 0
	}
	return int64(b.laneOf(sequence)) + 1
}

func (b *Books) make(number int64, place int, into *operation.Request) *operation.Request {
	return b.makes[place](number, into)
}

// connected numbers a connection that was opened; one that is shared has one number.
func (b *Books) connected(conn Conn) int64 {
	if part, isShared := conn.(Shared); isShared {
		if number := part.Number(); number >= 0 {
			if found, has := b.shared.Load(number); has {
				return found.(int64)
			}
			made := b.connections.Add(1) - 1
			b.shared.Store(number, made)
			return made
		}
	}
	return b.connections.Add(1) - 1
}

// begin starts the books of a phase.
func (b *Books) begin(phase *Phase) {
	b.phase, b.firstRow = phase, b.record.Rows()
	b.keeps = b.later && phase.Number == Measured
	b.progressNS.Store(phase.BeginNS + second)
	b.noteSuccesses()
	b.succeededNS = phase.BeginNS
	for _, worker := range b.workers {
		worker.successNS.Store(phase.BeginNS)
		worker.aloneNS = 0
		worker.looked, worker.alike = 0, 0
		worker.pauseNS, worker.pausedNS, worker.enteringNS, worker.droppedNS = 0, 0, 0, 0
	}
}

// replied enters a sample all of whose calls had a reply. An error ends the trial.
func (b *Books) replied(w *worker, of stamps) error {
	isDue := of.receivedNS >= b.progressNS.Load() && b.isMyTurn(of.receivedNS)
	if isDue {
		b.reportProgress(of.receivedNS)
	}
	if b.keeps && !isDue && !b.isDoubtful.Load() {
		if entered, err := b.keep(w, of); entered || err != nil {
			return err
		}
	}
	status, words := contract.OK, ""
	for call := range w.calls {
		slot := &w.calls[call]
		if mistake := operation.Mistake(slot.asked, &slot.reply); mistake != "" {
			slot.failure = contract.Fail(contract.WrongReply, "%s", mistake)
			if status == contract.OK {
				status, words = contract.WrongReply, ofCall(call, len(w.calls), mistake)
			}
		}
	}
	w.looked++
	if err := b.store(w, of, status, len(w.calls)); err != nil {
		return err
	}
	if status != contract.OK {
		return b.failOnceMore(w, contract.Fail(status, "%s", words), of.receivedNS)
	}
	w.succeed(of.receivedNS)
	if b.later {
		if b.isDoubtful.Load() {
			b.isDoubtful.Store(false)
		}
		b.know(w)
	}
	return nil
}

func ofCall(call, calls int, words string) string {
	if calls == 1 {
		return words
	}
	return fmt.Sprintf("call %d of %d: %s", call+1, calls, words)
}

// know keeps the bytes of a reply that was verified, where the same request will be made again.
func (b *Books) know(w *worker) {
	slot := &w.calls[0]
	if len(w.calls) > 1 || b.drawn != nil || slot.asked == &slot.own || slot.reply.Body == nil {
		return
	}
	if before := b.known.Load(); before != nil && before.request == slot.asked {
		return
	}
	b.known.Store(&known{slot.asked, bytes.Clone(slot.reply.Body), slot.reply.HasLargeBuffer()})
}

// keep stores a sample whose replies are right by their bytes, or wait to be verified. It tells whether it could.
func (b *Books) keep(w *worker, of stamps) (bool, error) {
	slot := &w.calls[0]
	if call := slot.asked.Call; call != nil && len(w.calls) == 1 && isTakenByItsBytes(of.sequence) && call.IsKnown(slot.reply.Body) {
		w.alike++
		w.succeed(of.receivedNS)
		return true, b.store(w, of, contract.OK, 1)
	}
	last := b.known.Load()
	if last != nil && slot.asked == last.request {
		if !bytes.Equal(slot.reply.Body, last.body) {
			return false, nil // found out now, and not when the phase is over
		}
		if isTakenByItsBytes(of.sequence) {
			w.alike++
			w.succeed(of.receivedNS)
			return true, b.store(w, of, contract.OK, 1)
		}
		if last.isLarge {
			return false, nil
		}
	}
	size := int64(0)
	for call := range w.calls {
		if len(w.calls[call].reply.Data) > 4096 {
			return false, nil // to compare it takes less time than the page faults of the next one
		}
		size += w.calls[call].reply.Footprint()
	}
	if w.replies.room < size {
		return false, nil
	}
	w.succeed(of.receivedNS)
	place, err := b.storeAt(w, of, contract.Unverified, len(w.calls))
	if err != nil {
		return true, err
	}
	for call := range w.calls {
		slot := &w.calls[call]
		waiting := w.replies.add(slot.reply.Footprint())
		*waiting = kept{
			place: place, task: -1, number: (of.sequence-1)*int64(len(w.calls)) + int64(call) + 1,
			lane: b.laneOf(of.sequence), stamp: slot.asked.Stamp, reply: slot.reply,
		}
		if len(w.calls) > 1 {
			waiting.place = place + 1 + int64(call)
			if call == len(w.calls)-1 {
				waiting.task = place
			}
		}
		waiting.reply.Body = nil
		if slot.reply.HoldsBody {
			waiting.reply.Data = bytes.Clone(slot.reply.Data)
		}
	}
	return true, nil
}

// isTakenByItsBytes: of all but one reply in 64; of that one the value is looked at, by a rule without a period.
func isTakenByItsBytes(sequence int64) bool {
	return uint64(sequence)*0x9E3779B1>>20&(lookedAtOneIn-1) != 0
}

// failed enters a sample that ended without a reply, after so many calls. An error ends the trial.
func (b *Books) failed(w *worker, of stamps, failure *contract.Failure, made int) error {
	if of.receivedNS >= b.progressNS.Load() && b.isMyTurn(of.receivedNS) {
		b.reportProgress(of.receivedNS)
	}
	for call := range made {
		if slot := &w.calls[call]; slot.failure == nil {
			if mistake := operation.Mistake(slot.asked, &slot.reply); mistake != "" {
				slot.failure = contract.Fail(contract.WrongReply, "%s", mistake)
			}
		}
	}
	if err := b.store(w, of, failure.Status, made); err != nil {
		return err
	}
	words := failure.Detail
	if made > 0 {
		words = ofCall(made-1, len(w.calls), words)
	}
	return b.failOnceMore(w, contract.Fail(failure.Status, "%s", words), of.receivedNS)
}

// failOnceMore gives the error that ends a trial in which nothing succeeds any more.
func (b *Books) failOnceMore(w *worker, failure *contract.Failure, nowNS int64) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.phase.Number == Measured {
		b.noteExample(failure)
	}
	b.isDoubtful.Store(failure.Status == contract.WrongReply)
	b.noteSuccesses()
	b.inARow++
	if b.inARow >= mostFailures {
		return contract.Fail(failure.Status, "%d requests in a row failed; the last: %v", b.inARow, failure)
	}
	if silentNS := nowNS - b.succeededNS; b.inARow >= mostSilent && silentNS > b.silenceNS {
		return contract.Fail(failure.Status, "no right reply for %d s; the last failure: %v", silentNS/second, failure)
	}
	return nil
}

// noteSuccesses ends the row of failures where a reply came since the last one.
func (b *Books) noteSuccesses() {
	for _, each := range b.workers {
		if atNS := each.succeededNS(); atNS > b.succeededNS {
			b.inARow, b.succeededNS = 0, atNS
		}
	}
}

func (b *Books) noteExample(failure *contract.Failure) {
	name := failure.Status.String()
	if _, has := b.examples[name]; has {
		return
	}
	words := failure.Detail
	if words == "" {
		words = name
	}
	if characters := []rune(words); len(characters) > mostExample {
		words = string(characters[:mostExample])
	}
	b.examples[name] = words
}

func (b *Books) store(w *worker, of stamps, status contract.Status, made int) error {
	_, err := b.storeAt(w, of, status, made)
	return err
}

// storeAt stores the row of a sample, and behind it those of its calls where it is a task. It gives the first one's place.
func (b *Books) storeAt(w *worker, of stamps, status contract.Status, made int) (int64, error) {
	rows := int64(1)
	isTask := b.kind == record.Task
	if isTask {
		rows += int64(made)
	}
	place, err := b.record.Take(rows)
	if err != nil {
		return 0, &contract.CannotTry{Kind: "host", Message: err.Error()}
	}
	sent, received := int64(-1), int64(-1)
	if status == contract.OK || status == contract.WrongReply || status == contract.Unverified {
		sent, received = 0, 0
		for call := range made {
			sent += w.calls[call].reply.Sent
			received += w.calls[call].reply.Received
		}
	}
	b.record.Store(place, &record.Row{
		Sequence: of.sequence, Phase: of.phase, Connection: of.connection, IntendedNS: of.intendedNS, SentNS: of.sentNS,
		ReceivedNS: of.receivedNS, ServiceNS: -1, BytesSent: sent, BytesReceived: received, Status: int64(status),
		Kind: b.kind, Parent: b.parentOf(of.sequence),
	})
	if isTask {
		b.storeParts(w, of, place, status, made)
	}
	return place, nil
}

func (b *Books) storeParts(w *worker, task stamps, place int64, status contract.Status, made int) {
	for call := range made {
		slot := &w.calls[call]
		part := record.Row{
			Sequence: int64(call + 1), Phase: task.phase, Connection: task.connection, IntendedNS: slot.sentNS,
			SentNS: slot.sentNS, ReceivedNS: slot.receivedNS, ServiceNS: -1, BytesSent: slot.reply.Sent,
			BytesReceived: slot.reply.Received, Kind: record.Part, Parent: task.sequence,
		}
		if failure := slot.failure; failure != nil {
			part.Status = int64(failure.Status)
			if failure.Status != contract.WrongReply {
				part.BytesSent, part.BytesReceived = -1, -1
			}
		} else if status == contract.Unverified {
			part.Status = int64(contract.Unverified)
		}
		b.record.Store(place+1+int64(call), &part)
	}
}

// isMyTurn tells one of those who ask that a second has passed.
func (b *Books) isMyTurn(nowNS int64) bool {
	dueNS := b.progressNS.Load()
	return nowNS >= dueNS && b.progressNS.CompareAndSwap(dueNS, nowNS+second)
}

func (b *Books) reportProgress(nowNS int64) {
	requests := b.record.Rows() - b.firstRow
	if b.kind == record.Task {
		requests /= 1 + int64(len(b.workers[0].calls)) // but for those that ended early, and have fewer rows
	}
	b.report(ProgressOf(b.phase.Number, requests, nowNS-b.phase.BeginNS))
}

// ProgressOf says how far a phase has come.
func ProgressOf(phase, requests, elapsedNS int64) contract.Progress {
	name := "warm-up"
	if phase == Measured {
		name = "measured"
	}
	return contract.Progress{Phase: name, Requests: requests, ElapsedS: float64(elapsedNS/1_000_000) / 1e3, Type: "progress"}
}

// settle verifies what was kept in the phase that is over. An error where so many in a row are wrong as end a phase.
func (b *Books) settle() error {
	var hopeless error
	inARow := 0
	var made operation.Request
	for _, worker := range b.workers {
		ofTask := contract.OK
		for _, chunk := range worker.replies.chunks {
			for place := range chunk {
				waiting := &chunk[place]
				asked := b.make(waiting.number, waiting.lane, &made)
				if asked == &made {
					asked.Stamp = waiting.stamp
				}
				status := contract.OK
				inARow++
				if mistake := operation.Mistake(asked, &waiting.reply); mistake != "" {
					status, ofTask = contract.WrongReply, contract.WrongReply
					failure := contract.Fail(status, "%s", mistake)
					b.noteExample(failure)
					if inARow >= mostFailures {
						hopeless = contract.Fail(status, "%d or more replies in a row were wrong; the last: %v", mostFailures, failure)
					}
				} else {
					inARow = 0
				}
				b.record.Settle(waiting.place, int64(status))
				if waiting.task >= 0 {
					b.record.Settle(waiting.task, int64(ofTask))
					ofTask = contract.OK
				}
			}
		}
		worker.replies.chunks = nil
	}
	return hopeless
}
