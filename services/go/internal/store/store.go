// Package store keeps the rows that a service over a database answers from (protos/store.md, protos/posts.md): in memory, or
// in PostgreSQL by pgx. It tells where the time of requests goes.
package store

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"orch/internal/contract"
	"orch/internal/operation"
	"orch/internal/probe"
)

// Names of what a serve line says of a store, and of the stores.
const (
	resourceStore    = "store"
	resourceDatabase = "database"
	resourcePool     = "pool"
	resourceDriver   = "driver"

	inMemory     = "none"
	inPostgreSQL = "postgresql"

	usualPool = 10
	mostPool  = 1_000
)

// spent is what one request has spent in the store so far, nanoseconds, and the queries that it made there.
type spent struct {
	poolNS     int64 // waiting for a connection
	databaseNS int64 // with it, until it is given back
	storeNS    int64 // both, and what is around them
	queries    int64
}

// keeper has the rows. Its methods may be called by any goroutine.
type keeper interface {
	answer(request *operation.Request, rows *operation.Rows, spent *spent) error
	close()
}

// Held is a store that is open, and the times of who asks it.
type Held struct {
	keeper   keeper
	settings map[string]string
	mutex    sync.Mutex
	sums     struct {
		spent
		requests, handlingNS, serviceNS, storeless int64
	}
}

// Open opens what these operations hold, each by its name, as the resources of a serve line say; an error says why it cannot.
func Open(operations []string, resources map[string]string) (map[operation.Kind]*Held, error) {
	var kinds []operation.Kind
	taken := map[string]bool{}
	for _, name := range operations {
		kind, isOfRows := operation.KindOfRows(name)
		if !isOfRows {
			continue
		}
		kinds = append(kinds, kind)
		if kind == operation.Feed { // a requester may ask those that it is made of
			kinds = append(kinds, operation.User, operation.Posts, operation.Comments)
		}
		for _, resource := range []string{resourceStore, resourceDatabase, resourcePool} {
			taken[resource] = true
		}
		taken[resourceDriver] = taken[resourceDriver] || !kind.IsOfPosts()
	}
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		if !taken[name] {
			return nil, fmt.Errorf("resources: no operation here needs %.100q", name)
		}
	}
	held := map[operation.Kind]*Held{}
	shared := map[bool]*Held{}
	for _, kind := range kinds {
		found := shared[kind.IsOfPosts()]
		if found == nil {
			var err error
			if found, err = open(kind.IsOfPosts(), resources); err != nil {
				for _, opened := range shared {
					opened.Close()
				}
				return nil, fmt.Errorf("%s: what it holds cannot be opened: %w", kind, err)
			}
			shared[kind.IsOfPosts()] = found
		}
		held[kind] = found
	}
	return held, nil
}

func open(isOfPosts bool, resources map[string]string) (*Held, error) {
	name, isNamed := resources[resourceStore]
	switch {
	case !isNamed || name == inMemory:
		for _, resource := range []string{resourceDatabase, resourcePool, resourceDriver} {
			if _, given := resources[resource]; given {
				return nil, fmt.Errorf("%s: %s is in memory, and takes no %s", resourceStore, inMemory, resource)
			}
		}
		if isOfPosts {
			return &Held{keeper: newPosts()}, nil
		}
		return &Held{keeper: newAccounts()}, nil
	case isOfPosts:
		return nil, fmt.Errorf("users, posts and comments are kept in memory alone here, and not in %.40q", name)
	case name == inPostgreSQL:
		if driver, given := resources[resourceDriver]; given && driver != driverPgx {
			return nil, fmt.Errorf("%s: PostgreSQL is asked by %s here, and not by %.40q", resourceDriver, driverPgx, driver)
		}
		if resources[resourceDatabase] == "" {
			return nil, fmt.Errorf("%s: %s needs a %s, and none is named", resourceStore, name, resourceDatabase)
		}
		size, err := poolSize(resources)
		if err != nil {
			return nil, err
		}
		return openPostgreSQL(resources[resourceDatabase], size)
	}
	return nil, fmt.Errorf("%s: rows are kept in memory or in PostgreSQL here, and not in %.40q", resourceStore, name)
}

func poolSize(resources map[string]string) (int, error) {
	text, given := resources[resourcePool]
	if !given {
		return usualPool, nil
	}
	size, err := strconv.Atoi(text)
	if err != nil || strings.Trim(text, "0123456789") != "" || size < 1 || size > mostPool {
		return 0, fmt.Errorf("%s: a pool has 1 to %d connections, not %.40s", resourcePool, mostPool, text)
	}
	return size, nil
}

// Settings are what the ready line tells of it.
func (h *Held) Settings() map[string]string { return h.settings }

// Answer fills the reply to a request. One that cannot be answered is not counted.
func (h *Held) Answer(request *operation.Request, reply *operation.Reply) error {
	askedNS := probe.Now()
	if err := request.CheckRows(); err != nil {
		return err
	}
	var took spent
	rows := new(operation.Rows)
	if err := h.keeper.answer(request, rows, &took); err != nil {
		return err
	}
	reply.Rows = rows
	handlingNS := probe.Now() - askedNS
	h.mutex.Lock()
	defer h.mutex.Unlock()
	sums := &h.sums
	sums.requests++
	sums.handlingNS += handlingNS
	sums.serviceNS += handlingNS - took.storeNS
	sums.poolNS += took.poolNS
	sums.databaseNS += took.databaseNS
	sums.queries += took.queries
	if took.databaseNS == 0 {
		sums.storeless++
	}
	return nil
}

// Times are the sums so far. A goroutine answers each request from its beginning: none waits for a thread of ours.
func (h *Held) Times() *contract.StoreTimes {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	const second = 1e9
	sums := &h.sums
	return &contract.StoreTimes{
		Requests: sums.requests, HandlingS: float64(sums.handlingNS) / second, PoolS: float64(sums.poolNS) / second,
		DatabaseS: float64(sums.databaseNS) / second, ServiceS: float64(sums.serviceNS) / second,
		Queries: sums.queries, Storeless: sums.storeless,
	}
}

// Close closes what is open.
func (h *Held) Close() { h.keeper.close() }
