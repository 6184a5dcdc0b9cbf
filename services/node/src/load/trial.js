/** One trial, from the check of both ends to its `done` line. */

import { isDeepStrictEqual } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { print } from "../contract/lines.js";
import { endOf, NotOffered, protocolOf, refuseUncarried, refuseUnfit } from "../contract/offers.js";
import { verify } from "../operations/operations.js";
import { fileOf, NoSuchRequest, requestsOf } from "../operations/requests.js";
import { wallNs } from "../operations/stamps.js";
import { congestionControl, hostCounters, PeakMemory } from "../probes/host.js";
import { versionsOf } from "../probes/versions.js";
import { CLIENTS } from "../protocols/clients.js";
import { ClientTls, Openings } from "../transports/opening.js";
import { CallFailed, TrialFailed } from "./failures.js";
import { LEAST_BYTES } from "./kept.js";
import { Loops } from "./loops.js";
import { Pacer } from "./pacer.js";
import { measured, NS, Phase, scheduled, WARM_UP, warmUp } from "./phase.js";
import { KIND, Record } from "./record.js";
import { Recorder } from "./recorder.js";
import { arrivals, mixOrder, NoSuchLoad, nanoseconds, restsOf, SLOWEST_RATE } from "./schedule.js";
import { inTasks, requestsOfTasks } from "./task.js";
import { Windows } from "./windows.js";

/**
 * @typedef {import("../contract/types.js").Trial} Trial
 * @typedef {import("../contract/types.js").Target} Target
 * @typedef {import("../contract/types.js").Fields} Fields
 * @typedef {import("../operations/requests.js").Asking} Asking
 * @typedef {import("../protocols/clients.js").MakeDialer} MakeDialer
 * @typedef {import("./words.js").Words} Words
 * @typedef {{
 *   client: import("../contract/offers.js").End, makeDialer: MakeDialer, asked: Asking[],
 *   placeOf: (sequence: number) => number, tls: ClientTls | null, openings: Openings, target: Target,
 * }} Parts of a trial: `asked` has each operation of its mix, or the one
 */

const LONGEST_NAME = 200;
const MOST_EXPECTED_ROWS = 1 << 20;
const ROWS_WITHOUT_END = 1 << 17;
const ALL_BUSY = 0.9; // of the time of all connections, in which requests were under way
const SATURATED = 0.85; // of its CPU, from where on a requester measures itself

const now = process.hrtime.bigint;

/** One full collection, so that what setting up left behind is not collected within a sample; V8 goes on as it does. */
function collectGarbage() {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

/** Both clocks read together. */
function anchor() {
  const before = now();
  const wall = wallNs();
  return { wall_ns: wall, monotonic_ns: (before + now()) / 2n };
}

/**
 * Check both ends, warm up, measure, and print what came of it. TrialFailed where that cannot be.
 * @param {Trial} trial
 * @param {Words} words that let it measure
 */
export async function makeTrial(trial, words) {
  const parts = await partsOf(trial);
  const { met, bodies } = await check(trial, parts);
  const [first] = bodies;
  print({
    type: "checked",
    contract: 2,
    body_bytes_sent: first?.sent,
    body_bytes_received: first?.received,
    mix: trial.mix.length > 0 ? bodies : undefined,
  });
  if (trial.load.requests === 0) {
    print({
      type: "done",
      contract: 2,
      rows: 0,
      warmup_requests: 0,
      requests: 0,
      errors: {},
      identity: met,
      ...whoAsks(parts),
    });
    return;
  }
  const record = openRecord(trial);
  const recorder = recorderOf(trial, parts, record);
  try {
    await measure(trial, parts, recorder, met, words);
  } catch (error) {
    try {
      recorder.settle();
    } catch {
      // what ended the trial is what is said
    }
    throw error;
  } finally {
    record.close();
  }
}

/**
 * @param {Trial} trial
 * @returns {Promise<Parts>}
 */
async function partsOf(trial) {
  try {
    const protocol = protocolOf(trial.protocol);
    const client = endOf(protocol, "clients", trial.client);
    refuseUnfit(protocol, client, trial);
    for (const { operation } of [trial, ...trial.mix]) refuseUncarried(protocol, client, operation);
    const { target } = trial;
    if (target === null) throw new NotOffered("it names no target, and there is nobody to ask without one");
    refuseImpossible(trial);
    const asked = operationsOf(trial).map(({ operation, payload }) => requestsOf(operation, payload, trial.seed));
    const load = CLIENTS[protocol.name]?.[client.name];
    if (load === undefined) throw new NotOffered(`${protocol.name}/${client.name} has no program here`);
    return {
      client,
      makeDialer: (await load()).dialer,
      asked,
      placeOf:
        trial.mix.length > 0
          ? mixOrder(
              trial.mix.map((of) => of.weight),
              trial.seed,
            )
          : () => 0,
      tls: trial.tls === null ? null : new ClientTls(authorityOf(trial.tls), trial.knobs.session === "resumed"),
      openings: new Openings(trial.connection === "reuse" || trial.load.concurrency === 1),
      target,
    };
  } catch (error) {
    if (error instanceof NotOffered || error instanceof NoSuchRequest || error instanceof NoSuchLoad) {
      throw new TrialFailed("trial", error.message);
    }
    throw error;
  }
}

/** @param {import("../contract/types.js").CheckedFile} file */
function authorityOf(file) {
  try {
    return fileOf(file);
  } catch (error) {
    throw new NotOffered(`tls: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {Trial} trial */
function operationsOf(trial) {
  return trial.mix.length > 0 ? trial.mix : [trial];
}

/** @param {Trial} trial */
function refuseImpossible(trial) {
  const { load, mix } = trial;
  if (load.requests === null && load.duration_s === null)
    throw new NoSuchLoad("load: neither requests nor duration_s would end this trial");
  if (load.concurrency < 1) throw new NoSuchLoad(`load: a concurrency of at least 1, not ${load.concurrency}`);
  if (load.rate_per_s !== null && load.rate_per_s < SLOWEST_RATE)
    throw new NoSuchLoad(
      `load: an open loop needs a rate of at least ${SLOWEST_RATE} a second, not ${load.rate_per_s}`,
    );
  if (load.rate_per_s !== null && load.think_s > 0)
    throw new NoSuchLoad("load: an open loop has a schedule and no think time");
  if (trial.turn_warm_up !== null) refuseTurns(trial);
  if (trial.knobs.session === "resumed" && trial.connection !== "per-request") {
    throw new NotOffered("session: resumed: kept connections have one handshake, and nothing to resume");
  }
  if (mix.length === 0) return;
  const isFirst = mix[0]?.operation === trial.operation && isDeepStrictEqual(mix[0].payload, trial.payload);
  if (mix.length < 2 || trial.calls !== 1 || !isFirst) {
    throw new NotOffered("mix: two operations or more, one call for each request, and the first is the trial's own");
  }
}

/** @param {Trial} trial */
function refuseTurns({ hold, load }) {
  if (!hold) throw new NoSuchLoad("turn_warm_up: turns need hold");
  if (load.rate_per_s !== null || load.think_s > 0)
    throw new NoSuchLoad("turn_warm_up: turns need a closed loop without think time");
}

/**
 * Ask who answers, then each operation once, each on a connection of its own.
 * @param {Trial} trial
 * @param {Parts} parts
 */
async function check(trial, parts) {
  try {
    const met = parts.target.anonymous ? null : await whoAnswers(trial, parts);
    const bodies = [];
    for (const asking of parts.asked) {
      const request = asking.make(1);
      const { value, sizes } = await askOnce(dialerOf(trial, parts, asking.message, request), request);
      const reason = verify(asking.message, request, value);
      if (reason !== null) throw new TrialFailed("wrong-reply", `${asking.message}: ${reason}`);
      bodies.push({ sent: sizes[0], received: sizes[1] });
    }
    if (parts.tls?.resumes && parts.tls.resumed === 0) {
      throw new TrialFailed("refused", "tls: the second connection of the check resumed no session of the first");
    }
    return { met, bodies };
  } catch (error) {
    if (error instanceof CallFailed) throw new TrialFailed(error.status, `before measuring: ${error.message}`);
    throw error;
  }
}

/**
 * What the responder calls itself; TrialFailed when that is another than it should be, or no name.
 * @param {Trial} trial
 * @param {Parts} parts
 */
async function whoAnswers(trial, parts) {
  const { host, port, identity } = parts.target;
  const { value } = await askOnce(dialerOf(trial, parts, "identity", {}), {});
  const met = value.identity;
  const told = String(JSON.stringify(met)).slice(0, LONGEST_NAME);
  if (identity !== null && met !== identity) {
    throw new TrialFailed(
      "wrong-reply",
      `another responder answers at ${host}:${port}: it says ${told}, not ${JSON.stringify(identity)}`,
    );
  }
  if (typeof met !== "string" || met === "" || [...met].length > LONGEST_NAME || !met.isWellFormed()) {
    throw new TrialFailed(
      "wrong-reply",
      `what answers at ${host}:${port} does not say who it is: its identity is ${told}`,
    );
  }
  return met;
}

/**
 * @param {import("./loops.js").Dialer} dialer
 * @param {Fields} request
 */
async function askOnce(dialer, request) {
  const connection = dialer.dial();
  try {
    return await connection.call(request);
  } finally {
    await connection.close();
  }
}

/**
 * @param {Trial} trial
 * @param {Parts} parts
 * @param {string} message
 * @param {Fields} example
 * @param {() => number} connected numbers a connection that is open
 */
function dialerOf(trial, { makeDialer, target, tls, openings }, message, example, connected = () => 0) {
  const { host, port } = target;
  const timeoutMs = trial.timeout_s * 1000;
  return makeDialer({ host, port, timeoutMs, tls, openings, connected, message, example, knobs: trial.knobs });
}

/** @param {Trial} trial */
function openRecord(trial) {
  const { load, warmup } = trial;
  const samples = load.requests === null ? ROWS_WITHOUT_END : load.requests + 2 * warmup.requests;
  const rows = samples * (trial.calls > 1 ? 1 + trial.calls : 1);
  try {
    const expectedRows = Math.min(rows, MOST_EXPECTED_ROWS);
    const record = new Record(trial.record, { expectedRows, isBuffered: load.concurrency > 1 });
    process.once("exit", () => record.close()); // however it ends, but for a kill: what was stored stays
    return record;
  } catch (error) {
    throw new TrialFailed("host", `the requester's host: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * @param {Trial} trial
 * @param {Parts} parts
 * @param {Record} record
 */
function recorderOf(trial, { asked, placeOf }, record) {
  const isMixed = trial.mix.length > 0;
  const messages = asked.map(({ message }) => message);
  return new Recorder({
    record,
    verify: (request, reply, sequence) => verify(/** @type {string} */ (messages[placeOf(sequence)]), request, reply),
    timeoutNs: nanoseconds(trial.timeout_s * trial.calls),
    inFlight: trial.load.concurrency,
    kind: trial.calls > 1 ? KIND.task : isMixed ? KIND.mixed : KIND.request,
    parentOf: isMixed ? (sequence) => placeOf(sequence) + 1 : () => 0,
    mostKeptBytes: trial.turn_warm_up === null ? undefined : LEAST_BYTES, // others wait beside it, with theirs
  });
}

/**
 * @param {Trial} trial
 * @param {Parts} parts
 * @param {Recorder} recorder
 */
function loopsOf(trial, parts, recorder) {
  const { asked, placeOf } = parts;
  const isTask = trial.calls > 1;
  const dialers = asked.map(({ message, make }) => {
    const dialer = dialerOf(trial, parts, message, make(1), () => recorder.connected());
    return isTask ? inTasks(dialer) : dialer;
  });
  /** @param {number} sequence */
  const make = (sequence) => /** @type {Asking} */ (asked[placeOf(sequence)]).make(sequence);
  const { connection: policy, load } = trial;
  return new Loops({
    dialers,
    placeOf,
    make: isTask ? requestsOfTasks(make, trial.calls) : make,
    recorder,
    policy,
    concurrency: load.concurrency,
  });
}

/**
 * Both phases, on the same connections.
 * @param {Trial} trial
 * @param {Parts} parts
 * @param {Recorder} recorder
 * @param {string | null} met
 * @param {Words} words
 */
async function measure(trial, parts, recorder, met, words) {
  const { load } = trial;
  const { openings } = parts;
  const loops = loopsOf(trial, parts, recorder);
  const due = load.rate_per_s === null ? null : arrivals(load, trial.seed); // before connections wait for it
  const rests = restsOf(load, trial.seed);
  const pacer = due === null && rests === null ? null : new Pacer();
  await pacer?.started();
  collectGarbage();
  const begun = anchor();
  print({ type: "start", anchor: begun });
  openings.areNoted = trial.connection === "reuse";
  const warm = await warmItUp(trial, loops, recorder);
  const word = await holdBack(trial, warm.taken, words);
  const windows = new Windows({ trial, loops, recorder, openings, firstSequence: 1 + warm.taken });
  const play = async () => {
    if (trial.turn_warm_up !== null) await windows.turns(word, words);
    else if (due !== null && pacer !== null)
      await windows.window(scheduled(load, due.length), (phase) => loops.openLoop(phase, due, pacer));
    else
      await windows.window(measured(load), (phase) =>
        loops.closedLoop(phase, rests !== null && pacer !== null ? { rests, pacer } : null),
      );
  };
  const told = await measuredPhase(trial, recorder, windows, play);
  await loops.refuseUnasked(told);
  await loops.close();
  await pacer?.close();
  recorder.record.close();
  print({
    type: "done",
    contract: 2,
    rows: recorder.record.rows,
    warmup_requests: warm.taken + windows.warmed,
    identity: met,
    ...told,
    opening: openings.told(),
    wire: null,
    min_rtt_us: null,
    anchor: begun,
    anchor_end: anchor(),
    clock_resolution_ns: 1,
    ...whoAsks(parts),
  });
}

/**
 * @param {Trial} trial
 * @param {Loops} loops
 * @param {Recorder} recorder
 */
async function warmItUp(trial, loops, recorder) {
  try {
    await loops.open();
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    throw new TrialFailed(error.status, `opening ${trial.load.concurrency} connections: ${error.message}`);
  }
  const phase = new Phase({ number: WARM_UP, beginNs: now(), firstSequence: 1, extent: warmUp(trial.warmup) });
  recorder.begin(phase);
  await loops.closedLoop(phase);
  recorder.settle();
  return phase;
}

/**
 * Say that it is warm where the trial asks for that, and wait for the line that lets it go on; that line.
 * @param {Trial} trial
 * @param {number} warmed
 * @param {Words} words
 */
async function holdBack(trial, warmed, words) {
  let momentNs = BigInt(trial.start_at_unix_ns ?? 0);
  /** @type {import("./words.js").Word} */
  let word = 0n;
  if (trial.hold) {
    print({ type: "warm", requests: warmed });
    word = await words.next(trial.turn_warm_up !== null);
    if (typeof word === "bigint" && word > momentNs) momentNs = word;
  }
  for (let leftNs = momentNs - wallNs(); leftNs > 0n; leftNs = momentNs - wallNs()) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(Number(leftNs) / 1e6, 60_000)));
  }
  return word;
}

/**
 * The measured phase between two looks at the host: keys of the `done` line.
 * @param {Trial} trial
 * @param {Recorder} recorder
 * @param {Windows} windows
 * @param {() => Promise<void>} play makes all windows
 */
async function measuredPhase(trial, recorder, windows, play) {
  const memory = new PeakMemory();
  const hostBefore = hostCounters();
  memory.begin();
  await play();
  const read = memory.read();
  const hostAfter = hostCounters();
  recorder.settle();
  const { tally } = recorder;
  return {
    requests: tally.requests,
    not_sent: tally.notSent,
    not_sent_reason: notSentReason(tally, trial.load.concurrency, windows.cpuS),
    verified: tally.verified,
    verified_in_flight: tally.verifiedInFlight,
    verified_by_bytes: tally.verifiedByBytes,
    begin_ns: windows.beginNs,
    measured_s: tally.spanS,
    paused_s: Number(tally.pausedNs) / NS,
    entering_s: Number(tally.enteringNs) / NS,
    errors: tally.errors,
    error_examples: tally.examples,
    body_bytes_sent: tally.bodyBytesSent,
    body_bytes_received: tally.bodyBytesReceived,
    connections_opened: tally.connectionsOpened,
    cpu_s: windows.cpuS,
    cpu_share: tally.spanS > 0 ? windows.cpuS / tally.spanS : null,
    ...read,
    loop_lag_ms: windows.worstLagMs,
    host_before: hostBefore,
    host_after: hostAfter,
  };
}

/**
 * Why requests of an open loop were not sent; null where all were.
 * @param {Recorder["tally"]} tally
 * @param {number} concurrency
 * @param {number} cpu seconds
 */
function notSentReason(tally, concurrency, cpu) {
  if (tally.notSent === 0) return null;
  const areBusy = Number(tally.busyNs) / NS >= ALL_BUSY * tally.spanS * concurrency;
  return areBusy && cpu <= SATURATED * tally.spanS ? "connections-busy" : "requester-behind";
}

/** @param {Parts} parts */
function whoAsks({ client, tls }) {
  return {
    client: client.name,
    versions: versionsOf(client.packages ?? []),
    settings: congestionControl(),
    tls: tls === null ? null : tls.negotiated(),
  };
}
