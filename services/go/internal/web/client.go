package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"orch/internal/contract"
	"orch/internal/link"
	"orch/internal/load"
	"orch/internal/operation"
)

// Client makes connections of net/http for a trial.
type Client struct {
	opener *link.Opener
	codec  Codec
	knobs  map[string]string
	base   url.URL
	major  int // of the version of HTTP
	pool   pool
}

// NewClient asks by a codec. `most` connections are shared, 0 where each request in flight has one of its own.
func NewClient(opener *link.Opener, codec Codec, knobs map[string]string, most int) *Client {
	made := &Client{opener: opener, codec: codec, knobs: knobs, major: 1, base: url.URL{Scheme: "http", Host: opener.Address}}
	if opener.TLS != nil {
		made.base.Scheme = "https"
	}
	open := made.overTCP
	switch knobs["http"] {
	case "2":
		made.major = 2
	case "3":
		made.major, open = 3, made.overQUIC
	}
	made.pool = pool{most: most, isKept: made.major == 1, open: open}
	return made
}

// overQUIC has one connection of HTTP/3, which is opened at its first request.
func (c *Client) overQUIC(of *share) transport {
	return &http3.Transport{
		DisableCompression: true,
		TLSClientConfig:    c.opener.TLS,
		QUICConfig:         link.QUIC(c.opener.Timeout),
		Dial: func(ctx context.Context, _ string, _ *tls.Config, config *quic.Config) (*quic.Conn, error) {
			opened, err := c.opener.DialQUIC(ctx, config)
			if err != nil {
				return nil, err
			}
			return opened.Conn, of.opened(opened)
		},
	}
}

// overTCP has one connection, which is opened at its first request.
func (c *Client) overTCP(of *share) transport {
	made := &http.Transport{
		Protocols:           protocols(c.knobs, c.opener.TLS != nil),
		HTTP2:               windows(c.knobs),
		DisableCompression:  true,
		MaxConnsPerHost:     1,
		MaxIdleConnsPerHost: 1,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			opened, err := c.opener.DialTCP(ctx)
			if err != nil {
				return nil, err
			}
			return opened, of.opened(opened)
		},
		DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			opened, err := c.opener.Dial(ctx, alpn(c.knobs))
			if err != nil {
				return nil, err
			}
			return opened, of.opened(opened)
		},
	}
	made.HTTP2.StrictMaxConcurrentRequests = true
	return made
}

// Dial gives a connection; its socket is opened at the first call.
func (c *Client) Dial() (load.Conn, *contract.Failure) {
	made := &conn{Shared: c.Share()}
	if isCompressed(c.knobs) {
		made.packer = &packer{}
	}
	return made, nil
}

type conn struct {
	*Shared
	buffer []byte
	packer *packer // where bodies are compressed
	urls   map[string]*url.URL
	header http.Header
	kind   string
}

// Call posts a message, and reads the reply's.
func (c *conn) Call(request *operation.Request, reply *operation.Reply) *contract.Failure {
	body, err := c.client.codec.Request(request)
	if err != nil {
		return contract.Fail(contract.Undecodable, "the request cannot be encoded: %v", err)
	}
	if c.packer != nil {
		if body.Content, err = c.packer.pack(body.Content); err != nil {
			return contract.Fail(contract.Undecodable, "the request cannot be compressed: %v", err)
		}
	}
	reply.Sent = int64(len(body.Content))
	came, err := c.Do(&http.Request{
		Method:        http.MethodPost,
		URL:           c.url(body.Path),
		Header:        c.headerOf(body.Type),
		Body:          io.NopCloser(bytes.NewReader(body.Content)),
		ContentLength: int64(len(body.Content)),
	})
	if err != nil {
		return FailureOf(err)
	}
	defer came.Body.Close()
	if c.buffer, err = readAll(came.Body, came.ContentLength, c.buffer); err != nil {
		return FailureOf(err)
	}
	reply.Body, reply.Received = c.buffer, int64(len(c.buffer))
	if came.StatusCode != http.StatusOK {
		return c.client.codec.Failure(came.StatusCode, c.buffer)
	}
	if c.packer != nil {
		if came.Header.Get(contentEncoding) != coding {
			return contract.Fail(contract.Protocol, "a reply that is not compressed with gzip, which was asked for")
		}
		if reply.Body, err = c.packer.unpack(c.buffer); err != nil {
			return contract.Fail(contract.Undecodable, "%v", err)
		}
	}
	if err := c.client.codec.Reply(request.Kind, reply.Body, reply); err != nil {
		return contract.Fail(contract.Undecodable, "%v", err)
	}
	return nil
}

// url is that of a path, parsed once.
func (c *conn) url(path string) *url.URL {
	found := c.urls[path]
	if found == nil {
		made := c.client.base
		made.Path, made.RawQuery, _ = strings.Cut(path, "?")
		if found = &made; c.urls == nil {
			c.urls = map[string]*url.URL{}
		}
		c.urls[path] = found
	}
	return found
}

func (c *conn) headerOf(contentType string) http.Header {
	if c.header == nil || c.kind != contentType {
		c.header, c.kind = c.client.codec.Header().Clone(), contentType
		if c.header == nil {
			c.header = http.Header{}
		}
		c.header.Set("Content-Type", contentType)
		if c.packer != nil {
			c.header.Set(contentEncoding, coding)
			c.header.Set("Accept-Encoding", coding)
		}
	}
	return c.header
}

// FailureOf says an error of a request in the record's words.
func FailureOf(err error) *contract.Failure {
	if strings.Contains(err.Error(), "malformed HTTP") {
		return contract.Fail(contract.Undecodable, "%v", err)
	}
	var asked *url.Error
	if errors.As(err, &asked) && !asked.Timeout() {
		err = asked.Err
	}
	return link.FailureOf(err)
}
