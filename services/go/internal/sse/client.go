package sse

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"orch/internal/contract"
	"orch/internal/link"
	"orch/internal/load"
	"orch/internal/operation"
	"orch/internal/web"
)

const (
	mostShown = 1024
	mostEvent = operation.MostBody
)

// Dialer opens connections of net/http, with one subscription on each at a time.
func Dialer(opener *link.Opener, knobs map[string]string) load.Dialer {
	client := web.NewClient(opener, nil, knobs, 0)
	return func() (load.Conn, *contract.Failure) {
		return &conn{Shared: client.Share().Unhurried(), base: client.Base(), timeout: opener.Timeout}, nil
	}
}

type conn struct {
	*web.Shared
	base    string
	timeout time.Duration
	reply   *http.Response
	reader  *bufio.Reader
}

var fieldOf = []byte("data: ")

// Call asks who answers: a body of a single event.
func (c *conn) Call(request *operation.Request, reply *operation.Reply) *contract.Failure {
	if request.Kind != operation.Identity {
		return contract.Fail(contract.Protocol, "sse carries no call %s", request.Kind)
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
	defer cancel()
	if failure := c.get(ctx, c.base+"/identity"); failure != nil {
		return failure
	}
	line, isThere, failure := c.next()
	if failure != nil {
		return failure
	}
	var found identity
	if !isThere || json.Unmarshal(line, &found) != nil || found.Identity == nil {
		return contract.Fail(contract.Undecodable, "not a body of one event with an identity")
	}
	reply.Identity, reply.Received = *found.Identity, int64(len(line))
	if _, isThere, failure = c.next(); failure == nil && isThere {
		failure = contract.Fail(contract.Undecodable, "not a body of one event")
	}
	return failure
}

// Subscribe asks for events. The context ends the subscription.
func (c *conn) Subscribe(ctx context.Context, request *operation.Request) (int64, *contract.Failure) {
	query := queryOf(request)
	return int64(len(query)), c.get(ctx, c.base+"/events?"+query)
}

// Next reads every field of the next event; false at the stream's end.
func (c *conn) Next(into *operation.Event) (bool, *contract.Failure) {
	line, isThere, failure := c.next()
	if failure != nil || !isThere {
		return false, failure
	}
	var found event
	if err := json.Unmarshal(line, &found); err != nil {
		return false, contract.Fail(contract.Undecodable, "%v in %.200q", err, line)
	}
	if found.Error != nil {
		return false, contract.Fail(contract.Protocol, "%s", *found.Error)
	}
	if found.Sequence == nil || found.SentNS == nil || found.Data == nil {
		return false, contract.Fail(contract.Undecodable, "a field is missing in %.200q", line)
	}
	into.Sequence, into.SentNS, into.Data = *found.Sequence, *found.SentNS, *found.Data
	into.Size = int64(len(fieldOf) + len(line) + len("\n\n"))
	return true, nil
}

func (c *conn) get(ctx context.Context, url string) *contract.Failure {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return contract.Fail(contract.Protocol, "%v", err)
	}
	request.Header.Set("Accept", mediaType)
	if c.reply, err = c.Do(request); err != nil {
		return web.FailureOf(err)
	}
	if c.reply.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(c.reply.Body, mostShown)) // of a body that may have no end
		c.reply.Body.Close()
		return contract.Fail(contract.Protocol, "status %d: %s", c.reply.StatusCode, said)
	}
	if c.reader == nil {
		c.reader = bufio.NewReader(c.reply.Body)
	} else {
		c.reader.Reset(c.reply.Body)
	}
	return nil
}

var errLong = errors.New("an event of more bytes than any")

// next gives what an event's line says; false at the body's end.
func (c *conn) next() ([]byte, bool, *contract.Failure) {
	line, err := c.line()
	if errors.Is(err, io.EOF) && len(line) == 0 {
		c.reply.Body.Close()
		return nil, false, nil
	}
	if err == nil {
		var empty []byte
		if empty, err = c.line(); err == nil && len(empty) > 1 {
			return nil, false, contract.Fail(contract.Undecodable, "not an event: %.200q", empty)
		}
	}
	switch said, isEvent := bytes.CutPrefix(line, fieldOf); {
	case errors.Is(err, io.EOF), errors.Is(err, errLong):
		return nil, false, contract.Fail(contract.Undecodable, "the body ends within an event, or has one without end")
	case err != nil:
		return nil, false, web.FailureOf(err)
	case !isEvent:
		return nil, false, contract.Fail(contract.Undecodable, "not an event: %.200q", line)
	default:
		return said[:len(said)-1], true, nil
	}
}

// line reads to the next line feed.
func (c *conn) line() ([]byte, error) {
	part, err := c.reader.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return bytes.Clone(part), err
	}
	whole := bytes.Clone(part)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = c.reader.ReadSlice('\n')
		if whole = append(whole, part...); len(whole) > mostEvent {
			return nil, errLong
		}
	}
	return whole, err
}

// Close ends the connection, whatever is under way on it.
func (c *conn) Close() {
	if c.reply != nil {
		c.reply.Body.Close()
	}
	c.Shared.Close()
}
