package tcp

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"

	"orch/internal/link"
	"orch/internal/operation"
	"orch/internal/serve"
)

const (
	bufferBytes = 64 << 10
	mostKept    = 1 << 20  // a larger buffer is let go after its request
	mostCopied  = 16 << 10 // what is larger is written from where it is
)

// Serve answers frames: a goroutine for each connection.
func Serve(serving *serve.Serving) (func() error, error) {
	config, err := link.ServerTLS(serving.TLS)
	if err != nil {
		return nil, err
	}
	var listener net.Listener = serving.Listener
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	return func() error {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return err
			}
			go converse(conn, serving.Peer(conn.RemoteAddr()))
		}
	}, nil
}

// converse answers one frame after the other, until the connection ends.
func converse(conn net.Conn, peer *serve.Peer) {
	defer conn.Close()
	var request operation.Request
	var reply operation.Reply
	var header [headerBytes]byte
	var body, out []byte
	in := bufio.NewReaderSize(conn, bufferBytes)
	for {
		if _, err := io.ReadFull(in, header[:]); err != nil {
			return
		}
		length, code := int(order.Uint32(header[:])), header[4]
		if length > mostBody {
			_ = send(conn, &out, codeError, []byte(fmt.Sprintf("a body of %d bytes, and at most %d", length, mostBody)))
			return
		}
		if cap(body) < length || (cap(body) > mostKept && length <= mostKept) {
			body = make([]byte, length)
		}
		body = body[:length]
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		out = begin(out)
		err := readRequest(code, body, &request)
		var rest []byte
		if err == nil {
			reply = operation.Reply{}
			err = peer.Answer(&request, &reply)
		}
		if err == nil {
			out, rest, err = appendReply(out, request.Kind, &reply)
		}
		if err != nil {
			out, rest, code = begin(out), []byte(err.Error()), codeError
		}
		if send(conn, &out, code, rest) != nil {
			return
		}
	}
}

// send writes a frame whose body is what stands in it already, and the rest.
func send(conn net.Conn, frame *[]byte, code uint8, rest []byte) error {
	if len(*frame) < headerBytes {
		*frame = begin(*frame)
	}
	if len(rest) <= mostCopied {
		*frame = append(*frame, rest...)
		end(*frame, code, 0)
		_, err := conn.Write(*frame)
		return err
	}
	end(*frame, code, len(rest))
	both := net.Buffers{*frame, rest}
	_, err := both.WriteTo(conn)
	return err
}
