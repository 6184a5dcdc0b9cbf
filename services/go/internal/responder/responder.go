// Package responder is the program that answers: protos/process.md, Responder.
package responder

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"orch/internal/contract"
	"orch/internal/ends"
	"orch/internal/link"
	"orch/internal/offers"
	"orch/internal/operation"
	"orch/internal/probe"
	"orch/internal/serve"
)

// Main answers until SIGTERM, SIGINT or the end of stdin. It does not return.
func Main() {
	contract.UseNoProxy()
	lines, err := contract.NewLines()
	if err != nil {
		refuse(err)
	}
	stdin := bufio.NewReader(os.Stdin)
	var asked contract.Serve
	if err := contract.Read(stdin, "serve", "responder", &asked); err != nil {
		refuse(fmt.Errorf("not a serve line on stdin: %w", err))
	}
	var opened stores
	ending := make(chan os.Signal, 1)
	signal.Notify(ending, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-ending
		opened.leave()
	}()
	answering, err := prepare(&asked, &opened)
	if err != nil {
		refuse(fmt.Errorf("%s: %w", asked.Protocol, err))
	}
	go func() {
		if err := answering.run(); err != nil {
			refuse(err)
		}
	}()
	lines.Print(answering.ready(&asked))
	answering.obey(stdin, lines)
	opened.leave()
}

func refuse(err error) {
	contract.Complain("respond: %s", contract.Message(err))
	os.Exit(1)
}

// answering is a responder that listens.
type answering struct {
	*serve.Serving
	end    *offers.End
	opened *stores
	run    func() error
	memory probe.PeakMemory
}

// prepare makes ready what answers; an error for what there is not.
func prepare(asked *contract.Serve, opened *stores) (*answering, error) {
	protocol, err := offers.Find(asked.Protocol)
	if err != nil {
		return nil, err
	}
	end, err := protocol.Responder(asked.Implementation)
	if err != nil {
		return nil, err
	}
	if reason := protocol.Refusal(asked.Knobs, end, asked.Schema != nil, asked.TLS != nil); reason != "" {
		return nil, fmt.Errorf("%s", reason)
	}
	for _, name := range asked.Operations {
		if !protocol.Carries(name) {
			return nil, fmt.Errorf("it does not carry %.100q here", name)
		}
	}
	made := &answering{
		end: end, opened: opened, Serving: &serve.Serving{Identity: asked.Identity, Knobs: asked.Knobs, TLS: asked.TLS},
	}
	if asked.Schema != nil {
		if made.Schema, err = operation.ReadFile("schema", asked.Schema.Path, asked.Schema.SHA256); err != nil {
			return nil, err
		}
	}
	start, err := ends.Responder(protocol.Name, end.Name)
	if err != nil {
		return nil, err
	}
	if made.Held, err = opened.open(asked); err != nil {
		return nil, err
	}
	if made.Listener, err = link.Listen(asked.Host, asked.Port, asked.Knobs); err != nil {
		return nil, err
	}
	made.run, err = start(made.Serving)
	return made, err
}

func (a *answering) ready(asked *contract.Serve) contract.Ready {
	settings := map[string]string{}
	if congestion := a.Listener.Congestion(); congestion != "" {
		settings["congestion control"] = congestion
	}
	maps.Copy(settings, a.opened.settings())
	return contract.Ready{
		Port: a.Listener.Port(), Implementation: a.end.Name, Identity: asked.Identity, Versions: a.end.Versions(),
		Settings: settings, Contract: contract.Version, Type: "ready",
	}
}

// obey answers the lines of stdin until it ends. Its thread does nothing else, so that its CPU time can be left out.
func (a *answering) obey(stdin *bufio.Reader, lines *contract.Lines) {
	runtime.LockOSThread()
	for {
		text, err := stdin.ReadString('\n')
		switch line := strings.TrimSpace(text); line {
		case "stats":
			stats, err := a.stats()
			if err != nil {
				refuse(err)
			}
			lines.Print(stats)
		case "":
		default:
			contract.Complain("respond: unknown line on stdin: %.80q; known: stats", line)
		}
		if err != nil {
			return
		}
	}
}

func (a *answering) stats() (contract.Stats, error) {
	if err := a.Listener.BoundAccepted(); err != nil {
		return contract.Stats{}, err
	}
	cpu := probe.CPUSeconds() - probe.ThreadCPUSeconds()
	bytes, since := a.memory.Read()
	a.memory.Begin()
	answered, peers := a.Counts()
	return contract.Stats{
		Answered: answered, Peers: peers, CPUS: max(0, cpu), MemoryBytes: bytes, MemorySince: since,
		Host: probe.HostCounters(), Events: a.Events(), Store: a.opened.times(), Type: "stats",
	}, nil
}
