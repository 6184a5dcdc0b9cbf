/** What the host counts, and this process's memory; null where this system does not say. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";

const STAT_COLUMNS = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];
const CLOCK_TICKS = 17n; // AT_CLKTCK of the auxiliary vector

/**
 * @param {string} path
 * @returns {string | null}
 */
function text(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** The `HostCounters` of the contract. */
export function hostCounters() {
  return {
    monotonic_ns: process.hrtime.bigint(),
    tick_hz: ticksPerSecond(),
    cpu_ticks: cpuTicks(),
    pressure_us: { cpu: pressure("cpu"), memory: pressure("memory"), io: pressure("io") },
    throttling: throttling(),
    cgroup_cpu_us: cgroupCpuUs(),
    tcp: tcpSegments(),
    load_average: loadavg(),
    process: ofThisProcess(),
  };
}

/**
 * What other work took from this process and this host so far, seconds: how long its threads waited for a CPU, and steal time
 * of all CPUs.
 */
export function disturbance() {
  const ticks = cpuTicks()?.steal ?? null;
  const hz = ticksPerSecond();
  return { waitedS: waitedS(), stolenS: ticks === null || hz === null ? null : ticks / hz };
}

function waitedS() {
  try {
    const threads = readdirSync("/proc/self/task");
    const waitedNs = threads.map((id) => Number(text(`/proc/self/task/${id}/schedstat`)?.split(" ")[1]));
    const sumS = waitedNs.reduce((sum, ns) => sum + ns, 0) / 1e9;
    return Number.isNaN(sumS) ? null : sumS;
  } catch {
    return null;
  }
}

/** CPU seconds of this process, all threads. */
export function cpuS() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function ticksPerSecond() {
  try {
    const vector = readFileSync("/proc/self/auxv");
    for (let at = 0; at + 16 <= vector.length; at += 16) {
      if (vector.readBigUInt64LE(at) === CLOCK_TICKS) return Number(vector.readBigUInt64LE(at + 8));
    }
  } catch {
    // not Linux
  }
  return null;
}

/** @returns {Record<string, number> | null} */
function cpuTicks() {
  const line = text("/proc/stat")?.split("\n", 1)[0];
  if (line === undefined) return null;
  const values = line
    .trim()
    .split(/\s+/)
    .slice(1, 1 + STAT_COLUMNS.length)
    .map(Number);
  const ticks = /** @type {Record<string, number>} */ (
    Object.fromEntries(STAT_COLUMNS.map((name, place) => [name, values[place] ?? 0]))
  );
  const total = values.reduce((sum, value) => sum + value, 0);
  return { ...ticks, total, busy: total - (ticks.idle ?? 0) - (ticks.iowait ?? 0) };
}

/** @param {string} name */
function pressure(name) {
  const found = /^some .*total=(\d+)$/m.exec(text(`/proc/pressure/${name}`) ?? "");
  return found === null ? null : Number(found[1]);
}

/** Controllers ("" for cgroup v2) and path of each hierarchy that this process is in. */
function ownCgroups() {
  const lines = (text("/proc/self/cgroup") ?? "").split("\n").filter((line) => line !== "");
  return lines
    .map((line) => line.split(":"))
    .map(([, controllers, ...path]) => ({ controllers, path: path.join(":") }));
}

/** @param {string} file */
function ofCgroup(file) {
  for (const { controllers, path } of ownCgroups()) {
    const folder = controllers === "" ? "/sys/fs/cgroup" : `/sys/fs/cgroup/${controllers}`;
    const found = text(`${folder}${path}/${file}`);
    if (found !== null) return found;
  }
  return null;
}

function throttling() {
  const found = Object.fromEntries((ofCgroup("cpu.stat") ?? "").split("\n").map((line) => line.split(" ")));
  if (found.nr_throttled === undefined) return null;
  return {
    periods: Number(found.nr_periods),
    throttled: Number(found.nr_throttled),
    throttled_us:
      found.throttled_usec === undefined
        ? Math.floor(Number(found.throttled_time ?? 0) / 1000)
        : Number(found.throttled_usec),
  };
}

function cgroupCpuUs() {
  const used = /^usage_usec (\d+)$/m.exec(ofCgroup("cpu.stat") ?? "");
  if (used !== null) return Number(used[1]);
  const older = ofCgroup("cpuacct.usage");
  return older === null ? null : Math.floor(Number(older) / 1000);
}

function tcpSegments() {
  const lines = (text("/proc/net/snmp") ?? "").split("\n").filter((line) => line.startsWith("Tcp:"));
  if (lines.length !== 2) return null;
  const [names, values] = /** @type {[string[], string[]]} */ (lines.map((line) => line.split(" ")));
  /** @param {string} name */
  const value = (name) => Number(values[names.indexOf(name)]);
  return { segments_sent: value("OutSegs"), retransmits: value("RetransSegs") };
}

function ofThisProcess() {
  const usage = process.resourceUsage();
  return {
    cpu_s: cpuS(),
    user_s: usage.userCPUTime / 1e6,
    system_s: usage.systemCPUTime / 1e6,
    voluntary_switches: usage.voluntaryContextSwitches,
    involuntary_switches: usage.involuntaryContextSwitches,
    major_faults: usage.majorPageFault,
    max_rss: usage.maxRSS,
  };
}

/** The most resident memory that this process has had, since a moment of its choice where the kernel can tell. */
export class PeakMemory {
  /** @type {"process" | "phase"} */
  since = "process";

  /** Count from here on, where the kernel can. */
  begin() {
    try {
      writeFileSync("/proc/self/clear_refs", "5");
      this.since = "phase";
    } catch {
      // it counts from the start of the process
    }
  }

  read() {
    const found = /^VmHWM:\s+(\d+) kB$/m.exec(text("/proc/self/status") ?? "");
    if (found !== null) return { memory_bytes: Number(found[1]) * 1024, memory_since: this.since };
    return { memory_bytes: process.resourceUsage().maxRSS * 1024, memory_since: "process" };
  }
}

/** Which congestion control new connections have, as a setting. */
export function congestionControl() {
  const found = text("/proc/sys/net/ipv4/tcp_congestion_control")?.trim();
  return found === undefined ? {} : { "congestion control": found };
}
