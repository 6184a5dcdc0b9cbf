package operation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"

	"orch/internal/contract"
	"orch/internal/generator"
)

// MostFile is the most bytes of a file that a line names.
const MostFile = 64 << 20

// Make gives the request of a sequence number. It may use the request that it is handed, and gives another one, that it
// keeps, where that stays the same.
type Make func(sequence int64, into *Request) *Request

const opens = 2 // the request of this sequence number opens the window of an exchange

// Requests makes what the requests of an operation carry; an error for what does not fit.
func Requests(name string, payload contract.Payload, seed int64) (Make, error) {
	switch name + " " + payload.Kind {
	case "timestamp none":
		return func(_ int64, into *Request) *Request {
			into.Kind, into.Stamp = Timestamp, Stamp()
			return into
		}, nil
	case "add none":
		pairs := generator.AddPairs(seed)
		return func(sequence int64, into *Request) *Request {
			pair := pairs[sequence%generator.Pairs]
			into.Kind, into.A, into.B = Add, int64(pair.A), int64(pair.B)
			return into
		}, nil
	case "echo bytes":
		return always(&Request{Kind: EchoData, Data: streamOf("bytes/", seed, payload.Size)}), nil
	case "echo records":
		return always(&Request{Kind: EchoRecords, Records: generator.Records(seed, int(payload.Count))}), nil
	case "echo json":
		content, err := readPayload(name, payload)
		if err != nil {
			return nil, err
		}
		document, err := DecodeDocument(content)
		if err != nil {
			return nil, fmt.Errorf("%s is not JSON: %w", *payload.Path, err)
		}
		return always(&Request{Kind: EchoDocument, Document: document}), nil
	case "image image":
		content, err := readPayload(name, payload)
		if err != nil {
			return nil, err
		}
		request := &Request{Kind: Image, Data: content, FullDecode: payload.FullDecode}
		if request.wanted.Width, request.wanted.Height, err = sizeOf(content, payload.FullDecode); err != nil {
			return nil, fmt.Errorf("%s: %w", *payload.Path, err)
		}
		return always(request), nil
	case "transfer transfer":
		if payload.Size > MostTransferred || payload.ReplySize > MostTransferred {
			return nil, fmt.Errorf("transfer: at most %d bytes each way", MostTransferred)
		}
		return always(sized(Transfer, knownRequest.First(int(payload.Size)), payload.ReplySize)), nil
	case "call call":
		return callRequests(payload, seed)
	case "exchange exchange":
		if payload.Opening < 1 {
			return nil, fmt.Errorf("payload: an `opening` of at least 1, not %d", payload.Opening)
		}
		usual := sized(Exchange, streamOf("bytes/", seed, payload.Size), payload.ReplySize)
		opening := sized(Exchange, streamOf("bytes/", seed, payload.Size*payload.Opening), payload.ReplySize*payload.Opening)
		return func(sequence int64, _ *Request) *Request {
			if sequence == opens {
				return opening
			}
			return usual
		}, nil
	}
	if kind, isOfRows := KindOfRows(name); isOfRows && payload.Kind == "none" {
		return rowRequests(kind, seed), nil
	}
	return nil, fmt.Errorf("%s carries no payload of kind %s", name, payload.Kind)
}

func streamOf(label string, seed, size int64) []byte {
	return generator.Stream(label+strconv.FormatInt(seed, 10), int(size))
}

func always(request *Request) Make {
	return func(int64, *Request) *Request { return request }
}

func sized(kind Kind, data []byte, replySize int64) *Request {
	request := &Request{Kind: kind, Data: data, ReplySize: replySize}
	request.wanted.Data = knownReply.First(int(replySize))
	return request
}

func readPayload(name string, payload contract.Payload) ([]byte, error) {
	if payload.Path == nil {
		return nil, fmt.Errorf("%s: a payload of kind %s needs a path", name, payload.Kind)
	}
	digest := ""
	if payload.SHA256 != nil {
		digest = *payload.SHA256
	}
	return ReadFile(name, *payload.Path, digest)
}

// ReadFile reads a file that a line names, and compares its SHA-256 where that is given.
func ReadFile(what, path, digest string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	defer file.Close()
	if about, err := file.Stat(); err != nil || !about.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %s is no regular file", what, path)
	}
	content, err := io.ReadAll(io.LimitReader(file, MostFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if len(content) > MostFile {
		return nil, fmt.Errorf("%s: %s is larger than %d bytes", what, path, MostFile)
	}
	if found := sha256.Sum256(content); digest != "" && hex.EncodeToString(found[:]) != digest {
		return nil, fmt.Errorf("%s: %s is not the file whose SHA-256 is %.12s...", what, path, digest)
	}
	return content, nil
}
