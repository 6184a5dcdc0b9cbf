package web

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// transport is one of net/http, or QUIC's.
type transport interface {
	http.RoundTripper
	CloseIdleConnections()
}

// share is a transport with one connection, and how many hold it.
type share struct {
	transport transport
	number    int64
	holders   int

	mutex   sync.Mutex
	sockets []io.Closer
	isOver  bool
}

var errOver = errors.New("the connection is not wanted any more")

// opened notes a socket of the transport. An error where it comes too late.
func (s *share) opened(socket io.Closer) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.isOver {
		socket.Close()
		return errOver
	}
	s.sockets = append(s.sockets, socket)
	return nil
}

// isSecond tells whether the transport opened another socket behind its first.
func (s *share) isSecond() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.sockets) > 1
}

// end closes the sockets. The transport closes idle ones itself, and HTTP/2's only when their last stream is cleared away.
func (s *share) end(isOver bool) {
	s.transport.CloseIdleConnections()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, socket := range s.sockets {
		socket.Close()
	}
	s.sockets, s.isOver = nil, isOver
}

// pool hands out at most so many connections, the least held one next; without `most` each is one of its own. A transport is
// used again for another connection where that `isKept`.
type pool struct {
	most   int
	isKept bool
	open   func(*share) transport

	mutex  sync.Mutex
	shares []*share
	free   []*share
	count  int64
}

func (p *pool) take() *share {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.most == 0 {
		if last := len(p.free) - 1; last >= 0 {
			taken := p.free[last]
			p.free = p.free[:last]
			return taken
		}
		return p.make(-1)
	}
	if len(p.shares) < p.most {
		p.shares = append(p.shares, p.make(p.count))
		p.count++
	}
	least := p.shares[0]
	for _, each := range p.shares {
		if each.holders < least.holders {
			least = each
		}
	}
	least.holders++
	return least
}

func (p *pool) make(number int64) *share {
	made := &share{number: number}
	made.transport = p.open(made)
	return made
}

func (p *pool) give(of *share) {
	if of.number < 0 {
		of.end(!p.isKept)
		if p.isKept {
			p.mutex.Lock()
			defer p.mutex.Unlock()
			p.free = append(p.free, of)
		}
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if of.holders--; of.holders > 0 {
		return
	}
	of.end(true)
	for place, each := range p.shares {
		if each == of {
			p.shares = append(p.shares[:place], p.shares[place+1:]...)
			return
		}
	}
}
