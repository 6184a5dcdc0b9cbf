package probe

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// PeakMemory is the most resident memory of this process, since a moment of its choice where the kernel can tell.
type PeakMemory struct{ isOfPhase bool }

// Begin counts from here on, where the kernel can (proc(5): clear_refs).
func (p *PeakMemory) Begin() {
	p.isOfPhase = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil || p.isOfPhase
}

// Read gives the peak in bytes, and since when it counts.
func (p *PeakMemory) Read() (int64, string) {
	for line := range strings.Lines(read("/proc/self/status")) {
		if rest, isPeak := strings.CutPrefix(line, "VmHWM:"); isPeak {
			if kilobytes, ok := whole(strings.TrimSuffix(strings.TrimSpace(rest), " kB")); ok {
				if p.isOfPhase {
					return kilobytes << 10, "phase"
				}
				return kilobytes << 10, "process"
			}
		}
	}
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0, "process"
	}
	return int64(usage.Maxrss) << 10, "process"
}

// LeastRoom is what replies that are kept may take wherever a requester runs, in bytes.
const LeastRoom = int64(64 << 20)

// RoomForReplies is an eighth of the memory that is free here, in bytes, at least LeastRoom and at most 256 MiB.
func RoomForReplies() int64 {
	const most, share = 256 << 20, 8
	free := int64(0)
	for line := range strings.Lines(read("/proc/meminfo")) {
		if rest, isFree := strings.CutPrefix(line, "MemAvailable:"); isFree {
			kilobytes, _ := whole(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			free = kilobytes << 10
		}
	}
	for _, each := range ownGroups() {
		for _, folder := range each.folders("memory") {
			limit, used := "memory.max", "memory.current"
			if len(each.controllers) > 0 {
				limit, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
			}
			allowed, hasLimit := whole(read(folder, limit))
			taken, hasUsed := whole(read(folder, used))
			if hasLimit && hasUsed {
				free = min(free, max(0, allowed-taken))
			}
		}
	}
	return max(LeastRoom, min(most, free/share))
}
