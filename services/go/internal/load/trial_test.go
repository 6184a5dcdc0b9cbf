package load

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
	"unsafe"

	"orch/internal/contract"
	"orch/internal/generator"
	"orch/internal/link"
	"orch/internal/operation"
	"orch/internal/record"
)

// answering is a client that nobody answers: it does so itself, as it is told.
type answering func(request *operation.Request, reply *operation.Reply) *contract.Failure

func (a answering) Call(request *operation.Request, reply *operation.Reply) *contract.Failure {
	reply.Sent, reply.Received = 1, 1
	return a(request, reply)
}

func (a answering) Close() {}

func rightly(request *operation.Request, reply *operation.Reply) *contract.Failure {
	if err := operation.Answer(request, reply, ""); err != nil {
		return contract.Fail(contract.Protocol, "%v", err)
	}
	if request.Kind == operation.EchoData {
		reply.Body = request.Data
	}
	return nil
}

// makeTrial makes a trial without a network: the `done` line, the rows of the measured phase, and what ended it.
func makeTrial(t *testing.T, client answering, change func(*contract.Trial)) (*contract.Done, []record.Row, error) {
	t.Helper()
	done, rows, _, err := makeTurns(t, client, 0, change)
	return done, slices.DeleteFunc(rows, func(row record.Row) bool { return row.Phase != Measured }), err
}

// makeTurns makes a trial of so many turns, and gives their lines and all rows, too.
func makeTurns(
	t *testing.T, client answering, turns int, change func(*contract.Trial),
) (*contract.Done, []record.Row, []contract.Turn, error) {
	t.Helper()
	trial := &contract.Trial{Operation: "add", Record: filepath.Join(t.TempDir(), "record"), Target: &contract.Target{Host: "127.0.0.1"}}
	trial.SetDefaults()
	trial.Warmup = contract.Warmup{Requests: 3, AtMostS: 60}
	change(trial)
	each, err := operation.Requests(trial.Operation, trial.Payload, trial.Seed)
	if err != nil {
		t.Fatal(err)
	}
	opener, err := link.NewOpener(trial, nil)
	if err != nil {
		t.Fatal(err)
	}
	done := &contract.Done{Settings: map[string]string{}}
	var lines []contract.Turn
	err = Measure(&Plan{
		Trial: trial, Makes: []operation.Make{each}, Opener: opener, Warm: func(int64) {},
		Turn: func() bool { return len(lines) < turns },
		Print: func(line any) {
			if turn, isTurn := line.(contract.Turn); isTurn {
				lines = append(lines, turn)
			}
		},
		Dials: []Dialer{func() (Conn, *contract.Failure) { return client, nil }},
	}, done)
	return done, rowsOf(t, trial.Record), lines, err
}

func rowsOf(t *testing.T, path string) []record.Row {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var found []record.Row
	const size = int(unsafe.Sizeof(record.Row{}))
	for at := 512; at+size <= len(content); at += size {
		found = append(found, *(*record.Row)(unsafe.Pointer(&content[at])))
	}
	slices.SortFunc(found, func(one, other record.Row) int { return int(one.Sequence - other.Sequence) })
	return found
}

func number(value int64) *int64       { return &value }
func fraction(value float64) *float64 { return &value }

func TestEveryReplyThatWaitedIsVerified(t *testing.T) {
	done, rows, err := makeTrial(t, rightly, func(trial *contract.Trial) {
		trial.Load = contract.Load{Concurrency: 4, Requests: number(5000)}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 5000 || *done.Verified != 5000 || done.Requests != 5000 || done.WarmupRequests != 3 {
		t.Fatalf("%d rows, %+v", len(rows), done)
	}
	for place, row := range rows {
		if row.Status != 0 || row.Sequence != int64(place+4) || row.IntendedNS != row.SentNS || row.ReceivedNS < row.SentNS {
			t.Fatalf("row %d is %+v", place, row)
		}
	}
}

func TestAWrongReplyThatWaitedIsFound(t *testing.T) {
	wrong := func(request *operation.Request, reply *operation.Reply) *contract.Failure {
		failure := rightly(request, reply)
		if request.A == int64(generator.AddPairs(0)[700].A) {
			reply.Sum++
		}
		return failure
	}
	done, rows, err := makeTrial(t, wrong, func(trial *contract.Trial) {
		trial.Load = contract.Load{Concurrency: 3, Requests: number(1000)}
	})
	if err != nil {
		t.Fatal(err)
	}
	if done.Errors["wrong-reply"] != 1 || done.ErrorExamples["wrong-reply"] == "" || *done.Verified != 999 {
		t.Fatalf("%+v", done)
	}
	if status := rows[700-4].Status; status != int64(contract.WrongReply) {
		t.Fatalf("its row has status %d", status)
	}
}

func TestRepliesAreTakenByTheirBytes(t *testing.T) {
	done, _, err := makeTrial(t, rightly, func(trial *contract.Trial) {
		trial.Operation, trial.Payload = "echo", contract.Payload{Kind: "bytes", Size: 100}
		trial.Load = contract.Load{Concurrency: 2, Requests: number(6400)}
	})
	if err != nil {
		t.Fatal(err)
	}
	if by := done.VerifiedByBytes; by < 6200 || by >= 6400 || *done.Verified != 6400 {
		t.Fatalf("%d by their bytes, %d verified", by, *done.Verified)
	}
}

func TestOtherBytesAreFoundAtOnce(t *testing.T) {
	calls := 0
	other := func(request *operation.Request, reply *operation.Reply) *contract.Failure {
		if calls++; calls > 300 {
			reply.Data, reply.Body = []byte("other"), []byte("other")
			return nil
		}
		return rightly(request, reply)
	}
	_, rows, err := makeTrial(t, other, func(trial *contract.Trial) {
		trial.Operation, trial.Payload = "echo", contract.Payload{Kind: "bytes", Size: 100}
		trial.Load = contract.Load{Concurrency: 1, Requests: number(100_000)}
	})
	var failure *contract.Failure
	if !errors.As(err, &failure) || failure.Status != contract.WrongReply {
		t.Fatalf("it ended with %v", err)
	}
	if len(rows) != 300-3+50 {
		t.Fatalf("%d rows", len(rows))
	}
}

func TestAnOpenLoopKeepsItsScheduleAndLosesNothing(t *testing.T) {
	stalled := false
	stall := func(request *operation.Request, reply *operation.Reply) *contract.Failure {
		if !stalled {
			stalled = true
			time.Sleep(30 * time.Millisecond) // of the warm-up
		}
		if request.A == int64(generator.AddPairs(0)[20].A) {
			time.Sleep(30 * time.Millisecond) // some 30 requests fall due meanwhile
		}
		return rightly(request, reply)
	}
	done, rows, err := makeTrial(t, stall, func(trial *contract.Trial) {
		trial.Load = contract.Load{Concurrency: 1, Requests: number(100), RatePerS: fraction(1000), Arrivals: "uniform"}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 100 || done.NotSent != 0 {
		t.Fatalf("%d rows, %d not sent", len(rows), done.NotSent)
	}
	for place, due := range generator.Arrivals(0, 1000, false, 100, -1) {
		row := rows[place]
		if row.IntendedNS != *done.BeginNS+due {
			t.Fatalf("request %d was due at %d", place, row.IntendedNS-*done.BeginNS)
		}
		if row.SentNS < row.IntendedNS {
			t.Fatalf("request %d was sent before it was due", place)
		}
	}
}

func TestWhatWasNotSentIsEntered(t *testing.T) {
	slow := func(request *operation.Request, reply *operation.Reply) *contract.Failure {
		time.Sleep(20 * time.Millisecond)
		return rightly(request, reply)
	}
	done, rows, err := makeTrial(t, slow, func(trial *contract.Trial) {
		trial.Load = contract.Load{Concurrency: 2, DurationS: fraction(0.1), RatePerS: fraction(500), Arrivals: "uniform"}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 50 || done.NotSent == 0 || done.Requests+done.NotSent != 50 || done.NotSentReason == nil {
		t.Fatalf("%d rows, %+v", len(rows), done)
	}
	for _, row := range rows {
		isNotSent := row.Status == int64(contract.NotSent)
		if isNotSent != (row.Connection == -1) || (isNotSent && row.SentNS != row.ReceivedNS) {
			t.Fatalf("%+v", row)
		}
	}
}

func TestFiftyFailuresInARowEndATrial(t *testing.T) {
	calls := 0
	broken := func(request *operation.Request, reply *operation.Reply) *contract.Failure {
		if calls++; calls > 10 {
			return contract.Fail(contract.Protocol, "out of order")
		}
		return rightly(request, reply)
	}
	_, rows, err := makeTrial(t, broken, func(trial *contract.Trial) {
		trial.Load = contract.Load{Concurrency: 1, Requests: number(5000)}
	})
	if contract.KindOf(err) != "protocol" || len(rows) != 7+50 {
		t.Fatalf("%v after %d rows", err, len(rows))
	}
}

func TestATaskIsARowAndItsCallsFollowIt(t *testing.T) {
	for _, concurrency := range []int64{1, 3} {
		done, rows, err := makeTrial(t, rightly, func(trial *contract.Trial) {
			trial.Calls = 3
			trial.Load = contract.Load{Concurrency: concurrency, Requests: number(20)}
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != 80 || done.Rows != 4*23 || *done.Verified != 20 {
			t.Fatalf("%d rows, %+v", len(rows), done)
		}
		for _, row := range rows {
			if row.Status != 0 || (row.Kind == record.Task) != (row.Parent == 0) {
				t.Fatalf("%+v", row)
			}
		}
	}
}

func TestNobodyRestsWhenThePhaseIsOver(t *testing.T) {
	done, rows, err := makeTrial(t, rightly, func(trial *contract.Trial) {
		trial.Load = contract.Load{Concurrency: 2, Requests: number(1), ThinkS: 600, Thinking: "constant"}
	})
	if err != nil || len(rows) != 1 || done.Requests != 1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
}

func TestALoadWithoutEndIsRefused(t *testing.T) {
	for _, load := range []contract.Load{
		{Concurrency: 1},
		{Concurrency: 0, Requests: number(1)},
		{Concurrency: 1, Requests: number(1), RatePerS: fraction(0)},
		{Concurrency: 1, Requests: number(1), RatePerS: fraction(5), ThinkS: 1},
	} {
		if Refusal(load) == nil {
			t.Errorf("%+v is not refused", load)
		}
	}
}
