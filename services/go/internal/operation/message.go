// Package operation has what is asked: messages in plain values, what each is answered with, and whether a reply is right.
package operation

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"orch/internal/calls"
	"orch/internal/generator"
)

// Kind is a message's form. The numbers are the codes of protos/tcp.md.
type Kind uint8

// The forms of messages.
const (
	Identity Kind = iota
	Timestamp
	Add
	EchoData
	EchoRecords
	EchoDocument
	Image
	Exchange
	Transfer
	Events

	// Those of rows, which protos/tcp.md does not have.

	Balance
	Payment
	Transactions
	Accounts
	User
	Posts
	Comments
	Feed

	// Call is of somebody's own service.
	Call
)

var names = [...]string{
	"identity", "timestamp", "add", "echo", "echo", "echo", "image", "exchange", "transfer", "events",
	"balance", "payment", "transactions", "accounts", "user", "posts", "comments", "feed", "call",
}

// String is the name of the operation that has the message.
func (k Kind) String() string {
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("code %d", uint8(k))
}

// Record is one record of an echo.
type Record = generator.Record

// Request has the fields of the messages of all operations; Kind says which of them are in use.
type Request struct {
	Kind       Kind
	FullDecode bool
	A, B       int64
	ReplySize  int64
	Stamp      string
	Data       []byte
	Records    []Record
	Document   any

	// Of a subscription.
	IntervalNS, Count, Size, Seed int64

	// Of what is asked of rows, with Count.
	Account, Payer, Payee, Amount, After, User, Each int64

	Call *calls.Request // of a call file

	wanted Reply // where it is known: of a picture, and of known bytes
}

// Reply has the fields of the replies of all operations. Body is what they were decoded from, where the client has it: it
// may be overwritten by the next call, and so may Data where it lies in it. Sent and Received are the bytes of both bodies.
type Reply struct {
	Sum             int64
	Width, Height   int64
	Stamp, Response string
	Identity        string
	Data            []byte
	Records         []Record
	Document        any
	Rows            *Rows           // of an operation over rows
	Messages        []proto.Message // of a call by gRPC
	Body            []byte
	Sent, Received  int64
	HoldsBody       bool // whether Data is a part of Body
}

const otherBytes = 300

// Footprint is about how many bytes of memory a reply takes that is kept.
func (r *Reply) Footprint() int64 {
	size := int64(otherBytes + len(r.Stamp) + len(r.Response) + len(r.Data))
	for _, record := range r.Records {
		size += 80 + int64(len(record.Name)) + 24*int64(len(record.Tags))
	}
	if r.Rows != nil {
		size += r.Rows.footprint()
	}
	if r.Document != nil || r.Messages != nil {
		size += 8 * r.Received // a tree of values takes some times its text
	}
	return size
}

// HasLargeBuffer tells whether a text or a string of bytes of more than 4 KiB stands in it.
func (r *Reply) HasLargeBuffer() bool {
	const large = 4096
	return len(r.Data) > large || (r.Document != nil && hasLargeText(r.Document, large))
}

func hasLargeText(value any, large int) bool {
	switch value := value.(type) {
	case string:
		return len(value) > large
	case []any:
		for _, item := range value {
			if hasLargeText(item, large) {
				return true
			}
		}
	case map[string]any:
		for _, item := range value {
			if hasLargeText(item, large) {
				return true
			}
		}
	}
	return false
}
