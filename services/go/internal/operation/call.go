package operation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"google.golang.org/protobuf/proto"

	"orch/internal/calls"
	"orch/internal/contract"
)

// callRequests makes those of a call file, whose secrets no line has from now on.
func callRequests(payload contract.Payload, seed int64) (Make, error) {
	content, err := readPayload("call", payload)
	if err != nil {
		return nil, err
	}
	file, err := calls.Open(content)
	if err != nil {
		return nil, err
	}
	contract.Hide(file.Secrets())
	rendered, err := file.Requests(seed)
	if err != nil {
		return nil, err
	}
	requests := make([]Request, len(rendered))
	for place, each := range rendered {
		requests[place] = Request{Kind: Call, Call: each}
	}
	return func(sequence int64, _ *Request) *Request { return &requests[(sequence-1)%int64(len(requests))] }, nil
}

// mistakeOfCall says why a reply is not what its call expects; "" where it is. Its status was looked at when it came.
func mistakeOfCall(call *calls.Request, reply *Reply) string {
	if call.IsKnown(reply.Body) {
		return ""
	}
	mistake := compared(call, reply)
	if mistake == "" {
		call.Know(reply.Body)
	}
	return mistake
}

func compared(call *calls.Request, reply *Reply) string {
	expect := &call.Expect
	body, document, err := contentOf(call, reply)
	switch {
	case err != nil:
		return err.Error()
	case expect.Size >= 0 && int64(len(body)) != expect.Size:
		return fmt.Sprintf("a reply of %d bytes, not %d", len(body), expect.Size)
	}
	if expect.SHA256 != "" {
		if digest := sha256.Sum256(body); hex.EncodeToString(digest[:]) != expect.SHA256 {
			return fmt.Sprintf("a reply with SHA-256 %x..., not %.12s...", digest[:6], expect.SHA256)
		}
	}
	for _, value := range expect.Values {
		if reason := differs(document, value); reason != "" {
			return fmt.Sprintf("row %d: %s", call.Row, reason)
		}
	}
	return ""
}

// contentOf gives the bytes of a reply, and its document, as far as they are looked at.
func contentOf(call *calls.Request, reply *Reply) (body []byte, document any, err error) {
	if call.Procedure == nil {
		if len(call.Expect.Values) > 0 && !call.Decode {
			document, _ = DecodeDocument(reply.Data) // nothing, where it is none
			return reply.Data, document, nil
		}
		return reply.Data, reply.Document, nil
	}
	documents := make([]any, len(reply.Messages))
	for place, message := range reply.Messages {
		encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
		if err != nil {
			return nil, nil, err
		}
		if body = append(body, encoded...); len(call.Expect.Values) == 0 {
			continue
		}
		if !call.Decode {
			message = call.Procedure.Reply.New().Interface()
			if err := proto.Unmarshal(encoded, message); err != nil {
				return nil, nil, err
			}
		}
		text, err := call.Procedure.JSON(message)
		if err != nil {
			return nil, nil, err
		}
		if documents[place], err = DecodeDocument(text); err != nil {
			return nil, nil, err
		}
	}
	if call.Procedure.IsStream {
		return body, documents, nil
	}
	return body, documents[0], nil
}

func differs(document any, value calls.Value) string {
	found := value.At.Select(document)
	switch len(found) {
	case 0:
		return fmt.Sprintf("the reply has nothing at %s", value.At)
	case 1:
		wanted, err := DecodeDocument(value.Want)
		if err != nil || isAlike(found[0], wanted) {
			return ""
		}
		came, _ := Compact(found[0])
		return fmt.Sprintf("%s is %.80s, not %.80s", value.At, came, value.Want)
	}
	return fmt.Sprintf("the reply has %d values at %s, and one is expected", len(found), value.At)
}

// isAlike tells whether two values are equal; a text also equals what it is the text of.
func isAlike(one, other any) bool {
	_, isText := one.(string)
	if _, isOther := other.(string); isText || isOther {
		written, err1 := calls.Written(one)
		otherwise, err2 := calls.Written(other)
		return err1 == nil && err2 == nil && written == otherwise
	}
	return isSame(one, other)
}
