// Package requester is the program that asks: protos/process.md, Requester.
package requester

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"orch/internal/contract"
	"orch/internal/ends"
	"orch/internal/link"
	"orch/internal/load"
	"orch/internal/offers"
	"orch/internal/operation"
	"orch/internal/probe"
)

const longestName = 200 // characters of an identity

// Main makes the trial that stands on stdin. It does not return.
func Main() {
	contract.UseNoProxy()
	lines, err := contract.NewLines()
	if err != nil {
		contract.Complain("request: %v", err)
		os.Exit(1)
	}
	stdin := bufio.NewReader(os.Stdin)
	var trial contract.Trial
	if err = contract.Read(stdin, "trial", "requester", &trial); err != nil {
		err = contract.NoTrial("not a trial on stdin: %v", err)
	} else {
		made := &requester{trial: &trial, lines: lines, word: make(chan int64, 1), turns: make(chan bool, 1024)}
		go made.hear(stdin)
		err = made.run()
	}
	if err != nil {
		message := contract.Message(err)
		lines.Print(contract.Failed{Kind: contract.KindOf(err), Message: message, Type: "failed"})
		contract.Complain("request: %s", message)
		os.Exit(1)
	}
	os.Exit(0)
}

// requester makes one trial.
type requester struct {
	trial  *contract.Trial
	lines  *contract.Lines
	word   chan int64 // from which moment on it may measure, Unix nanoseconds; 0 at once
	turns  chan bool  // true for the line `turn`, false for `end`
	client *offers.End
	opener *link.Opener
	dial   load.Dialer
	makes  []operation.Make
	done   contract.Done
}

// hear reads the lines of stdin, and ends the program with it: whoever started it holds that open while they wait.
func (r *requester) hear(stdin *bufio.Reader) {
	for {
		text, err := stdin.ReadString('\n')
		if line := strings.TrimSpace(text); line != "" {
			r.take(line)
		}
		if err != nil {
			contract.Complain("request: stdin was closed before the work was done")
			os.Exit(1)
		}
	}
}

func (r *requester) take(line string) {
	if r.trial.TurnWarmUp != nil {
		if line == "turn" || line == "end" {
			r.turns <- line == "turn"
		} else {
			contract.Complain("request: unknown line on stdin: %.80q; known: turn, end", line)
		}
	} else if moment, isWord := mayMeasureFrom(line); isWord {
		select {
		case r.word <- moment:
		default: // the line came before
		}
	} else {
		contract.Complain("request: unknown line on stdin: %.80q; known: measure, measure UNIX_NS", line)
	}
}

// mayMeasureFrom reads the line `measure`, with or without a moment.
func mayMeasureFrom(line string) (int64, bool) {
	if line == "measure" {
		return 0, true
	}
	digits, isWord := strings.CutPrefix(line, "measure ")
	if !isWord || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	moment, err := strconv.ParseInt(digits, 10, 64)
	return moment, err == nil && moment <= 1<<62
}

func (r *requester) run() (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			contract.Complain("%s", debug.Stack())
			err = &contract.CannotTry{Kind: "fault", Message: fmt.Sprint(fault)}
		}
	}()
	if err := r.prepare(); err != nil {
		return err
	}
	if err := r.check(); err != nil {
		return err
	}
	if requests := r.trial.Load.Requests; requests == nil || *requests != 0 {
		plan := &load.Plan{
			Trial: r.trial, Makes: r.makes, Opener: r.opener, Warm: r.holdBack, Print: r.lines.Print,
			Turn: func() bool { return <-r.turns },
		}
		for range r.makes {
			plan.Dials = append(plan.Dials, r.dial)
		}
		measure := load.Measure
		if r.isStream() {
			plan.Dials, measure = []load.Dialer{r.dial}, load.MeasureStreams
		}
		if err := measure(plan, &r.done); err != nil {
			return err
		}
	}
	r.done.TLS = r.opener.Negotiated()
	r.lines.Print(&r.done)
	return nil
}

// prepare finds what the trial's names stand for; an error for what there is not.
func (r *requester) prepare() error {
	trial := r.trial
	protocol, err := offers.Find(trial.Protocol)
	if err != nil {
		return contract.NoTrial("%v", err)
	}
	if r.client, err = protocol.Client(trial.Client); err != nil {
		return contract.NoTrial("%v", err)
	}
	if !protocol.Carries(trial.Operation) {
		return contract.NoTrial("%s does not carry %.100q here", trial.Protocol, trial.Operation)
	}
	if reason := r.client.Refuses[trial.Operation]; reason != "" {
		return contract.NoTrial("%s cannot do %s: %s", r.client.Name, trial.Operation, reason)
	}
	if reason := protocol.Refusal(trial.Knobs, r.client, trial.Schema != nil, trial.TLS != nil); reason != "" {
		return contract.NoTrial("%s", reason)
	}
	if trial.Target == nil {
		return contract.NoTrial("it names no target, and there is nobody to ask without one")
	}
	if trial.Knobs["session"] == "resumed" && trial.Reuses() {
		return contract.NoTrial("session: resumed with kept connections, whose one handshake has nothing to resume")
	}
	if err := load.RefusalOfTurns(trial); err != nil {
		return err
	}
	refusal := load.Refusal(trial.Load)
	if r.isStream() {
		refusal = load.RefusalOfStream(trial)
	} else if trial.Knobs["read_rate"] != "" {
		refusal = contract.NoTrial("the knob read_rate: %s is of the events of a stream", trial.Knobs["read_rate"])
	}
	if refusal != nil {
		return refusal
	}
	if err := link.OptionsOf(trial.Knobs).Try(); err != nil {
		return &contract.CannotTry{Kind: "host", Message: err.Error()}
	}
	if !r.isStream() {
		if r.makes, err = makesOf(trial, protocol); err != nil {
			return contract.NoTrial("%v", err)
		}
	}
	if err := r.open(); err != nil {
		return contract.NoTrial("%v", err)
	}
	r.done = contract.Done{
		Errors: map[string]int64{}, ErrorExamples: map[string]string{}, ClockResolutionNS: probe.ClockResolutionNS(),
		Client: r.client.Name, Versions: r.client.Versions(), Settings: map[string]string{}, Contract: contract.Version,
		Type: "done",
	}
	maps.Copy(r.done.Settings, protocol.Settings)
	maps.Copy(r.done.Settings, r.client.Settings)
	return nil
}

func (r *requester) isStream() bool { return operation.IsStream(r.trial.Operation) }

// open reads what connections need, and finds the client.
func (r *requester) open() error {
	var authority []byte
	asking := &ends.Asking{Trial: r.trial}
	var err error
	if r.trial.TLS != nil {
		if authority, err = operation.ReadFile("tls", r.trial.TLS.Path, r.trial.TLS.SHA256); err != nil {
			return err
		}
	}
	if r.trial.Schema != nil {
		if asking.Schema, err = operation.ReadFile("schema", r.trial.Schema.Path, r.trial.Schema.SHA256); err != nil {
			return err
		}
	}
	if r.opener, err = link.NewOpener(r.trial, authority); err != nil {
		return err
	}
	asking.Opener = r.opener
	r.dial, err = ends.Client(r.trial.Protocol, r.trial.Client, asking)
	return err
}

// makesOf makes the requests of the operation, or of each one of a mix.
func makesOf(trial *contract.Trial, protocol *offers.Protocol) ([]operation.Make, error) {
	if len(trial.Mix) == 0 { // left out, or empty
		made, err := operation.Requests(trial.Operation, trial.Payload, trial.Seed)
		return []operation.Make{made}, err
	}
	if len(trial.Mix) < 2 {
		return nil, fmt.Errorf("mix: two operations or more")
	}
	if trial.Calls > 1 || trial.Schema != nil {
		return nil, fmt.Errorf("mix: each request is one call, without a schema of its own")
	}
	if first := trial.Mix[0]; first.Operation != trial.Operation || !isSamePayload(first.Payload, trial.Payload) {
		return nil, fmt.Errorf("mix: `operation` and `payload` are not those of its first")
	}
	var made []operation.Make
	for _, mixed := range trial.Mix {
		if !protocol.Carries(mixed.Operation) || operation.IsStream(mixed.Operation) {
			return nil, fmt.Errorf("mix: %s carries no call %.100q here", protocol.Name, mixed.Operation)
		}
		each, err := operation.Requests(mixed.Operation, mixed.Payload, trial.Seed)
		if err != nil {
			return nil, fmt.Errorf("mix: %w", err)
		}
		made = append(made, each)
	}
	return made, nil
}

func isSamePayload(one, other contract.Payload) bool {
	isSameFile := textOf(one.Path) == textOf(other.Path) && textOf(one.SHA256) == textOf(other.SHA256)
	one.Path, one.SHA256, other.Path, other.SHA256 = nil, nil, nil, nil
	return isSameFile && one == other
}

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// check asks who answers, and one request of each operation, each on a connection of its own.
func (r *requester) check() error {
	if !r.trial.Target.Anonymous {
		var reply operation.Reply
		if err := r.ask(&operation.Request{Kind: operation.Identity}, &reply); err != nil {
			return err
		}
		if err := r.judge(reply.Identity); err != nil {
			return err
		}
		r.done.Identity = &reply.Identity
	}
	if r.isStream() {
		bodies, failure := load.AskEvent(r.trial, r.dial)
		if failure != nil {
			return contract.Fail(failure.Status, "before measuring: %s", failure.Detail)
		}
		r.lines.Print(contract.Checked{
			BodyBytesSent: bodies.Sent, BodyBytesReceived: bodies.Received, Contract: contract.Version, Type: "checked",
		})
		return nil
	}
	bodies := make([]contract.Bodies, len(r.makes))
	for place, requestOf := range r.makes {
		var own operation.Request
		var reply operation.Reply
		request := requestOf(1, &own)
		if err := r.ask(request, &reply); err != nil {
			return err
		}
		if mistake := operation.Mistake(request, &reply); mistake != "" {
			return contract.Fail(contract.WrongReply, "before measuring: %s: %s", request.Kind, mistake)
		}
		bodies[place] = contract.Bodies{Sent: reply.Sent, Received: reply.Received}
	}
	if r.trial.Knobs["session"] == "resumed" && r.opener.Resumed() == 0 {
		return contract.Fail(contract.Refused, "tls: the second connection of the check resumed no session of the first")
	}
	checked := contract.Checked{
		BodyBytesSent: bodies[0].Sent, BodyBytesReceived: bodies[0].Received, Contract: contract.Version, Type: "checked",
	}
	if len(r.trial.Mix) > 0 {
		checked.Mix = bodies
	}
	r.lines.Print(checked)
	return nil
}

func (r *requester) ask(request *operation.Request, reply *operation.Reply) error {
	conn, failure := r.dial()
	if failure == nil {
		failure = conn.Call(request, reply)
		conn.Close()
	}
	if failure != nil {
		return contract.Fail(failure.Status, "before measuring: %s", failure.Detail)
	}
	return nil
}

// judge tells whether the one who answers is the right one.
func (r *requester) judge(met string) error {
	target := r.trial.Target
	where := r.opener.Address
	if target.Identity != nil && met != *target.Identity {
		return contract.Fail(contract.WrongReply, "another responder answers at %s: it says %.100q, not %.100q",
			where, met, *target.Identity)
	}
	if length := len([]rune(met)); length < 1 || length > longestName {
		return contract.Fail(contract.WrongReply,
			"what answers at %s does not say who it is: its identity has %d characters, not 1 to %d", where, length, longestName)
	}
	return nil
}

// holdBack waits between warm-up and measured phase, where the trial asks for that.
func (r *requester) holdBack(warmed int64) {
	atNS := int64(0)
	if r.trial.StartAtUnixNS != nil {
		atNS = *r.trial.StartAtUnixNS
	}
	if r.trial.Hold {
		r.lines.Print(contract.Warm{Requests: warmed, Type: "warm"})
		if r.trial.TurnWarmUp == nil {
			atNS = max(atNS, <-r.word)
		}
	}
	timer, err := probe.NewTimer(0)
	if err != nil {
		contract.Complain("request: %v", err)
		return
	}
	defer timer.Close()
	for leftNS := atNS - probe.WallNow(); leftNS > 0; leftNS = atNS - probe.WallNow() {
		timer.Until(probe.Now() + min(leftNS, int64(time.Second)))
	}
}
