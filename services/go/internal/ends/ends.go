// Package ends has the responders and clients by name. What each offers stands in the manifest.
package ends

import (
	"fmt"
	"strconv"

	"orch/internal/contract"
	"orch/internal/link"
	"orch/internal/load"
	"orch/internal/rest"
	"orch/internal/rpc"
	"orch/internal/serve"
	"orch/internal/sse"
	"orch/internal/tcp"
	"orch/internal/unary"
	"orch/internal/web"
)

// Asking is what a client is given.
type Asking struct {
	Trial  *contract.Trial
	Opener *link.Opener
	Schema []byte // of the message that a JSON document travels as; nil without one
}

// most is how many connections are shared; 0 where each request in flight has one of its own.
func (a *Asking) most() int {
	most, _ := strconv.Atoi(a.Trial.Knobs["connections"])
	return most
}

type client func(*Asking) (load.Dialer, error)

var responders = map[string]serve.Start{
	"tcp go-tcp":         tcp.Serve,
	"rest go-net-http":   serveRest,
	"grpc grpc-go":       rpc.Serve,
	"connect connect-go": unary.Serve,
	"sse go-net-http":    sse.Serve,
}

var clients = map[string]client{
	"tcp go-tcp":       func(asking *Asking) (load.Dialer, error) { return tcp.Dialer(asking.Opener), nil },
	"rest go-net-http": askRest,
	"grpc grpc-go": func(asking *Asking) (load.Dialer, error) {
		return rpc.Dialer(asking.Opener, asking.Trial.Knobs, asking.most()), nil
	},
	"connect connect-go": func(asking *Asking) (load.Dialer, error) {
		return unary.Dialer(asking.Opener, asking.Trial.Knobs, asking.most()), nil
	},
	"own_http go-net-http":    askOwn,
	"own_graphql go-net-http": askOwn,
	"own_grpc grpc-go": func(asking *Asking) (load.Dialer, error) {
		return rpc.Dialer(asking.Opener, asking.Trial.Knobs, asking.most()), nil
	},
	"sse go-net-http": func(asking *Asking) (load.Dialer, error) { return sse.Dialer(asking.Opener, asking.Trial.Knobs), nil },
}

// Responder gives the one of a protocol and a name.
func Responder(protocol, name string) (serve.Start, error) {
	if found, has := responders[protocol+" "+name]; has {
		return found, nil
	}
	return nil, fmt.Errorf("the manifest has the responder %s of %s, and the program has not", name, protocol)
}

// Client gives what opens connections of a client.
func Client(protocol, name string, asking *Asking) (load.Dialer, error) {
	if found, has := clients[protocol+" "+name]; has {
		return found(asking)
	}
	return nil, fmt.Errorf("the manifest has the client %s of %s, and the program has not", name, protocol)
}

func serveRest(serving *serve.Serving) (func() error, error) {
	return web.Serve(serving, web.Handler(rest.Codec{}, serving.Knobs))
}

func askRest(asking *Asking) (load.Dialer, error) { return dialer(asking, rest.Codec{}), nil }

func askOwn(asking *Asking) (load.Dialer, error) {
	return web.NewClient(asking.Opener, nil, asking.Trial.Knobs, asking.most()).DialCall, nil
}

// dialer asks over HTTP by a codec.
func dialer(asking *Asking, codec web.Codec) load.Dialer {
	return web.NewClient(asking.Opener, codec, asking.Trial.Knobs, asking.most()).Dial
}
