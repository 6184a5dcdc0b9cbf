package responder

import (
	"maps"
	"os"
	"sync"
	"time"

	"orch/internal/contract"
	"orch/internal/operation"
	"orch/internal/serve"
	"orch/internal/store"
)

const closing = 3 * time.Second // whoever ends a responder kills it after five

// stores are those that the operations of a serve line hold: open before the responder is ready, closed once at its end.
type stores struct {
	mutex sync.Mutex
	held  []*store.Held
	once  sync.Once
}

// open opens what is held, and gives it by the form of its requests.
func (s *stores) open(asked *contract.Serve) (map[operation.Kind]serve.Holder, error) {
	opened, err := store.Open(asked.Operations, asked.Resources)
	if err != nil {
		return nil, err
	}
	found := map[operation.Kind]serve.Holder{}
	seen := map[*store.Held]bool{}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for kind, held := range opened {
		found[kind] = held
		if !seen[held] {
			seen[held] = true
			s.held = append(s.held, held)
		}
	}
	return found, nil
}

func (s *stores) settings() map[string]string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found := map[string]string{}
	for _, held := range s.held {
		maps.Copy(found, held.Settings())
	}
	return found
}

// times are the sums of all that is held; nil where nothing is.
func (s *stores) times() *contract.StoreTimes {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var sum *contract.StoreTimes
	for _, held := range s.held {
		if sum == nil {
			sum = &contract.StoreTimes{}
		}
		sum.Add(held.Times())
	}
	return sum
}

// leave closes what is open, and ends the process. Closing may take so long, and is then given up.
func (s *stores) leave() {
	closed := make(chan struct{})
	go s.once.Do(func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		for _, held := range s.held {
			held.Close()
		}
		close(closed)
	})
	select {
	case <-closed:
	case <-time.After(closing):
		contract.Complain("respond: what the operations hold was not closed within %s, and is left", closing)
	}
	os.Exit(0)
}
