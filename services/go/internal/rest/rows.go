package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"orch/internal/generator"
	"orch/internal/operation"
)

// asked has the fields of the requests of all operations over rows.
type asked struct {
	Account *int64 `json:"account"`
	Payer   *int64 `json:"payer"`
	Payee   *int64 `json:"payee"`
	Amount  *int64 `json:"amount"`
	After   *int64 `json:"after"`
	User    *int64 `json:"user"`
	Count   *int64 `json:"count"`
	Each    *int64 `json:"each"`
}

type (
	askedAccount struct {
		Account int64 `json:"account"`
	}
	askedPayment struct {
		Payer  int64 `json:"payer"`
		Payee  int64 `json:"payee"`
		Amount int64 `json:"amount"`
	}
	askedTransactions struct {
		Account int64 `json:"account"`
		Count   int64 `json:"count"`
	}
	askedAccounts struct {
		After int64 `json:"after"`
		Count int64 `json:"count"`
	}
	askedUser struct {
		User int64 `json:"user"`
	}
	askedPosts struct {
		User  int64 `json:"user"`
		Count int64 `json:"count"`
	}
	askedPage struct {
		User  int64 `json:"user"`
		Count int64 `json:"count"`
		Each  int64 `json:"each"`
	}
)

// requestOfRows encodes a request.
func requestOfRows(request *operation.Request) ([]byte, error) {
	switch request.Kind {
	case operation.Balance:
		return json.Marshal(askedAccount{request.Account})
	case operation.Payment:
		return json.Marshal(askedPayment{request.Payer, request.Payee, request.Amount})
	case operation.Transactions:
		return json.Marshal(askedTransactions{request.Account, request.Count})
	case operation.Accounts:
		return json.Marshal(askedAccounts{request.After, request.Count})
	case operation.User:
		return json.Marshal(askedUser{request.User})
	case operation.Posts:
		return json.Marshal(askedPosts{request.User, request.Count})
	}
	return json.Marshal(askedPage{request.User, request.Count, request.Each})
}

// readRows decodes a request.
func readRows(kind operation.Kind, body []byte, into *operation.Request) error {
	var found asked
	if err := json.Unmarshal(body, &found); err != nil {
		return err
	}
	switch kind {
	case operation.Balance:
		return fields(field{found.Account, &into.Account})
	case operation.Payment:
		return fields(field{found.Payer, &into.Payer}, field{found.Payee, &into.Payee}, field{found.Amount, &into.Amount})
	case operation.Transactions:
		return fields(field{found.Account, &into.Account}, field{found.Count, &into.Count})
	case operation.Accounts:
		return fields(field{found.After, &into.After}, field{found.Count, &into.Count})
	case operation.User:
		return fields(field{found.User, &into.User})
	case operation.Posts:
		return fields(field{found.User, &into.User}, field{found.Count, &into.Count})
	}
	return fields(field{found.User, &into.User}, field{found.Count, &into.Count}, field{found.Each, &into.Each})
}

type field struct{ from, to *int64 }

// fields takes whole numbers over; an error where one is missing, or has more than 32 bits.
func fields(each ...field) error {
	for _, one := range each {
		if one.from == nil {
			return errMissing
		}
		if err := in32Bits(*one.from); err != nil {
			return err
		}
		*one.to = *one.from
	}
	return nil
}

type (
	account struct {
		Account *int64  `json:"account"`
		Owner   *string `json:"owner"`
		Balance *int64  `json:"balance"`
	}
	payment struct {
		Accepted *bool  `json:"accepted"`
		Payment  *int64 `json:"payment"`
		Balance  *int64 `json:"balance"`
	}
	transactions struct {
		Transactions []generator.Transaction `json:"transactions"`
	}
	accounts struct {
		Accounts []generator.Account `json:"accounts"`
	}
	user struct {
		User   *int64  `json:"user"`
		Name   *string `json:"name"`
		About  *string `json:"about"`
		Joined *int64  `json:"joined"`
	}
	posts struct {
		Posts []generator.Post `json:"posts"`
	}
	comments struct {
		Comments []generator.Comment `json:"comments"`
	}
	feed struct {
		user
		posts
		comments
	}
)

// writeRows encodes a reply.
func writeRows(kind operation.Kind, rows *operation.Rows) ([]byte, error) {
	switch kind {
	case operation.Balance:
		return operation.Compact(&rows.Account)
	case operation.Payment:
		made := &rows.Payment
		return json.Marshal(payment{&made.Accepted, &made.Number, &made.Balance})
	case operation.Transactions:
		return json.Marshal(transactions{rows.Transactions})
	case operation.Accounts:
		return operation.Compact(accounts{rows.Accounts})
	case operation.User:
		return operation.Compact(&rows.User)
	case operation.Posts:
		return operation.Compact(posts{rows.Posts})
	case operation.Comments:
		return operation.Compact(comments{rows.Comments})
	}
	of := &rows.User
	return operation.Compact(feed{
		user{&of.User, &of.Name, &of.About, &of.Joined}, posts{rows.Posts}, comments{rows.Comments},
	})
}

// replyOfRows decodes a reply. A field that is not the operation's is an error, as pages are compared by what they carry.
func replyOfRows(kind operation.Kind, body []byte, reply *operation.Reply) (err error) {
	rows := new(operation.Rows)
	reply.Rows = rows
	isWhole := true
	switch kind {
	case operation.Balance:
		var found account
		err = decode(body, &found)
		if isWhole = found.Account != nil && found.Owner != nil && found.Balance != nil; isWhole {
			rows.Account = generator.Account{Account: *found.Account, Owner: *found.Owner, Balance: *found.Balance}
		}
	case operation.Payment:
		var found payment
		err = decode(body, &found)
		if isWhole = found.Accepted != nil && found.Payment != nil && found.Balance != nil; isWhole {
			rows.Payment = operation.Made{Accepted: *found.Accepted, Number: *found.Payment, Balance: *found.Balance}
		}
	case operation.Transactions:
		var found transactions
		err = decode(body, &found)
		rows.Transactions, isWhole = found.Transactions, found.Transactions != nil
	case operation.Accounts:
		var found accounts
		err = decode(body, &found)
		rows.Accounts, isWhole = found.Accounts, found.Accounts != nil
	case operation.User:
		var found user
		err = decode(body, &found)
		isWhole = found.into(&rows.User)
	case operation.Posts:
		var found posts
		err = decode(body, &found)
		rows.Posts, isWhole = found.Posts, found.Posts != nil
	case operation.Comments:
		var found comments
		err = decode(body, &found)
		rows.Comments, isWhole = found.Comments, found.Comments != nil
	case operation.Feed:
		var found feed
		err = decode(body, &found)
		rows.Posts, rows.Comments = found.Posts, found.Comments
		isWhole = found.into(&rows.User) && found.Posts != nil && found.Comments != nil
	default:
		err = fmt.Errorf("rest does not carry %s", kind)
	}
	if err == nil && !isWhole {
		err = errMissing
	}
	return err
}

func (u *user) into(row *generator.User) bool {
	if u.User == nil || u.Name == nil || u.About == nil || u.Joined == nil {
		return false
	}
	*row = generator.User{User: *u.User, Name: *u.Name, About: *u.About, Joined: *u.Joined}
	return true
}

// decode reads one JSON value without unknown fields.
func decode(body []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}
