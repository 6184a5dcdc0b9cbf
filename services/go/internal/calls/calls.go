// Package calls reads the call files of protos/calls.md: requests to somebody's own service, rendered before they are timed.
package calls

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/theory/jsonpath"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"orch/internal/generator"
)

// Request is that of one row, from 1.
type Request struct {
	Row       int
	Decode    bool // whether the timed call ends with the decoded reply
	IsGraphQL bool
	Expect    Expect

	// Of HTTP.
	Method, Path, Host string
	Header             http.Header
	Body               []byte
	once               sync.Once
	wire               []byte
	fault              error

	// Of gRPC.
	Procedure *Procedure
	Message   proto.Message
	Metadata  metadata.MD

	right atomic.Uint64
}

var seed = maphash.MakeSeed()

// IsKnown tells whether a body is that of a reply that was right; `Know` notes one.
func (r *Request) IsKnown(body []byte) bool { return body != nil && r.right.Load() == sum(body) }

// Know notes the body of a right reply: what stands between two requests stays short.
func (r *Request) Know(body []byte) {
	if body != nil {
		r.right.Store(sum(body))
	}
}

func sum(body []byte) uint64 { return maphash.Bytes(seed, body) | 1 }

// Wire is a request of HTTP/1.1 as it is sent to a server, made once.
func (r *Request) Wire(address string) ([]byte, error) {
	r.once.Do(func() {
		asked := &http.Request{
			Method: r.Method, URL: &url.URL{Scheme: "http", Host: address, Opaque: r.Path}, Host: r.Host, Header: r.Header,
		}
		if len(r.Body) > 0 {
			asked.Body, asked.ContentLength = io.NopCloser(bytes.NewReader(r.Body)), int64(len(r.Body))
		}
		var made bytes.Buffer
		r.fault = asked.Write(&made)
		r.wire = made.Bytes()
	})
	return r.wire, r.fault
}

// Expect is what a right reply has.
type Expect struct {
	Status []int
	Size   int64 // -1 for any
	SHA256 string
	Values []Value
}

// NeedsBody tells whether the bytes of a reply are looked at.
func (e *Expect) NeedsBody() bool { return e.Size >= 0 || e.SHA256 != "" }

// Value is the one at a place of a reply, as JSON.
type Value struct {
	At   *jsonpath.Path
	Want []byte
}

// Procedure is a method of gRPC, by a descriptor set.
type Procedure struct {
	Path     string
	IsStream bool
	Reply    protoreflect.MessageType
	types    *dynamicpb.Types
	asked    protoreflect.MessageType
}

// JSON is a reply as JSON, fields by the names of the .proto; those without presence at their defaults, too.
func (p *Procedure) JSON(message proto.Message) ([]byte, error) {
	return protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true, Resolver: p.types}.Marshal(message)
}

// File is a call file.
type File struct {
	call    object
	rows    []any
	secret  func(string) (string, bool)
	paths   map[string]*jsonpath.Path
	headers map[string]http.Header // those that are alike are one
	method  *Procedure
}

// Open reads a call file.
func Open(content []byte) (*File, error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	value, err := parse(decoder)
	if err != nil {
		return nil, fmt.Errorf("call: %w", err)
	}
	made := &File{secret: os.LookupEnv, paths: map[string]*jsonpath.Path{}, headers: map[string]http.Header{}}
	made.call, _ = value.(object)
	made.rows, _ = made.call.get("rows").([]any)
	if len(made.rows) == 0 {
		return nil, fmt.Errorf("call: a call file has `rows`, at least one")
	}
	return made, nil
}

// Secrets are the values of the variables that the file names.
func (f *File) Secrets() []string {
	names := map[string]bool{}
	secretsIn(f.call, names)
	var values []string
	for name := range names {
		if value, _ := f.secret(name); value != "" {
			values = append(values, value)
		}
	}
	return values
}

// Requests are those of all rows, in the order of the file or in one that the seed draws.
func (f *File) Requests(seed int64) ([]*Request, error) {
	rendered := make([]*Request, len(f.rows))
	for place, row := range f.rows {
		values, _ := row.(object)
		made, err := f.render(&filler{values, f.secret})
		if err != nil {
			return nil, fmt.Errorf("call: row %d: %w", place+1, err)
		}
		made.Row = place + 1
		rendered[place] = made
	}
	if f.call.text("order") != "random" {
		return rendered, nil
	}
	drawn := make([]*Request, len(rendered))
	for place, at := range generator.Order(fmt.Sprintf("rows/%d", seed), len(rendered)) {
		drawn[place] = rendered[at]
	}
	return drawn, nil
}

func (f *File) render(row *filler) (*Request, error) {
	decode, _ := f.call.get("decode").(bool)
	made := &Request{Decode: decode}
	var err error
	switch kind := f.call.text("kind"); kind {
	case "http":
		made.Method = f.call.text("method")
		err = f.http(made, row, f.call.object("body"))
	case "graphql":
		made.Method, made.IsGraphQL = http.MethodPost, true
		var variables any
		if variables, err = row.fill(f.call.get("variables")); err != nil {
			return nil, err
		}
		if err = f.http(made, row, object{{"json", object{}}}); err == nil {
			made.Body = compact(object{{"query", f.call.get("query")}, {"variables", variables}})
		}
	case "grpc":
		err = f.grpc(made, row)
	default:
		err = fmt.Errorf("no call of kind %.60q is made here", kind)
	}
	if err != nil {
		return nil, err
	}
	made.Expect, err = f.expect(row)
	return made, err
}

func (f *File) http(into *Request, row *filler, body object) error {
	var err error
	quote := func(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
	if into.Path, err = row.text(f.call.text("path"), quote); err != nil {
		return err
	}
	kind, err := into.content(row, body)
	if err != nil {
		return err
	}
	fields, err := f.fields(row)
	if err != nil {
		return err
	}
	usual := []member{{"accept-encoding", "identity"}, {"user-agent", "orch"}}
	if kind != "" {
		usual = append(usual, member{"content-type", kind})
	}
	fields = append(usual, fields...)
	key := fmt.Sprint(fields)
	if f.headers[key] == nil {
		f.headers[key] = http.Header{}
		for _, each := range fields {
			f.headers[key].Set(each.key, each.value.(string))
		}
	}
	into.Header = f.headers[key]
	into.Host = into.Header.Get("Host")
	return nil
}

// content renders the body of a request, and gives its media type.
func (r *Request) content(row *filler, body object) (string, error) {
	if len(body) == 0 {
		return "", nil
	}
	form := body[0].key
	if form == "hex" {
		var err error
		r.Body, err = hex.DecodeString(body.text(form))
		return "", err
	}
	value, err := row.fill(body[0].value)
	if err != nil {
		return "", err
	}
	switch form {
	case "json":
		r.Body = compact(value)
		return "application/json", nil
	case "form":
		fields, _ := value.(object)
		pairs := make([]string, len(fields))
		for place, each := range fields {
			text, err := Written(each.value)
			if err != nil {
				return "", err
			}
			pairs[place] = url.QueryEscape(each.key) + "=" + url.QueryEscape(text)
		}
		r.Body = []byte(strings.Join(pairs, "&"))
		return "application/x-www-form-urlencoded", nil
	}
	text, err := Written(value)
	r.Body = []byte(text)
	return "", err
}

// fields are those of a header, or of metadata.
func (f *File) fields(row *filler) ([]member, error) {
	value, err := row.fill(f.call.get("headers"))
	if err != nil {
		return nil, err
	}
	fields, _ := value.(object)
	for place, each := range fields {
		if fields[place].value, err = Written(each.value); err != nil {
			return nil, err
		}
		fields[place].key = strings.ToLower(each.key)
	}
	return fields, nil
}

func (f *File) grpc(into *Request, row *filler) error {
	if f.method == nil {
		method, err := procedure(f.call.text("descriptors"), f.call.text("method"))
		if err != nil {
			return err
		}
		f.method = method
	}
	fields, err := f.fields(row)
	if err != nil {
		return err
	}
	into.Procedure, into.Metadata = f.method, metadata.MD{}
	for _, each := range fields {
		into.Metadata.Append(each.key, each.value.(string))
	}
	values, err := row.fill(f.call.get("message"))
	if err != nil {
		return err
	}
	into.Message = f.method.asked.New().Interface()
	return protojson.UnmarshalOptions{Resolver: f.method.types}.Unmarshal(compact(values), into.Message)
}

// procedure finds `package.Service/Method` in a descriptor set, base64.
func procedure(descriptors, name string) (*Procedure, error) {
	content, err := base64.StdEncoding.DecodeString(descriptors)
	if err != nil {
		return nil, err
	}
	var described descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(content, &described); err != nil {
		return nil, err
	}
	files, err := protodesc.NewFiles(&described)
	if err != nil {
		return nil, err
	}
	service, method, _ := strings.Cut(name, "/")
	known, err := files.FindDescriptorByName(protoreflect.FullName(service + "." + method))
	if err != nil {
		return nil, err
	}
	asked, isMethod := known.(protoreflect.MethodDescriptor)
	if !isMethod || asked.IsStreamingClient() {
		return nil, fmt.Errorf("%.100q is no method with one request", name)
	}
	return &Procedure{
		Path: "/" + name, IsStream: asked.IsStreamingServer(), types: dynamicpb.NewTypes(files),
		asked: dynamicpb.NewMessageType(asked.Input()), Reply: dynamicpb.NewMessageType(asked.Output()),
	}, nil
}

func (f *File) expect(row *filler) (Expect, error) {
	made := Expect{Size: -1}
	value, err := row.fill(f.call.get("expect"))
	if err != nil {
		return made, err
	}
	wanted, _ := value.(object)
	made.SHA256 = wanted.text("sha256")
	if size, isGiven := wanted.get("size").(json.Number); isGiven {
		if made.Size, err = size.Int64(); err != nil {
			return made, err
		}
	}
	statuses, _ := wanted.get("status").([]any)
	for _, each := range statuses {
		number, _ := each.(json.Number)
		status, err := number.Int64()
		if err != nil {
			return made, err
		}
		made.Status = append(made.Status, int(status))
	}
	for _, each := range wanted.object("values") {
		if f.paths[each.key] == nil {
			if f.paths[each.key], err = jsonpath.Parse(each.key); err != nil {
				return made, fmt.Errorf("%.100q is no JSONPath: %w", each.key, err)
			}
		}
		made.Values = append(made.Values, Value{f.paths[each.key], compact(each.value)})
	}
	return made, nil
}
