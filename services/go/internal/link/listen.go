package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"orch/internal/contract"
)

const afterNoDescriptor = 10 * time.Millisecond

// Listener accepts the connections of a responder.
type Listener struct {
	*net.TCPListener
	Packets  *net.UDPConn // where those come of QUIC; there is no listener of TCP then
	options  Options
	mutex    sync.Mutex
	accepted map[*accepted]struct{} // those whose window is set again; nil where none is
}

// accepted is a connection that is forgotten when it is closed.
type accepted struct {
	*net.TCPConn
	listener *Listener
}

// Listen takes a port, 0 for a free one. What it accepts has TCP_NODELAY, as Go sets it.
func Listen(host string, port int64, knobs map[string]string) (*Listener, error) {
	if OverQUIC(knobs) {
		made, err := listenPackets(host, port)
		return made, unheard(host, port, err)
	}
	config := net.ListenConfig{}
	config.SetMultipathTCP(false) // the library's default is a socket of MPTCP, which plain clients fall back from
	opened, err := config.Listen(context.Background(), "tcp", net.JoinHostPort(host, strconv.FormatInt(port, 10)))
	if err != nil {
		return nil, unheard(host, port, err)
	}
	made := &Listener{TCPListener: opened.(*net.TCPListener), options: OptionsOf(knobs)}
	made.options.IsDelayed = false // the requester's side alone
	if made.options.Any() {
		if err := setOn(made.TCPListener, made.options); err != nil {
			opened.Close()
			return nil, err
		}
	}
	if made.options.Window != 0 {
		made.accepted = map[*accepted]struct{}{}
	}
	return made, nil
}

// unheard says why nobody can listen there; nil without an error.
func unheard(host string, port int64, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot listen on %s:%d: %w; give a free port, or 0 for any", host, port, err)
}

// Accept waits for a connection.
//
// Where no descriptor is left, or a connection is gone before it is accepted, it waits for the next one.
func (l *Listener) Accept() (net.Conn, error) {
	connection, err := l.AcceptTCP()
	for isPassing(err) {
		time.Sleep(afterNoDescriptor)
		connection, err = l.AcceptTCP()
	}
	if err != nil {
		return nil, err
	}
	if l.accepted == nil {
		return connection, nil
	}
	made := &accepted{connection, l}
	l.mutex.Lock()
	l.accepted[made] = struct{}{}
	l.mutex.Unlock()
	return made, nil
}

func isPassing(err error) bool {
	var found syscall.Errno
	passing := []syscall.Errno{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR,
	}
	return errors.As(err, &found) && slices.Contains(passing, found)
}

// Close forgets the connection, and ends it.
func (a *accepted) Close() error {
	a.listener.mutex.Lock()
	delete(a.listener.accepted, a)
	a.listener.mutex.Unlock()
	return a.TCPConn.Close()
}

// BoundAccepted sets the window of all connections that are open: TCP forgets it when it meets larger packets.
func (l *Listener) BoundAccepted() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for connection := range l.accepted {
		if err := setOn(connection.TCPConn, Options{Window: l.options.Window}); err != nil {
			return err
		}
	}
	return nil
}

// Port is the one that it listens on.
func (l *Listener) Port() int {
	if l.Packets != nil {
		return l.Packets.LocalAddr().(*net.UDPAddr).Port
	}
	return l.Addr().(*net.TCPAddr).Port
}

// Congestion is TCP's control of the connections that it accepts; "" where the system does not tell, and of QUIC.
func (l *Listener) Congestion() string {
	if l.Packets != nil {
		return ""
	}
	found := ""
	_ = control(l.TCPListener, func(descriptor int) { found = congestionOf(descriptor) })
	return found
}

// ServerTLS is a responder's certificate, for TLS 1.3 and nothing older; nil without one.
func ServerTLS(files *contract.ServerTLS, protocols ...string) (*tls.Config, error) {
	if files == nil {
		return nil, nil
	}
	certificate, err := tls.LoadX509KeyPair(files.Certificate, files.Key)
	if err != nil {
		return nil, fmt.Errorf("tls: certificate %s and key %s cannot be used: %w", files.Certificate, files.Key, err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13, NextProtos: protocols,
	}, nil
}
