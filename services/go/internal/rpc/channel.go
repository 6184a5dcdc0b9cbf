package rpc

import (
	"context"
	"net"
	"strconv"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/stats"

	"orch/internal/link"
	"orch/internal/operation"
)

// channel is one of grpc-go with one connection, and how many hold it.
type channel struct {
	*grpc.ClientConn
	number  int64 // -1 of one that is not shared
	holders int

	mutex   sync.Mutex
	opening error // why it has no connection
}

func (c *channel) note(err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.opening = err
}

func (c *channel) noted() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.opening
}

// windowOf is the window that a knob sets; false where the library finds it.
func windowOf(knobs map[string]string) (int32, bool) {
	window, err := strconv.ParseInt(knobs["flow_window"], 10, 32)
	return int32(window), err == nil
}

// optionsOf are those of all channels of a trial.
func optionsOf(knobs map[string]string) []grpc.DialOption {
	calls := []grpc.CallOption{
		grpc.MaxCallRecvMsgSize(operation.MostBody), grpc.MaxCallSendMsgSize(operation.MostBody),
	}
	made := []grpc.DialOption{grpc.WithNoProxy(), grpc.WithDisableRetry(), grpc.WithDisableServiceConfig()}
	if window, isSet := windowOf(knobs); isSet {
		made = append(made, grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window))
	}
	if knobs["compression"] == gzip.Name {
		calls = append(calls, grpc.UseCompressor(gzip.Name))
		made = append(made, grpc.WithStatsHandler(sizing{}))
	}
	return append(made, grpc.WithDefaultCallOptions(calls...))
}

// pool hands out at most so many channels, the least held one next; without `most` each is one of its own.
type pool struct {
	opener  *link.Opener
	options []grpc.DialOption
	most    int

	mutex    sync.Mutex
	channels []*channel
	count    int64
}

func (p *pool) take() (*channel, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.most == 0 {
		return p.open(-1)
	}
	if len(p.channels) < p.most {
		made, err := p.open(p.count)
		if err != nil {
			return nil, err
		}
		p.channels = append(p.channels, made)
		p.count++
	}
	least := p.channels[0]
	for _, each := range p.channels {
		if each.holders < least.holders {
			least = each
		}
	}
	least.holders++
	return least, nil
}

func (p *pool) open(number int64) (*channel, error) {
	made := &channel{number: number}
	options := append([]grpc.DialOption{
		grpc.WithTransportCredentials(made.credentials(p.opener)),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			opened, err := p.opener.DialTCP(ctx)
			if err != nil {
				made.note(err)
				return nil, err
			}
			return opened, nil
		}),
	}, p.options...)
	var err error
	made.ClientConn, err = grpc.NewClient("passthrough:///"+p.opener.Address, options...)
	return made, err
}

func (p *pool) give(of *channel) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if of.holders--; of.holders > 0 {
		return
	}
	_ = of.Close()
	for place, each := range p.channels {
		if each == of {
			p.channels = append(p.channels[:place], p.channels[place+1:]...)
			return
		}
	}
}

// credentials are those of a trial: none, or TLS whose handshakes are taken down.
func (c *channel) credentials(opener *link.Opener) credentials.TransportCredentials {
	if opener.TLS == nil {
		return insecure.NewCredentials()
	}
	return &securing{TransportCredentials: credentials.NewTLS(opener.TLS), channel: c, opener: opener}
}

// calling makes calls on a channel by one connection's own codec.
type calling struct {
	channel *channel
	codec   *codec
}

// Invoke makes a call.
func (c *calling) Invoke(ctx context.Context, method string, asked, reply any, options ...grpc.CallOption) error {
	return c.channel.Invoke(ctx, method, asked, reply, append(options, grpc.ForceCodecV2(c.codec))...)
}

// NewStream begins a stream.
func (c *calling) NewStream(
	ctx context.Context, about *grpc.StreamDesc, method string, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	return c.channel.NewStream(ctx, about, method, append(options, grpc.ForceCodecV2(c.codec))...)
}

// packed are the bytes of a call's messages as they travel, where they are compressed.
type packed struct{ sent, received int64 }

type packedKey struct{}

// sizing notes them, of calls whose context has a place for it.
type sizing struct{}

// TagRPC adds nothing.
func (sizing) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC notes what a message came to.
func (sizing) HandleRPC(ctx context.Context, about stats.RPCStats) {
	of, isAsked := ctx.Value(packedKey{}).(*packed)
	if !isAsked {
		return
	}
	switch about := about.(type) {
	case *stats.OutPayload:
		of.sent = int64(about.CompressedLength)
	case *stats.InPayload:
		of.received = int64(about.CompressedLength)
	}
}

// TagConn adds nothing.
func (sizing) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn has nothing to note.
func (sizing) HandleConn(context.Context, stats.ConnStats) {}
