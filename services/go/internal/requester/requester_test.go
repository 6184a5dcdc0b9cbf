package requester

import (
	"bufio"
	"strings"
	"testing"

	"orch/internal/contract"
	"orch/internal/offers"
)

func TestAnEmptyMixIsNone(t *testing.T) {
	protocol, err := offers.Find("tcp")
	if err != nil {
		t.Fatal(err)
	}
	text := `{"type":"trial","contract":2,"protocol":"tcp","client":"go-tcp","operation":"add","record":"r","mix":[]}`
	var trial contract.Trial
	if err := contract.Read(bufio.NewReader(strings.NewReader(text)), "trial", "requester", &trial); err != nil {
		t.Fatal(err)
	}
	if makes, err := makesOf(&trial, protocol); err != nil || len(makes) != 1 {
		t.Errorf("%d operations, %v", len(makes), err)
	}
	trial.Mix = []contract.Mixed{{Operation: "add", Weight: 1}}
	if _, err := makesOf(&trial, protocol); err == nil {
		t.Error("a mix of one operation is made")
	}
}

func TestTheWordThatMayMeasure(t *testing.T) {
	for line, wanted := range map[string]int64{
		"measure": 0, "measure 1700000000000000000": 1700000000000000000, "measure 4611686018427387905": -1,
		"measure soon": -1, "measure ": -1, "measure -1": -1, "measured": -1, "": -1,
	} {
		moment, isWord := mayMeasureFrom(line)
		if isWord != (wanted >= 0) || (isWord && moment != wanted) {
			t.Errorf("%q: %d, %v", line, moment, isWord)
		}
	}
}
