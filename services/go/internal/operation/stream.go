package operation

import (
	"errors"
	"fmt"
	"math"

	"orch/internal/contract"
	"orch/internal/generator"
)

const (
	shortestIntervalNS = 1_000
	longestIntervalNS  = 1_000_000_000_000_000_000
	mostEvents         = 1_000_000_000
	latestNS           = int64(1) << 62
	nsPerS             = 1_000_000_000
)

// MostEventText is the most characters of an event.
const MostEventText = 64 << 20

// IsStream tells whether an operation is a subscription to events.
func IsStream(name string) bool { return name == Events.String() }

// Event is one of a subscription. Size is how many bytes its message had.
type Event struct {
	Sequence, SentNS int64
	Data             string
	Size             int64
}

// Subscription asks for what is due in so many seconds. An error for a payload that no stream has.
func Subscription(payload contract.Payload, seed int64, seconds float64) (*Request, error) {
	if payload.Kind != "events" {
		return nil, fmt.Errorf("events carries no payload of kind %s", payload.Kind)
	}
	if payload.PerSecond <= 0 {
		return nil, errors.New("events: a rate above 0, not 0 a second")
	}
	interval := max(shortestIntervalNS, int64(math.RoundToEven(min(nsPerS/payload.PerSecond, longestIntervalNS))))
	count := max(1, int64(math.RoundToEven(seconds*nsPerS))/interval)
	return &Request{Kind: Events, IntervalNS: interval, Count: count, Size: payload.Size, Seed: seed}, nil
}

// LastsNS is when the last event of a subscription is due, or done with by who takes so long for each.
func (r *Request) LastsNS(readingNS int64) int64 {
	return max((r.Count-1)*r.IntervalNS, r.Count*readingNS)
}

// Schedule has the events that answer a subscription.
type Schedule struct {
	IntervalNS, Count int64
	texts             *generator.Events
}

// ScheduleOf gives the events of a subscription; an error where it cannot be met.
func ScheduleOf(request *Request) (*Schedule, error) {
	if request.IntervalNS < shortestIntervalNS || request.IntervalNS > longestIntervalNS || request.Count < 1 ||
		request.Count > mostEvents {
		return nil, fmt.Errorf("%d events every %d ns: there must be one to %d, %d to %d ns apart",
			request.Count, request.IntervalNS, mostEvents, shortestIntervalNS, longestIntervalNS)
	}
	if request.Size < 0 || request.Size > MostEventText {
		return nil, fmt.Errorf("events of %d characters: there must be at most %d", request.Size, MostEventText)
	}
	if request.Seed < 0 {
		return nil, fmt.Errorf("seed must be a whole number from 0 on, not %d", request.Seed)
	}
	return &Schedule{
		IntervalNS: request.IntervalNS, Count: request.Count, texts: generator.NewEvents(request.Seed, int(request.Size)),
	}, nil
}

// Text is what an event carries.
func (s *Schedule) Text(number int64) string { return s.texts.Text(number) }

// Mistake says why an event is none of these; "" where it is the one that it says it is.
func (s *Schedule) Mistake(event *Event) string {
	switch {
	case event.Sequence < 1 || event.Sequence > s.Count:
		return fmt.Sprintf("an event numbered %d, of %d asked for", event.Sequence, s.Count)
	case event.SentNS < 0 || event.SentNS > latestNS:
		return fmt.Sprintf("event %d has the stamp %d", event.Sequence, event.SentNS)
	case event.Data != s.Text(event.Sequence):
		return fmt.Sprintf("event %d carries %.60q", event.Sequence, event.Data)
	}
	return ""
}
