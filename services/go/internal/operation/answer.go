package operation

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // pictures that an upload service is sent
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise

	"orch/internal/generator"
)

// MostTransferred is the most bytes of a transfer, each way.
const MostTransferred = 64 << 20

// MostBody is the most bytes of a body, in every protocol that has no limit of its own.
const MostBody = 512 << 20

// mostPixels is how many a picture has whose pixels are decoded: a few bytes can say that they are billions.
const mostPixels = 178_956_970

var (
	knownRequest = generator.NewKnown("request")
	knownReply   = generator.NewKnown("reply")
)

// Answer fills the reply to a request. An error says why it cannot be met.
func Answer(request *Request, reply *Reply, identity string) error {
	switch request.Kind {
	case Identity:
		reply.Identity = identity
	case Timestamp:
		reply.Stamp, reply.Response = request.Stamp, Stamp()
	case Add:
		reply.Sum = request.A + request.B
	case EchoData:
		reply.Data = request.Data
	case EchoRecords:
		reply.Records = request.Records
	case EchoDocument:
		reply.Document = request.Document
	case Image:
		width, height, err := sizeOf(request.Data, request.FullDecode)
		if err != nil {
			return err
		}
		reply.Width, reply.Height = width, height
	case Exchange:
		if request.ReplySize > MostBody/2 {
			return fmt.Errorf("a reply of %d bytes is too large", request.ReplySize)
		}
		reply.Data = knownReply.First(int(request.ReplySize))
	case Transfer:
		if request.ReplySize < 0 || request.ReplySize > MostTransferred {
			return fmt.Errorf("a reply of 0 to %d bytes can be asked for, not of %d", MostTransferred, request.ReplySize)
		}
		if len(request.Data) > MostTransferred || !bytes.Equal(request.Data, knownRequest.First(len(request.Data))) {
			return errors.New("not the bytes that a transfer sends")
		}
		reply.Data = knownReply.First(int(request.ReplySize))
	default:
		return fmt.Errorf("%s has no reply", request.Kind)
	}
	return nil
}

// sizeOf gives the width and the height of a picture, in pixels.
func sizeOf(data []byte, isFullyDecoded bool) (int64, int64, error) {
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return 0, 0, fmt.Errorf("no picture that can be opened: %w", err)
	}
	if isFullyDecoded {
		if int64(config.Width)*int64(config.Height) > mostPixels {
			return 0, 0, fmt.Errorf("a picture of %d x %d has more than %d pixels", config.Width, config.Height, mostPixels)
		}
		decoded, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			return 0, 0, fmt.Errorf("no picture that can be decoded: %w", err)
		}
		size := decoded.Bounds().Size()
		return int64(size.X), int64(size.Y), nil
	}
	return int64(config.Width), int64(config.Height), nil
}

// Mistake says why a reply is not that to the request; "" where it is.
func Mistake(request *Request, reply *Reply) string {
	switch request.Kind {
	case Timestamp:
		if reply.Stamp != request.Stamp {
			return fmt.Sprintf("request_timestamp came back as %.60q", reply.Stamp)
		}
		if !isStamp(reply.Response) {
			return fmt.Sprintf("response_timestamp is %.60q, not ISO 8601 in UTC with microseconds", reply.Response)
		}
	case Add:
		if reply.Sum != request.A+request.B {
			return fmt.Sprintf("%d + %d came back as %d", request.A, request.B, reply.Sum)
		}
	case EchoData:
		if !bytes.Equal(reply.Data, request.Data) {
			return fmt.Sprintf("data came back as %d other bytes", len(reply.Data))
		}
	case EchoRecords:
		if place := differing(request.Records, reply.Records); place >= 0 {
			return fmt.Sprintf("records came back otherwise: %d of them, and number %d differs", len(reply.Records), place+1)
		}
	case EchoDocument:
		if !isSame(request.Document, reply.Document) {
			return "the document came back as another one"
		}
	case Image:
		if wanted := request.wanted; reply.Width != wanted.Width || reply.Height != wanted.Height {
			return fmt.Sprintf("the picture of %d x %d came back as %d x %d",
				wanted.Width, wanted.Height, reply.Width, reply.Height)
		}
	case Exchange, Transfer:
		if !bytes.Equal(reply.Data, request.wanted.Data) {
			return fmt.Sprintf("asked for %d known bytes, was sent %d, or others", request.ReplySize, len(reply.Data))
		}
	case Call:
		return mistakeOfCall(request.Call, reply)
	case Balance, Payment, Transactions, Accounts, User, Posts, Comments, Feed:
		return mistakeOfRows(request, reply.Rows)
	}
	return ""
}

// differing is the place of the first record that is another one, -1 where all are the same.
func differing(sent, came []Record) int {
	if len(came) != len(sent) {
		return min(len(came), len(sent))
	}
	for place := range sent {
		one, other := &sent[place], &came[place]
		isSame := one.ID == other.ID && one.Value == other.Value && one.Active == other.Active && one.Name == other.Name &&
			len(one.Tags) == len(other.Tags)
		for at := 0; isSame && at < len(one.Tags); at++ {
			isSame = one.Tags[at] == other.Tags[at]
		}
		if !isSame {
			return place
		}
	}
	return -1
}
