import assert from "node:assert/strict";
import { test } from "node:test";
import { Pacer } from "../src/load/pacer.js";
import { MEASURED, NEVER, Phase } from "../src/load/phase.js";

const now = process.hrtime.bigint;
const MS = 1_000_000n;

test("nobody is woken before the moment, and each in turn", async () => {
  const pacer = new Pacer();
  await pacer.started();
  const begunNs = now();
  /** @type {string[]} */
  const woken = [];
  const wait = async (/** @type {string} */ name, /** @type {bigint} */ dueNs) => {
    await pacer.until(dueNs);
    assert.ok(now() >= dueNs, `${name} was woken too early`);
    woken.push(name);
  };
  await Promise.all([
    wait("third", begunNs + 30n * MS),
    wait("first", begunNs + 5n * MS),
    wait("second", begunNs + 5n * MS + 1n),
    wait("past", begunNs - 1n),
  ]);
  assert.deepEqual(woken, ["past", "first", "second", "third"]);
  await pacer.close();
});

test("who waits is woken when nobody is to wait any more", async () => {
  const pacer = new Pacer();
  const waiting = pacer.until(now() + 3_600_000n * MS);
  pacer.release();
  await waiting;
  assert.equal(pacer.until(now() + 3_600_000n * MS), undefined);
  await pacer.close();
});

/** @param {Partial<import("../src/load/phase.js").Extent>} extent */
function phase(extent) {
  const whole = {
    requests: Number.POSITIVE_INFINITY,
    leastNs: 0n,
    mostNs: NEVER,
    most: Number.POSITIVE_INFINITY,
    ...extent,
  };
  return new Phase({ number: MEASURED, beginNs: 1000n, firstSequence: 4, extent: whole });
}

test("a phase of requests numbers them, and is over", () => {
  const some = phase({ requests: 2, most: 2 });
  assert.deepEqual([some.take(1000n), some.take(1000n), some.take(1000n)], [4, 5, 0]);
});

test("a warm-up goes on until requests and seconds are both reached, and no longer than it may", () => {
  const warm = phase({ requests: 1, leastNs: 50n, mostNs: 100n });
  assert.deepEqual([warm.take(1000n), warm.take(1049n), warm.take(1050n)], [4, 5, 0]);
  assert.equal(phase({ requests: 9, mostNs: 100n }).take(1100n), 0);
});

test("a phase that was ended gives no number", () => {
  const ended = phase({});
  ended.end();
  assert.equal(ended.take(1001n), 0);
});
