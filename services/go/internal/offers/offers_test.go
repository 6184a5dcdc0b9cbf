package offers

import (
	"strings"
	"testing"
)

func TestRangesAreOfWholeNumbers(t *testing.T) {
	known := []string{"each", "1..64"}
	for value, wanted := range map[string]bool{
		"each": true, "1": true, "64": true, "65": false, "0": false, "01": false, "+1": false, "1.0": false, "": false,
	} {
		if isAllowed(known, value) != wanted {
			t.Errorf("%q is allowed: %v", value, !wanted)
		}
	}
}

func TestWhatIsNotOfferedIsRefusedByName(t *testing.T) {
	protocol, err := Find("rest")
	if err != nil {
		t.Fatal(err)
	}
	client := &protocol.Clients[0]
	for _, c := range []struct {
		knobs             map[string]string
		hasSchema, hasTLS bool
		named             string
	}{
		{map[string]string{"no such": "on"}, false, false, "no such"},
		{map[string]string{"http": "4"}, false, false, "http: 4"},
		{map[string]string{"http": "3"}, false, false, "http: 3"},
		{map[string]string{"http": "3", "tls": "tls1.3", "nodelay": "nagle"}, false, true, "nodelay"},
		{map[string]string{"http": "3", "tls": "tls1.3", "connections": "2"}, false, true, ""},
		{map[string]string{"tls": "tls1.3"}, false, false, "tls"},
		{nil, false, true, "tls"},
		{nil, true, false, "schema"},
		{map[string]string{"session": "resumed"}, false, false, "session"},
		{nil, false, false, ""},
		{map[string]string{"tls": "tls1.3"}, false, true, ""},
	} {
		reason := protocol.Refusal(c.knobs, client, c.hasSchema, c.hasTLS)
		if (c.named == "") != (reason == "") || !strings.Contains(reason, c.named) {
			t.Errorf("%v: %q", c, reason)
		}
	}
}
