// Package web carries messages as HTTP bodies by net/http, over HTTP/1.1 or HTTP/2, whatever their codec.
package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/quic-go/quic-go/http3"

	"orch/internal/contract"
	"orch/internal/operation"
)

// Body is what travels of a message.
type Body struct {
	Path    string // with the query
	Type    string // its content type
	Content []byte
}

// Codec turns messages into bodies.
type Codec interface {
	// Request encodes a request.
	Request(request *operation.Request) (Body, error)
	// Reply decodes a right reply's body to that kind of request.
	Reply(kind operation.Kind, body []byte, reply *operation.Reply) error
	// Failure says what a reply of another status than 200 means.
	Failure(status int, body []byte) *contract.Failure
	// Header is that of every request, beside its content type.
	Header() http.Header
}

// Answerer is the codec of a server.
type Answerer interface {
	// Read decodes a request; a Refusal where it is none.
	Read(request *http.Request, body []byte, into *operation.Request) error
	// Write encodes a reply.
	Write(kind operation.Kind, reply *operation.Reply) (contentType string, body []byte, err error)
	// Refuse writes an error.
	Refuse(writer http.ResponseWriter, status int, words string)
}

// Refusal is an error with the status of HTTP that says it.
type Refusal struct {
	Status int
	Words  string
}

func (r *Refusal) Error() string { return r.Words }

// Refused makes a Refusal.
func Refused(status int, format string, arguments ...any) error {
	return &Refusal{Status: status, Words: fmt.Sprintf(format, arguments...)}
}

// statusOf is the status of HTTP that says an error.
func statusOf(err error) int {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal.Status
	}
	return http.StatusBadRequest
}

// readAll reads a body of a length that may be known, into the buffer where that is large enough.
func readAll(body io.Reader, length int64, buffer []byte) ([]byte, error) {
	if length > operation.MostBody {
		return nil, Refused(http.StatusRequestEntityTooLarge, "a body of %d bytes is too large", length)
	}
	if length >= 0 {
		if int64(cap(buffer)) < length {
			buffer = make([]byte, length)
		}
		buffer = buffer[:length]
		_, err := io.ReadFull(body, buffer)
		return buffer, err
	}
	read, err := io.ReadAll(io.LimitReader(body, operation.MostBody+1))
	if err == nil && len(read) > operation.MostBody {
		err = Refused(http.StatusRequestEntityTooLarge, "a body without end")
	}
	return read, err
}

// protocols are the versions of HTTP that an end speaks: the one it was told, and no other.
func protocols(knobs map[string]string, isSecured bool) *http.Protocols {
	made := new(http.Protocols)
	switch {
	case knobs["http"] != "2":
		made.SetHTTP1(true)
	case isSecured:
		made.SetHTTP2(true)
	default:
		made.SetUnencryptedHTTP2(true)
	}
	return made
}

// alpn is how TLS calls that version.
func alpn(knobs map[string]string) string {
	switch knobs["http"] {
	case "2":
		return "h2"
	case "3":
		return http3.NextProtoH3
	}
	return "http/1.1"
}
