package rpc

import (
	"context"

	"orch/internal/operation"
	pb "orch/internal/orchpb"
	"orch/internal/serve"
)

// Caller turns requests into the calls of any stub, and reads every field of the replies.
type Caller struct{ conn conn }

// NewCaller makes the calls of a stub.
func NewCaller(stub pb.OrchClient) *Caller { return &Caller{conn: conn{stub: stub}} }

// Call makes a call; an error is the stub's, or a Failure where a message does not fit.
func (c *Caller) Call(ctx context.Context, request *operation.Request, reply *operation.Reply) error {
	return c.conn.call(ctx, request, reply)
}

// NewService answers the calls of connections that another transport has; errors have gRPC's codes.
func NewService(serving *serve.Serving, peerOf func(context.Context) *serve.Peer) pb.OrchServer {
	return &service{serving: serving, peerOf: peerOf}
}
