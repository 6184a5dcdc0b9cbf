package web

import (
	"net/http"

	"orch/internal/contract"
)

// Shared is a connection, or a part of one that several requests in flight share.
type Shared struct {
	doer   http.Client
	client *Client
	shared *share
	isOver bool
}

// Share gives a connection; its socket is opened at the first request.
func (c *Client) Share() *Shared {
	taken := c.pool.take()
	return &Shared{client: c, shared: taken, doer: http.Client{
		Transport:     taken.transport,
		Timeout:       c.opener.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Unhurried has no time-out of its own: what the context of a request says holds.
func (s *Shared) Unhurried() *Shared {
	s.doer.Timeout = 0
	return s
}

// Base is how every URL begins.
func (c *Client) Base() string { return c.base.String() }

// Do sends a request. A reply over another version of HTTP than was asked for is an error.
func (s *Shared) Do(request *http.Request) (*http.Response, error) {
	came, err := s.doer.Do(request)
	if err != nil {
		return nil, err
	}
	s.isOver = s.isOver || came.Close
	if came.ProtoMajor != s.client.major {
		came.Body.Close()
		return nil, contract.Fail(contract.Protocol, "a reply over %s, which was not asked for", came.Proto)
	}
	return came, nil
}

// IsOver tells whether a reply announced the connection's end. Over HTTP/2 net/http leaves a connection after a GOAWAY by itself,
// and opens another.
func (s *Shared) IsOver() bool { return s.isOver || s.shared.number < 0 && s.shared.isSecond() }

// Number is that of a connection which several share; -1 of one of its own.
func (s *Shared) Number() int64 { return s.shared.number }

// Close ends the connection, with the last of those who share it.
func (s *Shared) Close() { s.client.pool.give(s.shared) }
