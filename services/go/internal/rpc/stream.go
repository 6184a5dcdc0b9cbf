package rpc

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	"orch/internal/contract"
	"orch/internal/operation"
	pb "orch/internal/orchpb"
)

// Events sends the events of a subscription.
func (s *service) Events(message *pb.EventsRequest, stream grpc.ServerStreamingServer[pb.Event]) error {
	asked := operation.Request{
		Kind: operation.Events, IntervalNS: message.GetIntervalNs(), Count: message.GetCount(), Size: message.GetSize(),
		Seed: message.GetSeed(),
	}
	begun := false
	err := s.peer(stream.Context()).Subscribe(stream.Context(), &asked,
		func() error { begun = true; return nil },
		func(event *operation.Event) error {
			return stream.Send(&pb.Event{Sequence: event.Sequence, SentNs: event.SentNS, Data: event.Data})
		})
	if err != nil && !begun {
		return refused(err)
	}
	return err
}

// Subscribe asks for events. The context ends the subscription.
func (c *conn) Subscribe(ctx context.Context, request *operation.Request) (int64, *contract.Failure) {
	stream, err := c.stub.Events(ctx, &pb.EventsRequest{
		IntervalNs: request.IntervalNS, Count: request.Count, Size: request.Size, Seed: request.Seed,
	})
	if err != nil {
		return 0, c.failure(err)
	}
	c.events = stream
	return int64(c.codec.sent), nil
}

// Next reads every field of the next event; false at the stream's end.
func (c *conn) Next(event *operation.Event) (bool, *contract.Failure) {
	c.codec.body = nil
	came, err := c.events.Recv()
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, c.failure(err)
	}
	event.Sequence, event.SentNS, event.Data = came.GetSequence(), came.GetSentNs(), came.GetData()
	event.Size = int64(len(c.codec.body))
	return true, nil
}
