/** Which requests a phase of a trial has: numbers them, and says when the phase is over. */

import { nanoseconds } from "./schedule.js";

/**
 * @typedef {import("../contract/types.js").Load} Load
 * @typedef {import("../contract/types.js").Warmup} Warmup
 * @typedef {{ requests: number, leastNs: bigint, mostNs: bigint, most: number }} Extent it goes on to `requests` and to
 *   `leastNs`, whichever is later, but not beyond `mostNs`; `most` requests are never passed
 */

export const WARM_UP = 0;
export const MEASURED = 1;
export const PHASE_NAMES = /** @type {const} */ (["warm-up", "measured"]);
export const NS = 1e9;
export const NEVER = 1n << 62n;

/**
 * @param {Warmup} warmup
 * @returns {Extent}
 */
export function warmUp(warmup) {
  return {
    requests: warmup.requests,
    leastNs: nanoseconds(warmup.at_least_s),
    mostNs: nanoseconds(warmup.at_most_s),
    most: Number.POSITIVE_INFINITY,
  };
}

/**
 * Of a closed loop: to `requests` or to `duration_s`, whichever comes first.
 * @param {Load} load
 * @returns {Extent}
 */
export function measured(load) {
  const requests = load.requests ?? Number.POSITIVE_INFINITY;
  return { requests, leastNs: 0n, mostNs: windowOf(load), most: requests };
}

/**
 * Of an open loop with so many requests due.
 * @param {Load} load
 * @param {number} due
 * @returns {Extent}
 */
export function scheduled(load, due) {
  return { requests: due, leastNs: 0n, mostNs: windowOf(load), most: due };
}

/** @param {Load} load */
function windowOf(load) {
  return load.duration_s === null ? NEVER : nanoseconds(load.duration_s);
}

export class Phase {
  /** @param {{ number: 0 | 1, beginNs: bigint, firstSequence: number, extent: Extent }} options */
  constructor({ number, beginNs, firstSequence, extent }) {
    this.number = number;
    this.beginNs = beginNs;
    this.firstSequence = firstSequence;
    this.requests = extent.requests;
    this.most = extent.most;
    this.leastNs = beginNs + extent.leastNs;
    this.endsNs = beginNs + extent.mostNs;
    this.taken = 0;
  }

  /**
   * The next sequence number; 0 when the phase is over.
   * @param {bigint} nowNs
   * @returns {number}
   */
  take(nowNs) {
    if (this.isOver(nowNs)) return 0;
    this.taken += 1;
    return this.firstSequence + this.taken - 1;
  }

  /** @param {bigint} nowNs */
  isOver(nowNs) {
    if (nowNs >= this.endsNs || this.taken >= this.most) return true;
    return this.taken >= this.requests && nowNs >= this.leastNs;
  }

  /** No number is given any more. */
  end() {
    this.endsNs = 0n;
  }
}
