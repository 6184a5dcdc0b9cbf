package generator

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"sync"
)

// What stands in the tables of protos/store.md.
const (
	AccountCount     = 10_000
	TransactionCount = 100_000
	MostBalance      = 1<<31 - 1 // cents
	AccountsDigest   = "7de8a7bcc3f115260663794a9a63263803263c1c1bd3eea0b92863d644cca464"
)

// Prepared is how many requests of an operation over rows are made; then they come again.
const Prepared = 1024

// Account is a row: its number from 1, its owner, and its balance in cents.
type Account struct {
	Account int64  `json:"account"`
	Owner   string `json:"owner"`
	Balance int64  `json:"balance"`
}

// Transaction is a row: its number from 1, two accounts, and an amount in cents.
type Transaction struct {
	Number int64 `json:"number"`
	Payer  int64 `json:"payer"`
	Payee  int64 `json:"payee"`
	Amount int64 `json:"amount"`
}

// Accounts are all accounts as seeded, by number. Nobody may change them.
var Accounts = sync.OnceValue(func() []Account {
	drawn := words("accounts", 3*AccountCount)
	found := make([]Account, AccountCount)
	for place := range found {
		w := drawn[3*place:]
		found[place] = Account{int64(place + 1), twoWords(w[0], w[1]), 10_000 + below(w[2], 990_000)}
	}
	return found
})

// Transactions are all transactions as seeded, by number. Nobody may change them.
var Transactions = sync.OnceValue(func() []Transaction {
	drawn := words("transactions", 3*TransactionCount)
	found := make([]Transaction, TransactionCount)
	for place := range found {
		w := drawn[3*place:]
		payer, payee := pair(w[0], w[1])
		found[place] = Transaction{int64(place + 1), payer, payee, 1 + below(w[2], 10_000)}
	}
	return found
})

// TransactionsOf are the seeded transactions of each payer, newest first; those of account n at place n.
var TransactionsOf = sync.OnceValue(func() [][]Transaction {
	return newestFirst(Transactions(), AccountCount, func(row *Transaction) int64 { return row.Payer })
})

// pair gives two accounts that are not the same one.
func pair(first, second uint32) (payer, payee int64) {
	at := below(first, AccountCount)
	return at + 1, (at+1+below(second, AccountCount-1))%AccountCount + 1
}

func twoWords(first, second uint32) string {
	return dictionary[below(first, 12)] + " " + dictionary[below(second, 12)]
}

// newestFirst sorts rows by a key from 1 to most, those with the greatest number first.
func newestFirst[Row any](rows []Row, most int, key func(*Row) int64) [][]Row {
	found := make([][]Row, most+1)
	for place := len(rows) - 1; place >= 0; place-- {
		of := key(&rows[place])
		found[of] = append(found[of], rows[place])
	}
	return found
}

// Line is a row as text: its fields with tabs between them, and a line feed.
func (a *Account) Line() string {
	return strconv.FormatInt(a.Account, 10) + "\t" + a.Owner + "\t" + strconv.FormatInt(a.Balance, 10) + "\n"
}

// Line is a row as text: its fields with tabs between them, and a line feed.
func (t *Transaction) Line() string {
	return fmt.Sprintf("%d\t%d\t%d\t%d\n", t.Number, t.Payer, t.Payee, t.Amount)
}

// DigestOf is the SHA-256 of tables as text, hexadecimal.
func DigestOf(tables ...[]byte) string {
	whole := sha256.New()
	for _, table := range tables {
		whole.Write(table)
	}
	return hex.EncodeToString(whole.Sum(nil))
}

// Asked is a request of an operation over accounts; what it does not carry is 0.
type Asked struct{ Account, Payer, Payee, Amount, After, Count int64 }

// AskedAccounts are the requests of `balance`, `payment`, `transactions` or `accounts`; a request carries that of its
// sequence modulo Prepared.
func AskedAccounts(operation string, seed int64) []Asked {
	each := 1
	if operation == "payment" {
		each = 3
	}
	drawn := words(fmt.Sprintf("%s/%d", operation, seed), each*Prepared)
	found := make([]Asked, Prepared)
	for place := range found {
		w, made := drawn[each*place:], &found[place]
		number := below(w[0], AccountCount)
		switch operation {
		case "balance":
			made.Account = 1 + number
		case "payment":
			made.Payer, made.Payee = pair(w[0], w[1])
			made.Amount = 1 + below(w[2], 100)
		case "transactions":
			made.Account, made.Count = 1+number, 10
		case "accounts":
			made.After, made.Count = number, 50
		}
	}
	return found
}
