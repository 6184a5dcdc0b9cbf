package contract

import (
	"bufio"
	"strings"
	"testing"
)

const line = `{"type":"trial","contract":2,"protocol":"tcp","client":"c","operation":"add","record":"r"`

func read(text, kind, reader string, into any) error {
	return Read(bufio.NewReader(strings.NewReader(text)), kind, reader, into)
}

func TestALineIsReadWithItsDefaults(t *testing.T) {
	var trial Trial
	text := line + `,"load":{"requests":5},"payload":{"kind":"bytes","size":3},"mix":[{"operation":"a","weight":2}]}`
	if err := read(text, "trial", "requester", &trial); err != nil {
		t.Fatal(err)
	}
	if trial.Load.Concurrency != 1 || *trial.Load.Requests != 5 || trial.Load.Arrivals != "poisson" || trial.TimeoutS != 30 {
		t.Errorf("%+v", trial)
	}
	if trial.Payload.Opening != 1 || trial.Warmup.Requests != 500 || trial.Mix[0].Payload.Kind != "none" || trial.Calls != 1 {
		t.Errorf("%+v", trial)
	}
}

func TestWhatIsNoLineIsRefusedByTheKey(t *testing.T) {
	for more, named := range map[string]string{
		`,"colour":1}`:                         "colour",
		`,"seed":1.0}`:                         "seed",
		`,"seed":true}`:                        "seed",
		`,"seed":"1"}`:                         "seed",
		`,"seed":-1}`:                          "seed",
		`,"seed":9007199254740992}`:            "seed",
		`,"timeout_s":1e999}`:                  "timeout_s",
		`,"timeout_s":NaN}`:                    "",
		`,"seed":1,"seed":1}`:                  "seed",
		`,"protocol":7}`:                       "protocol",
		`,"load":{"concurrency":null}}`:        "load.concurrency",
		`,"load":{"rate_per_s":"5"}}`:          "load.rate_per_s",
		`,"load":[]}`:                          "load",
		`,"connection":"none"}`:                "connection",
		`,"knobs":{"a":1}}`:                    "knobs.a",
		`,"mix":[{"operation":"add"}]}`:        "mix.0.weight",
		`,"target":{"host":"h"}}`:              "target.port",
		`,"target":{"host":"h","port":65536}}`: "target.port",
		`} {}`:                                 "",
		``:                                     "",
	} {
		var trial Trial
		err := read(line+more, "trial", "requester", &trial)
		if err == nil || !strings.Contains(err.Error(), named) {
			t.Errorf("%s: %v", more, err)
		}
	}
}

func TestAnotherVersionIsRefusedBeforeAnythingElse(t *testing.T) {
	var trial Trial
	err := read(`{"type":"trial","contract":99,"what":1}`, "trial", "requester", &trial)
	if err == nil || !strings.Contains(err.Error(), "99") || !strings.Contains(err.Error(), "2") {
		t.Error(err)
	}
}

func TestWhatNoReaderTakesIsRefusedByName(t *testing.T) {
	for text, named := range map[string]string{
		line + `,"mix":[]` + strings.Repeat(" ", longestLine) + `}`: "1 MiB",
		strings.Repeat("x", longestLine+1):                          "1 MiB",
		line + `,"connection":"` + "\xff" + `"}`:                    "UTF-8",
		line + `,"start":"\ud800"}`:                                 "surrogate",
		line + `,"start":"\udc00\ud800"}`:                           "surrogate",
		line + `,"start":"\ud83d\ude00 \\ud800"}`:                   "start is not known",
		`{"type":"another","contract":3}`:                           "the orchestrator speaks 3",
		`{"type":"trial"}`:                                          "does not say which",
		`{"type":"another","contract":2}`:                           `type "another"; known here: trial`,
	} {
		var trial Trial
		if err := read(text, "trial", "requester", &trial); err == nil || !strings.Contains(err.Error(), named) {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}
