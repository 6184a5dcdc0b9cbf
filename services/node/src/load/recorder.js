/**
 * The books of a trial: every reply verified, every request a row, errors by kind.
 *
 * With one request in flight this is called while none is. With several, a reply is kept beside its stamps, and `settle`
 * verifies it and stores its row when the phase is over. Still looked at at once are one reply a second, those that come
 * while the last one looked at was wrong, and those for which there is no room (`kept.js`).
 */

import { print, STATUS, STATUSES } from "../contract/lines.js";
import { CallFailed, TrialFailed } from "./failures.js";
import { isTakenByItsBytes, Kept } from "./kept.js";
import { MEASURED, NEVER, NS, PHASE_NAMES } from "./phase.js";
import { KIND } from "./record.js";

/**
 * @typedef {import("../contract/types.js").Fields} Fields
 * @typedef {import("./kept.js").Stamped} Stamped
 * @typedef {import("./phase.js").Phase} Phase
 * @typedef {{ sentNs: bigint, receivedNs: bigint, bytesSent: number, bytesReceived: number, failure: CallFailed | null }} Part
 * @typedef {{ value: Fields, body: Buffer | null, sizes: [number, number], parts?: Part[] }} Reply a decoded reply, its body
 *   as it came where the library gives it, both bodies' sizes, and of a task its calls
 * @typedef {{ sizes: [number, number], failure: CallFailed | null, parts: Part[] }} Verdict
 */

const MOST_FAILURES_IN_A_ROW = 50;
const MOST_SILENT_TIMEOUTS = 3;
const EXAMPLE_CHARACTERS = 300;
const BETWEEN_LINES_NS = BigInt(NS);

class Tally {
  requests = 0;
  notSent = 0;
  verified = 0;
  verifiedInFlight = 0;
  verifiedByBytes = 0;
  busyNs = 0n;
  bodyBytesSent = 0;
  bodyBytesReceived = 0;
  connectionsOpened = 0;
  /** @type {Record<string, number>} */
  errors = {};
  /** @type {Record<string, string>} */
  examples = {};
  /** Of the last window, but for replies that are kept; NEVER where there is none. */
  firstSentNs = NEVER;
  lastReceivedNs = 0n;
  windowsNs = 0n; // first send to last reply of each window
  pausedNs = 0n;
  enteringNs = 0n;

  get spanS() {
    return Number(this.windowsNs) / NS;
  }
}

export class Recorder {
  /**
   * @param {{
   *   record: import("./record.js").Record, verify: (request: Fields, reply: Fields, sequence: number) => string | null,
   *   timeoutNs: bigint, inFlight: number, kind: number, parentOf: (sequence: number) => number, mostKeptBytes?: number,
   * }} options `timeoutNs`: of a whole sample
   */
  constructor({ record, verify, timeoutNs, inFlight, kind, parentOf, mostKeptBytes }) {
    this.record = record;
    this.verify = verify;
    this.silenceNs = BigInt(MOST_SILENT_TIMEOUTS) * timeoutNs;
    this.verifiesLater = inFlight > 1;
    this.kind = kind;
    this.parentOf = parentOf;
    this.connections = 0;
    this.kept = new Kept(mostKeptBytes);
    this.firstKept = { waiting: 0, alike: 0 }; // of this window
    this.tally = new Tally();
    this.measured = new Tally(); // of all windows of the measured phase
    /** @type {{ request: Fields, body: Buffer, sizes: [number, number] } | null} */
    this.known = null;
    this.phaseNumber = 0;
    this.phaseBeginNs = 0n;
    this.nextProgressNs = 0n;
    this.keeps = false;
    this.keepUntilNs = 0n; // replies before that are kept; 0: none is
    this.keptBefore = 0; // how many were kept when the last failure came
    this.failuresInARow = 0;
    this.lastSuccessNs = 0n;
  }

  /**
   * Begin a warm-up, or a window of the measured phase.
   * @param {Phase} phase
   */
  begin(phase) {
    this.tally = phase.number === MEASURED ? this.measured : new Tally();
    this.tally.firstSentNs = NEVER;
    this.tally.lastReceivedNs = 0n;
    this.firstKept = { waiting: this.kept.waiting.length, alike: this.kept.alike.length };
    if (this.kept.count > this.keptBefore) this.failuresInARow = 0;
    this.keptBefore = this.kept.count;
    this.phaseNumber = phase.number;
    this.phaseBeginNs = this.lastSuccessNs = phase.beginNs;
    this.nextProgressNs = phase.beginNs + BETWEEN_LINES_NS;
    this.keeps = this.verifiesLater && phase.number === MEASURED;
    this.keepUntilNs = this.keeps ? this.nextProgressNs : 0n;
  }

  /** Count a window that is over; when its last reply came, 0 where none did. */
  endWindow() {
    let { firstSentNs, lastReceivedNs } = this.tally;
    const { waiting, alike } = this.firstKept;
    for (const kept of [this.kept.waiting.slice(waiting), this.kept.alike.slice(alike)]) {
      for (const { sentNs, receivedNs } of kept) {
        if (sentNs < firstSentNs) firstSentNs = sentNs;
        if (receivedNs > lastReceivedNs) lastReceivedNs = receivedNs;
      }
    }
    if (lastReceivedNs > 0n) this.tally.windowsNs += lastReceivedNs - firstSentNs;
    return lastReceivedNs;
  }

  /** The number of a connection that is opened now. */
  connected() {
    this.tally.connectionsOpened += 1;
    return this.connections++;
  }

  /**
   * A reply was decoded: keep it for `settle`, or verify it. TrialFailed when nothing right comes any more.
   * @param {Stamped} at
   * @param {Fields} request
   * @param {Reply} reply
   */
  replied(at, request, reply) {
    if (at.receivedNs < this.keepUntilNs && this.keep(at, request, reply)) return;
    const verdict = this.judge(at.sequence, request, reply);
    this.store(at, verdict);
    if (this.verifiesLater) this.tally.verifiedInFlight += 1;
    this.report(at.receivedNs);
    if (verdict.failure !== null) {
      this.keepUntilNs = 0n;
      this.note(verdict.failure);
      this.failOnceMore(verdict.failure, at.receivedNs);
      return;
    }
    this.failuresInARow = 0;
    this.lastSuccessNs = at.receivedNs;
    if (!this.verifiesLater) return;
    this.keepUntilNs = this.keeps ? this.nextProgressNs : 0n;
    if (reply.body !== null && request !== this.known?.request)
      this.known = { request, body: reply.body, sizes: verdict.sizes };
  }

  /**
   * Whether the reply could be kept.
   * @param {Stamped} at
   * @param {Fields} request
   * @param {Reply} reply
   */
  keep(at, request, reply) {
    const { kept, known } = this;
    if (known !== null && request === known.request) {
      if (reply.body === null || !known.body.equals(reply.body)) return false;
      if (isTakenByItsBytes(at.sequence)) {
        if (!kept.hasRoomForStamps()) return false;
        kept.alike.push({ ...at, sizes: known.sizes });
        kept.latestNs = at.receivedNs;
        return true;
      }
    }
    if (!kept.hasRoom(request, reply.value, reply.sizes[1])) return false;
    kept.waiting.push({ ...at, request, reply });
    kept.latestNs = at.receivedNs;
    return true;
  }

  /**
   * A request ended without a reply that could be read. TrialFailed when nothing has succeeded for too long.
   * @param {Stamped} at
   * @param {CallFailed} failure
   * @param {Part[]} parts of a task, those that it had
   */
  failed(at, failure, parts) {
    this.note(failure);
    this.store(at, { sizes: [-1, -1], failure, parts });
    this.report(at.receivedNs);
    this.failOnceMore(failure, at.receivedNs);
  }

  /**
   * A request of an open loop was due, and not sent before the window closed: neither a reply nor an error.
   * @param {number} sequence
   * @param {bigint} intendedNs
   * @param {bigint} nowNs
   */
  notSent(sequence, intendedNs, nowNs) {
    const at = { sequence, connection: -1, intendedNs, sentNs: nowNs, receivedNs: nowNs };
    this.store(at, { sizes: [-1, -1], failure: new CallFailed("not-sent"), parts: [] });
  }

  /** Verify what was kept in the phase that is over, and store its rows. TrialFailed when as many in a row are wrong. */
  settle() {
    let wrongInARow = 0;
    /** @type {CallFailed | null} */
    let hopeless = null;
    for (const { sizes, ...at } of this.kept.takeAlike()) {
      this.tally.verified += 1;
      this.tally.verifiedByBytes += 1;
      this.store(at, { sizes, failure: null, parts: [] });
    }
    for (const { request, reply, ...at } of this.kept.takeWaiting()) {
      const verdict = this.judge(at.sequence, request, reply);
      this.store(at, verdict);
      if (verdict.failure === null) {
        wrongInARow = 0;
        continue;
      }
      this.note(verdict.failure);
      wrongInARow += 1;
      if (wrongInARow >= MOST_FAILURES_IN_A_ROW) hopeless = verdict.failure;
    }
    this.keptBefore = 0;
    this.record.flush();
    if (hopeless !== null) {
      throw new TrialFailed(
        hopeless.status,
        `${MOST_FAILURES_IN_A_ROW} or more replies in a row were wrong; the last: ${hopeless.message}`,
      );
    }
  }

  /**
   * Whether a reply is right; a task is when each of its calls is.
   * @param {number} sequence
   * @param {Fields} request
   * @param {Reply} reply
   * @returns {Verdict}
   */
  judge(sequence, request, reply) {
    if (this.kind === KIND.task) {
      const parts = reply.parts ?? [];
      parts.forEach((part, place) => {
        const reason = this.verify(request[place], reply.value[place], sequence);
        part.failure = reason === null ? null : new CallFailed("wrong-reply", reason);
      });
      const failure = parts.find((part) => part.failure !== null)?.failure ?? null;
      if (failure === null) this.tally.verified += 1;
      return { sizes: reply.sizes, failure, parts };
    }
    const reason = this.verify(request, reply.value, sequence);
    if (reason === null) this.tally.verified += 1;
    return { sizes: reply.sizes, failure: reason === null ? null : new CallFailed("wrong-reply", reason), parts: [] };
  }

  /**
   * The row of a sample, and those of its parts behind it.
   * @param {Stamped} at
   * @param {Verdict} verdict
   */
  store(at, { sizes: [bytesSent, bytesReceived], failure, parts }) {
    const status = failure === null ? 0 : /** @type {number} */ (STATUS[failure.status]);
    this.count(at, bytesSent, bytesReceived, status);
    const { kind, phaseNumber: phase } = this;
    this.record.append({ ...at, phase, bytesSent, bytesReceived, status, kind, parent: this.parentOf(at.sequence) });
    parts.forEach((part, place) => {
      this.record.append({
        sequence: place + 1,
        phase,
        connection: at.connection,
        intendedNs: part.sentNs,
        sentNs: part.sentNs,
        receivedNs: part.receivedNs,
        bytesSent: part.bytesSent,
        bytesReceived: part.bytesReceived,
        status: part.failure === null ? 0 : /** @type {number} */ (STATUS[part.failure.status]),
        kind: KIND.part,
        parent: at.sequence,
      });
    });
  }

  /**
   * @param {Stamped} at
   * @param {number} bytesSent
   * @param {number} bytesReceived
   * @param {number} status
   */
  count({ sentNs, receivedNs }, bytesSent, bytesReceived, status) {
    const { tally } = this;
    if (status === STATUS["not-sent"]) {
      tally.notSent += 1;
      return;
    }
    tally.requests += 1;
    tally.busyNs += receivedNs - sentNs;
    if (sentNs < tally.firstSentNs) tally.firstSentNs = sentNs;
    if (receivedNs > tally.lastReceivedNs) tally.lastReceivedNs = receivedNs;
    if (status === 0) {
      tally.bodyBytesSent += bytesSent;
      tally.bodyBytesReceived += bytesReceived;
    } else {
      const name = /** @type {string} */ (STATUSES[status]);
      tally.errors[name] = (tally.errors[name] ?? 0) + 1;
    }
  }

  /** @param {CallFailed} failure */
  note(failure) {
    this.tally.examples[failure.status] ??= (failure.detail || failure.status).slice(0, EXAMPLE_CHARACTERS);
  }

  /**
   * A reply that was kept since the last failure is a success.
   * @param {CallFailed} failure
   * @param {bigint} nowNs
   */
  failOnceMore(failure, nowNs) {
    if (this.kept.count > this.keptBefore) {
      this.keptBefore = this.kept.count;
      this.failuresInARow = 0;
      this.lastSuccessNs = this.kept.latestNs;
    }
    this.failuresInARow += 1;
    if (this.failuresInARow >= MOST_FAILURES_IN_A_ROW) {
      throw new TrialFailed(
        failure.status,
        `${this.failuresInARow} requests in a row failed; the last: ${failure.message}`,
      );
    }
    const silentNs = nowNs - this.lastSuccessNs;
    if (this.failuresInARow >= MOST_SILENT_TIMEOUTS && silentNs > this.silenceNs) {
      throw new TrialFailed(
        failure.status,
        `no right reply for ${Math.round(Number(silentNs) / NS)} s; the last failure: ${failure.message}`,
      );
    }
  }

  /**
   * At most one line a second.
   * @param {bigint} nowNs
   */
  report(nowNs) {
    if (nowNs < this.nextProgressNs) return;
    this.nextProgressNs = nowNs + BETWEEN_LINES_NS;
    this.record.flush();
    print({
      type: "progress",
      phase: PHASE_NAMES[this.phaseNumber],
      requests: this.tally.requests + this.kept.count,
      elapsed_s: Number(nowNs - this.phaseBeginNs) / NS,
    });
  }
}
