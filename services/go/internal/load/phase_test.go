package load

import (
	"sync"
	"sync/atomic"
	"testing"

	"orch/internal/contract"
	"orch/internal/generator"
)

func TestAWarmUpGoesOnUntilBothAreReached(t *testing.T) {
	phase := warmUp(contract.Warmup{Requests: 2, AtLeastS: 1e-6, AtMostS: 1e-5}, 100)
	for place, now := range []int64{100, 200, 300, 1099} {
		if got := phase.Take(now); got != int64(place+1) {
			t.Fatalf("request %d at %d: %d", place+1, now, got)
		}
	}
	if phase.Take(1100) != 0 {
		t.Fatal("two requests and the time are reached, and it goes on")
	}
}

func TestAWarmUpEndsAtTheLatest(t *testing.T) {
	phase := warmUp(contract.Warmup{Requests: 100, AtMostS: 1e-6}, 100)
	if phase.Take(1099) != 1 || phase.Take(1100) != 0 {
		t.Fatal("it ends at another time")
	}
}

func TestNoNumberIsGivenTwiceAndNoneBeyondTheMost(t *testing.T) {
	most := int64(10_000)
	phase := measured(contract.Load{Requests: &most}, nil, nil, 0, 5)
	var sum, count atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for sequence := phase.Take(1); sequence != 0; sequence = phase.Take(1) {
				sum.Add(sequence)
				count.Add(1)
			}
		})
	}
	group.Wait()
	if count.Load() != most || sum.Load() != most*(most+9)/2 {
		t.Fatalf("%d numbers, their sum is %d", count.Load(), sum.Load())
	}
}

func TestAnOpenLoopCatchesUp(t *testing.T) {
	duration := 1.0
	load := contract.Load{DurationS: &duration}
	due := generator.Arrivals(1, 10, false, -1, 1_000_000_000)
	phase := measured(load, due, nil, 0, 1)
	for place := range due {
		if phase.Take(900_000_000) != int64(place+1) {
			t.Fatal("what is overdue is not left out")
		}
	}
	if phase.Take(900_000_000) != 0 {
		t.Fatal("more than was due")
	}
}
