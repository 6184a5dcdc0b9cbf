package operation

import (
	"testing"

	"orch/internal/contract"
)

func TestASubscriptionIsOfWholeNanosecondsAndOneEventAtLeast(t *testing.T) {
	for _, c := range []struct{ perSecond, seconds, interval, count float64 }{
		{500, 10, 2_000_000, 5000}, {3, 0, 333_333_333, 1}, {1e9, 0.001, 1000, 1000},
	} {
		made, err := Subscription(contract.Payload{Kind: "events", Size: 5, PerSecond: c.perSecond}, 7, c.seconds)
		if err != nil || made.IntervalNS != int64(c.interval) || made.Count != int64(c.count) {
			t.Errorf("%v: %+v, %v", c, made, err)
		}
	}
	for _, payload := range []contract.Payload{{Kind: "events"}, {Kind: "none", PerSecond: 1}} {
		if _, err := Subscription(payload, 7, 1); err == nil {
			t.Errorf("%+v is a stream's", payload)
		}
	}
	slow := Request{Count: 5, IntervalNS: 10}
	if slow.LastsNS(0) != 40 || slow.LastsNS(20) != 100 {
		t.Error("a slow reader is not given its time")
	}
}

func TestAnEventIsComparedWithTheSchedule(t *testing.T) {
	schedule, err := ScheduleOf(&Request{IntervalNS: 1000, Count: 3, Size: 8, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	right := Event{Sequence: 2, SentNS: 1, Data: schedule.Text(2)}
	if mistake := schedule.Mistake(&right); mistake != "" {
		t.Error(mistake)
	}
	for _, wrong := range []Event{
		{Sequence: 0, SentNS: 1, Data: schedule.Text(2)}, {Sequence: 4, SentNS: 1, Data: schedule.Text(4)},
		{Sequence: 2, SentNS: -1, Data: schedule.Text(2)}, {Sequence: 2, SentNS: 1, Data: schedule.Text(3)},
	} {
		if schedule.Mistake(&wrong) == "" {
			t.Errorf("%+v is right", wrong)
		}
	}
	for _, asked := range []Request{
		{IntervalNS: 999, Count: 1}, {IntervalNS: 1000}, {IntervalNS: 1000, Count: 1, Size: MostEventText + 1},
		{IntervalNS: 1000, Count: 1, Size: -1}, {IntervalNS: 1000, Count: 1, Seed: -1},
	} {
		if _, err := ScheduleOf(&asked); err == nil {
			t.Errorf("%+v can be met", asked)
		}
	}
}
