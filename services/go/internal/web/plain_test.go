package web

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"orch/internal/calls"
	"orch/internal/contract"
	"orch/internal/link"
	"orch/internal/operation"
)

const right = `{"id":1}`

// answered is a call of a connection whose other end sends these bytes, and closes.
func answered(t *testing.T, method, content string) (operation.Reply, *contract.Failure, *plainConn) {
	t.Helper()
	mine, theirs := net.Pipe()
	go func() {
		_, _ = bufio.NewReader(theirs).ReadString('\n')
		_, _ = theirs.Write([]byte(content))
		theirs.Close()
	}()
	made := &plainConn{
		client: &Client{opener: &link.Opener{Address: "127.0.0.1:1", Timeout: time.Second}},
		socket: mine, reader: bufio.NewReaderSize(mine, headRoom),
	}
	defer made.Close()
	call := &calls.Request{Method: method, Path: "/o/a%20b", Decode: true, Expect: calls.Expect{Size: -1}}
	var reply operation.Reply
	failure := made.Call(&operation.Request{Kind: operation.Call, Call: call}, &reply)
	return reply, failure, made
}

func TestRepliesOfEveryFormAreRead(t *testing.T) {
	for _, each := range []struct {
		method, content string
		isOver          bool
		received        int64
	}{
		{"GET", "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n" + right, false, 8},
		{"GET", "HTTP/1.1 200\r\ncontent-length: 8\r\nConnection: Close\r\n\r\n" + right, true, 8},
		{"GET", "HTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n" + right, false, 8},
		{"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"i\r\n5\r\nd\":1}\r\n0\r\nA: b\r\n\r\n", false, 8},
		{"GET", "HTTP/1.1 200 OK\r\n\r\n" + right, true, 8},
		{"GET", "HTTP/1.0 200 OK\r\nContent-Length: 8\r\n\r\n" + right, true, 8},
		{"GET", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 8\r\n\r\n" + right, false, 8},
		{"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n", false, 0},
		{"GET", "HTTP/1.1 204 No Content\r\n\r\n", false, 0},
	} {
		reply, failure, conn := answered(t, each.method, each.content)
		if failure != nil || conn.IsOver() != each.isOver || reply.Received != each.received {
			t.Errorf("%q: %v, over %t, %d bytes", each.content, failure, conn.IsOver(), reply.Received)
		}
	}
}

func TestWhatIsNoReplyIsAnErrorOfItsKind(t *testing.T) {
	for content, status := range map[string]contract.Status{
		"": contract.Closed,
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" + right: contract.Closed,
		"SSH-2.0-OpenSSH\r\n":     contract.Undecodable,
		"HTTP/1.1 2x0 OK\r\n\r\n": contract.Undecodable,
		"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nContent-Length: 9\r\n\r\n" + right: contract.Undecodable,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n":                contract.Undecodable,
		"HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", headRoom) + "\r\n\r\n":       contract.Undecodable,
		"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n":                       contract.Protocol,
	} {
		if _, failure, _ := answered(t, "GET", content); failure == nil || failure.Status != status {
			t.Errorf("%.60q: %v", content, failure)
		}
	}
}

func TestWhatNobodyAskedForIsSeen(t *testing.T) {
	mine, theirs := net.Pipe()
	made := &plainConn{socket: mine, reader: bufio.NewReader(mine)}
	if made.HasUnasked() {
		t.Error("nothing came")
	}
	go func() { _, _ = theirs.Write([]byte("H")) }()
	time.Sleep(10 * time.Millisecond)
	if !made.HasUnasked() {
		t.Error("a byte came")
	}
	go func() { _, _ = io.Copy(io.Discard, theirs) }()
	made.client = &Client{opener: &link.Opener{Address: "127.0.0.1:1", Timeout: 20 * time.Millisecond}}
	request := &operation.Request{Kind: operation.Call, Call: &calls.Request{Method: "GET", Path: "/"}}
	if failure := made.Call(request, &operation.Reply{}); failure == nil || failure.Status != contract.Timeout {
		t.Errorf("no more than a byte came: %v", failure)
	}
}
