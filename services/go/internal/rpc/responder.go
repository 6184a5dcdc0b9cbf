package rpc

import (
	"context"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"orch/internal/link"
	"orch/internal/operation"
	pb "orch/internal/orchpb"
	"orch/internal/serve"
)

// Serve answers calls.
func Serve(serving *serve.Serving) (func() error, error) {
	config, err := link.ServerTLS(serving.TLS, "h2")
	if err != nil {
		return nil, err
	}
	options := []grpc.ServerOption{grpc.MaxRecvMsgSize(operation.MostBody), grpc.MaxSendMsgSize(operation.MostBody)}
	if window, isSet := windowOf(serving.Knobs); isSet {
		options = append(options, grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(window))
	}
	if config != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(config)))
	}
	server := grpc.NewServer(options...)
	pb.RegisterOrchServer(server, &service{serving: serving})
	return func() error { return server.Serve(serving.Listener) }, nil
}

type service struct {
	pb.UnimplementedOrchServer
	serving *serve.Serving
	peerOf  func(context.Context) *serve.Peer // of a connection that is not grpc-go's; nil where all are
	peers   sync.Map                          // by the address that a connection has, which is the same value for all of its calls
}

func (s *service) peer(ctx context.Context) *serve.Peer {
	if s.peerOf != nil {
		return s.peerOf(ctx)
	}
	from, _ := peer.FromContext(ctx)
	if found, has := s.peers.Load(from.Addr); has {
		return found.(*serve.Peer)
	}
	found, _ := s.peers.LoadOrStore(from.Addr, s.serving.Peer(from.Addr))
	return found.(*serve.Peer)
}

// answer fills the reply to a request; an error is of gRPC.
func (s *service) answer(ctx context.Context, request *operation.Request) (*operation.Reply, error) {
	var reply operation.Reply
	if err := s.peer(ctx).Answer(request, &reply); err != nil {
		return nil, refused(err)
	}
	return &reply, nil
}

func refused(err error) error { return status.Error(codes.InvalidArgument, err.Error()) }

// Identity answers the nonce.
func (s *service) Identity(ctx context.Context, _ *pb.IdentityRequest) (*pb.IdentityReply, error) {
	reply, err := s.answer(ctx, &operation.Request{Kind: operation.Identity})
	if err != nil {
		return nil, err
	}
	return &pb.IdentityReply{Identity: reply.Identity}, nil
}

// Timestamp answers the stamp, and its own.
func (s *service) Timestamp(ctx context.Context, message *pb.TimestampRequest) (*pb.TimestampReply, error) {
	reply, err := s.answer(ctx, &operation.Request{Kind: operation.Timestamp, Stamp: message.GetRequestTimestamp()})
	if err != nil {
		return nil, err
	}
	return &pb.TimestampReply{RequestTimestamp: reply.Stamp, ResponseTimestamp: reply.Response}, nil
}

// Add answers the sum.
func (s *service) Add(ctx context.Context, message *pb.AddRequest) (*pb.AddReply, error) {
	asked := operation.Request{Kind: operation.Add, A: int64(message.GetA()), B: int64(message.GetB())}
	reply, err := s.answer(ctx, &asked)
	if err != nil {
		return nil, err
	}
	if int64(int32(reply.Sum)) != reply.Sum {
		return nil, status.Errorf(codes.OutOfRange, "%d has more than 32 bits", reply.Sum)
	}
	return &pb.AddReply{Sum: int32(reply.Sum)}, nil
}

// Echo answers what it was sent.
func (s *service) Echo(ctx context.Context, message *pb.EchoRequest) (*pb.EchoReply, error) {
	var asked operation.Request
	if err := readEcho(message, &asked); err != nil {
		return nil, refused(err)
	}
	reply, err := s.answer(ctx, &asked)
	if err != nil {
		return nil, err
	}
	made, err := packEchoReply(asked.Kind, reply)
	if err != nil {
		return nil, refused(err)
	}
	return made, nil
}

// Image answers the size of a picture.
func (s *service) Image(ctx context.Context, message *pb.ImageRequest) (*pb.ImageReply, error) {
	asked := operation.Request{Kind: operation.Image, Data: message.GetData(), FullDecode: message.GetFullDecode()}
	reply, err := s.answer(ctx, &asked)
	if err != nil {
		return nil, err
	}
	return &pb.ImageReply{Width: uint32(reply.Width), Height: uint32(reply.Height)}, nil
}

// Transfer answers known bytes.
func (s *service) Transfer(ctx context.Context, message *pb.TransferRequest) (*pb.TransferReply, error) {
	asked := operation.Request{Kind: operation.Transfer, Data: message.GetData(), ReplySize: int64(message.GetReplySize())}
	reply, err := s.answer(ctx, &asked)
	if err != nil {
		return nil, err
	}
	return &pb.TransferReply{Data: reply.Data}, nil
}
