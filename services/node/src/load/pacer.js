/**
 * Wakes workers at stamps of the monotonic clock, more exactly than Node's timers.
 *
 * Those count in milliseconds, which would itself be most of the latency from the intended time on a fast network. A thread
 * of its own sleeps until the next stamp (in microseconds) and then wakes the event loop; nobody spins.
 */

import { Worker } from "node:worker_threads";

const now = process.hrtime.bigint;

const STAMP_AT = 8; // in the shared memory, behind how often the next stamp was set
const NOBODY = -1n;

const SLEEPER = `
const { parentPort, workerData } = require("node:worker_threads");
const set = new Int32Array(workerData, 0, 1);
const stamp = new BigInt64Array(workerData, ${STAMP_AT}, 1);
for (let seen = 0, told = 0; ; ) {
  seen = Atomics.load(set, 0);
  const due = Atomics.load(stamp, 0);
  if (due === ${NOBODY}n || told === seen) {
    Atomics.wait(set, 0, seen);
    continue;
  }
  const left = due - process.hrtime.bigint();
  if (left > 0n) {
    Atomics.wait(set, 0, seen, Number(left) / 1e6);
    continue;
  }
  told = seen;
  parentPort.postMessage(0);
}
`;

/** @typedef {{ dueNs: bigint, number: number, wake: () => void }} Waiting */

export class Pacer {
  constructor() {
    const shared = new SharedArrayBuffer(16);
    this.set = new Int32Array(shared, 0, 1);
    this.stamp = new BigInt64Array(shared, STAMP_AT, 1);
    this.stamp[0] = NOBODY;
    /** @type {Waiting[]} those who wait, sorted by when they are due, the next one last */
    this.waiting = [];
    this.numbers = 0;
    this.isOpen = true;
    this.sleeper = new Worker(SLEEPER, { eval: true, workerData: shared, stdin: false });
    this.sleeper.on("message", () => this.wakeThoseDue());
  }

  /** When the sleeper can be relied on. */
  async started() {
    await new Promise((resolve) => this.sleeper.once("online", resolve));
  }

  /**
   * Resolves at `dueNs`; at once when that has passed, or when nobody is to wait any more (`release`).
   * @param {bigint} dueNs
   * @returns {Promise<void> | undefined} undefined: at once
   */
  until(dueNs) {
    if (!this.isOpen || now() >= dueNs) return undefined;
    return new Promise((wake) => {
      const one = { dueNs, number: this.numbers++, wake };
      let place = this.waiting.length;
      while (place > 0 && isBefore(/** @type {Waiting} */ (this.waiting[place - 1]), one)) place -= 1;
      this.waiting.splice(place, 0, one);
      if (this.waiting.at(-1) === one) this.setStamp(dueNs);
    });
  }

  /** Wake all who wait; nobody waits from now on. */
  release() {
    this.isOpen = false;
    for (const { wake } of this.waiting.splice(0).reverse()) wake();
  }

  /** Wakes all who wait, and ends the thread. */
  async close() {
    this.release();
    await this.sleeper.terminate();
  }

  wakeThoseDue() {
    for (let next = this.waiting.at(-1); next !== undefined && next.dueNs <= now(); next = this.waiting.at(-1)) {
      this.waiting.pop();
      next.wake();
    }
    const next = this.waiting.at(-1);
    this.setStamp(next === undefined ? NOBODY : next.dueNs);
  }

  /** @param {bigint} dueNs */
  setStamp(dueNs) {
    Atomics.store(this.stamp, 0, dueNs);
    Atomics.add(this.set, 0, 1);
    Atomics.notify(this.set, 0);
  }
}

/**
 * Whether one that waits comes before another.
 * @param {Waiting} one
 * @param {Waiting} other
 */
function isBefore(one, other) {
  return one.dueNs < other.dueNs || (one.dueNs === other.dueNs && one.number < other.number);
}
