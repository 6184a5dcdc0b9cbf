package unary

import (
	"context"
	"errors"
	"io"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/grpc"

	"orch/internal/contract"
	"orch/internal/link"
	"orch/internal/load"
	"orch/internal/operation"
	pb "orch/internal/orchpb"
	"orch/internal/rpc"
	"orch/internal/web"
)

// Dialer opens connections for connect-go; `most` of them are shared, 0 where each request in flight has one of its own.
func Dialer(opener *link.Opener, knobs map[string]string, most int) load.Dialer {
	client := web.NewClient(opener, nil, knobs, most)
	options := []connect.ClientOption{
		connect.WithReadMaxBytes(operation.MostBody), connect.WithSendMaxBytes(operation.MostBody),
	}
	if knobs["compression"] == "gzip" {
		options = append(options, connect.WithSendGzip())
	} else {
		options = append(options, connect.WithAcceptCompression("gzip", nil, nil))
	}
	return func() (load.Conn, *contract.Failure) {
		made := &conn{Shared: client.Share()}
		made.caller = rpc.NewCaller(stubOf(made, client.Base(), options))
		return made, nil
	}
}

// conn is a connection, and counts the bytes of the bodies of a call.
type conn struct {
	*web.Shared
	caller         *rpc.Caller
	sent, received int64
}

// Call makes a call, and reads every field of its reply.
func (c *conn) Call(request *operation.Request, reply *operation.Reply) *contract.Failure {
	c.sent, c.received = 0, 0
	err := c.caller.Call(context.Background(), request, reply)
	reply.Sent, reply.Received = c.sent, c.received
	if err != nil {
		return failureOf(err)
	}
	return nil
}

// Do is how connect-go sends a request.
func (c *conn) Do(request *http.Request) (*http.Response, error) {
	c.sent = max(0, request.ContentLength)
	came, err := c.Shared.Do(request)
	if err == nil {
		came.Body = &counted{came.Body, &c.received}
	}
	return came, err
}

type counted struct {
	io.ReadCloser
	bytes *int64
}

func (c *counted) Read(into []byte) (int, error) {
	read, err := c.ReadCloser.Read(into)
	*c.bytes += int64(read)
	return read, err
}

// failureOf says an error of a call in the record's words.
func failureOf(err error) *contract.Failure {
	var own *contract.Failure
	if errors.As(err, &own) {
		return own
	}
	var told *connect.Error
	if !errors.As(err, &told) {
		return web.FailureOf(err)
	}
	switch code := told.Code(); {
	case code == connect.CodeDeadlineExceeded:
		return contract.Fail(contract.Timeout, "%v", err)
	case code == connect.CodeCanceled:
		return contract.Fail(contract.Cancelled, "%v", err)
	case connect.IsWireError(err):
		return contract.Fail(contract.Protocol, "%v", err)
	case code == connect.CodeInvalidArgument: // a body that is no such message
		return contract.Fail(contract.Undecodable, "%v", err)
	case code == connect.CodeUnavailable:
		return web.FailureOf(told.Unwrap())
	}
	return contract.Fail(contract.Protocol, "%v", err)
}

// stub has a client of connect-go for each procedure.
type stub struct {
	pb.OrchClient // the streams, which are not carried
	identity      *connect.Client[pb.IdentityRequest, pb.IdentityReply]
	timestamp     *connect.Client[pb.TimestampRequest, pb.TimestampReply]
	add           *connect.Client[pb.AddRequest, pb.AddReply]
	echo          *connect.Client[pb.EchoRequest, pb.EchoReply]
	image         *connect.Client[pb.ImageRequest, pb.ImageReply]
	transfer      *connect.Client[pb.TransferRequest, pb.TransferReply]
	balance       *connect.Client[pb.BalanceRequest, pb.BalanceReply]
	payment       *connect.Client[pb.PaymentRequest, pb.PaymentReply]
	transactions  *connect.Client[pb.TransactionsRequest, pb.TransactionsReply]
	accounts      *connect.Client[pb.AccountsRequest, pb.AccountsReply]
	user          *connect.Client[pb.UserRequest, pb.UserReply]
	posts         *connect.Client[pb.PostsRequest, pb.PostsReply]
	comments      *connect.Client[pb.CommentsRequest, pb.CommentsReply]
	feed          *connect.Client[pb.FeedRequest, pb.FeedReply]
}

func stubOf(doer connect.HTTPClient, base string, options []connect.ClientOption) *stub {
	return &stub{
		identity:     clientOf[pb.IdentityRequest, pb.IdentityReply](doer, base+pb.Orch_Identity_FullMethodName, options),
		timestamp:    clientOf[pb.TimestampRequest, pb.TimestampReply](doer, base+pb.Orch_Timestamp_FullMethodName, options),
		add:          clientOf[pb.AddRequest, pb.AddReply](doer, base+pb.Orch_Add_FullMethodName, options),
		echo:         clientOf[pb.EchoRequest, pb.EchoReply](doer, base+pb.Orch_Echo_FullMethodName, options),
		image:        clientOf[pb.ImageRequest, pb.ImageReply](doer, base+pb.Orch_Image_FullMethodName, options),
		transfer:     clientOf[pb.TransferRequest, pb.TransferReply](doer, base+pb.Orch_Transfer_FullMethodName, options),
		balance:      clientOf[pb.BalanceRequest, pb.BalanceReply](doer, base+pb.Orch_Balance_FullMethodName, options),
		payment:      clientOf[pb.PaymentRequest, pb.PaymentReply](doer, base+pb.Orch_Payment_FullMethodName, options),
		transactions: clientOf[pb.TransactionsRequest, pb.TransactionsReply](doer, base+pb.Orch_Transactions_FullMethodName, options),
		accounts:     clientOf[pb.AccountsRequest, pb.AccountsReply](doer, base+pb.Orch_Accounts_FullMethodName, options),
		user:         clientOf[pb.UserRequest, pb.UserReply](doer, base+pb.Orch_User_FullMethodName, options),
		posts:        clientOf[pb.PostsRequest, pb.PostsReply](doer, base+pb.Orch_Posts_FullMethodName, options),
		comments:     clientOf[pb.CommentsRequest, pb.CommentsReply](doer, base+pb.Orch_Comments_FullMethodName, options),
		feed:         clientOf[pb.FeedRequest, pb.FeedReply](doer, base+pb.Orch_Feed_FullMethodName, options),
	}
}

func clientOf[Asked, Answered any](
	doer connect.HTTPClient, url string, options []connect.ClientOption,
) *connect.Client[Asked, Answered] {
	return connect.NewClient[Asked, Answered](doer, url, options...)
}

func call[Asked, Answered any](
	ctx context.Context, client *connect.Client[Asked, Answered], message *Asked,
) (*Answered, error) {
	came, err := client.CallUnary(ctx, connect.NewRequest(message))
	if err != nil {
		return nil, err
	}
	return came.Msg, nil
}

func (s *stub) Identity(
	ctx context.Context, in *pb.IdentityRequest, _ ...grpc.CallOption,
) (*pb.IdentityReply, error) {
	return call(ctx, s.identity, in)
}

func (s *stub) Timestamp(
	ctx context.Context, in *pb.TimestampRequest, _ ...grpc.CallOption,
) (*pb.TimestampReply, error) {
	return call(ctx, s.timestamp, in)
}

func (s *stub) Add(
	ctx context.Context, in *pb.AddRequest, _ ...grpc.CallOption,
) (*pb.AddReply, error) {
	return call(ctx, s.add, in)
}

func (s *stub) Echo(
	ctx context.Context, in *pb.EchoRequest, _ ...grpc.CallOption,
) (*pb.EchoReply, error) {
	return call(ctx, s.echo, in)
}

func (s *stub) Image(
	ctx context.Context, in *pb.ImageRequest, _ ...grpc.CallOption,
) (*pb.ImageReply, error) {
	return call(ctx, s.image, in)
}

func (s *stub) Transfer(
	ctx context.Context, in *pb.TransferRequest, _ ...grpc.CallOption,
) (*pb.TransferReply, error) {
	return call(ctx, s.transfer, in)
}

func (s *stub) Balance(
	ctx context.Context, in *pb.BalanceRequest, _ ...grpc.CallOption,
) (*pb.BalanceReply, error) {
	return call(ctx, s.balance, in)
}

func (s *stub) Payment(
	ctx context.Context, in *pb.PaymentRequest, _ ...grpc.CallOption,
) (*pb.PaymentReply, error) {
	return call(ctx, s.payment, in)
}

func (s *stub) Transactions(
	ctx context.Context, in *pb.TransactionsRequest, _ ...grpc.CallOption,
) (*pb.TransactionsReply, error) {
	return call(ctx, s.transactions, in)
}

func (s *stub) Accounts(
	ctx context.Context, in *pb.AccountsRequest, _ ...grpc.CallOption,
) (*pb.AccountsReply, error) {
	return call(ctx, s.accounts, in)
}

func (s *stub) User(
	ctx context.Context, in *pb.UserRequest, _ ...grpc.CallOption,
) (*pb.UserReply, error) {
	return call(ctx, s.user, in)
}

func (s *stub) Posts(
	ctx context.Context, in *pb.PostsRequest, _ ...grpc.CallOption,
) (*pb.PostsReply, error) {
	return call(ctx, s.posts, in)
}

func (s *stub) Comments(
	ctx context.Context, in *pb.CommentsRequest, _ ...grpc.CallOption,
) (*pb.CommentsReply, error) {
	return call(ctx, s.comments, in)
}

func (s *stub) Feed(
	ctx context.Context, in *pb.FeedRequest, _ ...grpc.CallOption,
) (*pb.FeedReply, error) {
	return call(ctx, s.feed, in)
}
