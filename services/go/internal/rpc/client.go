package rpc

import (
	"context"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip"
	_ "google.golang.org/grpc/encoding/proto" // the codec that is measured
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"orch/internal/contract"
	"orch/internal/link"
	"orch/internal/load"
	"orch/internal/operation"
	pb "orch/internal/orchpb"
)

// Dialer opens connections of grpc-go: channels, each with one connection, whose socket is opened at its first call. `most` of
// them are shared, 0 where each request in flight has one of its own.
func Dialer(opener *link.Opener, knobs map[string]string, most int) load.Dialer {
	channels := &pool{opener: opener, most: most, options: optionsOf(knobs)}
	isPacked := knobs["compression"] == gzip.Name
	return func() (load.Conn, *contract.Failure) {
		taken, err := channels.take()
		if err != nil {
			return nil, link.NoConnection(err)
		}
		made := &conn{channel: taken, pool: channels, timeout: opener.Timeout, isPacked: isPacked}
		made.codec.CodecV2 = encoding.GetCodecV2("proto")
		made.stub = pb.NewOrchClient(&calling{taken, &made.codec})
		return made, nil
	}
}

// conn is a channel, or a part of one that several requests in flight share.
type conn struct {
	channel  *channel
	pool     *pool
	stub     pb.OrchClient
	timeout  time.Duration
	codec    codec
	events   grpc.ServerStreamingClient[pb.Event] // of a subscription
	isPacked bool                                 // whether messages are compressed
	packed   packed
}

type securing struct {
	credentials.TransportCredentials
	channel *channel
	opener  *link.Opener
}

// ClientHandshake makes a handshake, and takes it down.
func (s *securing) ClientHandshake(
	ctx context.Context, authority string, socket net.Conn,
) (net.Conn, credentials.AuthInfo, error) {
	begun := time.Now()
	secured, about, err := s.TransportCredentials.ClientHandshake(ctx, authority, socket)
	if err != nil {
		failure := link.HandshakeFailure(err)
		s.channel.note(failure)
		return nil, nil, failure
	}
	if told, isTLS := about.(credentials.TLSInfo); isTLS {
		s.opener.Note(told.State, time.Since(begun))
	}
	return secured, about, nil
}

// Clone is used by a channel for itself.
func (s *securing) Clone() credentials.TransportCredentials {
	return &securing{TransportCredentials: s.TransportCredentials.Clone(), channel: s.channel, opener: s.opener}
}

// codec is Protocol Buffers' own. It notes the sizes of a call's messages, and keeps the bytes of the last reply.
type codec struct {
	encoding.CodecV2
	sent int
	body []byte
	held mem.BufferSlice
}

// Marshal encodes a request.
func (c *codec) Marshal(message any) (mem.BufferSlice, error) {
	made, err := c.CodecV2.Marshal(message)
	c.sent = made.Len()
	return made, err
}

// Unmarshal decodes a reply. Its bytes are held until the next one, where they lie together.
func (c *codec) Unmarshal(data mem.BufferSlice, message any) error {
	c.held.Free()
	if c.held, c.body = nil, nil; len(data) == 1 {
		data.Ref()
		c.held, c.body = data, data[0].ReadOnlyData()
	} else {
		c.body = data.Materialize()
	}
	return c.CodecV2.Unmarshal(data, message)
}

// Name is that of the content's subtype: none, as of grpc-go's own.
func (c *codec) Name() string { return "" }

// Call makes a call, and reads every field of its reply.
func (c *conn) Call(request *operation.Request, reply *operation.Reply) *contract.Failure {
	ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
	defer cancel()
	c.codec.body = nil
	if c.isPacked {
		ctx = context.WithValue(ctx, packedKey{}, &c.packed)
	}
	err := c.call(ctx, request, reply)
	reply.Sent, reply.Received, reply.Body = int64(c.codec.sent), reply.Received+int64(len(c.codec.body)), c.codec.body
	if c.isPacked {
		reply.Sent, reply.Received = c.packed.sent, c.packed.received
	}
	if err != nil {
		return c.failure(err)
	}
	return nil
}

func (c *conn) call(ctx context.Context, request *operation.Request, reply *operation.Reply) error {
	switch request.Kind {
	case operation.Identity:
		came, err := c.stub.Identity(ctx, &pb.IdentityRequest{})
		reply.Identity = came.GetIdentity()
		return err
	case operation.Timestamp:
		came, err := c.stub.Timestamp(ctx, &pb.TimestampRequest{RequestTimestamp: request.Stamp})
		reply.Stamp, reply.Response = came.GetRequestTimestamp(), came.GetResponseTimestamp()
		return err
	case operation.Add:
		came, err := c.stub.Add(ctx, &pb.AddRequest{A: int32(request.A), B: int32(request.B)})
		reply.Sum = int64(came.GetSum())
		return err
	case operation.Image:
		came, err := c.stub.Image(ctx, &pb.ImageRequest{Data: request.Data, FullDecode: request.FullDecode})
		reply.Width, reply.Height = int64(came.GetWidth()), int64(came.GetHeight())
		return err
	case operation.Transfer:
		came, err := c.stub.Transfer(ctx, &pb.TransferRequest{Data: request.Data, ReplySize: uint32(request.ReplySize)})
		reply.Data = came.GetData()
		return err
	}
	if request.Kind == operation.Call {
		return c.callOwn(ctx, request.Call, reply)
	}
	if request.Kind.IsOfRows() {
		rows, err := c.callRows(ctx, request)
		reply.Rows = rows
		return err
	}
	asked, err := packEcho(request)
	if err != nil {
		return contract.Fail(contract.Undecodable, "%v", err)
	}
	came, err := c.stub.Echo(ctx, asked)
	if err != nil {
		return err
	}
	if err := readEchoReply(request.Kind, came, reply); err != nil {
		return contract.Fail(contract.Undecodable, "%v", err)
	}
	return nil
}

// failure says an error of a call in the record's words.
func (c *conn) failure(err error) *contract.Failure {
	if own, isOwn := err.(*contract.Failure); isOwn {
		return own
	}
	told := status.Convert(err)
	kind := contract.Protocol
	switch told.Code() {
	case codes.DeadlineExceeded:
		kind = contract.Timeout
	case codes.Canceled:
		kind = contract.Cancelled
	case codes.Unavailable:
		if opening := c.channel.noted(); opening != nil {
			return link.FailureOf(opening)
		}
		kind = contract.Closed
	case codes.Internal:
		if c.codec.body != nil { // it came, and was not such a message
			kind = contract.Undecodable
		}
	}
	return contract.Fail(kind, "%s: %s", told.Code(), told.Message())
}

// Number is that of a connection which several share; -1 of one of its own.
func (c *conn) Number() int64 { return c.channel.number }

// Close ends the channel, with the last of those who share it.
func (c *conn) Close() {
	c.pool.give(c.channel)
	c.codec.held.Free()
	c.codec.held = nil
}
