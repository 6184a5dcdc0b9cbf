// Command packages writes build/packages.json: the versions of the packages in the requester that was built, for orch's record.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"

	"orch/internal/offers"
)

func main() {
	if err := write("build/request", "build/packages.json"); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

func write(program, into string) error {
	built, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(offers.Packages(built.Deps), "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(into, append(text, '\n'), 0o644)
}
