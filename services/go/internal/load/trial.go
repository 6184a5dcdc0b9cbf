package load

import (
	"fmt"
	"runtime"
	"sync"

	"orch/internal/contract"
	"orch/internal/generator"
	"orch/internal/link"
	"orch/internal/operation"
	"orch/internal/probe"
	"orch/internal/record"
)

const (
	spinNS    = int64(200_000) // a goroutine that sleeps wakes up late by up to about this much
	rowsPerS  = 50_000         // more than most clients ask; the record grows should it not suffice
	saturated = 0.85           // the share of a core from which on a requester is what limits
	allBusy   = 0.9            // of the time of all connections, in which requests were under way
)

// Plan is a trial with what its names stand for.
type Plan struct {
	Trial  *contract.Trial
	Makes  []operation.Make // of the operation, or of each of a mix
	Dials  []Dialer         // likewise
	Opener *link.Opener
	// Warm is called between the phases, with the requests of the warm-up. It returns when the other one may begin.
	Warm func(requests int64)
	// Print prints a line.
	Print func(line any)
}

// Refusal says why a load cannot be offered; nil where it can.
func Refusal(load contract.Load) error {
	switch {
	case load.Requests == nil && load.DurationS == nil:
		return contract.NoTrial("load: give requests, duration_s, or both; nothing would end this trial")
	case load.Concurrency < 1:
		return contract.NoTrial("load: a concurrency of at least 1, not %d", load.Concurrency)
	case load.RatePerS != nil && *load.RatePerS < generator.SlowestRate:
		return contract.NoTrial("load: an open loop needs a rate above 0, and here of at least %v a second, not %v",
			generator.SlowestRate, *load.RatePerS)
	case load.RatePerS != nil && load.ThinkS > 0:
		return contract.NoTrial("load: an open loop has a schedule and no think time; give rate_per_s or think_s")
	}
	return nil
}

// expectedRows is for how many rows a record makes room beforehand.
func expectedRows(trial *contract.Trial) int64 {
	each := int64(1)
	if trial.Calls > 1 {
		each += trial.Calls
	}
	load := trial.Load
	rows := max(trial.Warmup.Requests, int64(trial.Warmup.AtLeastS*rowsPerS))
	if load.DurationS == nil {
		return each * (rows + *load.Requests)
	}
	rate := float64(rowsPerS)
	if load.RatePerS != nil {
		rate = *load.RatePerS
	}
	byTime := int64(*load.DurationS * rate * 1.1)
	if load.Requests != nil {
		byTime = min(byTime, *load.Requests)
	}
	return each * (rows + byTime)
}

// Measure warms up and measures on the same connections, and fills the line that says what came of it.
func Measure(plan *Plan, done *contract.Done) error {
	trial := plan.Trial
	file, err := record.Create(trial.Record, expectedRows(trial))
	if err != nil {
		return &contract.CannotTry{Kind: "host", Message: err.Error()}
	}
	defer func() { _ = file.Close() }()
	books := newBooks(plan, file)
	workers, err := newWorkers(plan, books)
	if err != nil {
		return &contract.CannotTry{Kind: "host", Message: err.Error()}
	}
	books.workers = workers
	var due []int64
	if trial.Load.RatePerS != nil { // before connections wait for it
		due = dueTimes(trial)
	}
	var rests *generator.Rests
	if trial.Load.ThinkS > 0 {
		rests = generator.NewRests(
			trial.Seed, nanoseconds(trial.Load.ThinkS), trial.Load.Concurrency, trial.Load.Thinking == "exponential",
		)
	}
	anchor := probe.Anchor()
	done.Anchor = &anchor
	plan.Print(contract.Start{Anchor: anchor, Type: "start"})
	plan.Opener.Forget() // those of the check
	taken, err := warm(plan, books)
	if err != nil {
		return err
	}
	plan.Warm(taken)
	runtime.GC() // what the warm-up left must not be collected within a sample
	if !trial.Reuses() {
		plan.Opener.Forget()
	}
	if err := measure(plan, books, due, rests, taken, done); err != nil {
		return err
	}
	if err := end(plan, books, done); err != nil {
		return err
	}
	done.WarmupRequests, done.Rows = taken, file.Rows()
	anchorEnd := probe.Anchor()
	done.AnchorEnd = &anchorEnd
	return nil
}

func dueTimes(trial *contract.Trial) []int64 {
	requests, durationNS := int64(-1), int64(-1)
	if trial.Load.Requests != nil {
		requests = *trial.Load.Requests
	}
	if trial.Load.DurationS != nil {
		durationNS = nanoseconds(*trial.Load.DurationS)
	}
	return generator.Arrivals(trial.Seed, *trial.Load.RatePerS, trial.Load.Arrivals == "poisson", requests, durationNS)
}

func newBooks(plan *Plan, file *record.Record) *Books {
	trial := plan.Trial
	made := &Books{
		record: file, kind: record.Request, reuses: trial.Reuses(), later: trial.Load.Concurrency > 1, makes: plan.Makes,
		silenceNS: nanoseconds(mostSilent * trial.TimeoutS * float64(trial.Calls)),
		report:    func(line contract.Progress) { plan.Print(line) },
	}
	if !made.later {
		file.ByOne()
	}
	if trial.Calls > 1 {
		made.kind = record.Task
	}
	if len(trial.Mix) > 0 {
		made.kind = record.Mixed
		weights := make([]int64, len(trial.Mix))
		for place, mixed := range trial.Mix {
			weights[place] = mixed.Weight
		}
		made.drawn = generator.Mix(trial.Seed, weights)
	}
	return made
}

func newWorkers(plan *Plan, books *Books) ([]*worker, error) {
	load := plan.Trial.Load
	spin := int64(0)
	if load.Concurrency == 1 {
		spin = spinNS // with several in flight it would take the processor from those that wait for replies
	}
	room := probe.RoomForReplies() / load.Concurrency
	made := make([]*worker, load.Concurrency)
	for number := range made {
		made[number] = &worker{
			books: books, number: int64(number), dial: plan.Dials, lanes: make([]lane, len(plan.Dials)),
			calls: make([]slot, plan.Trial.Calls),
		}
		for place := range made[number].lanes {
			made[number].lanes[place].number = noConnection
		}
		if books.later {
			made[number].replies.room = room
		}
		if load.RatePerS == nil && load.ThinkS == 0 {
			continue
		}
		var err error
		if made[number].timer, err = probe.NewTimer(spin); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// warm warms up, and sets the connections as the trial's knobs say. It gives how many requests that took.
func warm(plan *Plan, books *Books) (int64, error) {
	trial := plan.Trial
	options := link.OptionsOf(trial.Knobs)
	if books.reuses {
		for _, worker := range books.workers {
			if failure := worker.open(); failure != nil {
				return 0, contract.Fail(failure.Status, "opening %d connections: %v", len(books.workers), failure)
			}
		}
	}
	taken := int64(0)
	if options.Window != 0 { // TCP takes back nothing that it offered, so that a window is set before most of the warm-up
		phase := first(trial.Load.Concurrency, probe.Now())
		if err := play(books, phase); err != nil {
			return 0, err
		}
		if err := set(plan, options); err != nil {
			return 0, err
		}
		taken = phase.Taken()
	}
	phase := warmUp(trial.Warmup, probe.Now())
	phase.First += taken
	if err := play(books, phase); err != nil {
		return 0, err
	}
	return taken + phase.Taken(), set(plan, options)
}

func set(plan *Plan, options link.Options) error {
	if err := plan.Opener.Meter.Set(options); err != nil {
		return &contract.CannotTry{Kind: "host", Message: err.Error()}
	}
	return nil
}

// play makes the requests of a phase. An error ends the trial.
func play(books *Books, phase *Phase) error {
	books.begin(phase)
	err := work(books, phase)
	if hopeless := books.settle(); err == nil {
		err = hopeless
	}
	return err
}

func work(books *Books, phase *Phase) error {
	if len(books.workers) == 1 {
		return books.workers[0].run(phase)
	}
	var group sync.WaitGroup
	failed := make([]error, len(books.workers))
	for number, worker := range books.workers {
		group.Go(func() {
			if failed[number] = worker.run(phase); failed[number] != nil {
				phase.End()
			}
		})
	}
	group.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

func measure(
	plan *Plan, books *Books, due []int64, rests *generator.Rests, warmed int64, done *contract.Done,
) error {
	load, meter := plan.Trial.Load, plan.Opener.Meter
	var memory probe.PeakMemory
	done.HostBefore = probe.HostCounters()
	meter.Begin()
	memory.Begin()
	openedBefore := books.connections.Load()
	cpuBefore := probe.CPUSeconds()
	phase := measured(load, due, rests, probe.Now(), warmed+1)
	books.begin(phase)
	err := work(books, phase)
	cpu := probe.CPUSeconds() - cpuBefore
	bytes, since := memory.Read()
	meter.End()
	done.HostAfter = probe.HostCounters()
	if err == nil {
		err = enterNotSent(books, phase)
	}
	if hopeless := books.settle(); err == nil {
		err = hopeless
	}
	if err != nil {
		return err
	}
	opened := books.connections.Load() - openedBefore
	done.ConnectionsOpened, done.CPUS, done.MemoryBytes, done.MemorySince = &opened, &cpu, &bytes, &since
	done.BeginNS, done.Wire, done.MinRTTUS = &phase.BeginNS, meter.Wire(), meter.MinRTTUS()
	books.tally(phase.due == nil, done)
	if *done.MeasuredS > 0 {
		share := cpu / *done.MeasuredS
		done.CPUShare = &share
	}
	if done.NotSent > 0 {
		reason := "requester-behind"
		available := *done.MeasuredS * float64(load.Concurrency)
		if books.busyS(phase) >= allBusy*available && cpu <= saturated**done.MeasuredS {
			reason = "connections-busy"
		}
		done.NotSentReason = &reason
	}
	return nil
}

// enterNotSent enters what was due in an open loop and was not sent before its window closed.
func enterNotSent(books *Books, phase *Phase) error {
	if phase.due == nil {
		return nil
	}
	nowNS := probe.Now()
	for index := phase.Taken(); index < phase.most; index++ {
		intendedNS := phase.BeginNS + phase.due[index]
		of := stamps{phase.First + index, Measured, noConnection, intendedNS, nowNS, nowNS}
		if err := books.store(books.workers[0], of, contract.NotSent, 0); err != nil {
			return err
		}
	}
	return nil
}

// samples gives the rows of a phase's samples, without those of their parts.
func (b *Books) samples(yield func(record.Row) bool) {
	for place := b.firstRow; place < b.record.Rows(); place++ {
		if row := b.record.At(place); row.Kind != record.Part && !yield(row) {
			return
		}
	}
}

func (b *Books) busyS(*Phase) float64 {
	busyNS := int64(0)
	for row := range b.samples {
		if row.Status != int64(contract.NotSent) {
			busyNS += row.ReceivedNS - row.SentNS
		}
	}
	return float64(busyNS) / 1e9
}

// tally adds up the rows of the measured phase.
func (b *Books) tally(isClosedLoop bool, done *contract.Done) {
	var verified, sent, received, looked int64
	firstSent, lastReceived := never, int64(0)
	done.Errors = map[string]int64{}
	for row := range b.samples {
		status := contract.Status(row.Status)
		if status == contract.NotSent {
			done.NotSent++
			continue
		}
		done.Requests++
		firstSent, lastReceived = min(firstSent, row.SentNS), max(lastReceived, row.ReceivedNS)
		if status == contract.OK {
			verified++
			sent += row.BytesSent
			received += row.BytesReceived
		} else {
			done.Errors[status.String()]++
		}
	}
	var pausedNS, enteringNS int64
	for _, worker := range b.workers {
		pausedNS += worker.pausedNS
		if b.reuses { // the pause after the last reply, too: it holds what that took to enter
			enteringNS += worker.pausedNS + worker.pauseNS - worker.droppedNS
		} else {
			enteringNS += worker.enteringNS
		}
		done.VerifiedByBytes += worker.alike
		looked += worker.looked
	}
	if !b.later {
		looked = 0
	}
	span, paused, entering := 0.0, 0.0, float64(enteringNS)/1e9
	if done.Requests > 0 {
		span = float64(lastReceived-firstSent) / 1e9
	}
	if isClosedLoop {
		paused = float64(pausedNS/int64(len(b.workers))) / 1e9
	}
	done.Verified, done.VerifiedInFlight, done.BodyBytesSent, done.BodyBytesReceived = &verified, &looked, &sent, &received
	done.MeasuredS, done.PausedS, done.EnteringS = &span, &paused, &entering
	done.ErrorExamples = b.examples
}

// end closes the connections, when it was looked whether they hold replies that nobody asked for, and are still set as they
// should be.
func end(plan *Plan, books *Books, done *contract.Done) error {
	meter, options := plan.Opener.Meter, link.OptionsOf(plan.Trial.Knobs)
	if other := meter.Differing(options); other > 0 && books.reuses {
		return &contract.CannotTry{Kind: "host", Message: fmt.Sprintf(
			"%d connections were opened anew while measuring, and are not set as was asked for", other)}
	}
	tell(plan, done)
	if options.Window != 0 {
		if offers, isOffered, isTold := meter.Windows(); isTold {
			done.Settings["TCP windows, at the end"] = fmt.Sprintf("%d B for replies, %d B for requests", offers, isOffered)
		}
	}
	return unasked(plan, books, done)
}

// tell says which congestion control connections had, and what opening them took.
func tell(plan *Plan, done *contract.Done) {
	meter := plan.Opener.Meter
	congestion := link.CongestionOf(meter.Open())
	if congestion == "" && !meter.IsBlind() {
		congestion = link.CongestionOfNew()
	}
	if congestion != "" {
		done.Settings["congestion control"] = congestion
	}
	done.Opening = plan.Opener.Opening()
}

// unasked closes the connections; an error where one held a reply that nobody asked for.
func unasked(plan *Plan, books *Books, done *contract.Done) error {
	found, looks := 0, 0
	var unnumbered []Unnumbered
	for _, worker := range books.workers {
		for _, lane := range worker.lanes {
			if conn, looksItself := lane.conn.(Unnumbered); looksItself {
				unnumbered = append(unnumbered, conn)
			}
		}
	}
	if len(unnumbered) > 0 {
		sleep(graceS(*done.MeasuredS, done.Requests, plan.Trial.Load.Concurrency))
	}
	for _, conn := range unnumbered {
		looks++
		if conn.HasUnasked() {
			found++
		}
	}
	for _, worker := range books.workers {
		for place := range worker.lanes {
			worker.drop(place)
		}
	}
	if found > 0 {
		return contract.Fail(contract.WrongReply,
			"%d of %d connections held replies that nobody asked for: latencies may be of earlier requests", found, looks)
	}
	return nil
}
