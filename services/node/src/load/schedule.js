/** When requests of an open loop are due, how long workers of a closed one rest, and what a request of a mix asks. */

import { below, GAP_BITS, gaps, words } from "../operations/generator.js";

/** @typedef {import("../contract/types.js").Load} Load */

const NS = 1_000_000_000;
const FRACTION_BITS = 20n;
export const SLOWEST_RATE = 1e-6; // one request in eleven days
const RESTS = 65_536;
const MIXED = 65_536;

/** A load that cannot be offered. */
export class NoSuchLoad extends Error {}

/**
 * A duration in whole nanoseconds.
 * @param {number} seconds
 * @returns {bigint}
 */
export function nanoseconds(seconds) {
  return BigInt(Math.floor(seconds * NS));
}

/**
 * Nanoseconds from the beginning of the phase.
 * @param {Pick<Load, "rate_per_s" | "arrivals" | "requests" | "duration_s">} load
 * @param {number} seed
 * @returns {BigInt64Array}
 */
export function arrivals(load, seed) {
  const rate = load.rate_per_s;
  if (rate === null || rate < SLOWEST_RATE || rate > NS) {
    throw new NoSuchLoad(
      `load: an open loop needs a rate above 0, from ${SLOWEST_RATE} to ${NS} a second, not ${rate}`,
    );
  }
  const mean = BigInt(Math.floor((NS * 2 ** Number(FRACTION_BITS)) / rate));
  const endNs = load.duration_s === null ? null : nanoseconds(load.duration_s);
  const drawn = load.arrivals === "uniform" ? null : gaps("arrivals", seed);
  /** @type {bigint[]} */
  const due = [];
  for (let at = 0n; load.requests === null || due.length < load.requests; ) {
    const atNs = at >> FRACTION_BITS;
    if (endNs !== null && atNs >= endNs) break;
    due.push(atNs);
    at += drawn === null ? mean : (mean * /** @type {bigint} */ (drawn.next().value)) >> GAP_BITS;
  }
  return BigInt64Array.from(due);
}

/** How long the workers of a closed loop with think time rest, in nanoseconds. */
export class Rests {
  /**
   * @param {Pick<Load, "think_s" | "thinking" | "concurrency">} load
   * @param {number} seed
   */
  constructor(load, seed) {
    this.workers = load.concurrency;
    this.meanNs = nanoseconds(load.think_s);
    /** @type {BigInt64Array | null} */
    this.drawn = null;
    if (load.thinking === "exponential") {
      const source = gaps("think", seed);
      this.drawn = BigInt64Array.from(
        { length: RESTS },
        () => (this.meanNs * /** @type {bigint} */ (source.next().value)) >> GAP_BITS,
      );
    }
  }

  /**
   * Before the first request of a worker, counted from 0.
   * @param {number} worker
   * @returns {bigint}
   */
  first(worker) {
    if (this.drawn !== null) return /** @type {bigint} */ (this.drawn[worker % RESTS]);
    return (this.meanNs * BigInt(worker)) / BigInt(this.workers);
  }

  /**
   * After the measured request of that place, from 0 in the order of sequence numbers.
   * @param {number} place
   * @returns {bigint}
   */
  after(place) {
    return this.drawn === null ? this.meanNs : /** @type {bigint} */ (this.drawn[(this.workers + place) % RESTS]);
  }
}

/**
 * The rests of a closed loop with think time; null where it has none.
 * @param {Load} load
 * @param {number} seed
 */
export function restsOf(load, seed) {
  return load.rate_per_s !== null || load.think_s === 0 ? null : new Rests(load, seed);
}

/**
 * Which operation of a mix each request asks: its place, from 0, by sequence number from 1 on.
 * @param {number[]} weights
 * @param {number} seed
 * @returns {(sequence: number) => number}
 */
export function mixOrder(weights, seed) {
  /** @type {number[]} */
  const bounds = [];
  let sum = 0;
  for (const weight of weights) {
    sum += weight;
    bounds.push(sum);
  }
  const drawn = Uint16Array.from(words(`mix/${seed}`, MIXED), (word) => {
    const x = below(word, sum);
    return bounds.findIndex((bound) => x < bound);
  });
  return (sequence) => /** @type {number} */ (drawn[(sequence - 1) % MIXED]);
}
