package generator

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

type vector struct {
	For struct {
		Seed, Size, Number, Sequence, Count, Workers int64
		RatePerS                                     float64 `json:"rate_per_s"`
		Arrivals                                     string
		Requests                                     *int64
		DurationS                                    *float64 `json:"duration_s"`
		ThinkS                                       float64  `json:"think_s"`
		Thinking                                     string
	}
	Gives struct {
		Hex, SHA256 *string
		Data        string
		A, B        int32
		Records     []Record
		Count       int
		FirstNS     []int64 `json:"first_ns"`
		LastNS      int64   `json:"last_ns"`
		BeforeNS    []int64 `json:"before_ns"`
		AfterNS     []int64 `json:"after_ns"`
	}
}

func vectors(t *testing.T) map[string][]vector {
	t.Helper()
	content, err := os.ReadFile("../../../../protos/payload-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var found map[string][]vector
	if err := json.Unmarshal(content, &found); err != nil {
		t.Fatal(err)
	}
	return found
}

func grouped(text string) []byte {
	content, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		panic(err)
	}
	return content
}

func isGiven(v vector, content []byte) bool {
	if v.Gives.Hex != nil {
		return bytes.Equal(content, grouped(*v.Gives.Hex))
	}
	digest := sha256.Sum256(content)
	return bytes.Equal(digest[:], grouped(*v.Gives.SHA256))
}

func packed(times ...[]int64) []byte {
	var content []byte
	for _, part := range times {
		for _, at := range part {
			content = binary.LittleEndian.AppendUint64(content, uint64(at))
		}
	}
	return content
}

func durationNS(seconds *float64) int64 {
	if seconds == nil {
		return -1
	}
	return int64(*seconds * 1e9)
}

func TestVectors(t *testing.T) {
	checks := map[string]func(v vector) bool{
		"bytes": func(v vector) bool {
			return isGiven(v, Stream("bytes/"+strconv.FormatInt(v.For.Seed, 10), int(v.For.Size)))
		},
		"request": func(v vector) bool { return isGiven(v, NewKnown("request").First(int(v.For.Size))) },
		"reply":   func(v vector) bool { return isGiven(v, NewKnown("reply").First(int(v.For.Size))) },
		"events": func(v vector) bool {
			return NewEvents(v.For.Seed, int(v.For.Size)).Text(v.For.Number) == v.Gives.Data
		},
		"add": func(v vector) bool {
			return AddPairs(v.For.Seed)[v.For.Sequence%Pairs] == Pair{v.Gives.A, v.Gives.B}
		},
		"records": func(v vector) bool {
			made := Records(v.For.Seed, int(v.For.Count))
			if v.Gives.Records != nil {
				return reflect.DeepEqual(made, v.Gives.Records)
			}
			text, err := json.Marshal(made)
			return err == nil && isGiven(v, text)
		},
		"arrivals": func(v vector) bool {
			requests := int64(-1)
			if v.For.Requests != nil {
				requests = *v.For.Requests
			}
			due := Arrivals(v.For.Seed, v.For.RatePerS, v.For.Arrivals == "poisson", requests, durationNS(v.For.DurationS))
			return len(due) == v.Gives.Count && reflect.DeepEqual(due[:len(v.Gives.FirstNS)], v.Gives.FirstNS) &&
				due[len(due)-1] == v.Gives.LastNS && isGiven(v, packed(due))
		},
		"rests": func(v vector) bool {
			rests := NewRests(v.For.Seed, int64(v.For.ThinkS*1e9), v.For.Workers, v.For.Thinking == "exponential")
			before, after := make([]int64, v.For.Workers), make([]int64, *v.For.Requests)
			for worker := range before {
				before[worker] = rests.First(int64(worker))
			}
			for place := range after {
				after[place] = rests.After(int64(place))
			}
			return reflect.DeepEqual(before[:len(v.Gives.BeforeNS)], v.Gives.BeforeNS) &&
				reflect.DeepEqual(after[:4], v.Gives.AfterNS) && isGiven(v, packed(before, after))
		},
	}
	for part, list := range vectors(t) {
		check, known := checks[part]
		if !known {
			t.Errorf("vectors of %s are not checked", part)
			continue
		}
		for number, v := range list {
			if !check(v) {
				t.Errorf("%s, vector %d: another value", part, number)
			}
		}
	}
}

func TestMixHasItsWeights(t *testing.T) {
	count := [3]int{}
	for _, place := range Mix(7, []int64{3, 1, 4}) {
		count[place]++
	}
	for place, weight := range []int{3, 1, 4} {
		if wanted := MixLength * weight / 8; count[place] < wanted*9/10 || count[place] > wanted*11/10 {
			t.Errorf("operation %d was drawn %d times, about %d were due", place, count[place], wanted)
		}
	}
}
