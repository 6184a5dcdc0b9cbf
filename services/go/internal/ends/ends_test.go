package ends

import (
	"testing"

	"orch/internal/offers"
)

func TestTheManifestAndTheProgramHaveTheSameEnds(t *testing.T) {
	offered := map[string]bool{}
	for _, name := range []string{"tcp", "rest", "grpc", "connect", "sse", "own_http", "own_graphql", "own_grpc"} {
		protocol, err := offers.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, end := range protocol.Responders {
			if offered["responder "+name+" "+end.Name] = true; responders[name+" "+end.Name] == nil {
				t.Errorf("nobody answers as %s of %s", end.Name, name)
			}
		}
		for _, end := range protocol.Clients {
			if offered["client "+name+" "+end.Name] = true; clients[name+" "+end.Name] == nil {
				t.Errorf("nobody asks as %s of %s", end.Name, name)
			}
		}
	}
	for key := range responders {
		if !offered["responder "+key] {
			t.Errorf("the responder %s is not in the manifest", key)
		}
	}
	for key := range clients {
		if !offered["client "+key] {
			t.Errorf("the client %s is not in the manifest", key)
		}
	}
}
