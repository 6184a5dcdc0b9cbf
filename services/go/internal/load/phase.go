package load

import (
	"math"
	"sync/atomic"

	"orch/internal/contract"
	"orch/internal/generator"
)

// Phases of a trial.
const (
	WarmUp int64 = iota
	Measured
)

const never = int64(math.MaxInt64)

// Phase says which requests there are to make: it numbers them, and knows when it is over.
type Phase struct {
	Number  int64
	BeginNS int64
	First   int64 // sequence number

	requests int64 // goes on to so many, and
	leastNS  int64 // to this moment, whichever is later
	mostNS   int64 // but not beyond this one,
	most     int64 // nor beyond so many

	due   []int64          // of an open loop, from the beginning
	rests *generator.Rests // of a closed loop with think time
	taken atomic.Int64
	ended atomic.Bool
}

func nanoseconds(seconds float64) int64 { return int64(seconds * 1e9) }

// warmUp is a phase until so many requests and so many seconds are both reached.
func warmUp(warmup contract.Warmup, beginNS int64) *Phase {
	return &Phase{
		Number: WarmUp, BeginNS: beginNS, First: 1, requests: warmup.Requests, most: never,
		leastNS: beginNS + nanoseconds(warmup.AtLeastS), mostNS: beginNS + nanoseconds(warmup.AtMostS),
	}
}

// first is a warm-up of so many requests.
func first(requests, beginNS int64) *Phase {
	return &Phase{Number: WarmUp, BeginNS: beginNS, First: 1, requests: requests, most: requests, leastNS: beginNS, mostNS: never}
}

// measured is the phase that counts.
func measured(load contract.Load, due []int64, rests *generator.Rests, beginNS, first int64) *Phase {
	made := &Phase{
		Number: Measured, BeginNS: beginNS, First: first, requests: never, most: never, leastNS: beginNS, mostNS: never,
		due: due, rests: rests,
	}
	if load.DurationS != nil {
		made.mostNS = beginNS + nanoseconds(*load.DurationS)
	}
	if due != nil {
		made.most = int64(len(due))
	} else if load.Requests != nil {
		made.most = *load.Requests
	}
	return made
}

// Take gives the next sequence number, 0 when the phase is over.
func (p *Phase) Take(nowNS int64) int64 {
	for {
		taken := p.taken.Load()
		if p.isOver(taken, nowNS) {
			return 0
		}
		if p.taken.CompareAndSwap(taken, taken+1) {
			return p.First + taken
		}
	}
}

func (p *Phase) isOver(taken, nowNS int64) bool {
	return nowNS >= p.mostNS || taken >= p.most || (taken >= p.requests && nowNS >= p.leastNS) || p.ended.Load()
}

// IsOver tells whether there is nothing more to take.
func (p *Phase) IsOver(nowNS int64) bool { return p.isOver(p.taken.Load(), nowNS) }

// End lets nobody take any more.
func (p *Phase) End() { p.ended.Store(true) }

// Taken is how many requests were taken.
func (p *Phase) Taken() int64 { return p.taken.Load() }
