// Package load offers requests as a trial says, times each, verifies every reply, and writes the record.
//
// Every request in flight has a worker of its own: a goroutine that makes a request, times the client's call, and enters
// what came of it. Rules:
//
//   - One reading of the clock before the call and one behind it. Making the request, verifying and recording stand outside;
//     under `per-request` opening the connection stands inside.
//   - What stands outside the window of one request stands in those of the others when several are in flight: there, replies
//     are verified when the phase is over, and their rows are stored unverified until then.
//   - When a phase is over nothing more is sent, and what is in flight is awaited.
package load

import (
	"orch/internal/contract"
	"orch/internal/operation"
)

// Conn is one connection of a client, used by one goroutine at a time.
type Conn interface {
	// Call encodes and sends a request, waits for its reply, and reads every field of that. It is what is timed. The reply is
	// empty before.
	Call(request *operation.Request, reply *operation.Reply) *contract.Failure
	// Close ends the connection, once.
	Close()
}

// Unnumbered is a Conn that takes the next message on it for the reply to its last request, so that it must look at the end
// whether more came than was asked for.
type Unnumbered interface{ HasUnasked() bool }

// Shared is a Conn that is a part of one which several requests in flight share.
type Shared interface{ Number() int64 }

// Ending is a Conn over whose protocol a responder can announce that it closes the connection: once it did, the connection is
// opened anew for the next request. A call that follows may do so itself.
type Ending interface{ IsOver() bool }

// Dialer opens connections; some libraries open the socket at the first call.
type Dialer func() (Conn, *contract.Failure)
