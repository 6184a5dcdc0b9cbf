package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"orch/internal/contract"
)

// Opener opens the connections of one trial.
type Opener struct {
	Host    string
	Address string
	Timeout time.Duration
	TLS     *tls.Config // nil: connections are plain
	Meter   *Meter

	mutex      sync.Mutex
	opened     int64
	overlaps   bool // connections open at once, and how long each takes depends on the others
	keepsTimes bool
	connect    []time.Duration
	secure     []time.Duration
	handshakes int64
	resumed    int64
	versions   []string
	ciphers    []string
}

// NewOpener opens connections to a trial's target. An error where it cannot be verified as the trial says.
func NewOpener(trial *contract.Trial, authority []byte) (*Opener, error) {
	overlaps := !trial.Reuses() && trial.Load.Concurrency > 1
	made := &Opener{
		Host:     trial.Target.Host,
		Address:  net.JoinHostPort(trial.Target.Host, strconv.FormatInt(trial.Target.Port, 10)),
		Timeout:  time.Duration(trial.TimeoutS * float64(time.Second)),
		Meter:    NewMeter(overlaps),
		overlaps: overlaps,
	}
	made.Meter.isBlind = OverQUIC(trial.Knobs)
	if trial.TLS == nil {
		return made, nil
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return nil, errors.New("tls: " + trial.TLS.Path + " holds no certificate of an authority")
	}
	made.TLS = &tls.Config{RootCAs: roots, ServerName: trial.Target.Host, MinVersion: tls.VersionTLS13}
	if trial.Knobs["session"] == "resumed" {
		made.TLS.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	return made, nil
}

// DialTCP opens a plain connection, also of a trial with TLS.
func (o *Opener) DialTCP(ctx context.Context) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	begun := time.Now()
	opened, err := (&net.Dialer{}).DialContext(ctx, "tcp", o.Address)
	if err != nil {
		if failure := FailureOf(err); failure.Status == contract.Timeout || failure.Status == contract.Cancelled {
			return nil, failure
		}
		return nil, NoConnection(err)
	}
	took := time.Since(begun)
	o.mutex.Lock()
	o.opened++
	if o.keepsTimes {
		o.connect = append(o.connect, took)
	}
	o.mutex.Unlock()
	return o.Meter.opened(opened.(*net.TCPConn)), nil
}

// Dial opens a connection, with its TLS handshake where the trial has TLS. `protocols` are those to choose from by ALPN.
func (o *Opener) Dial(ctx context.Context, protocols ...string) (net.Conn, error) {
	opened, err := o.DialTCP(ctx)
	if err != nil || o.TLS == nil {
		if err != nil {
			return nil, err
		}
		return opened, nil
	}
	config := o.TLS
	if len(protocols) > 0 {
		config = config.Clone()
		config.NextProtos = protocols
	}
	secured := tls.Client(opened, config)
	if err := o.Handshake(ctx, secured); err != nil {
		opened.Close()
		return nil, err
	}
	return secured, nil
}

// Handshake makes a TLS handshake and takes it down.
func (o *Opener) Handshake(ctx context.Context, secured *tls.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	begun := time.Now()
	if err := secured.HandshakeContext(ctx); err != nil {
		return HandshakeFailure(err)
	}
	o.Note(secured.ConnectionState(), time.Since(begun))
	return nil
}

// Note takes down a handshake that somebody else made.
func (o *Opener) Note(state tls.ConnectionState, took time.Duration) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.handshakes++
	if state.DidResume {
		o.resumed++
	}
	if version := strings.Replace(tls.VersionName(state.Version), "TLS 1.", "TLSv1.", 1); !slices.Contains(o.versions, version) {
		o.versions = append(o.versions, version)
	}
	if cipher := tls.CipherSuiteName(state.CipherSuite); !slices.Contains(o.ciphers, cipher) {
		o.ciphers = append(o.ciphers, cipher)
	}
	if o.keepsTimes {
		o.secure = append(o.secure, took)
	}
}

// Opened is how many connections were opened so far.
func (o *Opener) Opened() int64 {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.opened
}

// Resumed is how many sessions were resumed so far.
func (o *Opener) Resumed() int64 {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.resumed
}

// KeepTimes says whether it is kept how long connections take to open from here on. At first it is not.
func (o *Opener) KeepTimes(keeps bool) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.keepsTimes = keeps && !o.overlaps
}

// Opening is how long connections took to open; nil where nothing is known.
func (o *Opener) Opening() *contract.Opening {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if len(o.connect) == 0 && len(o.secure) == 0 {
		return nil
	}
	return &contract.Opening{
		Connections: max(len(o.connect), len(o.secure)), ConnectS: median(o.connect), TLSS: median(o.secure),
	}
}

func median(took []time.Duration) *float64 {
	if len(took) == 0 {
		return nil
	}
	ordered := slices.Sorted(slices.Values(took))
	middle := len(ordered) / 2
	found := ordered[middle].Seconds()
	if len(ordered)%2 == 0 {
		found = (ordered[middle-1] + ordered[middle]).Seconds() / 2
	}
	return &found
}

// Negotiated is what the handshakes came to; nil without TLS.
func (o *Opener) Negotiated() *contract.Negotiated {
	if o.TLS == nil {
		return nil
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	made := &contract.Negotiated{Handshakes: o.handshakes, Resumed: o.resumed}
	if len(o.versions) > 0 {
		version, cipher := strings.Join(o.versions, ", "), strings.Join(o.ciphers, ", ")
		made.Version, made.Cipher = &version, &cipher
	}
	return made
}

// HandshakeFailure says an error of a TLS handshake in the record's words.
func HandshakeFailure(err error) *contract.Failure {
	failure := FailureOf(err)
	if failure.Status == contract.Timeout || failure.Status == contract.Cancelled || isEnd(err) {
		return failure
	}
	return contract.Fail(contract.Refused, "tls: %s", strings.TrimPrefix(err.Error(), "tls: "))
}

func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}

// NoConnection is why a connection could not be opened: this host has no local port or descriptor left, or it was refused.
func NoConnection(err error) *contract.Failure {
	for _, exhausted := range []error{syscall.EADDRNOTAVAIL, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, exhausted) {
			return contract.Fail(contract.Exhausted, "%v", err)
		}
	}
	return contract.Fail(contract.Refused, "%v", err)
}

// FailureOf says an error of a connection in the record's words.
func FailureOf(err error) *contract.Failure {
	var failure *contract.Failure
	if errors.As(err, &failure) {
		return failure
	}
	var timing interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.Canceled):
		return contract.Fail(contract.Cancelled, "%v", err)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &timing) && timing.Timeout():
		return contract.Fail(contract.Timeout, "no reply in time: %v", err)
	}
	return contract.Fail(contract.Closed, "%v", err)
}
