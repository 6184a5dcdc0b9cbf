package link

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Options are the knobs of sockets (protos/process.md, Knobs of connections); "" and 0 leave what the system gives.
type Options struct {
	Congestion string
	IsDelayed  bool
	Window     int
}

// OptionsOf takes those of sockets from all knobs, whose values are known to be right.
func OptionsOf(knobs map[string]string) Options {
	made := Options{IsDelayed: knobs["nodelay"] == "nagle"}
	if wanted := knobs["congestion"]; wanted != "system" {
		made.Congestion = wanted
	}
	if window, err := strconv.Atoi(knobs["tcp_window"]); err == nil {
		made.Window = window
	}
	return made
}

// Any tells whether there is anything to set.
func (o Options) Any() bool { return o != Options{} }

// Try sets a socket that goes nowhere; an error where this host's kernel cannot do it.
func (o Options) Try() error {
	if !o.Any() {
		return nil
	}
	descriptor, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(descriptor)
	return o.set(descriptor)
}

func (o Options) set(descriptor int) error {
	host, _ := os.Hostname()
	if o.Congestion != "" {
		if err := unix.SetsockoptString(descriptor, unix.IPPROTO_TCP, unix.TCP_CONGESTION, o.Congestion); err != nil {
			has, _ := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control")
			return fmt.Errorf("congestion: %s cannot be set on %s: %w; its kernel has %s",
				o.Congestion, host, err, strings.TrimSpace(string(has)))
		}
	}
	if o.IsDelayed {
		if err := unix.SetsockoptInt(descriptor, unix.IPPROTO_TCP, unix.TCP_NODELAY, 0); err != nil {
			return fmt.Errorf("nodelay: nagle cannot be set on %s: %w", host, err)
		}
	}
	if o.Window == 0 {
		return nil
	}
	// Linux gives a buffer of twice what is asked for; where packets are small, much of it is not theirs.
	_ = unix.SetsockoptInt(descriptor, unix.SOL_SOCKET, unix.SO_RCVBUF, min(2*o.Window, 1<<31-1))
	if given, err := unix.GetsockoptInt(descriptor, unix.SOL_SOCKET, unix.SO_RCVBUF); err != nil || given < 2*o.Window {
		most, _ := os.ReadFile("/proc/sys/net/core/rmem_max")
		return fmt.Errorf("tcp_window: %d cannot be set on %s: the largest that its kernel gives (net.core.rmem_max) is %s",
			o.Window, host, strings.TrimSpace(string(most)))
	}
	if err := unix.SetsockoptInt(descriptor, unix.IPPROTO_TCP, unix.TCP_WINDOW_CLAMP, o.Window); err != nil {
		return fmt.Errorf("tcp_window: %d cannot be set on %s: %w", o.Window, host, err)
	}
	return nil
}

func (o Options) isSet(descriptor int) bool {
	if o.Congestion != "" && congestionOf(descriptor) != o.Congestion {
		return false
	}
	if o.IsDelayed {
		if immediate, err := unix.GetsockoptInt(descriptor, unix.IPPROTO_TCP, unix.TCP_NODELAY); err != nil || immediate != 0 {
			return false
		}
	}
	if o.Window != 0 {
		clamp, err := unix.GetsockoptInt(descriptor, unix.IPPROTO_TCP, unix.TCP_WINDOW_CLAMP)
		return err == nil && clamp == o.Window
	}
	return true
}

func congestionOf(descriptor int) string {
	found, err := unix.GetsockoptString(descriptor, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err != nil {
		return ""
	}
	return strings.TrimRight(found, "\x00")
}

// CongestionOfNew is what a connection has that nobody sets; "" where the system does not tell.
func CongestionOfNew() string {
	descriptor, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(descriptor)
	return congestionOf(descriptor)
}

// CongestionOf is what the connections have that are open now, each once, in alphabetical order.
func CongestionOf(connections []*Conn) string {
	var found []string
	for _, connection := range connections {
		connection.control(func(descriptor int) {
			if name := congestionOf(descriptor); name != "" && !slices.Contains(found, name) {
				found = append(found, name)
			}
		})
	}
	slices.Sort(found)
	return strings.Join(found, ", ")
}

func control(of syscall.Conn, act func(descriptor int)) error {
	raw, err := of.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(descriptor uintptr) { act(int(descriptor)) })
}

func setOn(of syscall.Conn, options Options) error {
	var failed error
	if err := control(of, func(descriptor int) { failed = options.set(descriptor) }); err != nil {
		return err
	}
	return failed
}

var _ syscall.Conn = (*net.TCPConn)(nil)
