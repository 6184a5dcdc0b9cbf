/**
 * The load loops: one worker per request in flight, all on the one event loop.
 *
 * * One send stamp per sample, taken immediately before the client's call, and one when it returned; making the request,
 *   recording and closing stand outside. Under `per-request`, opening the connection stands inside.
 * * Pauses of a closed loop, from a reply to the worker's being ready again, are added up, so that throughput can be told
 *   without them.
 * * With think time a worker rests before each request, and the row's intended stamp says when the rest was over.
 * * When a phase is over nothing more is sent, and what is in flight is awaited (the client's time-out bounds that).
 */

import { BREAKING, CallFailed, TrialFailed } from "./failures.js";

/**
 * @typedef {import("../contract/types.js").Fields} Fields
 * @typedef {import("./recorder.js").Recorder} Recorder
 * @typedef {import("./recorder.js").Reply} Reply
 * @typedef {import("./recorder.js").Part} Part
 * @typedef {import("./phase.js").Phase} Phase
 * @typedef {import("./schedule.js").Rests} Rests
 * @typedef {import("./pacer.js").Pacer} Pacer
 *
 * @typedef {{
 *   open: () => Promise<void>, call: (request: Fields) => Promise<Reply>, close: () => Promise<void>, opened: () => number,
 *   hasUnasked?: () => boolean,
 * }} Connection of a client. `open` opens it now, else its first call does; `call` ends with every field read. CallFailed.
 *   `opened`: which of the client's connections carried the last call, counted from 0 over all that it opened; -1: none.
 *   `hasUnasked`, of a client that takes whatever comes next for the reply: whether something came that no request waited for
 * @typedef {{ dial: () => Connection }} Dialer
 * @typedef {{
 *   dialers: Dialer[], placeOf: (sequence: number) => number, make: (sequence: number) => Fields, recorder: Recorder,
 *   policy: "reuse" | "per-request", concurrency: number,
 * }} Work `dialers`: one for each operation of a mix, and which of them a request asks
 */

const now = process.hrtime.bigint;
const LOOK_MS = 20;
const GRACE_REQUESTS = 10;
const GRACE_MS = /** @type {const} */ ({ least: 5, most: 100 });

class Lane {
  /** @param {number} operations */
  constructor(operations) {
    /** @type {(Connection | null)[]} */
    this.connections = Array.from({ length: operations }, () => null);
    this.pauseNs = 0n; // since the last reply
    this.pausedNs = 0n; // before every request but the first
    this.enteringNs = 0n; // verifying and recording
  }
}

/** The parts that a task had when one of its calls failed. */
export class TaskFailed extends CallFailed {
  /**
   * @param {CallFailed} failure
   * @param {Part[]} parts
   */
  constructor(failure, parts) {
    super(failure.status, failure.detail);
    this.parts = parts;
  }
}

export class Loops {
  /** @param {Work} work */
  constructor(work) {
    this.work = work;
    this.lanes = Array.from({ length: work.concurrency }, () => new Lane(work.dialers.length));
    this.worstLagMs = 0;
    /** @type {bigint[]} when requests that nobody has taken yet were due, and who waits for one */
    this.due = [];
    /** @type {((dueNs: bigint) => void)[]} */
    this.idle = [];
  }

  /** Under `reuse`, open all connections that are kept. CallFailed where one cannot be opened. */
  async open() {
    if (this.work.policy !== "reuse") return;
    for (const lane of this.lanes) {
      for (const [place, dialer] of this.work.dialers.entries()) {
        const connection = dialer.dial();
        await connection.open();
        lane.connections[place] = connection;
      }
    }
  }

  /**
   * Keep as many requests in flight as there are workers, until the phase is over.
   * @param {Phase} phase
   * @param {{ rests: Rests, pacer: Pacer } | null} thinking
   */
  async closedLoop(phase, thinking = null) {
    await this.watched(
      Promise.all(this.lanes.map((lane, worker) => this.run(lane, phase, () => this.rest(phase, worker, thinking)))),
    );
    this.countPauses(true);
  }

  /**
   * Send each request when it is due, nanoseconds from the phase's beginning. A worker that is free takes the longest due.
   * @param {Phase} phase
   * @param {BigInt64Array} due
   * @param {Pacer} pacer
   */
  async openLoop(phase, due, pacer) {
    const calling = this.callWhenDue(phase, due, pacer);
    await this.watched(Promise.all(this.lanes.map((lane) => this.run(lane, phase, () => () => this.nextDue(phase)))));
    pacer.release();
    await calling;
    this.due = [];
    this.countPauses(false);
    const closedNs = now();
    for (let place = phase.taken; place < due.length; place++) {
      const intendedNs = phase.beginNs + /** @type {bigint} */ (due[place]);
      this.work.recorder.notSent(phase.firstSequence + place, intendedNs, closedNs);
    }
  }

  /** End the connections. */
  async close() {
    for (const lane of this.lanes) await this.dropAll(lane);
  }

  /**
   * One worker, to the end of the phase.
   * @param {Lane} lane
   * @param {Phase} phase
   * @param {() => Waits} waiting
   */
  async run(lane, phase, waiting) {
    const waits = waiting();
    try {
      await (this.work.policy === "reuse" ? this.reuse(lane, phase, waits) : this.perRequest(lane, phase, waits));
    } catch (error) {
      phase.end();
      throw error;
    } finally {
      this.wakeIdle(); // the phase is over for those who wait, too
    }
  }

  /**
   * How a worker waits before its requests. `null`: it does not.
   *
   * @typedef {((sequence: number, readyNs: bigint) => Promise<bigint> | bigint) | null} Waits given the number of the request
   *   before (0: none) and when the worker was ready, it gives the intended stamp of the next one, once that has come
   *
   * @param {Phase} phase
   * @param {number} worker
   * @param {{ rests: Rests, pacer: Pacer } | null} thinking
   * @returns {Waits}
   */
  rest(phase, worker, thinking) {
    if (thinking === null) return null;
    const { rests, pacer } = thinking;
    return async (sequence, readyNs) => {
      const dueNs =
        sequence === 0 ? phase.beginNs + rests.first(worker) : readyNs + rests.after(sequence - phase.firstSequence);
      const endsFirst = phase.endsNs < dueNs;
      if (!phase.isOver(now())) await pacer.until(endsFirst ? phase.endsNs : dueNs);
      if (phase.isOver(now())) pacer.release(); // nobody rests any more
      return dueNs;
    };
  }

  /**
   * @param {Lane} lane
   * @param {Phase} phase
   * @param {Waits} waits
   */
  async reuse(lane, phase, waits) {
    const { recorder, make, placeOf, dialers } = this.work;
    let intendedNs = waits === null ? 0n : await waits(0, now());
    let readyNs = now();
    for (let sequence = phase.take(readyNs); sequence !== 0; sequence = phase.take(readyNs)) {
      lane.pausedNs += lane.pauseNs;
      const request = make(sequence);
      const place = placeOf(sequence);
      const connection = lane.connections[place] ?? /** @type {Dialer} */ (dialers[place]).dial();
      lane.connections[place] = connection;
      const sentNs = now();
      let receivedNs;
      try {
        const reply = await connection.call(request);
        receivedNs = now();
        const at = { sequence, connection: connection.opened(), intendedNs: intendedNs || sentNs, sentNs, receivedNs };
        recorder.replied(at, request, reply);
        readyNs = now();
        lane.enteringNs += readyNs - receivedNs;
      } catch (error) {
        if (!(error instanceof CallFailed)) throw error;
        receivedNs = now();
        const at = { sequence, connection: connection.opened(), intendedNs: intendedNs || sentNs, sentNs, receivedNs };
        if (BREAKING.has(error.status)) await this.drop(lane, place);
        const droppedNs = now();
        recorder.failed(at, error, error instanceof TaskFailed ? error.parts : []);
        readyNs = now();
        lane.enteringNs += readyNs - droppedNs;
      }
      lane.pauseNs = readyNs - receivedNs;
      if (waits !== null) {
        intendedNs = await waits(sequence, readyNs);
        readyNs = now();
      }
    }
  }

  /**
   * @param {Lane} lane
   * @param {Phase} phase
   * @param {Waits} waits
   */
  async perRequest(lane, phase, waits) {
    const { recorder, make, placeOf, dialers } = this.work;
    let intendedNs = waits === null ? 0n : await waits(0, now());
    for (let sequence = phase.take(now()); sequence !== 0; sequence = phase.take(now())) {
      lane.pausedNs += lane.pauseNs;
      const request = make(sequence);
      const dialer = /** @type {Dialer} */ (dialers[placeOf(sequence)]);
      const sentNs = now();
      const connection = dialer.dial();
      let receivedNs;
      try {
        const reply = await connection.call(request);
        receivedNs = now();
        const at = { sequence, connection: connection.opened(), intendedNs: intendedNs || sentNs, sentNs, receivedNs };
        recorder.replied(at, request, reply);
        lane.enteringNs += now() - receivedNs;
      } catch (error) {
        if (!(error instanceof CallFailed)) throw error;
        receivedNs = now();
        const at = { sequence, connection: connection.opened(), intendedNs: intendedNs || sentNs, sentNs, receivedNs };
        recorder.failed(at, error, error instanceof TaskFailed ? error.parts : []);
      }
      await connection.close();
      const readyNs = now();
      lane.pauseNs = readyNs - receivedNs;
      if (waits !== null) intendedNs = await waits(sequence, readyNs);
    }
  }

  /**
   * @param {Phase} phase
   * @param {BigInt64Array} due
   * @param {Pacer} pacer
   */
  async callWhenDue(phase, due, pacer) {
    for (const offsetNs of due) {
      const dueNs = phase.beginNs + offsetNs;
      const coming = pacer.until(dueNs);
      if (coming !== undefined) await coming;
      if (!pacer.isOpen) return;
      const taker = this.idle.shift();
      if (taker === undefined) this.due.push(dueNs);
      else taker(dueNs);
    }
  }

  /**
   * When the request was due that is next in an open loop, once it is; at the phase's end at the latest.
   * @param {Phase} phase
   * @returns {Promise<bigint> | bigint}
   */
  nextDue(phase) {
    if (phase.isOver(now())) return 0n;
    const dueNs = this.due.shift();
    if (dueNs !== undefined) return dueNs;
    return new Promise((resolve) => this.idle.push(resolve));
  }

  /** Nothing is due any more for those who wait. */
  wakeIdle() {
    for (const wake of this.idle.splice(0)) wake(0n);
  }

  /**
   * How long a worker of a closed loop paused, on average, and how long all together were busy verifying and recording.
   * @param {boolean} isClosedLoop
   */
  countPauses(isClosedLoop) {
    const { tally } = this.work.recorder;
    for (const lane of this.lanes) {
      if (isClosedLoop) tally.pausedNs += lane.pausedNs / BigInt(this.lanes.length);
      tally.enteringNs += lane.enteringNs;
      lane.pauseNs = lane.pausedNs = lane.enteringNs = 0n;
    }
  }

  /**
   * Run a load, and note how late the event loop comes to its timers meanwhile.
   * @param {Promise<unknown>} load
   */
  async watched(load) {
    this.worstLagMs = 0;
    let plannedMs = performance.now() + LOOK_MS;
    const looking = setInterval(() => {
      const nowMs = performance.now();
      this.worstLagMs = Math.max(this.worstLagMs, nowMs - plannedMs);
      plannedMs = nowMs + LOOK_MS;
    }, LOOK_MS);
    try {
      await load;
    } finally {
      clearInterval(looking);
    }
  }

  /**
   * TrialFailed where a connection that is kept holds replies that nobody asked for: those to later requests may have been
   * of earlier ones. What is under way is waited for.
   * @param {{ measured_s: number, requests: number }} told of the measured phase
   */
  async refuseUnasked({ measured_s: spanS, requests }) {
    const kept = this.lanes.flatMap((lane) => lane.connections).filter((one) => one?.hasUnasked !== undefined);
    if (kept.length === 0) return;
    const usualMs = (GRACE_REQUESTS * 1000 * spanS * this.lanes.length) / Math.max(requests, 1);
    await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(usualMs, GRACE_MS.least), GRACE_MS.most)));
    const found = kept.filter((one) => one?.hasUnasked?.()).length;
    if (found === 0) return;
    throw new TrialFailed(
      "wrong-reply",
      `${found} of ${kept.length} connections held replies that nobody asked for: latencies may be of earlier requests`,
    );
  }

  /**
   * @param {Lane} lane
   * @param {number} place
   */
  async drop(lane, place) {
    const connection = lane.connections[place];
    lane.connections[place] = null;
    await connection?.close();
  }

  /** @param {Lane} lane */
  async dropAll(lane) {
    for (let place = 0; place < lane.connections.length; place++) await this.drop(lane, place);
  }
}
