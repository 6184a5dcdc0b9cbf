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
	// Turn waits until the next turn may begin; false when there are no more. It is of a trial in turns.
	Turn func() bool
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

func rowsOfSample(trial *contract.Trial) int64 {
	if trial.Calls > 1 {
		return 1 + trial.Calls
	}
	return 1
}

// expectedRows is for how many rows a record makes room beforehand.
func expectedRows(trial *contract.Trial) int64 {
	warm := max(trial.Warmup.Requests, int64(trial.Warmup.AtLeastS*rowsPerS))
	return rowsOfSample(trial) * (warm + measuredSamples(trial.Load))
}

// measuredSamples is about how many samples there will be in a window.
func measuredSamples(load contract.Load) int64 {
	if load.DurationS == nil {
		return *load.Requests
	}
	rate := float64(rowsPerS)
	if load.RatePerS != nil {
		rate = *load.RatePerS
	}
	byTime := int64(*load.DurationS * rate * 1.1)
	if load.Requests != nil {
		byTime = min(byTime, *load.Requests)
	}
	return byTime
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
	plan.Opener.KeepTimes(trial.Reuses())
	taken, err := warm(plan, books)
	if err != nil {
		return err
	}
	runtime.GC() // what the warm-up left must not be collected within a sample
	plan.Warm(taken)
	uncounted, err := measure(plan, books, due, rests, taken, done)
	if err != nil {
		return err
	}
	if err := end(plan, books, done); err != nil {
		return err
	}
	done.WarmupRequests, done.Rows = taken+uncounted, file.Rows()
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
		examples:  map[string]string{},
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
	room := probe.LeastRoom
	if plan.Trial.TurnWarmUp == nil { // else other requesters wait beside it, with theirs
		room = probe.RoomForReplies()
	}
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
			made[number].replies.room = room / load.Concurrency
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

// measure makes the measured phase. It gives the number of requests in the warm-ups of turns.
func measure(
	plan *Plan, books *Books, due []int64, rests *generator.Rests, warmed int64, done *contract.Done,
) (int64, error) {
	trial, meter := plan.Trial, plan.Opener.Meter
	isTurn := trial.TurnWarmUp != nil && plan.Turn()
	var memory probe.PeakMemory
	done.HostBefore = probe.HostCounters()
	memory.Begin()
	var total sums
	var whole window
	var err error
	next, uncounted := warmed+1, int64(0)
	if trial.TurnWarmUp == nil {
		whole, err = total.window(plan, books, func(beginNS int64) *Phase { return measured(trial.Load, due, rests, beginNS, next) })
	}
	for number := int64(0); isTurn && err == nil; number++ {
		var before int64
		if before, err = total.turn(plan, books, number, &next); err == nil {
			uncounted += before
			isTurn = plan.Turn()
		}
	}
	bytes, since := memory.Read()
	done.HostAfter = probe.HostCounters()
	if err == nil && due != nil {
		err = enterNotSent(books, whole.phase)
	}
	if hopeless := books.settle(); err == nil {
		err = hopeless
	}
	if err != nil {
		return 0, err
	}
	done.MemoryBytes, done.MemorySince, done.Wire, done.MinRTTUS = &bytes, &since, meter.Wire(), meter.MinRTTUS()
	books.tally(&total, due == nil, done)
	if done.NotSent > 0 {
		reason := "requester-behind"
		available := *done.MeasuredS * float64(trial.Load.Concurrency)
		if books.busyS() >= allBusy*available && total.cpuS <= saturated**done.MeasuredS {
			reason = "connections-busy"
		}
		done.NotSentReason = &reason
	}
	return uncounted, nil
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

// samples gives the rows of what was measured, without those of parts.
func (b *Books) samples(yield func(record.Row) bool) {
	for place := range b.record.Rows() {
		if row := b.record.At(place); row.Phase == Measured && row.Kind != record.Part && !yield(row) {
			return
		}
	}
}

func (b *Books) busyS() float64 {
	busyNS := int64(0)
	for row := range b.samples {
		if row.Status != int64(contract.NotSent) {
			busyNS += row.ReceivedNS - row.SentNS
		}
	}
	return float64(busyNS) / 1e9
}

// tally adds up the rows of the measured phase, and what its windows came to.
func (b *Books) tally(sums *sums, isClosedLoop bool, done *contract.Done) {
	var verified, sent, received int64
	done.Errors = map[string]int64{}
	for row := range b.samples {
		status := contract.Status(row.Status)
		if status == contract.NotSent {
			done.NotSent++
			continue
		}
		done.Requests++
		if status == contract.OK {
			verified++
			sent += row.BytesSent
			received += row.BytesReceived
		} else {
			done.Errors[status.String()]++
		}
	}
	looked := int64(0)
	if b.later {
		looked = sums.looked
	}
	span, paused, entering := float64(sums.spanNS)/1e9, 0.0, float64(sums.enteringNS)/1e9
	if isClosedLoop {
		paused = float64(sums.pausedNS/int64(len(b.workers))) / 1e9
	}
	if span > 0 {
		share := sums.cpuS / span
		done.CPUShare = &share
	}
	done.Verified, done.VerifiedInFlight, done.BodyBytesSent, done.BodyBytesReceived = &verified, &looked, &sent, &received
	done.MeasuredS, done.PausedS, done.EnteringS, done.CPUS = &span, &paused, &entering, &sums.cpuS
	done.BeginNS, done.ConnectionsOpened, done.VerifiedByBytes = sums.beginNS, &sums.connectionsNew, sums.alike
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
