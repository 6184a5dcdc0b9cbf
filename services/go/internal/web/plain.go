package web

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"time"

	"orch/internal/contract"
	"orch/internal/link"
	"orch/internal/load"
	"orch/internal/operation"
	"orch/internal/probe"
)

const (
	headRoom = 64 << 10 // bytes of a line
	slack    = 16       // a time-out may be longer by a sixteenth, so that few calls set the socket's deadline
)

var errMalformed = errors.New("malformed HTTP")

// plainConn is a connection of HTTP/1.1 that the goroutine of its request writes and reads itself. A transport of net/http has
// two goroutines more, and a request is handed over twice: at small replies that is a fifth of the time.
type plainConn struct {
	client *Client
	socket net.Conn
	reader *bufio.Reader
	buffer []byte
	isOver bool
	dueNS  int64 // the socket's deadline
}

func (c *Client) dialPlain() (load.Conn, *contract.Failure) {
	socket, err := c.opener.Dial(context.Background(), alpn(c.knobs))
	if err != nil {
		return nil, link.FailureOf(err)
	}
	return &plainConn{client: c, socket: socket, reader: bufio.NewReaderSize(socket, headRoom)}, nil
}

// Call sends a request, whose bytes are made once, and reads the reply.
func (c *plainConn) Call(request *operation.Request, reply *operation.Reply) *contract.Failure {
	call := request.Call
	wire, err := call.Wire(c.client.opener.Address)
	if err == nil {
		err = c.hurry()
	}
	if err == nil {
		_, err = c.socket.Write(wire)
	}
	var came head
	for err == nil {
		if came, err = c.head(); came.status < 100 || came.status >= 200 { // not one that only announces another
			break
		}
	}
	if err == nil {
		err = c.body(call.Method, &came)
	}
	if err != nil {
		c.isOver = true
		return plainFailure(err)
	}
	return taken(call, came.status, c.buffer, reply)
}

// hurry lets the socket wait for a time-out from now on, or a little longer.
func (c *plainConn) hurry() error {
	now, timeout := probe.Now(), c.client.opener.Timeout
	if now+int64(timeout) <= c.dueNS {
		return nil
	}
	timeout += timeout / slack
	c.dueNS = now + int64(timeout)
	return c.socket.SetDeadline(time.Now().Add(timeout))
}

// head is what is looked at of a reply's.
type head struct {
	status    int
	length    int64 // of the body; -1 where it is not said
	isChunked bool
}

func (c *plainConn) head() (head, error) {
	made := head{length: -1}
	line, err := c.line()
	if err != nil {
		return made, err
	}
	if len(line) < len("HTTP/1.1 200") || !bytes.HasPrefix(line, []byte("HTTP/1.")) || line[8] != ' ' {
		return made, fmt.Errorf("%w: a reply that begins with %.40q", errMalformed, line)
	}
	c.isOver = line[7] == '0'
	if made.status, err = strconv.Atoi(string(line[9:12])); err != nil || made.status < 100 {
		return made, fmt.Errorf("%w: the status line %.40q", errMalformed, line)
	}
	for {
		if line, err = c.line(); err != nil || len(line) == 0 {
			return made, err
		}
		if err = c.field(line, &made); err != nil {
			return made, err
		}
	}
}

// line reads one without its end. It is good until the next one.
func (c *plainConn) line() ([]byte, error) {
	line, err := c.reader.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, fmt.Errorf("%w: a line without end", errMalformed)
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

func (c *plainConn) field(line []byte, into *head) error {
	name, value, isField := bytes.Cut(line, []byte(":"))
	if !isField {
		return fmt.Errorf("%w: the field %.40q", errMalformed, line)
	}
	value = bytes.TrimSpace(value)
	switch len(name) {
	case len("connection"):
		if bytes.EqualFold(name, []byte("connection")) {
			if string(value) != "keep-alive" { // as most write it
				value = bytes.ToLower(value)
			}
			c.isOver = bytes.Contains(value, []byte("close")) || c.isOver && !bytes.Contains(value, []byte("keep-alive"))
		}
	case len("content-length"):
		if bytes.EqualFold(name, []byte("content-length")) {
			length, err := strconv.ParseInt(string(value), 10, 64)
			if err != nil || length < 0 || into.length >= 0 && length != into.length {
				return fmt.Errorf("%w: a body of %.40q bytes", errMalformed, value)
			}
			into.length = length
		}
	case len("transfer-encoding"):
		if bytes.EqualFold(name, []byte("transfer-encoding")) {
			if into.isChunked = bytes.EqualFold(value, []byte("chunked")); !into.isChunked {
				return fmt.Errorf("%w: the transfer coding %.40q", errMalformed, value)
			}
		}
	}
	return nil
}

// body reads what follows a head, to its end.
func (c *plainConn) body(method string, came *head) (err error) {
	switch {
	case method == http.MethodHead || came.status == http.StatusNoContent || came.status == http.StatusNotModified:
		c.buffer = c.buffer[:0]
	case came.isChunked:
		var network net.Error
		c.buffer, err = readAll(httputil.NewChunkedReader(c.reader), -1, c.buffer)
		if err != nil && !errors.As(err, &network) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%w: %w", errMalformed, err)
		}
		for line := []byte{0}; err == nil && len(line) > 0; { // the trailer
			line, err = c.line()
		}
	default:
		c.isOver = c.isOver || came.length < 0
		c.buffer, err = readAll(c.reader, came.length, c.buffer)
	}
	return err
}

// plainFailure says an error of a call in the record's words.
func plainFailure(err error) *contract.Failure {
	var refusal *Refusal
	if errors.Is(err, errMalformed) || errors.As(err, &refusal) {
		return contract.Fail(contract.Undecodable, "%v", err)
	}
	if errors.Is(err, io.EOF) {
		return contract.Fail(contract.Closed, "the connection was closed before a whole reply came")
	}
	return link.FailureOf(err)
}

// HasUnasked tells whether more came than was asked for.
func (c *plainConn) HasUnasked() bool {
	c.dueNS = 0
	_ = c.socket.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := c.reader.Peek(1)
	return err == nil
}

// IsOver tells whether a reply announced the connection's end.
func (c *plainConn) IsOver() bool { return c.isOver }

// Close ends the connection.
func (c *plainConn) Close() { c.socket.Close() }
