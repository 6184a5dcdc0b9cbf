package unary

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"orch/internal/contract"
	"orch/internal/link"
	"orch/internal/operation"
)

// asked is what a call comes to at an address.
func asked(t *testing.T, address string) *contract.Failure {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	number, _ := strconv.ParseInt(port, 10, 64)
	trial := &contract.Trial{Target: &contract.Target{Host: host, Port: number}, TimeoutS: 1, Connection: "reuse"}
	opener, err := link.NewOpener(trial, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, failure := Dialer(opener, nil, 0)()
	if failure != nil {
		return failure
	}
	defer conn.Close()
	var reply operation.Reply
	return conn.Call(&operation.Request{Kind: operation.Add, A: 1, B: 2}, &reply)
}

func TestWhatACallEndsWithIsSaidInTheRecordsWords(t *testing.T) {
	over := make(chan struct{})
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		status contract.Status
		words  string
	}{
		"an error in Connect's words": {func(writer http.ResponseWriter, _ *http.Request) {
			writer.Header().Set("Content-Type", "application/json")
			writer.WriteHeader(http.StatusBadRequest)
			_, _ = writer.Write([]byte(`{"code":"invalid_argument","message":"too large"}`))
		}, contract.Protocol, "too large"},
		"no message": {func(writer http.ResponseWriter, _ *http.Request) {
			writer.Header().Set("Content-Type", "application/proto")
			_, _ = writer.Write([]byte("\xff\xff\xff"))
		}, contract.Undecodable, ""},
		"no reply": {func(http.ResponseWriter, *http.Request) { <-over }, contract.Timeout, ""},
		"an end": {func(writer http.ResponseWriter, _ *http.Request) {
			taken, _, _ := http.NewResponseController(writer).Hijack()
			taken.Close()
		}, contract.Closed, ""},
	} {
		server := httptest.NewServer(c.answer)
		failure := asked(t, server.Listener.Addr().String())
		if failure == nil || failure.Status != c.status || !strings.Contains(failure.Detail, c.words) {
			t.Errorf("%s: %v, not %s", name, failure, c.status)
		}
		server.Config.SetKeepAlivesEnabled(false)
		if name == "no reply" {
			close(over)
			time.Sleep(10 * time.Millisecond)
		}
		server.Close()
	}
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	if failure := asked(t, nobody.Addr().String()); failure == nil || failure.Status != contract.Refused {
		t.Errorf("nobody listens: %v", failure)
	}
}
