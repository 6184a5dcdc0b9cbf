// Command lines counts the lines of code of each end, and writes lines.json (protos/schemas/source-lines.json). It is run in
// the language's folder: go run ./cmd/lines.
//
// An end consists of the packages below that its own package imports, directly or through others; those of the harness, which
// all ends have alike, are left out.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	module = "orch/"
	folder = "services/go/"
)

// counted are the packages that differ between ends, and among them those that a program wrote.
var (
	counted = []string{
		"internal/tcp", "internal/web", "internal/rest", "internal/rpc", "internal/unary", "internal/sse", "internal/orchpb",
	}
	generated = []string{"internal/orchpb"}
)

// Files of one end alone, in packages that have both.
var (
	ofClients    = []string{"client.go", "pool.go", "channel.go", "connection.go"}
	ofResponders = []string{"responder.go", "server.go"}
)

// begins says which package an end begins with.
var begins = map[string]string{
	"tcp": "internal/tcp", "rest": "internal/rest", "grpc": "internal/rpc", "connect": "internal/unary",
	"sse": "internal/sse",
}

type endFiles struct {
	Responders map[string][]string `json:"responders"`
	Clients    map[string][]string `json:"clients"`
}

type sourceLines struct {
	Lines     int                 `json:"lines"`
	Language  string              `json:"language"`
	Files     map[string]int      `json:"files"`
	Generated []string            `json:"generated"`
	Protocols map[string]endFiles `json:"protocols"`
}

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "lines:", err)
		os.Exit(1)
	}
}

func write() error {
	found, err := count()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(found, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile("lines.json", append(text, '\n'), 0o644)
}

func count() (*sourceLines, error) {
	content, err := os.ReadFile("manifest.json")
	if err != nil {
		return nil, err
	}
	var manifest struct {
		Protocols []struct {
			Name       string                        `json:"name"`
			Responders []struct{ Name string }       `json:"responders"`
			Clients    []struct{ Name, Kind string } `json:"clients"`
		} `json:"protocols"`
	}
	if err := json.Unmarshal(content, &manifest); err != nil {
		return nil, err
	}
	made := &sourceLines{
		Lines: 1, Language: "go", Files: map[string]int{}, Generated: []string{}, Protocols: map[string]endFiles{},
	}
	for _, protocol := range manifest.Protocols {
		packages, err := packagesOf(begins[protocol.Name])
		if err != nil {
			return nil, err
		}
		of := endFiles{Responders: map[string][]string{}, Clients: map[string][]string{}}
		for _, end := range protocol.Responders {
			if of.Responders[end.Name], err = filesOf(packages, made, ofClients...); err != nil {
				return nil, err
			}
		}
		for _, end := range protocol.Clients {
			if of.Clients[end.Name], err = filesOf(packages, made, ofResponders...); err != nil {
				return nil, err
			}
		}
		made.Protocols[protocol.Name] = of
	}
	slices.Sort(made.Generated)
	return made, nil
}

// packagesOf gives a package with those that are counted and that it imports, directly or through others.
func packagesOf(first string) ([]string, error) {
	found := []string{first}
	for place := 0; place < len(found); place++ {
		files, err := sources(found[place])
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				return nil, err
			}
			for _, imported := range parsed.Imports {
				name, err := strconv.Unquote(imported.Path.Value)
				if err != nil {
					return nil, err
				}
				name = strings.TrimPrefix(name, module)
				if slices.Contains(counted, name) && !slices.Contains(found, name) {
					found = append(found, name)
				}
			}
		}
	}
	slices.Sort(found)
	return found, nil
}

// sources are the files of a package, its tests left out.
func sources(name string) ([]string, error) {
	files, err := filepath.Glob(path.Join(name, "*.go"))
	return slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.go") }), err
}

// filesOf gives the files of packages but for those of the other end, and counts the lines of each.
func filesOf(packages []string, made *sourceLines, others ...string) ([]string, error) {
	found := []string{}
	for _, name := range packages {
		files, err := sources(name)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if slices.Contains(others, path.Base(file)) {
				continue
			}
			content, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			place := folder + filepath.ToSlash(file)
			found = append(found, place)
			made.Files[place] = linesOf(content)
			if slices.Contains(generated, name) && !slices.Contains(made.Generated, place) {
				made.Generated = append(made.Generated, place)
			}
		}
	}
	return found, nil
}

// linesOf counts lines with something else than space and comments.
func linesOf(content []byte) int {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(content))
	var reader scanner.Scanner
	reader.Init(file, content, nil, 0)
	found := map[int]bool{}
	for {
		position, kind, literal := reader.Scan()
		if kind == token.EOF {
			return len(found)
		}
		if kind == token.SEMICOLON && literal == "\n" {
			continue
		}
		first := file.Line(position)
		for line := range 1 + bytes.Count([]byte(literal), []byte("\n")) {
			found[first+line] = true
		}
	}
}
