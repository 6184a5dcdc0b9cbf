// Package serve has what every responder is given, whatever it answers.
package serve

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"orch/internal/contract"
	"orch/internal/link"
	"orch/internal/operation"
)

// Serving is what a responder answers with, and where.
type Serving struct {
	Identity string
	Knobs    map[string]string
	TLS      *contract.ServerTLS
	Schema   []byte // of the message that a JSON document travels as; nil without one
	Listener *link.Listener
	Held     map[operation.Kind]Holder // the stores that answer operations over rows

	answered atomic.Int64
	mutex    sync.Mutex
	peers    map[string]struct{}
	events   *contract.EventsSent
}

// Holder answers operations over rows.
type Holder interface {
	Answer(request *operation.Request, reply *operation.Reply) error
}

// Start makes ready what answers, and gives what accepts connections, to the end of the process. The listener stands by then.
type Start func(*Serving) (func() error, error)

// Peer is a connection; its first request makes it one that was met.
type Peer struct {
	serving *Serving
	address net.Addr
	isMet   atomic.Bool
}

// Peer gives the other end of a connection.
func (s *Serving) Peer(address net.Addr) *Peer { return &Peer{serving: s, address: address} }

// Count counts a request.
func (p *Peer) Count() {
	p.serving.answered.Add(1)
	if p.isMet.Load() || p.isMet.Swap(true) {
		return
	}
	p.serving.mutex.Lock()
	defer p.serving.mutex.Unlock()
	if p.serving.peers == nil {
		p.serving.peers = map[string]struct{}{}
	}
	p.serving.peers[p.address.String()] = struct{}{}
}

// Answer counts a request, and fills its reply. An error says why it cannot be met.
func (p *Peer) Answer(request *operation.Request, reply *operation.Reply) error {
	p.Count()
	if request.Kind.IsOfRows() {
		return p.serving.answerHeld(request, reply)
	}
	return operation.Answer(request, reply, p.serving.Identity)
}

func (s *Serving) answerHeld(request *operation.Request, reply *operation.Reply) error {
	held, has := s.Held[request.Kind]
	if !has {
		return fmt.Errorf("%s was not among the operations of the serve line, so it holds nothing", request.Kind)
	}
	return held.Answer(request, reply)
}

// Counts are how many requests were answered, and for how many peers.
func (s *Serving) Counts() (answered int64, peers int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.answered.Load(), len(s.peers)
}

// Events are those of the subscriptions that are over; nil without any.
func (s *Serving) Events() *contract.EventsSent {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.events == nil {
		return nil
	}
	copied := *s.events
	return &copied
}

func (s *Serving) add(events contract.EventsSent) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.events == nil {
		s.events = &contract.EventsSent{}
	}
	s.events.Offered += events.Offered
	s.events.Sent += events.Sent
	s.events.WorstLateNS = max(s.events.WorstLateNS, events.WorstLateNS)
}
