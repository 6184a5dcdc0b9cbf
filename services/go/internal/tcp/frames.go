// Package tcp speaks protos/tcp.md: frames on a bare connection, or on one with TLS.
package tcp

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"orch/internal/operation"
)

const (
	headerBytes = 5
	mostBody    = 256 << 20
	codeError   = 255
	codeLast    = operation.Transfer
)

var order = binary.BigEndian

// begin leaves room for a frame's header.
func begin(frame []byte) []byte { return append(frame[:0], 0, 0, 0, 0, 0) }

// end fills the header of a frame of which so many bytes stand elsewhere.
func end(frame []byte, code uint8, elsewhere int) {
	order.PutUint32(frame, uint32(len(frame)-headerBytes+elsewhere))
	frame[4] = code
}

// appendRequest appends what of a request's body has to be made; what follows it is given as it is.
func appendRequest(to []byte, request *operation.Request) (made, rest []byte, err error) {
	switch request.Kind {
	case operation.Timestamp:
		return append(to, request.Stamp...), nil, nil
	case operation.Add:
		to = order.AppendUint32(to, uint32(int32(request.A)))
		return order.AppendUint32(to, uint32(int32(request.B))), nil, nil
	case operation.EchoData:
		return to, request.Data, nil
	case operation.EchoRecords:
		rest, err = operation.Compact(request.Records)
		return to, rest, err
	case operation.EchoDocument:
		rest, err = operation.Compact(request.Document)
		return to, rest, err
	case operation.Image:
		flag := byte(0)
		if request.FullDecode {
			flag = 1
		}
		return append(to, flag), request.Data, nil
	case operation.Exchange, operation.Transfer:
		return order.AppendUint32(to, uint32(request.ReplySize)), request.Data, nil
	}
	return to, nil, nil
}

// readRequest reads a request's body. Bytes in it stay where they are.
func readRequest(code uint8, body []byte, request *operation.Request) error {
	kind := operation.Kind(code)
	*request = operation.Request{Kind: kind}
	if kind > codeLast {
		return fmt.Errorf("code %d is not known", code)
	}
	misfit := fmt.Errorf("a request of code %d with %d bytes", code, len(body))
	var err error
	switch kind {
	case operation.Timestamp:
		if !utf8.Valid(body) {
			return misfit
		}
		request.Stamp = string(body)
	case operation.Add:
		if len(body) != 8 {
			return misfit
		}
		request.A, request.B = int64(int32(order.Uint32(body))), int64(int32(order.Uint32(body[4:])))
	case operation.EchoData:
		request.Data = body
	case operation.EchoRecords:
		err = json.Unmarshal(body, &request.Records)
	case operation.EchoDocument:
		request.Document, err = operation.DecodeDocument(body)
	case operation.Image:
		if len(body) < 1 {
			return misfit
		}
		request.FullDecode, request.Data = body[0] != 0, body[1:]
	case operation.Exchange, operation.Transfer:
		if len(body) < 4 {
			return misfit
		}
		request.ReplySize, request.Data = int64(order.Uint32(body)), body[4:]
	}
	if err != nil {
		return fmt.Errorf("a body of code %d that is not JSON of that kind: %w", code, err)
	}
	return nil
}

// appendReply is to a reply what appendRequest is to a request.
func appendReply(to []byte, kind operation.Kind, reply *operation.Reply) (made, rest []byte, err error) {
	switch kind {
	case operation.Identity:
		return append(to, reply.Identity...), nil, nil
	case operation.Timestamp:
		to = append(append(to, reply.Stamp...), '\n')
		return append(to, reply.Response...), nil, nil
	case operation.Add:
		return order.AppendUint64(to, uint64(reply.Sum)), nil, nil
	case operation.EchoRecords:
		rest, err = operation.Compact(reply.Records)
		return to, rest, err
	case operation.EchoDocument:
		rest, err = operation.Compact(reply.Document)
		return to, rest, err
	case operation.Image:
		to = order.AppendUint32(to, uint32(reply.Width))
		return order.AppendUint32(to, uint32(reply.Height)), nil, nil
	}
	return to, reply.Data, nil
}

var errMisfit = errors.New("a body of another size than such a reply has")

// readReply reads a reply's body. Bytes in it stay where they are.
func readReply(kind operation.Kind, body []byte, reply *operation.Reply) (err error) {
	switch kind {
	case operation.Identity:
		reply.Identity = string(body)
	case operation.Timestamp:
		stamp, response, has := bytes.Cut(body, []byte{'\n'})
		if !has || !utf8.Valid(body) {
			return errMisfit
		}
		reply.Stamp, reply.Response = string(stamp), string(response)
	case operation.Add:
		if len(body) != 8 {
			return errMisfit
		}
		reply.Sum = int64(order.Uint64(body))
	case operation.EchoRecords:
		err = json.Unmarshal(body, &reply.Records)
	case operation.EchoDocument:
		reply.Document, err = operation.DecodeDocument(body)
	case operation.Image:
		if len(body) != 8 {
			return errMisfit
		}
		reply.Width, reply.Height = int64(order.Uint32(body)), int64(order.Uint32(body[4:]))
	default:
		reply.Data, reply.HoldsBody = body, true
	}
	return err
}
