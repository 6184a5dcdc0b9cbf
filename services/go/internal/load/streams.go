package load

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"orch/internal/contract"
	"orch/internal/operation"
	"orch/internal/probe"
	"orch/internal/record"
)

// Subscriber is a Conn that is sent events.
type Subscriber interface {
	// Subscribe asks for events, and gives the bytes of the request's message. The context ends the subscription.
	Subscribe(ctx context.Context, request *operation.Request) (int64, *contract.Failure)
	// Next waits for the next event, and reads every field of it; false at the end of the stream.
	Next(event *operation.Event) (bool, *contract.Failure)
}

const (
	mostTimes       = 2 // as many events as were asked for: who sends more does not stop
	bytesOfAnEvent  = 100
	mostEventsAsked = 2_000_000 // of all clients of a requester
)

// RefusalOfStream says why a trial cannot be one of a stream; nil where it can.
func RefusalOfStream(trial *contract.Trial) error {
	load := trial.Load
	if load.Requests != nil && *load.Requests == 0 { // the check alone
		if _, err := operation.Subscription(trial.Payload, trial.Seed, 0); err != nil {
			return contract.NoTrial("%v", err)
		}
		return nil
	}
	switch {
	case load.DurationS == nil:
		return contract.NoTrial("load: give duration_s, which is how long each subscription lasts")
	case load.Requests != nil || load.RatePerS != nil:
		return contract.NoTrial("load: requests and rate_per_s say nothing of a stream, whose operation has a rate of its own")
	case load.ThinkS > 0:
		return contract.NoTrial("load: a stream has no think time: its clients wait for events, and ask once")
	case load.Concurrency < 1:
		return contract.NoTrial("load: at least one client, not %d", load.Concurrency)
	case !trial.Reuses():
		return contract.NoTrial("connection: a subscription has one connection for as long as it lasts (reuse)")
	case trial.Calls > 1 || len(trial.Mix) > 0:
		return contract.NoTrial("a stream is neither a task nor a part of a mix")
	}
	warm, measured, err := subscriptions(trial)
	if err != nil {
		return contract.NoTrial("%v", err)
	}
	if asked := load.Concurrency * (warm.Count + measured.Count); asked > mostEventsAsked {
		return contract.NoTrial("%d events in all: there must be at most %d in a trial", asked, mostEventsAsked)
	}
	return nil
}

// subscriptions are what each client asks for in the warm-up and in the measured phase.
func subscriptions(trial *contract.Trial) (warm, measured *operation.Request, err error) {
	warmS := min(trial.Warmup.AtLeastS, trial.Warmup.AtMostS)
	if warm, err = operation.Subscription(trial.Payload, trial.Seed, warmS); err == nil {
		measured, err = operation.Subscription(trial.Payload, trial.Seed, *trial.Load.DurationS)
	}
	return warm, measured, err
}

// AskEvent subscribes to one event on a connection of its own, and gives the bytes of both messages.
func AskEvent(trial *contract.Trial, dial Dialer) (contract.Bodies, *contract.Failure) {
	var bodies contract.Bodies
	request, err := operation.Subscription(trial.Payload, trial.Seed, 0)
	if err != nil {
		return bodies, contract.Fail(contract.Protocol, "%v", err)
	}
	schedule, err := operation.ScheduleOf(request)
	if err != nil {
		return bodies, contract.Fail(contract.Protocol, "%v", err)
	}
	conn, failure := dial()
	if failure != nil {
		return bodies, failure
	}
	defer conn.Close()
	reading, isSubscriber := conn.(Subscriber)
	if !isSubscriber {
		return bodies, contract.Fail(contract.Protocol, "this client reads no streams")
	}
	ctx, cancel := context.WithTimeout(context.Background(), seconds(trial.TimeoutS))
	defer cancel()
	if bodies.Sent, failure = reading.Subscribe(ctx, request); failure != nil {
		return bodies, failure
	}
	var event, second operation.Event
	isThere, failure := reading.Next(&event)
	if failure != nil {
		return bodies, failure
	}
	if !isThere {
		return bodies, contract.Fail(contract.WrongReply, "the stream ended without an event")
	}
	if mistake := schedule.Mistake(&event); mistake != "" {
		return bodies, contract.Fail(contract.WrongReply, "events: %s", mistake)
	}
	bodies.Received = event.Size
	if isThere, failure = reading.Next(&second); failure == nil && isThere {
		failure = contract.Fail(contract.WrongReply, "a second event came, and one was asked for")
	}
	return bodies, failure
}

func seconds(number float64) time.Duration { return time.Duration(number * float64(time.Second)) }

// receipt is an event that was kept, and when it came.
type receipt struct {
	event      operation.Event
	receivedNS int64
}

// subscription is one of one client.
type subscription struct {
	sequence, connection, sentNS, endedNS int64
	bytesSent, bytesReceived              int64
	failure                               *contract.Failure
	kept                                  []receipt
	right                                 [][2]int64 // of right events, when each was received and its number
	came                                  atomic.Int64
	looked, wrong                         int64
	example                               string // of a wrong event
	lastNS                                int64
}

// streaming is a client with its connection.
type streaming struct {
	conn   Conn
	number int64
}

// streams are the clients of a trial.
type streams struct {
	plan        *Plan
	record      *record.Record
	clients     []streaming
	room        int64 // bytes, of one client's events
	connections int64
	phase       int64
	beginNS     int64
	schedule    *operation.Schedule
}

// MeasureStreams makes both phases on the same connections, and fills the line that says what came of it.
func MeasureStreams(plan *Plan, done *contract.Done) error {
	trial := plan.Trial
	warm, measured, err := subscriptions(trial)
	if err != nil {
		return contract.NoTrial("%v", err)
	}
	file, err := record.Create(trial.Record, trial.Load.Concurrency*(warm.Count+measured.Count+2))
	if err != nil {
		return &contract.CannotTry{Kind: "host", Message: err.Error()}
	}
	defer func() { _ = file.Close() }()
	made := &streams{
		plan: plan, record: file, clients: make([]streaming, trial.Load.Concurrency),
		room: probe.RoomForReplies() / trial.Load.Concurrency,
	}
	defer made.close()
	readingNS := int64(0)
	if rate, err := strconv.ParseInt(trial.Knobs["read_rate"], 10, 64); err == nil {
		readingNS = second / rate
	}
	anchor := probe.Anchor()
	done.Anchor = &anchor
	plan.Print(contract.Start{Anchor: anchor, Type: "start"})
	plan.Opener.KeepTimes(true)
	warmed, err := made.play(WarmUp, warm, 1, 0)
	if err != nil {
		return err
	}
	plan.Warm(int64(len(warmed)))
	if err := made.open(); err != nil { // those that broke in the warm-up
		return err
	}
	runtime.GC()
	if err := made.measure(measured, int64(len(warmed)), readingNS, done); err != nil {
		return err
	}
	tell(plan, done)
	done.WarmupRequests, done.Rows = int64(len(warmed)), file.Rows()
	anchorEnd := probe.Anchor()
	done.AnchorEnd = &anchorEnd
	return nil
}

func (s *streams) measure(request *operation.Request, warmed, readingNS int64, done *contract.Done) error {
	meter := s.plan.Opener.Meter
	var memory probe.PeakMemory
	done.HostBefore = probe.HostCounters()
	meter.Begin()
	memory.Begin()
	openedBefore, cpuBefore := s.connections, probe.CPUSeconds()
	made, err := s.play(Measured, request, warmed+1, readingNS)
	cpu := probe.CPUSeconds() - cpuBefore
	bytes, since := memory.Read()
	meter.End()
	done.HostAfter = probe.HostCounters()
	if err != nil {
		return err
	}
	opened := s.connections - openedBefore
	done.ConnectionsOpened, done.CPUS, done.MemoryBytes, done.MemorySince = &opened, &cpu, &bytes, &since
	done.BeginNS, done.Wire, done.MinRTTUS = &s.beginNS, meter.Wire(), meter.MinRTTUS()
	tally(made, request.Count, done)
	if *done.MeasuredS > 0 {
		share := cpu / *done.MeasuredS
		done.CPUShare = &share
	}
	return nil
}

// play makes a subscription of each client, all begun at once, reads them to their ends, and enters what came. An error
// where all broke before they were over, or somebody sends without end.
func (s *streams) play(phase int64, request *operation.Request, first, readingNS int64) ([]*subscription, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	schedule, err := operation.ScheduleOf(request)
	if err != nil {
		return nil, contract.NoTrial("%v", err)
	}
	made := make([]*subscription, len(s.clients))
	for place := range made {
		made[place] = &subscription{sequence: first + int64(place), bytesSent: -1}
	}
	s.phase, s.beginNS, s.schedule = phase, probe.Now(), schedule
	over := make(chan struct{})
	var telling, reading sync.WaitGroup
	telling.Go(func() { s.report(made, over) })
	failed := make([]error, len(made))
	for place, each := range made {
		reading.Go(func() { failed[place] = s.read(&s.clients[place], each, request, readingNS) })
	}
	reading.Wait()
	close(over)
	telling.Wait()
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	if err := s.settle(made); err != nil {
		return nil, err
	}
	return made, broken(made)
}

// broken is the error that ends a trial whose streams all ended before they were over; nil otherwise.
func broken(made []*subscription) error {
	for _, each := range made {
		if each.failure == nil || each.failure.Status == contract.Timeout {
			return nil
		}
	}
	first := made[0].failure
	return contract.Fail(first.Status, "every stream ended before it was over: %v", first)
}

// report prints a line every second, whether or not anything comes.
func (s *streams) report(made []*subscription, over <-chan struct{}) {
	ticking := time.NewTicker(time.Second)
	defer ticking.Stop()
	for {
		select {
		case <-over:
			return
		case <-ticking.C:
		}
		came := int64(0)
		for _, each := range made {
			came += each.came.Load()
		}
		s.plan.Print(ProgressOf(s.phase, came, probe.Now()-s.beginNS))
	}
}

// read is one client's: it subscribes, and keeps each event with the stamp of its receipt, to the end of the stream or the
// time-out after its last event was due.
func (s *streams) read(client *streaming, into *subscription, request *operation.Request, readingNS int64) error {
	timer, err := probe.NewTimer(0)
	if err != nil {
		return &contract.CannotTry{Kind: "host", Message: err.Error()}
	}
	defer timer.Close()
	into.kept = make([]receipt, 0, min(request.Count, s.room/(bytesOfAnEvent+request.Size)))
	into.connection = client.number
	limit := time.Duration(request.LastsNS(readingNS)) + seconds(s.plan.Trial.TimeoutS)
	conn := client.conn.(Subscriber)
	into.sentNS = probe.Now()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	room, firstNS := s.room, int64(0)
	var event operation.Event
	sent, failure := conn.Subscribe(ctx, request)
	if failure == nil {
		into.bytesSent = sent
	}
	for failure == nil {
		var isThere bool
		if isThere, failure = conn.Next(&event); failure != nil || !isThere {
			break
		}
		nowNS := probe.Now()
		came := into.came.Add(1)
		if came > mostTimes*request.Count+1 {
			return contract.Fail(contract.Protocol, "%d events came, %d were asked for", came, request.Count)
		}
		if room -= bytesOfAnEvent + int64(len(event.Data)); room >= 0 {
			into.kept = append(into.kept, receipt{event, nowNS})
		} else {
			into.looked++
			if err := s.enter(into, &event, nowNS); err != nil {
				return err
			}
		}
		if readingNS > 0 {
			firstNS = cmp.Or(firstNS, nowNS)
			timer.Until(firstNS + came*readingNS)
		}
	}
	into.endedNS = probe.Now()
	if failure != nil {
		if failure.Status == contract.Timeout {
			missing := max(0, request.Count-into.came.Load())
			failure = contract.Fail(contract.Timeout, "%d events had not come %v after the request", missing, limit)
		}
		into.failure = failure
		client.drop()
	}
	return nil
}

// settle verifies what was kept of a phase that is over, and stores the rows.
func (s *streams) settle(made []*subscription) error {
	for _, each := range made {
		kept := each.kept
		each.kept = nil
		for place := range kept {
			if err := s.enter(each, &kept[place].event, kept[place].receivedNS); err != nil {
				return err
			}
		}
		row := record.Row{
			Sequence: each.sequence, Phase: s.phase, Connection: each.connection, IntendedNS: each.sentNS, SentNS: each.sentNS,
			ReceivedNS: each.endedNS, ServiceNS: -1, BytesSent: each.bytesSent, BytesReceived: each.bytesReceived,
			Kind: record.Request,
		}
		if each.failure != nil {
			row.Status = int64(each.failure.Status)
		}
		if err := s.store(&row); err != nil {
			return err
		}
	}
	return nil
}

// enter verifies an event and stores its row. One whose number is none of those asked for has none.
func (s *streams) enter(of *subscription, event *operation.Event, receivedNS int64) error {
	status := contract.OK
	if mistake := s.schedule.Mistake(event); mistake != "" {
		status = contract.WrongReply
		of.wrong++
		of.example = cmp.Or(of.example, contract.Quoted(mistake))
	} else {
		of.right = append(of.right, [2]int64{receivedNS, event.Sequence})
	}
	of.bytesReceived += event.Size
	of.lastNS = max(of.lastNS, receivedNS)
	if event.Sequence < 1 || event.Sequence > s.schedule.Count {
		return nil
	}
	row := record.Row{
		Sequence: event.Sequence, Phase: s.phase, Connection: of.connection, IntendedNS: of.sentNS, SentNS: of.sentNS,
		ReceivedNS: receivedNS, ServiceNS: -1, BytesReceived: event.Size, Status: int64(status), Kind: record.Event,
		Parent: of.sequence, SenderClock: record.ResponderMonotonic,
	}
	if event.SentNS >= 0 && event.SentNS < 1<<62 {
		row.SenderNS = event.SentNS
	}
	return s.store(&row)
}

func (s *streams) store(row *record.Row) error {
	place, err := s.record.Take(1)
	if err != nil {
		return &contract.CannotTry{Kind: "host", Message: err.Error()}
	}
	s.record.Store(place, row)
	return nil
}

// tally counts what the subscriptions of the measured phase came to.
func tally(made []*subscription, count int64, done *contract.Done) {
	events := &contract.EventsReceived{}
	var verified, looked, sent, received int64
	firstNS, lastNS := never, int64(0)
	done.Errors, done.ErrorExamples = map[string]int64{}, map[string]string{}
	for _, each := range made {
		once, again, behind := countOf(each.right)
		events.Offered += count
		events.Delivered += once
		events.Duplicated += again
		events.Reordered += behind
		events.Wrong += each.wrong
		looked += each.looked
		sent += max(0, each.bytesSent)
		received += each.bytesReceived
		firstNS, lastNS = min(firstNS, each.sentNS), max(lastNS, each.lastNS)
		if each.example != "" {
			note(done.ErrorExamples, contract.WrongReply.String(), each.example)
		}
		if failure := each.failure; failure != nil {
			done.Errors[failure.Status.String()]++
			note(done.ErrorExamples, failure.Status.String(), cmp.Or(failure.Detail, failure.Status.String()))
		}
	}
	events.Dropped = events.Offered - events.Delivered
	verified = events.Delivered + events.Duplicated
	span := max(0, float64(lastNS-firstNS)) / 1e9
	done.Requests, done.Events, done.Verified, done.VerifiedInFlight = int64(len(made)), events, &verified, &looked
	done.BodyBytesSent, done.BodyBytesReceived, done.MeasuredS = &sent, &received, &span
}

func note(examples map[string]string, name, words string) {
	if _, has := examples[name]; has {
		return
	}
	if characters := []rune(words); len(characters) > mostExample {
		words = string(characters[:mostExample])
	}
	examples[name] = words
}

// countOf says how many numbers came once, again, and first behind a higher one, in the order of receipt.
func countOf(right [][2]int64) (once, again, behind int64) {
	slices.SortStableFunc(right, func(one, other [2]int64) int { return cmp.Compare(one[0], other[0]) })
	seen, highest := make(map[int64]bool, len(right)), int64(0)
	for _, each := range right {
		number := each[1]
		if seen[number] {
			again++
			continue
		}
		once++
		if number < highest {
			behind++
		}
		seen[number] = true
		highest = max(highest, number)
	}
	return once, again, behind
}

// open opens the connection of every client that has none.
func (s *streams) open() error {
	for place := range s.clients {
		if s.clients[place].conn != nil {
			continue
		}
		conn, failure := s.plan.Dials[0]()
		if failure != nil {
			return contract.Fail(failure.Status, "opening %d connections: %v", len(s.clients), failure)
		}
		s.clients[place] = streaming{conn, s.connections}
		s.connections++
	}
	return nil
}

func (s *streaming) drop() {
	if s.conn != nil {
		s.conn.Close()
	}
	*s = streaming{nil, noConnection}
}

func (s *streams) close() {
	for place := range s.clients {
		s.clients[place].drop()
	}
}
