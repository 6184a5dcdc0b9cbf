package web

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"orch/internal/link"
	"orch/internal/operation"
	"orch/internal/serve"
)

type peerKey struct{}

// PeerIn is the other end of the connection that a request came on.
func PeerIn(ctx context.Context) *serve.Peer { return ctx.Value(peerKey{}).(*serve.Peer) }

// PeerOf is the other end of a request's connection.
func PeerOf(request *http.Request) *serve.Peer { return PeerIn(request.Context()) }

// Serve answers by a handler.
func Serve(serving *serve.Serving, handler http.Handler) (func() error, error) {
	config, err := link.ServerTLS(serving.TLS, alpn(serving.Knobs))
	if err != nil {
		return nil, err
	}
	if link.OverQUIC(serving.Knobs) {
		return serveQUIC(serving, handler, config)
	}
	server := &http.Server{
		Handler:   handler,
		Protocols: protocols(serving.Knobs, config != nil),
		HTTP2:     windows(serving.Knobs),
		TLSConfig: config,
		ErrorLog:  log.New(os.Stderr, "", 0),
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, peerKey{}, serving.Peer(conn.RemoteAddr()))
		},
	}
	return func() error {
		if config != nil {
			return server.ServeTLS(serving.Listener, "", "")
		}
		return server.Serve(serving.Listener)
	}, nil
}

// serveQUIC answers over HTTP/3, by the same handler.
func serveQUIC(serving *serve.Serving, handler http.Handler, config *tls.Config) (func() error, error) {
	listener, err := serving.Listener.AcceptQUIC(config)
	if err != nil {
		return nil, err
	}
	server := &http3.Server{
		Handler: handler,
		ConnContext: func(ctx context.Context, conn *quic.Conn) context.Context {
			return context.WithValue(ctx, peerKey{}, serving.Peer(conn.RemoteAddr()))
		},
	}
	return func() error { return server.ServeListener(listener) }, nil
}

// windows are HTTP/2's, where a knob sets them.
func windows(knobs map[string]string) *http.HTTP2Config {
	made := &http.HTTP2Config{}
	if window, err := strconv.Atoi(knobs["flow_window"]); err == nil {
		made.MaxReceiveBufferPerStream = window
		made.MaxReceiveBufferPerConnection = window
	}
	return made
}

// Handler answers messages by their codec, each request with a POST.
func Handler(answerer Answerer, knobs map[string]string) http.Handler {
	isPacked := isCompressed(knobs)
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		var packing *packer
		if isPacked {
			packing = packers.Get().(*packer)
			defer packers.Put(packing)
		}
		contentType, body, err := answer(answerer, request, packing)
		if err != nil {
			answerer.Refuse(writer, statusOf(err), err.Error())
			return
		}
		header := writer.Header()
		if isPacked {
			header[contentEncoding] = []string{coding}
		}
		header["Content-Type"] = []string{contentType}
		header["Content-Length"] = []string{strconv.Itoa(len(body))}
		_, _ = writer.Write(body)
	})
}

// answer gives a reply's body, compressed where there is a packer: then the request's must be, too.
func answer(answerer Answerer, request *http.Request, packing *packer) (string, []byte, error) {
	if request.Method != http.MethodPost {
		return "", nil, Refused(http.StatusMethodNotAllowed, "a POST is answered, and no %.20q", request.Method)
	}
	body, err := readAll(request.Body, request.ContentLength, nil)
	if err != nil {
		return "", nil, err
	}
	if packing != nil {
		if request.Header.Get(contentEncoding) != coding {
			return "", nil, Refused(http.StatusUnsupportedMediaType, "a body compressed with gzip is answered, and no other")
		}
		if body, err = packing.unpack(body); err != nil {
			return "", nil, err
		}
	}
	var asked operation.Request
	if err := answerer.Read(request, body, &asked); err != nil {
		return "", nil, err
	}
	var reply operation.Reply
	if err := PeerOf(request).Answer(&asked, &reply); err != nil {
		return "", nil, err
	}
	contentType, body, err := answerer.Write(asked.Kind, &reply)
	if err == nil && packing != nil {
		body, err = packing.pack(body)
	}
	return contentType, body, err
}

// Refuse writes an error in plain words.
func Refuse(writer http.ResponseWriter, status int, words string) {
	writer.Header().Set("Content-Type", "text/plain; charset=utf-8")
	writer.Header().Set("Content-Length", strconv.Itoa(len(words)))
	writer.WriteHeader(status)
	_, _ = io.WriteString(writer, words)
}
