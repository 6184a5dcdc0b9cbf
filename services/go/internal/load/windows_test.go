package load

import (
	"errors"
	"testing"

	"orch/internal/contract"
	"orch/internal/operation"
	"orch/internal/record"
)

func inTurns(concurrency, warmUp int64) func(*contract.Trial) {
	return func(trial *contract.Trial) {
		trial.Hold, trial.TurnWarmUp = true, &warmUp
		trial.Load = contract.Load{Concurrency: concurrency, DurationS: fraction(0.005)}
	}
}

func TestRowsOfTurnsLieInTheirWindows(t *testing.T) {
	for _, concurrency := range []int64{1, 3} {
		done, rows, turns, err := makeTurns(t, rightly, 3, inTurns(concurrency, 2))
		if err != nil || len(turns) != 3 {
			t.Fatalf("%d turns, %v", len(turns), err)
		}
		warm, next, requests, spanNS := 3, 3, int64(0), int64(0)
		for number, turn := range turns {
			warm += int(2 * concurrency)
			next += int(2 * concurrency)
			measured := rows[next : next+int(turn.Requests)]
			next += len(measured)
			requests += turn.Requests
			firstNS, lastNS := turn.EndNS, int64(0)
			for _, row := range measured {
				if row.Phase != Measured || row.Status != 0 || row.SentNS < turn.BeginNS || row.ReceivedNS > turn.EndNS {
					t.Fatalf("%+v in %+v", row, turn)
				}
				firstNS, lastNS = min(firstNS, row.SentNS), max(lastNS, row.ReceivedNS)
			}
			spanNS += max(0, lastNS-firstNS)
			if turn.Number != int64(number) || turn.EndNS-turn.BeginNS < 5_000_000 || turn.CPUS <= 0 {
				t.Fatalf("%+v", turn)
			}
		}
		for place, row := range rows {
			if row.Sequence != int64(place+1) {
				t.Fatalf("row %d is %+v", place, row)
			}
		}
		if next != len(rows) || done.WarmupRequests != int64(warm) || done.Requests != requests || *done.Verified != requests {
			t.Fatalf("%d rows, %+v", len(rows), done)
		}
		if *done.MeasuredS != float64(spanNS)/1e9 || *done.BeginNS != turns[0].BeginNS {
			t.Fatalf("%v s for %d ns", *done.MeasuredS, spanNS)
		}
	}
}

func TestErrorsOfATurnsWarmUpDoNotCount(t *testing.T) {
	calls := int64(0)
	broken := func(request *operation.Request, reply *operation.Reply) *contract.Failure {
		if calls++; calls == 4 { // behind the three of the trial's warm-up
			return contract.Fail(contract.Protocol, "out of order")
		}
		return rightly(request, reply)
	}
	done, _, _, err := makeTurns(t, broken, 2, inTurns(1, 1))
	if err != nil || len(done.Errors) != 0 || len(done.ErrorExamples) != 0 {
		t.Fatalf("%v, %v", done.Errors, err)
	}
}

func TestFailuresInARowAreCountedOverTurns(t *testing.T) {
	calls := 0
	broken := func(request *operation.Request, reply *operation.Reply) *contract.Failure {
		if calls++; calls <= 3 {
			return rightly(request, reply)
		}
		return contract.Fail(contract.Protocol, "out of order")
	}
	_, rows, turns, err := makeTurns(t, broken, 100, func(trial *contract.Trial) {
		inTurns(1, 20)(trial)
		trial.Load.DurationS = fraction(0)
	})
	var failure *contract.Failure
	if !errors.As(err, &failure) || len(rows) != 3+50 || len(turns) != 2 {
		t.Fatalf("%v after %d turns, %d rows", err, len(turns), len(rows))
	}
}

func TestNoTurnIsATrialWithoutRequests(t *testing.T) {
	done, rows, _, err := makeTurns(t, rightly, 0, inTurns(1, 2))
	if err != nil || done.Requests != 0 || *done.MeasuredS != 0 || done.BeginNS != nil || len(rows) != 3 {
		t.Fatalf("%+v, %v", done, err)
	}
}

func TestWhatTakesNoTurnsIsRefused(t *testing.T) {
	for _, change := range []func(*contract.Trial){
		func(trial *contract.Trial) { trial.Hold = false },
		func(trial *contract.Trial) { trial.Operation = "events" },
		func(trial *contract.Trial) { trial.Load.RatePerS = fraction(5) },
		func(trial *contract.Trial) { trial.Load.ThinkS = 1 },
	} {
		trial := &contract.Trial{Operation: "add"}
		inTurns(1, 0)(trial)
		if RefusalOfTurns(trial) != nil {
			t.Fatal("turns are refused")
		}
		if change(trial); RefusalOfTurns(trial) == nil {
			t.Errorf("%+v is not refused", trial)
		}
	}
}

func TestATurnOfTasksHasTheirParts(t *testing.T) {
	_, rows, turns, err := makeTurns(t, rightly, 2, func(trial *contract.Trial) {
		inTurns(2, 1)(trial)
		trial.Calls = 3
	})
	if err != nil {
		t.Fatal(err)
	}
	tasks := 0
	for _, row := range rows {
		if row.Kind == record.Task && row.Phase == Measured {
			tasks++
		}
	}
	if int64(tasks) != turns[0].Requests+turns[1].Requests || len(rows) != 4*(3+4+tasks) {
		t.Fatalf("%d tasks, %d rows, %+v", tasks, len(rows), turns)
	}
}
