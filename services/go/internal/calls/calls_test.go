package calls

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
)

type vector struct {
	Row    int
	Method string
	Path   string
	Fields [][2]string
	Body   string
}

// vectorOf is a request as protos/call-vectors.json has it, header fields in alphabetical order.
func vectorOf(t *testing.T, request *Request) vector {
	made := vector{Row: request.Row, Method: request.Method, Path: request.Path, Fields: [][2]string{}}
	body, fields := request.Body, map[string][]string(request.Header)
	if request.Procedure != nil {
		var err error
		if body, err = proto.Marshal(request.Message); err != nil {
			t.Fatal(err)
		}
		fields = request.Metadata
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		made.Fields = append(made.Fields, [2]string{strings.ToLower(name), fields[name][0]})
	}
	made.Body = hex.EncodeToString(body)
	return made
}

func TestRequestsAreThoseOfTheContract(t *testing.T) {
	content, err := os.ReadFile("../../../../protos/call-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Environment map[string]string
		Seed        int64
		Cases       []struct {
			Name     string
			Call     json.RawMessage
			Requests []vector
		}
	}
	if err := json.Unmarshal(content, &vectors); err != nil {
		t.Fatal(err)
	}
	for name, value := range vectors.Environment {
		t.Setenv(name, value)
	}
	for _, each := range vectors.Cases {
		file, err := Open(each.Call)
		if err != nil {
			t.Fatal(err)
		}
		requests, err := file.Requests(vectors.Seed)
		if err != nil || len(requests) != len(each.Requests) {
			t.Fatalf("%s: %d requests: %v", each.Name, len(requests), err)
		}
		for place, request := range requests {
			if made := vectorOf(t, request); !reflect.DeepEqual(made, each.Requests[place]) {
				t.Errorf("%s, request %d:\n%+v, not\n%+v", each.Name, place+1, made, each.Requests[place])
			}
		}
	}
}

func TestWhatHasNoValueIsRefusedByItsName(t *testing.T) {
	for template, reason := range map[string]string{
		"{ib}": "row 1: no value for 'ib'", "${ORCH_NO_TOKEN}": "'ORCH_NO_TOKEN'", "{who:number}": `"x" is no number`,
	} {
		call := object{
			{"kind", "http"}, {"method", "GET"}, {"path", "/"}, {"body", object{{"json", template}}},
			{"rows", []any{object{{"who", "x"}}}},
		}
		file, err := Open(bytes.Clone(compact(call)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = file.Requests(1); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", template, err)
		}
	}
}
