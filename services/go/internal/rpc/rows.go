package rpc

import (
	"context"
	"fmt"

	"orch/internal/generator"
	"orch/internal/operation"
	pb "orch/internal/orchpb"
)

// callRows makes a call of an operation over rows, and reads every field of its reply.
func (c *conn) callRows(ctx context.Context, request *operation.Request) (*operation.Rows, error) {
	rows := new(operation.Rows)
	switch request.Kind {
	case operation.Balance:
		came, err := c.stub.Balance(ctx, &pb.BalanceRequest{Account: int32(request.Account)})
		rows.Account = generator.Account{
			Account: int64(came.GetAccount()), Owner: came.GetOwner(), Balance: int64(came.GetBalance()),
		}
		return rows, err
	case operation.Payment:
		came, err := c.stub.Payment(ctx, &pb.PaymentRequest{
			Payer: int32(request.Payer), Payee: int32(request.Payee), Amount: int32(request.Amount),
		})
		rows.Payment = operation.Made{
			Accepted: came.GetAccepted(), Number: int64(came.GetPayment()), Balance: int64(came.GetBalance()),
		}
		return rows, err
	case operation.Transactions:
		came, err := c.stub.Transactions(ctx, &pb.TransactionsRequest{
			Account: int32(request.Account), Count: int32(request.Count),
		})
		rows.Transactions = readTransactions(came.GetTransactions())
		return rows, err
	case operation.Accounts:
		came, err := c.stub.Accounts(ctx, &pb.AccountsRequest{After: int32(request.After), Count: int32(request.Count)})
		rows.Accounts = readAccounts(came.GetAccounts())
		return rows, err
	case operation.User:
		came, err := c.stub.User(ctx, &pb.UserRequest{User: int32(request.User)})
		rows.User = generator.User{
			User: int64(came.GetUser()), Name: came.GetName(), About: came.GetAbout(), Joined: int64(came.GetJoined()),
		}
		return rows, err
	case operation.Posts:
		came, err := c.stub.Posts(ctx, &pb.PostsRequest{User: int32(request.User), Count: int32(request.Count)})
		rows.Posts = readPosts(came.GetPosts())
		return rows, err
	case operation.Comments:
		came, err := c.stub.Comments(ctx, &pb.CommentsRequest{
			User: int32(request.User), Count: int32(request.Count), Each: int32(request.Each),
		})
		rows.Comments = readComments(came.GetComments())
		return rows, err
	case operation.Feed:
		came, err := c.stub.Feed(ctx, &pb.FeedRequest{
			User: int32(request.User), Count: int32(request.Count), Each: int32(request.Each),
		})
		rows.User = generator.User{
			User: int64(came.GetUser()), Name: came.GetName(), About: came.GetAbout(), Joined: int64(came.GetJoined()),
		}
		rows.Posts, rows.Comments = readPosts(came.GetPosts()), readComments(came.GetComments())
		return rows, err
	}
	return nil, fmt.Errorf("%s is of no rows", request.Kind)
}

func readTransactions(items []*pb.Transaction) []generator.Transaction {
	found := make([]generator.Transaction, len(items))
	for place, item := range items {
		found[place] = generator.Transaction{
			Number: int64(item.GetNumber()), Payer: int64(item.GetPayer()), Payee: int64(item.GetPayee()),
			Amount: int64(item.GetAmount()),
		}
	}
	return found
}

func readAccounts(items []*pb.Account) []generator.Account {
	found := make([]generator.Account, len(items))
	for place, item := range items {
		found[place] = generator.Account{
			Account: int64(item.GetAccount()), Owner: item.GetOwner(), Balance: int64(item.GetBalance()),
		}
	}
	return found
}

func readPosts(items []*pb.Post) []generator.Post {
	found := make([]generator.Post, len(items))
	for place, item := range items {
		found[place] = generator.Post{
			Post: int64(item.GetPost()), Author: int64(item.GetAuthor()), Title: item.GetTitle(), Text: item.GetText(),
			Likes: int64(item.GetLikes()),
		}
	}
	return found
}

func readComments(items []*pb.Comment) []generator.Comment {
	found := make([]generator.Comment, len(items))
	for place, item := range items {
		found[place] = generator.Comment{
			Comment: int64(item.GetComment()), Post: int64(item.GetPost()), Author: int64(item.GetAuthor()),
			Text: item.GetText(),
		}
	}
	return found
}

func packPosts(rows []generator.Post) []*pb.Post {
	made := make([]*pb.Post, len(rows))
	for place := range rows {
		row := &rows[place]
		made[place] = &pb.Post{
			Post: int32(row.Post), Author: int32(row.Author), Title: row.Title, Text: row.Text, Likes: int32(row.Likes),
		}
	}
	return made
}

func packComments(rows []generator.Comment) []*pb.Comment {
	made := make([]*pb.Comment, len(rows))
	for place := range rows {
		row := &rows[place]
		made[place] = &pb.Comment{
			Comment: int32(row.Comment), Post: int32(row.Post), Author: int32(row.Author), Text: row.Text,
		}
	}
	return made
}

// rows gives what a request over rows is answered with; an error is of gRPC.
func (s *service) rows(ctx context.Context, request operation.Request) (*operation.Rows, error) {
	reply, err := s.answer(ctx, &request)
	if err != nil {
		return nil, err
	}
	return reply.Rows, nil
}

// Balance answers an account.
func (s *service) Balance(ctx context.Context, message *pb.BalanceRequest) (*pb.BalanceReply, error) {
	found, err := s.rows(ctx, operation.Request{Kind: operation.Balance, Account: int64(message.GetAccount())})
	if err != nil {
		return nil, err
	}
	row := &found.Account
	return &pb.BalanceReply{Account: int32(row.Account), Owner: row.Owner, Balance: int32(row.Balance)}, nil
}

// Payment answers what came of a payment.
func (s *service) Payment(ctx context.Context, message *pb.PaymentRequest) (*pb.PaymentReply, error) {
	found, err := s.rows(ctx, operation.Request{
		Kind: operation.Payment, Payer: int64(message.GetPayer()), Payee: int64(message.GetPayee()),
		Amount: int64(message.GetAmount()),
	})
	if err != nil {
		return nil, err
	}
	made := &found.Payment
	return &pb.PaymentReply{Accepted: made.Accepted, Payment: int32(made.Number), Balance: int32(made.Balance)}, nil
}

// Transactions answers the last transactions of an account.
func (s *service) Transactions(ctx context.Context, message *pb.TransactionsRequest) (*pb.TransactionsReply, error) {
	found, err := s.rows(ctx, operation.Request{
		Kind: operation.Transactions, Account: int64(message.GetAccount()), Count: int64(message.GetCount()),
	})
	if err != nil {
		return nil, err
	}
	made := make([]*pb.Transaction, len(found.Transactions))
	for place := range found.Transactions {
		row := &found.Transactions[place]
		made[place] = &pb.Transaction{
			Number: int32(row.Number), Payer: int32(row.Payer), Payee: int32(row.Payee), Amount: int32(row.Amount),
		}
	}
	return &pb.TransactionsReply{Transactions: made}, nil
}

// Accounts answers a page of accounts.
func (s *service) Accounts(ctx context.Context, message *pb.AccountsRequest) (*pb.AccountsReply, error) {
	found, err := s.rows(ctx, operation.Request{
		Kind: operation.Accounts, After: int64(message.GetAfter()), Count: int64(message.GetCount()),
	})
	if err != nil {
		return nil, err
	}
	made := make([]*pb.Account, len(found.Accounts))
	for place := range found.Accounts {
		row := &found.Accounts[place]
		made[place] = &pb.Account{Account: int32(row.Account), Owner: row.Owner, Balance: int32(row.Balance)}
	}
	return &pb.AccountsReply{Accounts: made}, nil
}

// User answers a user.
func (s *service) User(ctx context.Context, message *pb.UserRequest) (*pb.UserReply, error) {
	found, err := s.rows(ctx, operation.Request{Kind: operation.User, User: int64(message.GetUser())})
	if err != nil {
		return nil, err
	}
	row := &found.User
	return &pb.UserReply{User: int32(row.User), Name: row.Name, About: row.About, Joined: int32(row.Joined)}, nil
}

// Posts answers the last posts of a user.
func (s *service) Posts(ctx context.Context, message *pb.PostsRequest) (*pb.PostsReply, error) {
	found, err := s.rows(ctx, operation.Request{
		Kind: operation.Posts, User: int64(message.GetUser()), Count: int64(message.GetCount()),
	})
	if err != nil {
		return nil, err
	}
	return &pb.PostsReply{Posts: packPosts(found.Posts)}, nil
}

// Comments answers the last comments under a user's last posts.
func (s *service) Comments(ctx context.Context, message *pb.CommentsRequest) (*pb.CommentsReply, error) {
	found, err := s.rows(ctx, operation.Request{
		Kind: operation.Comments, User: int64(message.GetUser()), Count: int64(message.GetCount()),
		Each: int64(message.GetEach()),
	})
	if err != nil {
		return nil, err
	}
	return &pb.CommentsReply{Comments: packComments(found.Comments)}, nil
}

// Feed answers a page of all three.
func (s *service) Feed(ctx context.Context, message *pb.FeedRequest) (*pb.FeedReply, error) {
	found, err := s.rows(ctx, operation.Request{
		Kind: operation.Feed, User: int64(message.GetUser()), Count: int64(message.GetCount()), Each: int64(message.GetEach()),
	})
	if err != nil {
		return nil, err
	}
	row := &found.User
	return &pb.FeedReply{
		User: int32(row.User), Name: row.Name, About: row.About, Joined: int32(row.Joined),
		Posts: packPosts(found.Posts), Comments: packComments(found.Comments),
	}, nil
}
