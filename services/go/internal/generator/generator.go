// Package generator makes what requests carry and when they are due, as protos/payloads.md says, to the bit.
package generator

import (
	"crypto/sha3"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"
)

// dictionary is what names and tags of records are made of.
var dictionary = [...]string{
	"amber", "basalt", "cedar", "delta", "ember", "fjord", "granite", "harbour", "indigo", "juniper", "kelp", "lagoon",
}

// Stream gives the first bytes of the stream of a label.
func Stream(label string, size int) []byte {
	return sha3.SumSHAKE128([]byte("orch payload v1/"+label), size)
}

// words gives the first words of the stream of a label.
func words(label string, count int) []uint32 {
	content := Stream(label, 4*count)
	found := make([]uint32, count)
	for place := range found {
		found[place] = binary.LittleEndian.Uint32(content[4*place:])
	}
	return found
}

// below gives a word as an integer from 0 to n - 1; n has at most 32 bits.
func below(word uint32, n int64) int64 { return int64(uint64(word) * uint64(n) >> 32) }

// Order gives the places from 0 to n - 1 as a stream draws them: Fisher and Yates from the front.
func Order(label string, n int) []int {
	drawn := make([]int, n)
	for place := range drawn {
		drawn[place] = place
	}
	for place, word := range words(label, n) {
		other := place + int(below(word, int64(n-place)))
		drawn[place], drawn[other] = drawn[other], drawn[place]
	}
	return drawn
}

// Pairs is how many pairs of numbers `add` has.
const Pairs = 1024

// Pair is what one request of `add` carries.
type Pair struct{ A, B int32 }

// AddPairs are the pairs of a seed; a request carries that of its sequence modulo Pairs.
func AddPairs(seed int64) []Pair {
	drawn := words(fmt.Sprintf("add/%d", seed), 2*Pairs)
	found := make([]Pair, Pairs)
	for place := range found {
		found[place] = Pair{int32(int64(drawn[2*place]>>1) - 1<<30), int32(int64(drawn[2*place+1]>>1) - 1<<30)}
	}
	return found
}

// Record is one record of an echo.
type Record struct {
	ID     int64    `json:"id"`
	Name   string   `json:"name"`
	Value  float64  `json:"value"`
	Active bool     `json:"active"`
	Tags   []string `json:"tags"`
}

// Records are the records of a seed.
func Records(seed int64, count int) []Record {
	drawn := words(fmt.Sprintf("records/%d", seed), 9*count)
	found := make([]Record, count)
	for place := range found {
		w := drawn[9*place : 9*place+9]
		shuffled := dictionary
		for j := range 4 {
			other := j + int(below(w[5+j], int64(12-j)))
			shuffled[j], shuffled[other] = shuffled[other], shuffled[j]
		}
		found[place] = Record{
			ID:     int64(place + 1),
			Name:   dictionary[below(w[0], 12)] + " " + dictionary[below(w[1], 12)],
			Value:  float64(2*below(w[2], 10_000_000)-9_999_999) / 10_000,
			Active: below(w[3], 2) == 1,
			Tags:   append([]string{}, shuffled[:below(w[4], 5)]...),
		}
	}
	return found
}

const eventPlaces = 64

// Events makes the texts of the events of a subscription.
type Events struct {
	text string
	size int
}

// NewEvents gives the events of a seed with so many characters each.
func NewEvents(seed int64, size int) *Events {
	length := size + eventPlaces
	content := Stream(fmt.Sprintf("events/%d", seed), (length+3)/4*3)
	return &Events{text: base64.StdEncoding.EncodeToString(content), size: size}
}

// Text is that of event n, from 1.
func (e *Events) Text(n int64) string {
	place := int(n % eventPlaces)
	return e.text[place : place+e.size]
}

// MixLength is how many requests of a mix are drawn; then they come again.
const MixLength = 65_536

// Mix gives the place of the operation, from 0, of each request, in the order of sequence numbers.
func Mix(seed int64, weights []int64) []int {
	sum := int64(0)
	for _, weight := range weights {
		sum += weight
	}
	found := make([]int, MixLength)
	for at, word := range words(fmt.Sprintf("mix/%d", seed), MixLength) {
		x := below(word, sum)
		for x >= weights[found[at]] {
			x -= weights[found[at]]
			found[at]++
		}
	}
	return found
}

const gapsInPart = 1024

// limits is the table of protos/payloads.md.
var limits = [4][]uint32{
	{
		3713706681, 4216302226, 4284321136, 4293526495, 4294772305, 4294940907, 4294963725, 4294966813, 4294967231,
		4294967287, 4294967295,
	},
	{
		583662026, 1098741956, 1553298400, 1954443053, 2308451966, 2620863736, 2896566156, 3139872687, 3354589947,
		3544077264, 3711299234, 3858872105, 3989104706, 4104034573, 4205459825,
	},
	{
		284449529, 566685453, 846725001, 1124585263, 1400283200, 1673835638, 1945259274, 2214570675, 2481786278,
		2746922393, 3009995202, 3271020762, 3530015005, 3786993739, 4041972648,
	},
	{
		269419616, 538707711, 807864350, 1076889597, 1345783516, 1614546171, 1883177627, 2151677947, 2420047195,
		2688285435, 2956392732, 3224369149, 3492214750, 3759929599, 4027513760,
	},
}

// gaps draws exponential gaps, one after the other: integers below 2^48 with the mean 2^43.
type gaps struct {
	label string
	seed  int64
	place int
	drawn []uint32
}

func (g *gaps) next() uint64 {
	within := g.place % gapsInPart
	if within == 0 {
		g.drawn = words(fmt.Sprintf("%s/%d/%d", g.label, g.seed, g.place/gapsInPart), 5*gapsInPart)
	}
	g.place++
	w := g.drawn[5*within : 5*within+5]
	x := uint64(0)
	for row, limit := range limits {
		digit := uint64(0)
		for _, least := range limit {
			if least <= w[row] {
				digit++
			}
		}
		x = x<<4 + digit
	}
	return x<<32 + uint64(w[4])
}

// scaled gives mean * gap / 2^43, rounded down, by a product of 128 bits.
func scaled(mean, gap uint64) uint64 {
	high, low := bits.Mul64(mean, gap)
	return high<<(64-43) | low>>43
}

// SlowestRate is the least rate a second whose gaps can be reckoned with here.
const SlowestRate = 0.002

// Arrivals are when the requests of an open loop are due, nanoseconds from the beginning of its phase. `requests` and
// `durationNS` below 0 do not end it; one of them must.
func Arrivals(seed int64, ratePerS float64, isPoisson bool, requests, durationNS int64) []int64 {
	mean := uint64(float64(int64(1_000_000_000)<<20) / ratePerS)
	drawn := gaps{label: "arrivals", seed: seed}
	var due []int64
	atNS, fraction := int64(0), uint64(0)
	for {
		if (requests >= 0 && int64(len(due)) >= requests) || (durationNS >= 0 && atNS >= durationNS) {
			return due
		}
		due = append(due, atNS)
		gap := mean
		if isPoisson {
			gap = scaled(mean, drawn.next())
		}
		fraction += gap & (1<<20 - 1)
		atNS += int64(gap>>20) + int64(fraction>>20)
		fraction &= 1<<20 - 1
	}
}

const restsDrawn = 65_536

// Rests are how long the workers of a closed loop rest, nanoseconds. Drawn is empty where all are as long.
type Rests struct {
	meanNS  int64
	workers int64
	drawn   []int64
}

// NewRests gives the rests of so many workers with that mean, which is a whole number of nanoseconds.
func NewRests(seed, meanNS, workers int64, isExponential bool) *Rests {
	made := &Rests{meanNS: meanNS, workers: workers}
	if isExponential {
		drawn := gaps{label: "think", seed: seed}
		made.drawn = make([]int64, restsDrawn)
		for place := range made.drawn {
			made.drawn[place] = int64(scaled(uint64(meanNS), drawn.next()))
		}
	}
	return made
}

// First is the rest of a worker, from 0, before its first request.
func (r *Rests) First(worker int64) int64 {
	if r.drawn != nil {
		return r.drawn[worker%restsDrawn]
	}
	high, low := bits.Mul64(uint64(r.meanNS), uint64(worker))
	quotient, _ := bits.Div64(high, low, uint64(r.workers))
	return int64(quotient)
}

// After is the rest after the phase's request of that place, from 0.
func (r *Rests) After(place int64) int64 {
	if r.drawn != nil {
		return r.drawn[(r.workers+place)%restsDrawn]
	}
	return r.meanNS
}

// Known gives bytes that both ends know without a seed, and keeps those that were asked for last.
type Known struct {
	label string
	mutex sync.RWMutex
	kept  []byte
}

// NewKnown gives the bytes of a stream.
func NewKnown(label string) *Known { return &Known{label: label} }

// First gives the first bytes; nobody may change them.
func (k *Known) First(size int) []byte {
	k.mutex.RLock()
	kept := k.kept
	k.mutex.RUnlock()
	if size <= len(kept) {
		return kept[:size:size]
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if size > len(k.kept) {
		k.kept = Stream(k.label, size)
	}
	return k.kept[:size:size]
}
