// Package rest has the bodies of REST (protos/http.md): JSON for structured values, raw bytes for bytes and pictures.
package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"orch/internal/contract"
	"orch/internal/operation"
	"orch/internal/web"
)

const (
	typeJSON  = "application/json"
	typeBytes = "application/octet-stream"
	typePNG   = "image/png"
)

// Codec is that of both ends.
type Codec struct{}

type stamp struct {
	Request *string `json:"request_timestamp"`
}

type stamps struct {
	Request  *string `json:"request_timestamp"`
	Response *string `json:"response_timestamp"`
}

type numbers struct {
	A *int64 `json:"a"`
	B *int64 `json:"b"`
}

type sum struct {
	Sum *int64 `json:"sum"`
}

type size struct {
	Width  *int64 `json:"width"`
	Height *int64 `json:"height"`
}

type identity struct {
	Identity *string `json:"identity"`
}

var paths = [...]string{
	operation.Identity: "/identity", operation.Timestamp: "/timestamp", operation.Add: "/add",
	operation.EchoData: "/echo/data", operation.EchoRecords: "/echo/records", operation.EchoDocument: "/echo/document",
	operation.Image: "/image", operation.Transfer: "/transfer",
	operation.Balance: "/balance", operation.Payment: "/payment", operation.Transactions: "/transactions",
	operation.Accounts: "/accounts", operation.User: "/user", operation.Posts: "/posts", operation.Comments: "/comments",
	operation.Feed: "/feed",
}

var kinds = map[string]operation.Kind{}

func init() {
	for kind, path := range paths {
		if path != "" {
			kinds[path] = operation.Kind(kind)
		}
	}
}

// Request encodes a request.
func (Codec) Request(request *operation.Request) (web.Body, error) {
	made := web.Body{Path: paths[request.Kind], Type: typeJSON}
	var err error
	switch request.Kind {
	case operation.Identity:
		made.Content = []byte("{}")
	case operation.Timestamp:
		made.Content, err = json.Marshal(stamp{&request.Stamp})
	case operation.Add:
		made.Content, err = json.Marshal(numbers{&request.A, &request.B})
	case operation.EchoRecords:
		made.Content, err = operation.Compact(request.Records)
	case operation.EchoDocument:
		made.Content, err = operation.Compact(request.Document)
	case operation.EchoData:
		made.Type, made.Content = typeBytes, request.Data
	case operation.Image:
		made.Type, made.Content = typePNG, request.Data
		made.Path += "?full_decode=" + strconv.FormatBool(request.FullDecode)
	case operation.Transfer:
		made.Type, made.Content = typeBytes, request.Data
		made.Path += "?reply_size=" + strconv.FormatInt(request.ReplySize, 10)
	case operation.Balance, operation.Payment, operation.Transactions, operation.Accounts, operation.User, operation.Posts,
		operation.Comments, operation.Feed:
		made.Content, err = requestOfRows(request)
	default:
		err = fmt.Errorf("rest does not carry %s", request.Kind)
	}
	return made, err
}

var errMissing = errors.New("a field is missing")

// Reply decodes a reply.
func (Codec) Reply(kind operation.Kind, body []byte, reply *operation.Reply) (err error) {
	switch kind {
	case operation.Identity:
		var found identity
		if err = json.Unmarshal(body, &found); err == nil && found.Identity == nil {
			err = errMissing
		}
		if err == nil {
			reply.Identity = *found.Identity
		}
	case operation.Timestamp:
		var found stamps
		if err = json.Unmarshal(body, &found); err == nil && (found.Request == nil || found.Response == nil) {
			err = errMissing
		}
		if err == nil {
			reply.Stamp, reply.Response = *found.Request, *found.Response
		}
	case operation.Add:
		var found sum
		if err = json.Unmarshal(body, &found); err == nil && found.Sum == nil {
			err = errMissing
		}
		if err == nil {
			reply.Sum = *found.Sum
		}
	case operation.Image:
		var found size
		if err = json.Unmarshal(body, &found); err == nil && (found.Width == nil || found.Height == nil) {
			err = errMissing
		}
		if err == nil {
			reply.Width, reply.Height = *found.Width, *found.Height
		}
	case operation.EchoRecords:
		err = json.Unmarshal(body, &reply.Records)
	case operation.EchoDocument:
		reply.Document, err = operation.DecodeDocument(body)
	case operation.Balance, operation.Payment, operation.Transactions, operation.Accounts, operation.User, operation.Posts,
		operation.Comments, operation.Feed:
		err = replyOfRows(kind, body, reply)
	default:
		reply.Data, reply.HoldsBody = body, true
	}
	return err
}

// Failure says what another status than 200 means.
func (Codec) Failure(status int, body []byte) *contract.Failure {
	return contract.Fail(contract.Protocol, "status %d: %s", status, body)
}

// Header is that of every request.
func (Codec) Header() http.Header { return nil }

// Read decodes a request.
func (Codec) Read(request *http.Request, body []byte, into *operation.Request) (err error) {
	kind, isKnown := kinds[request.URL.Path]
	if !isKnown {
		return web.Refused(http.StatusNotFound, "%.100q is not known", request.URL.Path)
	}
	into.Kind = kind
	switch kind {
	case operation.Identity:
	case operation.Timestamp:
		var found stamp
		if err = json.Unmarshal(body, &found); err == nil && found.Request == nil {
			err = errMissing
		}
		if err == nil {
			into.Stamp = *found.Request
		}
	case operation.Add:
		var found numbers
		if err = json.Unmarshal(body, &found); err == nil && (found.A == nil || found.B == nil) {
			err = errMissing
		}
		if err == nil {
			into.A, into.B = *found.A, *found.B
			err = in32Bits(into.A, into.B)
		}
	case operation.EchoRecords:
		err = json.Unmarshal(body, &into.Records)
	case operation.EchoDocument:
		into.Document, err = operation.DecodeDocument(body)
	case operation.EchoData:
		into.Data = body
	case operation.Image:
		into.Data = body
		into.FullDecode, err = flagOf(request.URL)
	case operation.Transfer:
		into.Data = body
		into.ReplySize, err = strconv.ParseInt(request.URL.Query().Get("reply_size"), 10, 64)
	default:
		err = readRows(kind, body, into)
	}
	return err
}

func in32Bits(values ...int64) error {
	for _, value := range values {
		if value < math.MinInt32 || value > math.MaxInt32 {
			return fmt.Errorf("%d has more than 32 bits", value)
		}
	}
	return nil
}

// flagOf reads `full_decode` of a query; without one it is false.
func flagOf(asked *url.URL) (bool, error) {
	switch value := asked.Query().Get("full_decode"); value {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	default:
		return false, fmt.Errorf("full_decode is %.20q, neither true nor false", value)
	}
}

// Write encodes a reply.
func (Codec) Write(kind operation.Kind, reply *operation.Reply) (contentType string, body []byte, err error) {
	contentType = typeJSON
	switch kind {
	case operation.Identity:
		body, err = operation.Compact(identity{&reply.Identity})
	case operation.Timestamp:
		body, err = json.Marshal(stamps{&reply.Stamp, &reply.Response})
	case operation.Add:
		body, err = json.Marshal(sum{&reply.Sum})
	case operation.Image:
		body, err = json.Marshal(size{&reply.Width, &reply.Height})
	case operation.EchoRecords:
		body, err = operation.Compact(reply.Records)
	case operation.EchoDocument:
		body, err = operation.Compact(reply.Document)
	case operation.Balance, operation.Payment, operation.Transactions, operation.Accounts, operation.User, operation.Posts,
		operation.Comments, operation.Feed:
		body, err = writeRows(kind, reply.Rows)
	default:
		contentType, body = typeBytes, reply.Data
	}
	return contentType, body, err
}

// Refuse writes an error.
func (Codec) Refuse(writer http.ResponseWriter, status int, words string) {
	web.Refuse(writer, status, words)
}
