// Package sse has server-sent events (protos/http.md): a GET, and a body of events that ends with the subscription.
package sse

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"orch/internal/operation"
	"orch/internal/serve"
	"orch/internal/web"
)

const mediaType = "text/event-stream"

// event is what stands in a line of the body; who reads wants all of it.
type event struct {
	Sequence *int64  `json:"sequence"`
	SentNS   *int64  `json:"sent_ns"`
	Data     *string `json:"data"`
	Error    *string `json:"error,omitempty"`
}

type identity struct {
	Identity *string `json:"identity"`
}

// Serve answers subscriptions.
func Serve(serving *serve.Serving) (func() error, error) {
	return web.Serve(serving, http.HandlerFunc(answer))
}

func answer(writer http.ResponseWriter, request *http.Request) {
	switch {
	case request.Method != http.MethodGet:
		web.Refuse(writer, http.StatusMethodNotAllowed, fmt.Sprintf("a GET is answered, and no %.20q", request.Method))
	case request.URL.Path == "/identity":
		tellIdentity(writer, request)
	case request.URL.Path == "/events":
		sendEvents(writer, request)
	default:
		web.Refuse(writer, http.StatusNotFound, fmt.Sprintf("%.100q is not known", request.URL.Path))
	}
}

func begin(writer http.ResponseWriter) {
	writer.Header().Set("Content-Type", mediaType)
	writer.Header().Set("Cache-Control", "no-store")
	writer.WriteHeader(http.StatusOK)
}

func tellIdentity(writer http.ResponseWriter, request *http.Request) {
	var reply operation.Reply
	if err := web.PeerOf(request).Answer(&operation.Request{Kind: operation.Identity}, &reply); err != nil {
		web.Refuse(writer, http.StatusBadRequest, err.Error())
		return
	}
	begin(writer)
	_ = send(writer, identity{&reply.Identity})
}

// send writes an event, and does not return before the connection took it.
func send(writer http.ResponseWriter, event any) error {
	line, err := operation.Compact(event)
	if err != nil {
		return err
	}
	made := make([]byte, 0, len(line)+len("data: \n\n"))
	made = append(append(append(made, "data: "...), line...), "\n\n"...)
	if _, err := writer.Write(made); err != nil {
		return err
	}
	return http.NewResponseController(writer).Flush()
}

func sendEvents(writer http.ResponseWriter, request *http.Request) {
	var asked operation.Request
	asked.Kind = operation.Events
	err := readQuery(request.URL.Query(), &asked)
	if err != nil {
		web.Refuse(writer, http.StatusBadRequest, err.Error())
		return
	}
	begun := false
	err = web.PeerOf(request).Subscribe(request.Context(), &asked,
		func() error {
			begun = true
			begin(writer)
			return http.NewResponseController(writer).Flush()
		},
		func(made *operation.Event) error {
			return send(writer, event{Sequence: &made.Sequence, SentNS: &made.SentNS, Data: &made.Data})
		})
	if err != nil && !begun {
		web.Refuse(writer, http.StatusBadRequest, err.Error())
	}
}

func readQuery(query url.Values, into *operation.Request) error {
	for _, field := range []struct {
		name string
		into *int64
	}{
		{"interval_ns", &into.IntervalNS}, {"count", &into.Count}, {"size", &into.Size}, {"seed", &into.Seed},
	} {
		text := query.Get(field.name)
		if text == "" {
			return errors.New(field.name + " is missing")
		}
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%s must be a whole number, not %.60q", field.name, text)
		}
		*field.into = number
	}
	return nil
}

// queryOf is a subscription as the query of its URL.
func queryOf(request *operation.Request) string {
	return fmt.Sprintf("interval_ns=%d&count=%d&size=%d&seed=%d",
		request.IntervalNS, request.Count, request.Size, request.Seed)
}
