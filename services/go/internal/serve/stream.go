package serve

import (
	"context"

	"orch/internal/contract"
	"orch/internal/operation"
	"orch/internal/probe"
)

// Subscribe counts a subscription, and hands its events over: each when it is due, on a schedule that nothing moves, and the
// next when the one before was taken. `begin` is called when it can be met; an error from it or from `send` ends the stream.
func (p *Peer) Subscribe(
	ctx context.Context, request *operation.Request, begin func() error, send func(*operation.Event) error,
) error {
	p.Count()
	schedule, err := operation.ScheduleOf(request)
	if err != nil {
		return err
	}
	timer, err := probe.NewTimer(0)
	if err != nil {
		return err
	}
	defer timer.Close()
	beginNS := probe.Now()
	totals := contract.EventsSent{}
	made := int64(0)
	defer func() { // what was due by now was offered, sent or not
		due := (probe.Now()-beginNS)/schedule.IntervalNS + 1
		totals.Offered = max(made, min(schedule.Count, due))
		p.serving.add(totals)
	}()
	if err := begin(); err != nil {
		return err
	}
	var event operation.Event
	for number := int64(1); number <= schedule.Count; number++ {
		dueNS := beginNS + (number-1)*schedule.IntervalNS
		if err := until(ctx, timer, dueNS); err != nil {
			return err
		}
		event.Sequence, event.Data = number, schedule.Text(number)
		made = number
		event.SentNS = probe.Now()
		totals.WorstLateNS = max(totals.WorstLateNS, event.SentNS-dueNS)
		if err := send(&event); err != nil {
			return err
		}
		totals.Sent++
	}
	return nil
}

const lookNS = int64(1_000_000_000) // a stream that waits looks so often whether its client is still there

func until(ctx context.Context, timer *probe.Timer, dueNS int64) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		now := probe.Now()
		if now >= dueNS {
			return nil
		}
		timer.Until(min(dueNS, now+lookNS))
	}
}
