package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"orch/internal/generator"
	"orch/internal/operation"
	"orch/internal/probe"
)

const driverPgx = "pgx"

// How long a request waits for a connection of the pool and the database, how long opening the pool may take, and when a server
// that is full is asked again.
const (
	patience = 30 * time.Second
	opening  = 20 * time.Second
	askAgain = 100 * time.Millisecond
	leaving  = 4 * time.Second // who asked before has left by then
)

// Statements of requests.
const (
	selectAccount = "SELECT account, owner, balance FROM orch_store.accounts WHERE account = $1"
	selectPage    = "SELECT account, owner, balance FROM orch_store.accounts WHERE account > $1 ORDER BY account LIMIT $2"
	selectLast    = "SELECT number, payer, payee, amount FROM orch_store.transactions WHERE payer = $1" +
		" ORDER BY number DESC LIMIT $2"
	lockBoth = "SELECT account, balance FROM orch_store.accounts WHERE account IN ($1, $2) ORDER BY account FOR UPDATE"
	take     = "UPDATE orch_store.accounts SET balance = balance - $1 WHERE account = $2"
	give     = "UPDATE orch_store.accounts SET balance = balance + $1 WHERE account = $2"
	enter    = "INSERT INTO orch_store.transactions (payer, payee, amount) VALUES ($1, $2, $3) RETURNING number"
)

var errElsewhere = errors.New(
	"a connection of the pool leads to another server or database than the one that was seeded and verified")

// postgreSQL is asked by pgx and its pool; requests wait for a connection in turn.
type postgreSQL struct {
	held *database
	pool *pgxpool.Pool
}

// openPostgreSQL opens the store in a database as seeded, made where it is not there, with all connections of the pool.
func openPostgreSQL(dsn string, size int) (*Held, error) {
	config, where, err := readAddress(dsn)
	if err != nil {
		return nil, err
	}
	held, err := hold(config.ConnConfig, where)
	if err != nil {
		return nil, err
	}
	made := &postgreSQL{held: held}
	if err := made.open(config, where, size); err != nil {
		made.close()
		return nil, err
	}
	settings := map[string]string{
		resourceStore: "PostgreSQL " + held.server, resourceDriver: driverPgx + " " + version("github.com/jackc/pgx/v5"),
	}
	return &Held{keeper: made, settings: settings}, nil
}

// version is that of a module that this program has in it.
func version(module string) string {
	if built, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range built.Deps {
			if dependency.Path == module {
				return strings.TrimPrefix(dependency.Version, "v")
			}
		}
	}
	return "of an unknown version"
}

func (p *postgreSQL) open(config *pgxpool.Config, where string, size int) error {
	config.MaxConns = int32(size) // MinConns would open them all at once, more than a socket of the file system lets wait
	config.AfterConnect = p.refuseAnother
	var err error
	if p.pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		return fmt.Errorf("%s: %s", where, said(err))
	}
	ctx, cancel := context.WithTimeout(context.Background(), opening)
	defer cancel()
	begun := time.Now()
	taken := make([]*pgxpool.Conn, 0, size)
	defer func() {
		for _, connection := range taken {
			connection.Release()
		}
	}()
	for len(taken) < size {
		connection, err := p.pool.Acquire(ctx)
		switch {
		case err == nil:
			taken = append(taken, connection)
		case errors.Is(err, errElsewhere):
			return fmt.Errorf("%s: %w", where, errElsewhere)
		case isCode(err, "53300") && time.Since(begun) < leaving:
			time.Sleep(askAgain)
		default:
			return fmt.Errorf("%s gave fewer than %d connections: %s", where, size, said(err))
		}
	}
	return nil
}

// refuseAnother makes ready a connection of the pool: nobody else's function, operator or table is taken for PostgreSQL's, and
// it leads to the database that is held. An address with several servers may lead to another one, as may a name with several
// addresses.
func (p *postgreSQL) refuseAnother(ctx context.Context, connection *pgx.Conn) error {
	if _, err := connection.Exec(ctx, ownNames); err != nil {
		return err
	}
	identity, err := one[string](ctx, connection, whichServer)
	if err == nil && identity != p.held.identity {
		err = errElsewhere
	}
	return err
}

func (p *postgreSQL) close() {
	if p.pool != nil {
		p.pool.Close()
	}
	_ = p.held.connection.Close(context.Background())
}

// answer asks on a connection of the pool, and gives it back.
func (p *postgreSQL) answer(request *operation.Request, rows *operation.Rows, spent *spent) error {
	askedNS := probe.Now()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	connection, err := p.pool.Acquire(ctx)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("no connection to the database was free for %s", patience)
		}
		return fault(err)
	}
	hadNS := probe.Now()
	err = ask(ctx, connection, request, rows)
	connection.Release()
	doneNS := probe.Now()
	spent.poolNS += hadNS - askedNS
	spent.databaseNS += doneNS - hadNS
	spent.storeNS += doneNS - askedNS
	return err
}

// fault says what pgx gave, in one line; words of ours are left.
func fault(err error) error {
	var own *refused
	if errors.As(err, &own) {
		return own
	}
	return fmt.Errorf("the database: %s", said(err))
}

func ask(ctx context.Context, connection *pgxpool.Conn, request *operation.Request, rows *operation.Rows) (err error) {
	switch request.Kind {
	case operation.Balance:
		found := &rows.Account
		row := connection.QueryRow(ctx, selectAccount, request.Account)
		if err = row.Scan(&found.Account, &found.Owner, &found.Balance); errors.Is(err, pgx.ErrNoRows) {
			return missing(request.Account)
		}
	case operation.Payment:
		rows.Payment, err = pay(ctx, connection, request.Payer, request.Payee, request.Amount)
	case operation.Transactions:
		rows.Transactions, err = all(ctx, connection, scanTransaction, selectLast, request.Account, request.Count)
	case operation.Accounts:
		rows.Accounts, err = all(ctx, connection, scanAccount, selectPage, request.After, request.Count)
	}
	if err != nil {
		return fault(err)
	}
	return nil
}

// all gives the rows of a query.
func all[Row any](
	ctx context.Context, connection *pgxpool.Conn, scan func(pgx.Rows, *Row) error, query string, of, count int64,
) ([]Row, error) {
	rows, err := connection.Query(ctx, query, of, count)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := make([]Row, 0, min(count, 64))
	for rows.Next() {
		var row Row
		if err := scan(rows, &row); err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

func scanAccount(rows pgx.Rows, row *generator.Account) error {
	return rows.Scan(&row.Account, &row.Owner, &row.Balance)
}

func scanTransaction(rows pgx.Rows, row *generator.Transaction) error {
	return rows.Scan(&row.Number, &row.Payer, &row.Payee, &row.Amount)
}

// pay makes a payment in one transaction; both accounts are locked in the order of their numbers.
func pay(ctx context.Context, connection *pgxpool.Conn, payer, payee, amount int64) (operation.Made, error) {
	transaction, err := connection.Begin(ctx)
	if err != nil {
		return operation.Made{}, err
	}
	made, err := payWithin(ctx, transaction, payer, payee, amount)
	if err != nil {
		_ = transaction.Rollback(ctx)
		return operation.Made{}, err
	}
	return made, transaction.Commit(ctx)
}

func payWithin(ctx context.Context, transaction pgx.Tx, payer, payee, amount int64) (operation.Made, error) {
	balances, err := lockedBalances(ctx, transaction, payer, payee)
	if err != nil {
		return operation.Made{}, err
	}
	for _, number := range []int64{payer, payee} {
		if _, has := balances[number]; !has {
			return operation.Made{}, refuse("%v", missing(number))
		}
	}
	if balances[payer] < amount {
		return operation.Made{Balance: balances[payer]}, nil
	}
	if amount > generator.MostBalance-balances[payee] {
		return operation.Made{}, refuse("%v", overflowing(payee))
	}
	if _, err := transaction.Exec(ctx, take, amount, payer); err != nil {
		return operation.Made{}, err
	}
	if _, err := transaction.Exec(ctx, give, amount, payee); err != nil {
		return operation.Made{}, err
	}
	made := operation.Made{Accepted: true, Balance: balances[payer] - amount}
	err = transaction.QueryRow(ctx, enter, payer, payee, amount).Scan(&made.Number)
	return made, err
}

func lockedBalances(ctx context.Context, transaction pgx.Tx, payer, payee int64) (map[int64]int64, error) {
	rows, err := transaction.Query(ctx, lockBoth, payer, payee)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := make(map[int64]int64, 2)
	for rows.Next() {
		var number, balance int64
		if err := rows.Scan(&number, &balance); err != nil {
			return nil, err
		}
		found[number] = balance
	}
	return found, rows.Err()
}
