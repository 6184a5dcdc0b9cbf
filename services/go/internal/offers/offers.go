// Package offers knows what this language's manifest says: what can be asked of its ends, and what they refuse.
package offers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"orch"
)

// End is a responder or a client.
type End struct {
	Name     string            `json:"name"`
	Packages []string          `json:"packages"`
	Refuses  map[string]string `json:"refuses"`
	Settings map[string]string `json:"settings"`
}

// Protocol is a protocol as this language speaks it.
type Protocol struct {
	Name       string   `json:"name"`
	Operations []string `json:"operations"`
	Responders []End    `json:"responders"`
	Clients    []End    `json:"clients"`
	Knobs      map[string]struct {
		Values []string `json:"values"`
	} `json:"knobs"`
	WithoutKnobs map[string]string `json:"without_knobs"`
	Settings     map[string]string `json:"settings"`
}

// Find gives the protocol of that name.
func Find(name string) (*Protocol, error) {
	var manifest struct {
		Protocols []Protocol `json:"protocols"`
	}
	if err := json.Unmarshal(orch.Manifest, &manifest); err != nil {
		return nil, fmt.Errorf("manifest.json: %w", err)
	}
	for place := range manifest.Protocols {
		if manifest.Protocols[place].Name == name {
			return &manifest.Protocols[place], nil
		}
	}
	return nil, fmt.Errorf("there is no protocol %.100q here", name)
}

// Responder gives the one of that name, the first without a name.
func (p *Protocol) Responder(name *string) (*End, error) {
	if name == nil && len(p.Responders) > 0 {
		return &p.Responders[0], nil
	}
	return find(p.Responders, name, "responder of "+p.Name)
}

// Client gives the one of that name.
func (p *Protocol) Client(name string) (*End, error) {
	return find(p.Clients, &name, "client of "+p.Name)
}

func find(ends []End, name *string, what string) (*End, error) {
	for place := range ends {
		if name != nil && ends[place].Name == *name {
			return &ends[place], nil
		}
	}
	shown := ""
	if name != nil {
		shown = *name
	}
	return nil, fmt.Errorf("there is no %s %.100q here", what, shown)
}

// Carries tells whether requests of an operation travel by it.
func (p *Protocol) Carries(operation string) bool { return slices.Contains(p.Operations, operation) }

// Refusal says why an end cannot be told these knobs, a schema or TLS; "" where it can.
func (p *Protocol) Refusal(knobs map[string]string, end *End, hasSchema, hasTLS bool) string {
	for _, name := range slices.Sorted(maps.Keys(knobs)) {
		value := knobs[name]
		if !isAllowed(p.Knobs[name].Values, value) {
			return fmt.Sprintf("%s cannot do the knob %s: %.100s: %s", p.Name, name, value, p.reason(name))
		}
		for _, key := range []string{name + ": " + value, name} {
			if reason, refused := end.Refuses[key]; refused {
				return fmt.Sprintf("%s cannot do the knob %s: %s: %s", end.Name, name, value, reason)
			}
		}
	}
	if hasSchema && (!isAllowed(p.Knobs["document"].Values, "typed") || knobs["document"] == "value") {
		return fmt.Sprintf("%s cannot take a schema: %s", p.Name, p.reason("document"))
	}
	if told := knobs["tls"] == "tls1.3"; told != hasTLS {
		if told {
			return "tls: tls1.3, but no files for it (`tls` of the line)"
		}
		return "tls: files for it (`tls` of the line), and nobody is told to use them"
	}
	if knobs["session"] == "resumed" && !hasTLS {
		return "session: resumed without tls, where there is no session"
	}
	return p.unfit(knobs)
}

// unfit says why knobs do not go together.
func (p *Protocol) unfit(knobs map[string]string) string {
	if _, hasVersions := p.Knobs["http"]; !hasVersions {
		return ""
	}
	without := map[string][]string{
		"": {"connections", "flow_window"}, "1.1": {"connections", "flow_window"},
		"3": {"flow_window", "congestion", "nodelay", "tcp_window"},
	}
	for _, name := range without[knobs["http"]] {
		if value, given := knobs[name]; given {
			return fmt.Sprintf("the knob %s: %s: not over HTTP/%s", name, value, cmp.Or(knobs["http"], "1.1"))
		}
	}
	if knobs["http"] == "3" && knobs["tls"] != "tls1.3" {
		return "http: 3 without tls: tls1.3: QUIC is encrypted by TLS 1.3, always"
	}
	return ""
}

func (p *Protocol) reason(knob string) string {
	if reason := p.WithoutKnobs[knob]; reason != "" {
		return reason
	}
	if len(p.Knobs[knob].Values) > 0 {
		return "known values are " + strings.Join(p.Knobs[knob].Values, ", ")
	}
	return "it has no such knob"
}

// isAllowed tells whether a value is one of these, or in one of their ranges of whole numbers (`1..64`).
func isAllowed(known []string, value string) bool {
	for _, each := range known {
		if value == each {
			return true
		}
		least, most, isRange := strings.Cut(each, "..")
		if !isRange {
			continue
		}
		from, err1 := strconv.ParseInt(least, 10, 64)
		to, err2 := strconv.ParseInt(most, 10, 64)
		given, err3 := strconv.ParseInt(value, 10, 64)
		if err1 == nil && err2 == nil && err3 == nil && from <= given && given <= to && value == strconv.FormatInt(given, 10) {
			return true
		}
	}
	return false
}

// modules are the packages of a manifest that are modules of their own.
var modules = map[string]string{
	"grpc-go": "google.golang.org/grpc", "protobuf-go": "google.golang.org/protobuf", "connect-go": "connectrpc.com/connect",
	"quic-go": "github.com/quic-go/quic-go", "jsonpath": "github.com/theory/jsonpath",
}

// Packages are the versions of those modules among a program's dependencies, by the name that a manifest has for each.
func Packages(dependencies []*debug.Module) map[string]string {
	found := map[string]string{}
	for _, dependency := range dependencies {
		for name, path := range modules {
			if path == dependency.Path {
				found[name] = strings.TrimPrefix(dependency.Version, "v")
			}
		}
	}
	return found
}

// Versions of the language and of an end's packages.
func (e *End) Versions() map[string]string {
	found := map[string]string{"go": strings.TrimPrefix(runtime.Version(), "go")}
	built, ok := debug.ReadBuildInfo()
	if !ok {
		return found
	}
	known := Packages(built.Deps)
	for _, name := range e.Packages {
		if version, is := known[name]; is {
			found[name] = version
		}
	}
	return found
}
