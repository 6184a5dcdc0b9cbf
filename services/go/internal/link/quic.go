package link

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/quic-go/quic-go"

	"orch/internal/contract"
)

const (
	// MostStreams is how many requests may be under way on a connection at once: as many as net/http takes over HTTP/2.
	MostStreams = 250

	alpnHTTP3   = "h3"
	withoutEnd  = 24 * time.Hour
	noErrorCode = 0x100 // H3_NO_ERROR
)

// OverQUIC tells whether connections are QUIC's, and not TCP's.
func OverQUIC(knobs map[string]string) bool { return knobs["http"] == "3" }

// QUIC is how connections of both ends are set: kept without end, without pings, without early data (0-RTT).
func QUIC(handshake time.Duration) *quic.Config {
	return &quic.Config{HandshakeIdleTimeout: handshake, MaxIdleTimeout: withoutEnd, MaxIncomingStreams: MostStreams}
}

// QUICConn is a connection with a socket of its own, as one of TCP has.
type QUICConn struct {
	*quic.Conn
	packets *quic.Transport
	socket  *net.UDPConn
}

// Close says that the connection is over, and ends its socket.
func (c *QUICConn) Close() error {
	_ = c.CloseWithError(noErrorCode, "")
	return errors.Join(c.packets.Close(), c.socket.Close())
}

// DialQUIC opens a connection of QUIC, whose handshake has that of TLS in it.
func (o *Opener) DialQUIC(ctx context.Context, config *quic.Config) (*QUICConn, error) {
	if o.TLS == nil {
		return nil, contract.Fail(contract.Refused, "tls: QUIC without a certificate to trust")
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	begun := time.Now()
	address, err := net.ResolveUDPAddr("udp", o.Address)
	if err != nil {
		return nil, NoConnection(err)
	}
	network := "udp6"
	if address.IP.To4() != nil {
		network = "udp4"
	}
	socket, err := net.ListenUDP(network, nil)
	if err != nil {
		return nil, NoConnection(err)
	}
	secured := o.TLS.Clone()
	secured.NextProtos = []string{alpnHTTP3}
	made := &QUICConn{packets: &quic.Transport{Conn: socket}, socket: socket}
	if made.Conn, err = made.packets.Dial(ctx, address, secured, config); err != nil {
		_ = errors.Join(made.packets.Close(), socket.Close())
		return nil, quicFailure(err)
	}
	o.Note(made.ConnectionState().TLS, time.Since(begun))
	o.mutex.Lock()
	o.opened++
	o.mutex.Unlock()
	return made, nil
}

// quicFailure says an error of QUIC's handshake in the record's words.
func quicFailure(err error) *contract.Failure {
	failure := FailureOf(err)
	if failure.Status == contract.Timeout || failure.Status == contract.Cancelled {
		return failure
	}
	var told *quic.TransportError
	if errors.As(err, &told) && told.ErrorCode.IsCryptoError() {
		return contract.Fail(contract.Refused, "tls: %v", err)
	}
	return NoConnection(err)
}

// listenPackets takes a port of UDP, 0 for a free one.
func listenPackets(host string, port int64) (*Listener, error) {
	address, err := net.ResolveUDPAddr("udp", net.JoinHostPort(host, strconv.FormatInt(port, 10)))
	if err != nil {
		return nil, err
	}
	opened, err := net.ListenUDP("udp", address)
	if err != nil {
		return nil, err
	}
	return &Listener{Packets: opened}, nil
}

// AcceptQUIC accepts connections of QUIC, each with its handshake.
func (l *Listener) AcceptQUIC(secured *tls.Config) (*quic.EarlyListener, error) {
	return (&quic.Transport{Conn: l.Packets}).ListenEarly(secured, QUIC(0))
}
