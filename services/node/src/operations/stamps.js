/** The wall clock in microseconds, and the stamps of `timestamp` (`protos/payloads.md`). */

import { performance } from "node:perf_hooks";

const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/;

let offsetUs = performance.timeOrigin * 1000;
let second = -1;
let untilTheSecond = "";

/**
 * Unix time in whole microseconds. The system's clock is told in milliseconds here: what is finer comes from the
 * monotonic clock, held within the millisecond that the wall clock says.
 * @returns {number}
 */
export function wallUs() {
  const least = Date.now() * 1000;
  const told = Math.floor(offsetUs + performance.now() * 1000);
  if (told >= least && told <= least + 999) return told;
  const right = told < least ? least : least + 999;
  offsetUs += right - told;
  return right;
}

/**
 * Unix time in nanoseconds, to the microsecond.
 * @returns {bigint}
 */
export function wallNs() {
  return BigInt(wallUs()) * 1000n;
}

/**
 * ISO 8601 in UTC with six digits of the second, 32 characters.
 * @param {number} us Unix time in microseconds
 * @returns {string}
 */
export function isoStamp(us) {
  const unixS = Math.floor(us / 1_000_000);
  if (unixS !== second) {
    second = unixS;
    untilTheSecond = new Date(unixS * 1000).toISOString().slice(0, 19);
  }
  return `${untilTheSecond}.${String(us - unixS * 1_000_000).padStart(6, "0")}+00:00`;
}

/** @param {unknown} text */
export function isStamp(text) {
  return typeof text === "string" && STAMP.test(text);
}
