package web

import (
	"bytes"
	"io"
	"net/http"
	"slices"

	"orch/internal/contract"
	"orch/internal/load"
	"orch/internal/operation"
)

// DialCalls gives a connection to somebody's own service; its socket is opened at the first call.
func (c *Client) DialCalls() (load.Conn, *contract.Failure) { return &callConn{Shared: c.Share()}, nil }

type callConn struct {
	*Shared
	buffer []byte
}

// Call sends a request as its call file has it, and reads the reply: its status, its body, and the JSON in it.
func (c *callConn) Call(request *operation.Request, reply *operation.Reply) *contract.Failure {
	call, address := request.Call, c.client.base
	address.Opaque = call.Path // as it is, already encoded
	asked := &http.Request{Method: call.Method, URL: &address, Host: call.Host, Header: call.Header}
	if len(call.Body) > 0 {
		asked.Body, asked.ContentLength = io.NopCloser(bytes.NewReader(call.Body)), int64(len(call.Body))
	}
	reply.Sent = int64(len(call.Body))
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
	reply.Body, reply.Received = c.buffer, int64(len(c.buffer))
	if wanted := call.Expect.Status; !slices.Contains(wanted, came.StatusCode) &&
		(len(wanted) > 0 || came.StatusCode < http.StatusOK || came.StatusCode >= http.StatusMultipleChoices) {
		return contract.Fail(contract.Protocol, "HTTP %d: %s", came.StatusCode, c.buffer)
	}
	if call.Expect.NeedsBody() || !call.Decode && len(call.Expect.Values) > 0 {
		reply.Data, reply.HoldsBody = c.buffer, true
	}
	if !call.Decode || len(c.buffer) == 0 {
		return nil
	}
	if reply.Document, err = operation.DecodeDocument(c.buffer); err != nil {
		return contract.Fail(contract.Undecodable, "%v in %s", err, c.buffer)
	}
	if object, _ := reply.Document.(map[string]any); call.IsGraphQL && hasErrors(object["errors"]) {
		return contract.Fail(contract.Protocol, "GraphQL errors: %s", c.buffer)
	}
	return nil
}

func hasErrors(value any) bool {
	list, isList := value.([]any)
	return value != nil && (!isList || len(list) > 0)
}
