package operation

import (
	"fmt"
	"slices"

	"orch/internal/generator"
)

// Limits of what can be asked of rows (protos/store.md, protos/posts.md).
const (
	MostRows = 1_000
	MostPage = 100
)

// Made says what came of a payment: its number, 0 where it was declined, and what the payer has then.
type Made struct {
	Accepted bool
	Number   int64
	Balance  int64
}

// Rows are what an operation over rows is answered with; the request's kind says which of them are in use.
type Rows struct {
	Account      generator.Account
	Payment      Made
	Transactions []generator.Transaction
	Accounts     []generator.Account
	User         generator.User
	Posts        []generator.Post
	Comments     []generator.Comment
}

// KindOfRows gives the form of an operation over rows.
func KindOfRows(name string) (Kind, bool) {
	for kind := Balance; kind <= Feed; kind++ {
		if names[kind] == name {
			return kind, true
		}
	}
	return 0, false
}

// IsOfRows tells whether a store answers such requests.
func (k Kind) IsOfRows() bool { return Balance <= k && k <= Feed }

// IsOfPosts tells whether users, posts and comments are asked, and no accounts.
func (k Kind) IsOfPosts() bool { return User <= k && k <= Feed }

// rowRequests makes the requests of an operation over rows.
func rowRequests(kind Kind, seed int64) Make {
	made := make([]Request, generator.Prepared)
	if kind.IsOfPosts() {
		for place, user := range generator.AskedUsers(seed) {
			made[place] = Request{Kind: kind, User: user}
			if kind != User {
				made[place].Count = generator.PagePosts
			}
			if kind == Comments || kind == Feed {
				made[place].Each = generator.PageComments
			}
		}
	} else {
		for place, asked := range generator.AskedAccounts(kind.String(), seed) {
			made[place] = Request{
				Kind: kind, Account: asked.Account, Payer: asked.Payer, Payee: asked.Payee, Amount: asked.Amount,
				After: asked.After, Count: asked.Count,
			}
		}
	}
	return func(sequence int64, _ *Request) *Request { return &made[sequence%generator.Prepared] }
}

// CheckRows says why a request over rows asks for what there is not, whatever the rows are.
func (r *Request) CheckRows() error {
	switch r.Kind {
	case Payment:
		if r.Payer == r.Payee {
			return fmt.Errorf("account %d cannot pay itself", r.Payer)
		}
		if r.Amount < 1 {
			return fmt.Errorf("an amount is above 0 cents, not %d", r.Amount)
		}
	case Transactions, Accounts:
		return within("count", r.Count, MostRows)
	case User, Posts, Comments, Feed:
		if err := within("user", r.User, generator.UserCount); err != nil {
			return err
		}
		if r.Kind != User {
			if err := within("count", r.Count, MostPage); err != nil {
				return err
			}
		}
		if r.Kind == Comments || r.Kind == Feed {
			return within("each", r.Each, MostPage)
		}
	}
	return nil
}

func within(name string, value, most int64) error {
	if value < 1 || value > most {
		return fmt.Errorf("`%s` is a whole number from 1 to %d, not %d", name, most, value)
	}
	return nil
}

// mistakeOfRows says why these are not the rows that a request asks for, as they are seeded; "" where they are.
func mistakeOfRows(request *Request, rows *Rows) string {
	if rows == nil {
		return fmt.Sprintf("%s came back without rows", request.Kind)
	}
	switch request.Kind {
	case Balance:
		if wanted := generator.Accounts()[request.Account-1]; rows.Account != wanted {
			return fmt.Sprintf("account %d came back as %.100v, not %v", request.Account, rows.Account, wanted)
		}
	case Payment:
		if !mayBe(request, &rows.Payment) {
			return fmt.Sprintf("a payment of %d cents came back as %+v", request.Amount, rows.Payment)
		}
	case Transactions:
		of := generator.TransactionsOf()[request.Account]
		return unlike("the last transactions of account", request.Account, of[:min(request.Count, int64(len(of)))],
			rows.Transactions)
	case Accounts:
		of := generator.Accounts()[request.After:]
		return unlike("the accounts after", request.After, of[:min(request.Count, int64(len(of)))], rows.Accounts)
	}
	if request.Kind == User || request.Kind == Feed {
		if wanted := generator.Users()[request.User-1]; rows.User != wanted {
			return fmt.Sprintf("user %d came back as %.100v", request.User, rows.User)
		}
	}
	posts := generator.LastPosts(request.User, request.Count)
	if request.Kind == Posts || request.Kind == Feed {
		if mistake := unlike("posts of user", request.User, posts, rows.Posts); mistake != "" {
			return mistake
		}
	}
	if request.Kind == Comments || request.Kind == Feed {
		return unlike("comments for user", request.User, generator.LastComments(posts, request.Each), rows.Comments)
	}
	return ""
}

// mayBe tells whether there can be such a payment: what it leaves depends on those before it.
func mayBe(request *Request, made *Made) bool {
	if made.Accepted {
		return made.Number > generator.TransactionCount && made.Balance >= 0 && made.Balance <= generator.MostBalance
	}
	return made.Number == 0 && made.Balance >= 0 && made.Balance < request.Amount
}

// unlike says why rows are not those that were wanted, in their order; "" where they are.
func unlike[Row comparable](what string, of int64, wanted, came []Row) string {
	if len(came) != len(wanted) {
		return fmt.Sprintf("%s %d: %d rows, not %d", what, of, len(came), len(wanted))
	}
	if slices.Equal(wanted, came) {
		return ""
	}
	for place := range wanted {
		if wanted[place] != came[place] {
			return fmt.Sprintf("%s %d: row %d came back as %.100v, not %.100v", what, of, place+1, came[place], wanted[place])
		}
	}
	return ""
}

const rowBytes = 80 // of one with its owner, about

func (r *Rows) footprint() int64 {
	size := int64(300 + len(r.User.Name) + len(r.User.About) + len(r.Account.Owner))
	size += int64(32*len(r.Transactions) + rowBytes*len(r.Accounts))
	for place := range r.Posts {
		size += int64(rowBytes + len(r.Posts[place].Title) + len(r.Posts[place].Text))
	}
	for place := range r.Comments {
		size += int64(rowBytes + len(r.Comments[place].Text))
	}
	return size
}
