import assert from "node:assert/strict";
import { test } from "node:test";
import { CallFailed, TrialFailed } from "../src/load/failures.js";
import { isTakenByItsBytes } from "../src/load/kept.js";
import { MEASURED, NEVER, Phase } from "../src/load/phase.js";
import { KIND } from "../src/load/record.js";
import { Recorder } from "../src/load/recorder.js";

const REQUEST = { a: 1 };

/** @param {number} inFlight */
function recorder(inFlight) {
  /** @type {import("../src/load/record.js").Row[]} */
  const rows = [];
  const record = /** @type {any} */ ({ append: (/** @type {any} */ row) => rows.push(row), flush: () => {} });
  const made = new Recorder({
    record,
    verify: (request, reply) => (reply.a === request.a ? null : "wrong"),
    timeoutNs: 10n ** 9n,
    inFlight,
    kind: KIND.request,
    parentOf: () => 0,
  });
  const extent = { requests: 1000, leastNs: 0n, mostNs: NEVER, most: 1000 };
  made.begin(new Phase({ number: MEASURED, beginNs: 1000n, firstSequence: 1, extent }));
  return { made, rows };
}

/** @param {number} sequence */
const at = (sequence) => ({ sequence, connection: 0, intendedNs: 2000n, sentNs: 2000n, receivedNs: 3000n });

/** @param {number} a */
const reply = (a) => ({
  value: { a },
  body: Buffer.from(`{"a":${a}}`),
  sizes: /** @type {[number, number]} */ ([7, 7]),
});

test("with one in flight a reply is verified and its row stored at once", () => {
  const { made, rows } = recorder(1);
  made.replied(at(1), REQUEST, reply(1));
  made.replied(at(2), REQUEST, reply(2));
  assert.deepEqual(
    rows.map(({ status }) => status),
    [0, 1],
  );
  assert.deepEqual([made.tally.verified, made.tally.verifiedInFlight, made.tally.errors], [1, 0, { "wrong-reply": 1 }]);
});

test("with several in flight replies wait, and each is verified in the end", () => {
  const { made, rows } = recorder(2);
  for (let sequence = 1; sequence <= 10; sequence++)
    made.replied(at(sequence), { a: sequence }, reply(sequence === 7 ? 0 : sequence));
  assert.equal(rows.length, 0);
  made.settle();
  assert.deepEqual(
    rows.filter(({ status }) => status !== 0).map(({ sequence }) => sequence),
    [7],
  );
  assert.deepEqual([made.tally.verified, made.tally.verifiedInFlight], [9, 0]);
});

test("of replies of known bytes to the same request the stamps alone are kept, but for one in 64", () => {
  const { made, rows } = recorder(2);
  made.keepUntilNs = 0n;
  made.replied(at(1), REQUEST, reply(1)); // which is looked at
  for (let sequence = 2; sequence <= 500; sequence++) made.replied(at(sequence), REQUEST, reply(1));
  const alike = Array.from({ length: 499 }, (_, place) => place + 2).filter(isTakenByItsBytes).length;
  assert.ok(alike > 450 && alike < 499);
  made.settle();
  assert.deepEqual([rows.length, made.tally.verified, made.tally.verifiedByBytes], [500, 500, alike]);
});

test("a reply of other bytes than those known is verified at once, and what follows until one is right", () => {
  const { made } = recorder(2);
  made.keepUntilNs = 0n;
  made.replied(at(1), REQUEST, reply(1));
  made.replied(at(2), REQUEST, reply(2));
  made.replied(at(3), REQUEST, reply(2));
  assert.deepEqual([made.tally.errors, made.tally.verifiedInFlight], [{ "wrong-reply": 2 }, 3]);
});

test("fifty failures in a row end a trial", () => {
  const { made } = recorder(1);
  const fail = (/** @type {number} */ sequence) => made.failed(at(sequence), new CallFailed("closed"), []);
  for (let sequence = 1; sequence <= 49; sequence++) fail(sequence);
  assert.throws(
    () => fail(50),
    (error) => error instanceof TrialFailed && error.kind === "closed",
  );
});

test("fifty wrong replies in a row that waited end a trial", () => {
  const { made } = recorder(2);
  for (let sequence = 1; sequence <= 50; sequence++) made.replied(at(sequence), { a: sequence }, reply(0));
  assert.throws(
    () => made.settle(),
    (error) => error instanceof TrialFailed && error.kind === "wrong-reply",
  );
});
