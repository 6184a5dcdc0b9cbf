// Command recording says what it costs to record a sample: one line of JSON with the nanoseconds of each round.
//
// `rows`: two readings of the clock, and the row in the mapped file. `books`: these, and all that a requester does of a right
// reply until it makes its next request, with one request in flight and with several. A round's length in samples, and how many
// rounds, may be given.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"orch/internal/load"
	"orch/internal/probe"
)

type told struct {
	Language string               `json:"language"`
	Samples  int64                `json:"samples"`
	Clock    []float64            `json:"clock"`
	Rows     []float64            `json:"rows"`
	Books    map[string][]float64 `json:"books"`
}

type round interface {
	Fill(samples int64) error
	Close() error
}

// readings are readings of the clock alone.
type readings struct{ latestNS int64 }

// Fill reads the clock so many times.
func (r *readings) Fill(samples int64) error {
	for range samples {
		r.latestNS = probe.Now()
	}
	return nil
}

// Close does nothing.
func (r *readings) Close() error { return nil }

// each gives how long a sample of each round took, in nanoseconds; what is made for a round is not timed.
func each(samples, rounds int64, make func() (round, error)) ([]float64, error) {
	var took []float64
	for range rounds {
		made, err := make()
		if err != nil {
			return nil, err
		}
		begunNS := probe.Now()
		if err := made.Fill(samples); err != nil {
			return nil, err
		}
		took = append(took, float64(probe.Now()-begunNS)/float64(samples))
		if err := made.Close(); err != nil {
			return nil, err
		}
	}
	return took, nil
}

func measure(path string, samples, rounds int64) (*told, error) {
	books := func(hasSeveral bool) ([]float64, error) {
		return each(samples, rounds, func() (round, error) { return load.NewFiller(path, samples, hasSeveral) })
	}
	one, err := books(false)
	if err != nil {
		return nil, err
	}
	several, err := books(true)
	if err != nil {
		return nil, err
	}
	rows, err := each(samples, rounds, func() (round, error) { return load.NewRows(path, samples) })
	if err != nil {
		return nil, err
	}
	clock, err := each(samples, rounds, func() (round, error) { return &readings{}, nil })
	if err != nil {
		return nil, err
	}
	return &told{"go", samples, clock, rows, map[string][]float64{"1": one, "several": several}}, nil
}

func run() error {
	samples, rounds := int64(200_000), int64(10)
	for place, into := range []*int64{&samples, &rounds} {
		if place+1 < len(os.Args) {
			given, err := strconv.ParseInt(os.Args[place+1], 10, 64)
			if err != nil {
				return err
			}
			*into = given
		}
	}
	folder, err := os.MkdirTemp("", "orch-recording-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	runtime.LockOSThread()
	found, err := measure(filepath.Join(folder, "record"), samples, rounds)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
