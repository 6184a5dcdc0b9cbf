package operation

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"strings"
	"testing"

	"orch/internal/contract"
)

func TestADocumentComesBackAsItWas(t *testing.T) {
	text := `{"":null,"big":123456789012345678901234567890,"n":[1,-2.5,1e+100,9007199254740993],"t":"ü<&>"}`
	document, err := DecodeDocument([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	written, err := Compact(document)
	if err != nil || string(written) != text {
		t.Errorf("%s, %v", written, err)
	}
	for _, wrong := range []string{"", "{", "1 2", `{"a":1e999}`} {
		if _, err := DecodeDocument([]byte(wrong)); err == nil {
			t.Errorf("%q is a document", wrong)
		}
	}
}

func TestAPictureThatSaysItHasBillionsOfPixelsIsNotDecoded(t *testing.T) {
	var made bytes.Buffer
	if err := png.Encode(&made, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	if width, height, err := sizeOf(made.Bytes(), true); width != 3 || height != 2 || err != nil {
		t.Fatal(width, height, err)
	}
	header := made.Bytes()[12:29] // IHDR, whose checksum follows
	binary.BigEndian.PutUint32(header[4:], 65_000)
	binary.BigEndian.PutUint32(header[8:], 65_000)
	binary.BigEndian.PutUint32(made.Bytes()[29:], crc32.ChecksumIEEE(header))
	if _, _, err := sizeOf(made.Bytes(), true); err == nil || !strings.Contains(err.Error(), "pixels") {
		t.Error(err)
	}
}

func TestDocumentsAreComparedWithTheirTypes(t *testing.T) {
	for pair, wanted := range map[[2]string]bool{
		{`[1,{"a":2}]`, `[1.0,{"a":2}]`}:           true,
		{`1`, `true`}:                              false,
		{`1`, `"1"`}:                               false,
		{`[1]`, `[1,2]`}:                           false,
		{`{"a":1}`, `{"b":1}`}:                     false,
		{`9007199254740993`, `9007199254740992.0`}: false,
		{`null`, `0`}:                              false,
	} {
		one, _ := DecodeDocument([]byte(pair[0]))
		other, _ := DecodeDocument([]byte(pair[1]))
		if isSame(one, other) != wanted || isSame(other, one) != wanted {
			t.Errorf("%v are the same: %v", pair, !wanted)
		}
	}
}

func TestAStampIsCutAndNotRounded(t *testing.T) {
	if found := string(AppendStamp(nil, 1_700_000_000_000_001_999)); found != "2023-11-14T22:13:20.000001+00:00" {
		t.Error(found)
	}
	if !isStamp(Stamp()) || isStamp("2023-11-14T22:13:20.000001+01:00") || isStamp("") {
		t.Error("another form is a stamp, or this is none")
	}
}

func TestOneWrongFieldIsAMistake(t *testing.T) {
	for name, payload := range map[string]contract.Payload{
		"add":       {Kind: "none"},
		"timestamp": {Kind: "none"},
		"echo":      {Kind: "records", Count: 3},
		"transfer":  {Kind: "transfer", Size: 10, ReplySize: 20},
		"exchange":  {Kind: "exchange", Size: 10, ReplySize: 20, Opening: 2},
	} {
		requestOf, err := Requests(name, payload, 1)
		if err != nil {
			t.Fatal(err)
		}
		var own Request
		var reply Reply
		request := requestOf(2, &own)
		if err := Answer(request, &reply, ""); err != nil {
			t.Fatal(err)
		}
		if mistake := Mistake(request, &reply); mistake != "" {
			t.Errorf("%s: the right reply: %s", name, mistake)
		}
		reply.Sum++
		reply.Response += "0"
		reply.Records = append([]Record{}, reply.Records...)
		if len(reply.Records) > 0 {
			reply.Records[2].Value++
		}
		reply.Data = append([]byte{1}, reply.Data...)
		if Mistake(request, &reply) == "" {
			t.Errorf("%s: a wrong reply is right", name)
		}
	}
}

func TestATransferOfOtherBytesIsRefused(t *testing.T) {
	request := Request{Kind: Transfer, Data: []byte("other"), ReplySize: 1}
	if Answer(&request, &Reply{}, "") == nil {
		t.Error("it is answered")
	}
}
