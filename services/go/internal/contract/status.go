package contract

import (
	"errors"
	"fmt"
)

// Status is how a request ended: an index of protos/statuses.json.
type Status int64

// The statuses, in the order of the file.
const (
	OK Status = iota
	WrongReply
	Refused
	Closed
	Timeout
	Protocol
	Undecodable
	Cancelled
	NotSent
	Unverified
	Exhausted
)

var statusNames = [...]string{
	"ok", "wrong-reply", "refused", "closed", "timeout", "protocol", "undecodable", "cancelled", "not-sent", "unverified",
	"exhausted",
}

func (s Status) String() string { return statusNames[s] }

// Breaks tells whether a connection cannot be trusted with another request after one that ended so.
func (s Status) Breaks() bool {
	switch s {
	case Refused, Closed, Timeout, Undecodable, Cancelled, Exhausted:
		return true
	}
	return false
}

// Failure is a request that ended without a right reply.
type Failure struct {
	Status Status
	Detail string
}

func (f *Failure) Error() string {
	if f.Detail == "" {
		return f.Status.String()
	}
	return f.Status.String() + ": " + f.Detail
}

// Fail makes a failure; its words may quote who answers.
func Fail(status Status, format string, arguments ...any) *Failure {
	return &Failure{Status: status, Detail: Quoted(fmt.Sprintf(format, arguments...))}
}

// CannotTry ends a trial. Kind is a status's name, or `trial`, `host` or `fault`.
type CannotTry struct{ Kind, Message string }

func (c *CannotTry) Error() string { return c.Message }

// NoTrial refuses a trial that asks for what there is not.
func NoTrial(format string, arguments ...any) error {
	return &CannotTry{Kind: "trial", Message: fmt.Sprintf(format, arguments...)}
}

// KindOf is the kind of the `failed` line that an error ends a trial with.
func KindOf(err error) string {
	var cannot *CannotTry
	var failure *Failure
	switch {
	case errors.As(err, &cannot):
		return cannot.Kind
	case errors.As(err, &failure):
		return failure.Status.String()
	}
	return "host"
}
