package store

import (
	"fmt"
	"slices"
	"sync"

	"orch/internal/generator"
	"orch/internal/operation"
)

// accounts has accounts and transactions in this process's memory.
type accounts struct {
	mutex    sync.RWMutex
	accounts []generator.Account
	paid     map[int64][]generator.Transaction // since the start, oldest first
	number   int64
}

// newAccounts makes all rows, as they are seeded.
func newAccounts() *accounts {
	generator.TransactionsOf()
	return &accounts{
		accounts: slices.Clone(generator.Accounts()), paid: map[int64][]generator.Transaction{},
		number: generator.TransactionCount,
	}
}

func (a *accounts) close() {}

func (a *accounts) answer(request *operation.Request, rows *operation.Rows, _ *spent) (err error) {
	switch request.Kind {
	case operation.Balance:
		rows.Account, err = a.account(request.Account)
	case operation.Payment:
		rows.Payment, err = a.pay(request.Payer, request.Payee, request.Amount)
	case operation.Transactions:
		rows.Transactions = a.last(request.Account, request.Count)
	case operation.Accounts:
		rows.Accounts = a.page(request.After, request.Count)
	}
	return err
}

func missing(number int64) error { return fmt.Errorf("there is no account %d", number) }

func overflowing(payee int64) error {
	return fmt.Errorf("the balance of account %d would exceed what 32 bits hold", payee)
}

func (a *accounts) account(number int64) (generator.Account, error) {
	if number < 1 || number > generator.AccountCount {
		return generator.Account{}, missing(number)
	}
	a.mutex.RLock()
	defer a.mutex.RUnlock()
	return a.accounts[number-1], nil
}

func (a *accounts) pay(payer, payee, amount int64) (operation.Made, error) {
	for _, number := range []int64{payer, payee} {
		if number < 1 || number > generator.AccountCount {
			return operation.Made{}, missing(number)
		}
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	from, to := &a.accounts[payer-1], &a.accounts[payee-1]
	if from.Balance < amount {
		return operation.Made{Balance: from.Balance}, nil
	}
	if amount > generator.MostBalance-to.Balance {
		return operation.Made{}, overflowing(payee)
	}
	from.Balance -= amount
	to.Balance += amount
	a.number++
	entered := generator.Transaction{Number: a.number, Payer: payer, Payee: payee, Amount: amount}
	a.paid[payer] = append(a.paid[payer], entered)
	return operation.Made{Accepted: true, Number: a.number, Balance: from.Balance}, nil
}

func (a *accounts) last(payer, count int64) []generator.Transaction {
	if payer < 1 || payer > generator.AccountCount {
		return []generator.Transaction{}
	}
	found := make([]generator.Transaction, 0, min(count, 64))
	a.mutex.RLock()
	paid := a.paid[payer]
	for place := len(paid) - 1; place >= 0 && int64(len(found)) < count; place-- {
		found = append(found, paid[place])
	}
	a.mutex.RUnlock()
	seeded := generator.TransactionsOf()[payer]
	return append(found, seeded[:min(count-int64(len(found)), int64(len(seeded)))]...)
}

func (a *accounts) page(after, count int64) []generator.Account {
	first := min(max(after, 0), generator.AccountCount)
	a.mutex.RLock()
	defer a.mutex.RUnlock()
	return append([]generator.Account{}, a.accounts[first:min(first+count, generator.AccountCount)]...)
}

// posts has users, posts and comments in this process's memory. Nobody writes to them.
type posts struct{}

func newPosts() *posts {
	generator.Users()
	generator.PostsOf()
	generator.CommentsUnder()
	return &posts{}
}

func (p *posts) close() {}

// answer counts what would be queries of a database.
func (p *posts) answer(request *operation.Request, rows *operation.Rows, spent *spent) error {
	if request.Kind == operation.User || request.Kind == operation.Feed {
		rows.User = generator.Users()[request.User-1]
		spent.queries++
	}
	if request.Kind == operation.Posts || request.Kind == operation.Feed {
		rows.Posts = generator.LastPosts(request.User, request.Count)
		spent.queries++
	}
	if request.Kind == operation.Comments || request.Kind == operation.Feed {
		rows.Comments = generator.LastComments(generator.LastPosts(request.User, request.Count), request.Each)
		spent.queries++
	}
	return nil
}
