/**
 * Replies that wait to be verified: kept while requests are in flight, and looked at when none is.
 *
 * What runs between two requests of one worker runs inside the latency of every other request of the same event loop. So
 * with several in flight a reply is only kept, as a reference, beside its stamps. A reply of the same bytes as one that was
 * found right, to the same request, is right: of it the stamps alone are kept.
 */

import { freemem } from "node:os";

/** What replies that wait may take wherever a requester runs. */
export const LEAST_BYTES = 64 * 2 ** 20;
const MOST_BYTES = 256 * 2 ** 20;
const STAMPS_BYTES = 150; // three bigints, and places in the lists
const EACH_BYTES = 300; // what holds a decoded reply together
const LARGE_BYTES = 4096;
const LOOKED_AT = 64;

/**
 * @typedef {import("../contract/types.js").Fields} Fields
 * @typedef {{
 *   sequence: number, connection: number, intendedNs: bigint, sentNs: bigint, receivedNs: bigint,
 * }} Stamped when a request was sent, and over which connection
 */

export class Kept {
  /** @param {number} mostBytes */
  constructor(mostBytes = Math.max(LEAST_BYTES, Math.min(MOST_BYTES, freemem() / 8))) {
    this.mostBytes = mostBytes;
    this.bytes = 0;
    /** @type {(Stamped & { request: Fields, reply: any })[]} */
    this.waiting = [];
    /** @type {(Stamped & { sizes: [number, number] })[]} */
    this.alike = [];
    this.latestNs = 0n;
    /** @type {{ request: Fields, isLarge: boolean } | null} */
    this.lookedAt = null;
  }

  get count() {
    return this.waiting.length + this.alike.length;
  }

  /**
   * Whether a reply of so many bytes, to that request, may wait.
   * @param {Fields} request
   * @param {Fields} reply
   * @param {number} size
   */
  hasRoom(request, reply, size) {
    if (this.lookedAt === null) this.lookedAt = { request, isLarge: holdsLarge(request) || holdsLarge(reply) };
    const bytes = 4 * size + EACH_BYTES + STAMPS_BYTES;
    if (this.lookedAt.isLarge || this.bytes + bytes > this.mostBytes) return false;
    this.bytes += bytes;
    return true;
  }

  /** Whether there is room for the stamps of one more. */
  hasRoomForStamps() {
    if (this.bytes + STAMPS_BYTES > this.mostBytes) return false;
    this.bytes += STAMPS_BYTES;
    return true;
  }

  /** All that wait; from here on none does. */
  takeWaiting() {
    this.bytes = 0;
    return this.waiting.splice(0);
  }

  /** All that are known to be right; from here on none is kept. */
  takeAlike() {
    return this.alike.splice(0);
  }
}

/**
 * Whether somewhere in it stands a text or bytes of more than 4 KiB, which it takes less time to compare than to fault in
 * fresh pages for the next one; long lists are sampled.
 * @param {unknown} value
 * @returns {boolean}
 */
export function holdsLarge(value) {
  if (typeof value === "string" || Buffer.isBuffer(value)) return value.length > LARGE_BYTES;
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).slice(0, LOOKED_AT).some(holdsLarge);
}

/**
 * Of all but one reply in 64 the bytes alone are compared; of that one the value is looked at. Without a period.
 * @param {number} sequence
 */
export function isTakenByItsBytes(sequence) {
  return ((Math.imul(sequence, 0x9e3779b1) >>> 20) & 63) !== 0;
}
