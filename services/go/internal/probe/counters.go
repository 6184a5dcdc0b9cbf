package probe

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"orch/internal/contract"
)

const (
	tickHz = 100 // USER_HZ, the same on every architecture that Go is built for
	proc   = "/proc"
	cgroup = "/sys/fs/cgroup"
)

var statColumns = [...]string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"}

// HostCounters reads what the host counts, once.
func HostCounters() *contract.HostCounters {
	own := ownGroups()
	return &contract.HostCounters{
		MonotonicNS: Now(),
		TickHz:      tickHz,
		CPUTicks:    cpuTicks(),
		PressureUS:  map[string]*int64{"cpu": pressure("cpu"), "memory": pressure("memory"), "io": pressure("io")},
		Throttling:  throttling(own),
		CgroupCPUUS: cgroupCPU(own),
		TCP:         tcpCounters(),
		LoadAverage: loadAverage(),
		Process:     process(),
	}
}

// Disturbance is what other work took from this process and this host so far, in seconds; nil where the system does not tell.
type Disturbance struct {
	WaitedS *float64 // how long this process's threads waited for a CPU
	StolenS *float64 // steal time of all CPUs
}

// ReadDisturbance reads both.
func ReadDisturbance() Disturbance {
	var now Disturbance
	threads, err := filepath.Glob(proc + "/self/task/*/schedstat")
	if waitedNS := int64(0); err == nil && len(threads) > 0 {
		for _, path := range threads {
			if words := strings.Fields(read(path)); len(words) == 3 {
				ns, _ := whole(words[1])
				waitedNS += ns
			}
		}
		seconds := float64(waitedNS) / 1e9
		now.WaitedS = &seconds
	}
	if steal, has := cpuTicks()["steal"]; has {
		seconds := float64(steal) / tickHz
		now.StolenS = &seconds
	}
	return now
}

// Since is what was taken since an earlier reading.
func (d Disturbance) Since(before Disturbance) Disturbance {
	return Disturbance{WaitedS: since(d.WaitedS, before.WaitedS), StolenS: since(d.StolenS, before.StolenS)}
}

// since is nil where one is not known. A thread that has ended takes its share of a sum with it.
func since(now, before *float64) *float64 {
	if now == nil || before == nil {
		return nil
	}
	seconds := max(0, *now-*before)
	return &seconds
}

func read(parts ...string) string {
	content, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		return ""
	}
	return string(content)
}

func whole(text string) (int64, bool) {
	value, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return value, err == nil
}

func cpuTicks() map[string]int64 {
	first, _, _ := strings.Cut(read(proc, "stat"), "\n")
	words := strings.Fields(first)
	if len(words) < 2 {
		return nil
	}
	found, total := map[string]int64{}, int64(0)
	for place, name := range statColumns {
		if place+1 < len(words) {
			found[name], _ = whole(words[place+1])
			total += found[name]
		}
	}
	found["total"], found["busy"] = total, total-found["idle"]-found["iowait"]
	return found
}

// pressure is the first line's total: `some avg10=0.00 avg60=0.00 avg300=0.00 total=12345`.
func pressure(name string) *int64 {
	first, _, _ := strings.Cut(read(proc, "pressure", name), "\n")
	_, total, has := strings.Cut(first, "total=")
	if value, ok := whole(total); has && ok {
		return &value
	}
	return nil
}

// group is a hierarchy of control groups that this process is in: its controllers, none in version 2, and its path.
type group struct {
	controllers []string
	path        string
}

func (g group) has(controller string) bool {
	for _, each := range g.controllers {
		if each == controller {
			return true
		}
	}
	return false
}

func ownGroups() []group {
	var found []group
	for line := range strings.Lines(read(proc, "self", "cgroup")) {
		if parts := strings.SplitN(strings.TrimSpace(line), ":", 3); len(parts) == 3 {
			made := group{path: parts[2]}
			if parts[1] != "" {
				made.controllers = strings.Split(parts[1], ",")
			}
			found = append(found, made)
		}
	}
	return found
}

func (g group) folders(controller string) []string {
	if len(g.controllers) == 0 {
		return []string{filepath.Join(cgroup, g.path), filepath.Join(cgroup, "unified", g.path)}
	}
	if g.has(controller) {
		together := strings.Join(g.controllers, ",")
		return []string{filepath.Join(cgroup, together, g.path), filepath.Join(cgroup, controller, g.path)}
	}
	return nil
}

func values(text string) map[string]int64 {
	found := map[string]int64{}
	for line := range strings.Lines(text) {
		if name, value, has := strings.Cut(strings.TrimSpace(line), " "); has {
			found[name], _ = whole(value)
		}
	}
	return found
}

// throttling: periods, those that were throttled, and for how many microseconds; nil where nothing throttles.
func throttling(own []group) map[string]int64 {
	for _, each := range own {
		for _, folder := range each.folders("cpu") {
			found := values(read(folder, "cpu.stat"))
			periods, has := found["nr_periods"]
			if !has {
				continue
			}
			us, hasUS := found["throttled_usec"]
			if !hasUS {
				us = found["throttled_time"] / 1000
			}
			return map[string]int64{"periods": periods, "throttled": found["nr_throttled"], "throttled_us": us}
		}
	}
	return nil
}

// cgroupCPU is the CPU time of the group that this process is in, with all that is in it, microseconds.
func cgroupCPU(own []group) *int64 {
	for _, each := range own {
		for _, folder := range each.folders("cpuacct") {
			if us, has := values(read(folder, "cpu.stat"))["usage_usec"]; has && len(each.controllers) == 0 {
				return &us
			}
			if ns, ok := whole(read(folder, "cpuacct.usage")); ok {
				us := ns / 1000
				return &us
			}
		}
	}
	return nil
}

// tcpCounters: /proc/net/snmp has a line of names and one of values (RFC 4022; OutSegs leaves out what is sent again).
func tcpCounters() *contract.TCPCounters {
	var lines [][]string
	scanner := bufio.NewScanner(strings.NewReader(read(proc, "net", "snmp")))
	for scanner.Scan() {
		if rest, isTCP := strings.CutPrefix(scanner.Text(), "Tcp:"); isTCP {
			lines = append(lines, strings.Fields(rest))
		}
	}
	if len(lines) != 2 || len(lines[0]) != len(lines[1]) {
		return nil
	}
	found := contract.TCPCounters{}
	for place, name := range lines[0] {
		switch name {
		case "OutSegs":
			found.SegmentsSent, _ = whole(lines[1][place])
		case "RetransSegs":
			found.Retransmits, _ = whole(lines[1][place])
		}
	}
	return &found
}

func loadAverage() []float64 {
	words := strings.Fields(read(proc, "loadavg"))
	if len(words) < 3 {
		return nil
	}
	found := make([]float64, 3)
	for place := range found {
		value, err := strconv.ParseFloat(words[place], 64)
		if err != nil || math.IsNaN(value) {
			return nil
		}
		found[place] = value
	}
	return found
}

func process() map[string]float64 {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return nil
	}
	return map[string]float64{
		"cpu_s":                CPUSeconds(),
		"user_s":               float64(usage.Utime.Nano()) / 1e9,
		"system_s":             float64(usage.Stime.Nano()) / 1e9,
		"voluntary_switches":   float64(usage.Nvcsw),
		"involuntary_switches": float64(usage.Nivcsw),
		"major_faults":         float64(usage.Majflt),
		"max_rss":              float64(usage.Maxrss),
	}
}
