// Package unary speaks Connect's unary calls by connect-go: the procedures and messages of gRPC as HTTP bodies.
package unary

import (
	"context"
	"errors"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/grpc/status"

	"orch/internal/operation"
	pb "orch/internal/orchpb"
	"orch/internal/rpc"
	"orch/internal/serve"
	"orch/internal/web"
)

// Serve answers calls.
func Serve(serving *serve.Serving) (func() error, error) {
	service := rpc.NewService(serving, web.PeerIn)
	options := []connect.HandlerOption{
		connect.WithReadMaxBytes(operation.MostBody), connect.WithSendMaxBytes(operation.MostBody),
	}
	if serving.Knobs["compression"] != "gzip" {
		options = append(options, connect.WithCompression("gzip", nil, nil))
	}
	calls := http.NewServeMux()
	handle(calls, pb.Orch_Identity_FullMethodName, service.Identity, options)
	handle(calls, pb.Orch_Timestamp_FullMethodName, service.Timestamp, options)
	handle(calls, pb.Orch_Add_FullMethodName, service.Add, options)
	handle(calls, pb.Orch_Echo_FullMethodName, service.Echo, options)
	handle(calls, pb.Orch_Image_FullMethodName, service.Image, options)
	handle(calls, pb.Orch_Transfer_FullMethodName, service.Transfer, options)
	handle(calls, pb.Orch_Balance_FullMethodName, service.Balance, options)
	handle(calls, pb.Orch_Payment_FullMethodName, service.Payment, options)
	handle(calls, pb.Orch_Transactions_FullMethodName, service.Transactions, options)
	handle(calls, pb.Orch_Accounts_FullMethodName, service.Accounts, options)
	handle(calls, pb.Orch_User_FullMethodName, service.User, options)
	handle(calls, pb.Orch_Posts_FullMethodName, service.Posts, options)
	handle(calls, pb.Orch_Comments_FullMethodName, service.Comments, options)
	handle(calls, pb.Orch_Feed_FullMethodName, service.Feed, options)
	return web.Serve(serving, calls)
}

func handle[Asked, Answered any](
	calls *http.ServeMux, procedure string, answer func(context.Context, *Asked) (*Answered, error),
	options []connect.HandlerOption,
) {
	call := func(ctx context.Context, asked *connect.Request[Asked]) (*connect.Response[Answered], error) {
		reply, err := answer(ctx, asked.Msg)
		if err != nil {
			told := status.Convert(err)
			return nil, connect.NewError(connect.Code(told.Code()), errors.New(told.Message()))
		}
		return connect.NewResponse(reply), nil
	}
	calls.Handle(procedure, connect.NewUnaryHandler(procedure, call, options...))
}
