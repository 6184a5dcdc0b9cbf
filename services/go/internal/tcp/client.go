package tcp

import (
	"context"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"orch/internal/contract"
	"orch/internal/link"
	"orch/internal/load"
	"orch/internal/operation"
)

const moreThanAFrame = "more came than one frame: a reply that nobody asked for"

// Dialer opens connections of a client that writes a frame and waits for the next one.
func Dialer(opener *link.Opener) load.Dialer {
	return func() (load.Conn, *contract.Failure) {
		opened, err := opener.Dial(context.Background())
		if err != nil {
			return nil, link.FailureOf(err)
		}
		return &conn{socket: opened, timeout: opener.Timeout, in: make([]byte, bufferBytes)}, nil
	}
}

type conn struct {
	socket     net.Conn
	timeout    time.Duration
	in, out    []byte
	hasUnasked bool
}

// Call sends a frame, and reads the next one.
func (c *conn) Call(request *operation.Request, reply *operation.Reply) *contract.Failure {
	if err := c.socket.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return contract.Fail(contract.Closed, "%v", err)
	}
	code := uint8(request.Kind)
	out, rest, err := appendRequest(begin(c.out), request)
	if err != nil {
		return contract.Fail(contract.Undecodable, "the request cannot be encoded: %v", err)
	}
	reply.Sent = int64(len(out) - headerBytes + len(rest))
	c.out = out
	if err := send(c.socket, &c.out, code, rest); err != nil {
		return link.FailureOf(err)
	}
	came, body, failure := c.read()
	if failure != nil {
		return failure
	}
	reply.Body, reply.Received = body, int64(len(body))
	switch came {
	case codeError:
		return contract.Fail(contract.Protocol, "%s", body)
	case code:
	default:
		return contract.Fail(contract.Undecodable, "a reply of code %d to a request of code %d", came, code)
	}
	if err := readReply(request.Kind, body, reply); err != nil {
		return contract.Fail(contract.Undecodable, "%v", err)
	}
	return nil
}

// read waits for a frame: its code and its body, which is overwritten by the next one.
func (c *conn) read() (uint8, []byte, *contract.Failure) {
	have, frame := 0, headerBytes
	for have < frame {
		n, err := c.socket.Read(c.in[have:])
		have += n
		if have < frame && err != nil {
			return 0, nil, link.FailureOf(err)
		}
		if have >= headerBytes && frame == headerBytes {
			length := int(order.Uint32(c.in))
			if length > mostBody {
				return 0, nil, contract.Fail(contract.Undecodable, "a frame of %d bytes", length)
			}
			frame += length
			if frame > len(c.in) {
				c.in = append(c.in[:have], make([]byte, frame-have)...)
			}
		}
	}
	if have > frame {
		c.hasUnasked = true
		return 0, nil, contract.Fail(contract.Undecodable, moreThanAFrame)
	}
	return c.in[4], c.in[headerBytes:frame], nil
}

// HasUnasked tells whether more came than was asked for.
func (c *conn) HasUnasked() bool {
	if c.hasUnasked {
		return true
	}
	plain, isPlain := c.socket.(syscall.Conn)
	if !isPlain { // of TLS nothing can be looked at and left
		_ = c.socket.SetReadDeadline(time.Now().Add(time.Millisecond))
		n, _ := c.socket.Read(c.in[:1])
		return n > 0
	}
	raw, err := plain.SyscallConn()
	if err != nil {
		return false
	}
	found := 0
	_ = raw.Control(func(descriptor uintptr) {
		found, _, _ = unix.Recvfrom(int(descriptor), c.in[:1], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	})
	return found > 0
}

// Close ends the connection.
func (c *conn) Close() { _ = c.socket.Close() }
