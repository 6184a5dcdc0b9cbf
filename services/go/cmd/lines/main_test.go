package main

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
)

func TestTheFileIsWhatIsCounted(t *testing.T) {
	t.Chdir("../..")
	counted, err := count()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile("lines.json")
	if err != nil {
		t.Fatal(err)
	}
	var written sourceLines
	if err := json.Unmarshal(content, &written); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(*counted, written) {
		t.Error("lines.json is not that of this source: go run ./cmd/lines")
	}
}

func TestLinesOfCodeAreThoseWithoutCommentsAndSpace(t *testing.T) {
	source := "// Package a.\npackage a\n\n/* no\ncode */\nvar text = `one\ntwo` // and a comment\n"
	if found := linesOf([]byte(source)); found != 3 {
		t.Errorf("%d lines", found)
	}
}
