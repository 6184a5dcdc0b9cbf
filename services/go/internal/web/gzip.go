package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"sync"

	"orch/internal/operation"
)

const (
	contentEncoding = "Content-Encoding"
	coding          = "gzip"
)

// isCompressed tells whether bodies are, in both directions.
func isCompressed(knobs map[string]string) bool { return knobs["compression"] == coding }

// packer makes gzip members of bodies, at Go's default level, and plain bodies of them.
type packer struct {
	writer *gzip.Writer
	reader *gzip.Reader
	packed bytes.Buffer
	plain  bytes.Buffer
}

// packers are those of a server, which has no goroutine that lasts for each of its requests.
var packers = sync.Pool{New: func() any { return new(packer) }}

// pack gives the body as one gzip member; it is good until the next call.
func (p *packer) pack(body []byte) ([]byte, error) {
	p.packed.Reset()
	if p.writer == nil {
		p.writer = gzip.NewWriter(&p.packed)
	} else {
		p.writer.Reset(&p.packed)
	}
	if _, err := p.writer.Write(body); err != nil {
		return nil, err
	}
	if err := p.writer.Close(); err != nil {
		return nil, err
	}
	return p.packed.Bytes(), nil
}

// unpack gives the plain body; it is good until the next call. An error for anything but gzip, and for one without end.
func (p *packer) unpack(body []byte) ([]byte, error) {
	p.plain.Reset()
	source := bytes.NewReader(body)
	if p.reader == nil {
		reader, err := gzip.NewReader(source)
		if err != nil {
			return nil, err
		}
		p.reader = reader
	} else if err := p.reader.Reset(source); err != nil {
		return nil, err
	}
	if _, err := p.plain.ReadFrom(io.LimitReader(p.reader, operation.MostBody+1)); err != nil {
		return nil, err
	}
	if p.plain.Len() > operation.MostBody {
		return nil, Refused(http.StatusRequestEntityTooLarge, "a body that is too large when it is not compressed")
	}
	return p.plain.Bytes(), nil
}
