package web

import (
	"bytes"
	"io"
	"net/http"
	"slices"

	"orch/internal/calls"
	"orch/internal/contract"
	"orch/internal/load"
	"orch/internal/operation"
)

// DialCall gives a connection to somebody's own service; the socket of HTTP/2 and 3 is opened at the first call.
func (c *Client) DialCall() (load.Conn, *contract.Failure) {
	if c.major == 1 {
		return c.dialPlain()
	}
	return &callConn{Shared: c.Share()}, nil
}

type callConn struct {
	*Shared
	buffer []byte
}

// Call sends a request as its call file has it, and reads the reply.
func (c *callConn) Call(request *operation.Request, reply *operation.Reply) *contract.Failure {
	call, address := request.Call, c.client.base
	address.Opaque = call.Path // as it is, already encoded
	asked := &http.Request{Method: call.Method, URL: &address, Host: call.Host, Header: call.Header}
	if len(call.Body) > 0 {
		asked.Body, asked.ContentLength = io.NopCloser(bytes.NewReader(call.Body)), int64(len(call.Body))
	}
	came, err := c.Do(asked)
	if err != nil {
		return FailureOf(err)
	}
	defer came.Body.Close()
	length := came.ContentLength
	if call.Method == http.MethodHead {
		length = 0
	}
	if c.buffer, err = readAll(came.Body, length, c.buffer); err != nil {
		return FailureOf(err)
	}
	return taken(call, came.StatusCode, c.buffer, reply)
}

// taken is a reply whose body came: its status is looked at, and the JSON in it parsed.
func taken(call *calls.Request, status int, body []byte, reply *operation.Reply) *contract.Failure {
	reply.Sent, reply.Body, reply.Received = int64(len(call.Body)), body, int64(len(body))
	if wanted := call.Expect.Status; !slices.Contains(wanted, status) &&
		(len(wanted) > 0 || status < http.StatusOK || status >= http.StatusMultipleChoices) {
		return contract.Fail(contract.Protocol, "HTTP %d: %s", status, body)
	}
	if call.Expect.NeedsBody() || !call.Decode && len(call.Expect.Values) > 0 {
		reply.Data, reply.HoldsBody = body, true
	}
	if !call.Decode || len(body) == 0 {
		return nil
	}
	var err error
	if reply.Document, err = operation.DecodeDocument(body); err != nil {
		return contract.Fail(contract.Undecodable, "%v in %s", err, body)
	}
	if object, _ := reply.Document.(map[string]any); call.IsGraphQL && hasErrors(object["errors"]) {
		return contract.Fail(contract.Protocol, "GraphQL errors: %s", body)
	}
	return nil
}

func hasErrors(value any) bool {
	list, isList := value.([]any)
	return value != nil && (!isList || len(list) > 0)
}
