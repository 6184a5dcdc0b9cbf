package web

import (
	"bytes"
	"testing"
)

func TestWhatIsPackedComesBackAndNothingElseIsTaken(t *testing.T) {
	var one packer
	for _, body := range [][]byte{nil, []byte("a"), bytes.Repeat([]byte("0123"), 100_000)} {
		packed, err := one.pack(body)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := one.unpack(packed)
		if err != nil || !bytes.Equal(plain, body) {
			t.Errorf("%d bytes came back as %d, %v", len(body), len(plain), err)
		}
		if _, err := one.unpack(packed[:len(packed)-1]); err == nil {
			t.Error("a member that is cut is taken")
		}
	}
	if _, err := one.unpack([]byte("plain")); err == nil {
		t.Error("a plain body is taken")
	}
}
