//! What the host counts: CPU, pressure, throttling. Read before and after a trial, never during one.

use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::system;

const STAT_COLUMNS: [&str; 8] = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];

/// One reading, as `$defs/HostCounters` of the schemas has it; what this system does not have is null.
pub fn host_counters() -> Value {
    json!({
        "monotonic_ns": system::monotonic_ns(),
        "tick_hz": system::ticks_per_second(),
        "cpu_ticks": cpu_ticks(),
        "pressure_us": {"cpu": pressure("cpu"), "memory": pressure("memory"), "io": pressure("io")},
        "throttling": throttling(),
        "cgroup_cpu_us": cgroup_cpu_us(),
        "tcp": tcp(),
        "load_average": system::load_average(),
        "process": process(),
    })
}

/// What other work took from this process and this host, seconds; None where the system does not tell.
#[derive(Clone, Copy, Debug)]
pub struct Disturbance {
    /// How long this process's threads waited for a CPU.
    pub waited_s: Option<f64>,
    /// Steal time of all CPUs.
    pub stolen_s: Option<f64>,
}

impl Disturbance {
    /// So far.
    pub fn read() -> Self {
        Self {
            waited_s: waited_ns().map(|ns| ns as f64 / 1e9),
            stolen_s: cpu_ticks()
                .and_then(|ticks| Some(ticks.get("steal")?.as_i64()? as f64 / system::ticks_per_second() as f64)),
        }
    }

    /// Since an earlier reading. A thread that has ended takes its share of a sum with it.
    pub fn since(self, before: Self) -> Self {
        let since = |now: Option<f64>, before: Option<f64>| Some((now? - before?).max(0.0));
        Self { waited_s: since(self.waited_s, before.waited_s), stolen_s: since(self.stolen_s, before.stolen_s) }
    }
}

fn waited_ns() -> Option<u64> {
    fs::read_dir("/proc/self/task")
        .ok()?
        .map(|thread| {
            let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
            text.split_whitespace().nth(1)?.parse::<u64>().ok()
        })
        .sum()
}

fn cpu_ticks() -> Option<Value> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let mut ticks = Map::new();
    let mut total = 0;
    for (name, word) in STAT_COLUMNS.into_iter().zip(text.lines().next()?.split_whitespace().skip(1)) {
        let count: i64 = word.parse().ok()?;
        total += count;
        ticks.insert(name.to_owned(), count.into());
    }
    let of = |name: &str| ticks.get(name).and_then(Value::as_i64).unwrap_or(0);
    let busy = total - of("idle") - of("iowait");
    ticks.insert("total".to_owned(), total.into());
    ticks.insert("busy".to_owned(), busy.into());
    Some(ticks.into())
}

/// The first line's total: `some avg10=0.00 avg60=0.00 avg300=0.00 total=12345`.
fn pressure(name: &str) -> Option<i64> {
    let text = fs::read_to_string(format!("/proc/pressure/{name}")).ok()?;
    text.lines().next()?.rsplit_once('=')?.1.parse().ok()
}

/// `/proc/net/snmp` has a line of names and one of values.
fn tcp() -> Option<Value> {
    let text = fs::read_to_string("/proc/net/snmp").ok()?;
    let mut lines = text.lines().filter(|line| line.starts_with("Tcp:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let find = |wanted: &str| -> Option<i64> {
        let place = names.split_whitespace().position(|name| name == wanted)?;
        values.split_whitespace().nth(place)?.parse().ok()
    };
    Some(json!({"segments_sent": find("OutSegs")?, "retransmits": find("RetransSegs")?}))
}

/// The controllers (empty for version 2) and the path of each hierarchy of cgroups that this process is in.
fn own_cgroups() -> Vec<(String, String)> {
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            Some((parts.next()?.to_owned(), parts.next()?.trim_start_matches('/').to_owned()))
        })
        .collect()
}

fn folder(parts: &[&str]) -> PathBuf {
    ["/sys/fs/cgroup"].iter().chain(parts).collect()
}

/// Periods, periods throttled, and microseconds throttled.
fn throttling() -> Option<Value> {
    for (controllers, path) in own_cgroups() {
        let folders = if controllers.is_empty() {
            vec![folder(&[&path]), folder(&["unified", &path])]
        } else if controllers.split(',').any(|name| name == "cpu") {
            vec![folder(&[&controllers, &path]), folder(&["cpu", &path]), folder(&["cpu"])]
        } else {
            continue;
        };
        for folder in folders {
            let Ok(text) = fs::read_to_string(folder.join("cpu.stat")) else { continue };
            let find = |name: &str| number_of(&text, name);
            if let (Some(periods), Some(throttled)) = (find("nr_periods"), find("nr_throttled")) {
                let throttled_us = find("throttled_usec").unwrap_or_else(|| find("throttled_time").unwrap_or(0) / 1000);
                return Some(json!({"periods": periods, "throttled": throttled, "throttled_us": throttled_us}));
            }
        }
    }
    None
}

/// CPU time of the cgroup that this process is in, with all that is in it.
fn cgroup_cpu_us() -> Option<i64> {
    own_cgroups().into_iter().find_map(|(controllers, path)| {
        if controllers.is_empty() {
            [folder(&[&path]), folder(&["unified", &path])]
                .iter()
                .find_map(|folder| number_of(&fs::read_to_string(folder.join("cpu.stat")).ok()?, "usage_usec"))
        } else if controllers.split(',').any(|name| name == "cpuacct") {
            [folder(&[&controllers, &path]), folder(&["cpuacct", &path])].iter().find_map(|folder| {
                let used_ns: i64 = fs::read_to_string(folder.join("cpuacct.usage")).ok()?.trim().parse().ok()?;
                Some(used_ns / 1000)
            })
        } else {
            None
        }
    })
}

fn number_of(text: &str, name: &str) -> Option<i64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

fn process() -> Value {
    let usage = system::usage();
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    json!({
        "cpu_s": system::process_cpu_ns() as f64 / 1e9,
        "user_s": seconds(usage.ru_utime),
        "system_s": seconds(usage.ru_stime),
        "voluntary_switches": usage.ru_nvcsw,
        "involuntary_switches": usage.ru_nivcsw,
        "major_faults": usage.ru_majflt,
        "max_rss": usage.ru_maxrss,
    })
}
