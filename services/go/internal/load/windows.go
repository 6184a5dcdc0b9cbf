package load

import (
	"orch/internal/contract"
	"orch/internal/operation"
	"orch/internal/probe"
)

// sums are over the windows of a measured phase: the only one, or that of each turn.
type sums struct {
	beginNS                       *int64
	spanNS, pausedNS, enteringNS  int64 // of all workers together, but for the span
	alike, looked, connectionsNew int64
	cpuS                          float64
}

// window is one stretch of the measured phase.
type window struct {
	phase *Phase
	endNS int64 // the last reply, or the end of a window without a number of requests where that is later
	cpuS  float64
}

// RefusalOfTurns says why a trial cannot take turns; nil where it can, or is not to.
func RefusalOfTurns(trial *contract.Trial) error {
	load := trial.Load
	switch {
	case trial.TurnWarmUp == nil:
		return nil
	case !trial.Hold:
		return contract.NoTrial("turn_warm_up: turns need hold")
	case operation.IsStream(trial.Operation):
		return contract.NoTrial("turn_warm_up: the stream %s takes no turns", trial.Operation)
	case load.RatePerS != nil || load.ThinkS > 0:
		return contract.NoTrial("turn_warm_up: turns need a closed loop without think time")
	}
	return nil
}

// turn makes one turn, and prints its line. Requests are numbered from `next` on. It gives the number of those in its warm-up.
func (s *sums) turn(plan *Plan, books *Books, number int64, next *int64) (int64, error) {
	trial := plan.Trial
	most := *trial.TurnWarmUp * trial.Load.Concurrency
	if err := books.record.Reserve(rowsOfSample(trial) * (most + measuredSamples(trial.Load))); err != nil {
		return 0, &contract.CannotTry{Kind: "host", Message: err.Error()}
	}
	before := probe.ReadDisturbance() // before the warm-up: a look into files leaves caches cold
	warming := first(most, probe.Now())
	warming.First = *next
	books.begin(warming)
	if err := work(books, warming); err != nil {
		return 0, err
	}
	*next += warming.Taken()
	window, err := s.window(plan, books, func(beginNS int64) *Phase { return measured(trial.Load, nil, nil, beginNS, *next) })
	if err != nil {
		return 0, err
	}
	disturbance := probe.ReadDisturbance().Since(before)
	requests := window.phase.Taken()
	*next += requests
	plan.Print(contract.Turn{
		Number: number, Requests: requests, BeginNS: window.phase.BeginNS, EndNS: window.endNS, CPUS: window.cpuS,
		WaitedS: disturbance.WaitedS, StolenS: disturbance.StolenS, Type: "turn",
	})
	return warming.Taken(), nil
}

// window makes the requests of a phase that begins when nothing is left to be read before it.
func (s *sums) window(plan *Plan, books *Books, begin func(beginNS int64) *Phase) (window, error) {
	meter := plan.Opener.Meter
	plan.Opener.KeepTimes(true)
	meter.Begin()
	openedBefore := books.connections.Load()
	cpuBefore := probe.CPUSeconds()
	phase := begin(probe.Now())
	books.begin(phase)
	err := work(books, phase)
	cpuS := probe.CPUSeconds() - cpuBefore
	meter.End()
	plan.Opener.KeepTimes(books.reuses)
	firstSent, lastReceived := books.span()
	s.spanNS += lastReceived - firstSent
	s.cpuS += cpuS
	s.connectionsNew += books.connections.Load() - openedBefore
	if s.beginNS == nil {
		s.beginNS = &phase.BeginNS
	}
	for _, worker := range books.workers {
		s.pausedNS += worker.pausedNS
		if books.reuses { // the pause after the last reply, too: it holds what that took to enter
			s.enteringNS += worker.pausedNS + worker.pauseNS - worker.droppedNS
		} else {
			s.enteringNS += worker.enteringNS
		}
		s.alike += worker.alike
		s.looked += worker.looked
	}
	endNS := max(lastReceived, phase.BeginNS)
	if phase.most == never {
		endNS = max(endNS, phase.mostNS)
	}
	return window{phase: phase, endNS: endNS, cpuS: cpuS}, err
}

// span gives the first send and the last reply of the phase's rows, 0 where there are none.
func (b *Books) span() (firstSentNS, lastReceivedNS int64) {
	for place := b.firstRow; place < b.record.Rows(); place++ {
		row := b.record.At(place)
		if firstSentNS == 0 {
			firstSentNS = row.SentNS
		}
		firstSentNS, lastReceivedNS = min(firstSentNS, row.SentNS), max(lastReceivedNS, row.ReceivedNS)
	}
	return firstSentNS, lastReceivedNS
}
