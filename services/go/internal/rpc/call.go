package rpc

import (
	"context"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"orch/internal/calls"
	"orch/internal/operation"
)

// callOwn calls a method of somebody's own service; the messages of a stream are read until its end.
func (c *conn) callOwn(ctx context.Context, call *calls.Request, reply *operation.Reply) error {
	if len(call.Metadata) > 0 {
		ctx = metadata.NewOutgoingContext(ctx, call.Metadata)
	}
	caller, method := calling{c.channel, &c.codec}, call.Procedure
	if !method.IsStream {
		message := messageOf(call)
		reply.Messages = []proto.Message{message}
		return caller.Invoke(ctx, method.Path, call.Message, message)
	}
	stream, err := caller.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method.Path)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(call.Message); err != nil && err != io.EOF { // what it failed of, the first receipt says
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for {
		message := messageOf(call)
		if err := stream.RecvMsg(message); err == io.EOF {
			c.codec.body = nil // it is the last one's alone
			return nil
		} else if err != nil {
			return err
		}
		reply.Messages = append(reply.Messages, message)
		reply.Received += int64(len(c.codec.body))
	}
}

// messageOf is what a reply is decoded into: where bytes alone are wanted a message that has no field, and keeps them all.
func messageOf(call *calls.Request) proto.Message {
	if !call.Decode {
		return &emptypb.Empty{}
	}
	return call.Procedure.Reply.New().Interface()
}
