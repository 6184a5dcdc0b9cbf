import assert from "node:assert/strict";
import { test } from "node:test";
import { CallFailed } from "../src/load/failures.js";
import { Loops } from "../src/load/loops.js";
import { MEASURED, NEVER, Phase, WARM_UP } from "../src/load/phase.js";
import { KIND } from "../src/load/record.js";
import { Recorder } from "../src/load/recorder.js";
import { Windows } from "../src/load/windows.js";
import { Words, wordOf } from "../src/load/words.js";
import { Openings } from "../src/transports/opening.js";

/**
 * @param {number} inFlight
 * @param {(sequence: number) => boolean} isRight
 */
function recorderOf(inFlight, isRight = () => true) {
  /** @type {import("../src/load/record.js").Row[]} */
  const rows = [];
  let room = 0;
  const record = /** @type {any} */ ({
    append: (/** @type {any} */ row) => rows.push(row),
    flush: () => {},
    makeRoom: (/** @type {number} */ more) => {
      room = more;
    },
  });
  const recorder = new Recorder({
    record,
    verify: (request) => (isRight(Number(request.sequence)) ? null : "wrong"),
    timeoutNs: 10n ** 9n,
    inFlight,
    kind: KIND.request,
    parentOf: () => 0,
  });
  return { recorder, rows, room: () => room };
}

/**
 * A trial of so many turns, each of 5 ms, behind two requests of each worker.
 * @param {number} concurrency
 * @param {number} turns
 */
async function inTurns(concurrency, turns) {
  const { recorder, rows, room } = recorderOf(concurrency);
  const reply = { value: {}, body: null, sizes: /** @type {[number, number]} */ ([1, 2]) };
  const connection = {
    open: async () => {},
    call: () => new Promise((/** @type {(came: typeof reply) => void} */ resolve) => setImmediate(resolve, reply)),
    close: async () => {},
    opened: () => 0,
  };
  const loops = new Loops({
    dialers: [{ dial: () => connection }],
    placeOf: () => 0,
    make: (sequence) => ({ sequence }),
    recorder,
    policy: "reuse",
    concurrency,
  });
  const trial = /** @type {any} */ ({
    calls: 1,
    connection: "reuse",
    turn_warm_up: 2,
    load: { concurrency, duration_s: 0.005, requests: null },
  });
  const windows = new Windows({ trial, loops, recorder, openings: new Openings(true), firstSequence: 1 });
  const words = new Words();
  for (let turn = 1; turn < turns; turn++) words.push("turn");
  words.push("end");
  await windows.turns(turns > 0 ? "turn" : "end", words);
  const beforeEnd = rows.length;
  recorder.settle();
  return { windows, recorder, rows, beforeEnd, room };
}

for (const concurrency of [1, 3]) {
  test(`turns with ${concurrency} in flight have one tally, and each its warm-up`, async () => {
    const { windows, recorder, rows, beforeEnd, room } = await inTurns(concurrency, 3);
    const warmed = rows.filter(({ phase }) => phase === WARM_UP);
    const measured = rows.filter(({ phase }) => phase === MEASURED);
    assert.equal(warmed.length, 3 * 2 * concurrency);
    assert.equal(windows.warmed, warmed.length);
    assert.deepEqual(
      [recorder.tally.requests, recorder.tally.verified, recorder.tally.bodyBytesReceived],
      [measured.length, measured.length, 2 * measured.length],
    );
    const sequences = rows.map(({ sequence }) => sequence).sort((one, other) => one - other);
    assert.deepEqual(
      sequences,
      rows.map((_, place) => place + 1),
    );
    // With several in flight replies are kept until the end.
    assert.equal(beforeEnd, concurrency === 1 ? rows.length : warmed.length);
    assert.equal(room(), 2 * concurrency + 150);
    assert.ok(recorder.tally.spanS > 0 && recorder.tally.spanS < Number(now() - (windows.beginNs ?? 0n)) / 1e9);
  });
}

const now = process.hrtime.bigint;

test("without a turn nothing was measured", async () => {
  const { windows, recorder, rows } = await inTurns(2, 0);
  assert.deepEqual([rows.length, recorder.tally.requests, recorder.tally.spanS, windows.beginNs], [0, 0, 0, null]);
});

/**
 * @param {Recorder} recorder
 * @param {number} number
 */
function begin(recorder, number) {
  const extent = { requests: 1000, leastNs: 0n, mostNs: NEVER, most: 1000 };
  recorder.begin(new Phase({ number: number === WARM_UP ? 0 : 1, beginNs: 1000n, firstSequence: 1, extent }));
}

/** @param {number} sequence */
const at = (sequence) => ({ sequence, connection: 0, intendedNs: 2000n, sentNs: 2000n, receivedNs: 3000n });

test("a window goes from its first send to its last reply, kept or not", () => {
  const { recorder } = recorderOf(2);
  const reply = { value: {}, body: null, sizes: /** @type {[number, number]} */ ([1, 2]) };
  begin(recorder, MEASURED);
  recorder.replied(at(1), { sequence: 1 }, reply);
  recorder.failed({ ...at(2), sentNs: 1500n }, new CallFailed("protocol"), []);
  assert.equal(recorder.endWindow(), 3000n);
  begin(recorder, WARM_UP);
  recorder.replied({ ...at(3), receivedNs: 9000n }, { sequence: 3 }, reply);
  begin(recorder, MEASURED);
  assert.equal(recorder.endWindow(), 0n);
  begin(recorder, MEASURED);
  recorder.replied({ ...at(4), receivedNs: 4000n }, { sequence: 4 }, reply);
  assert.equal(recorder.endWindow(), 4000n);
  recorder.settle();
  assert.deepEqual([recorder.tally.windowsNs, recorder.tally.requests], [1500n + 2000n, 3]);
});

test("failures in a row are counted over turns", () => {
  const { recorder } = recorderOf(1, () => false);
  const reply = { value: {}, body: null, sizes: /** @type {[number, number]} */ ([1, 2]) };
  for (let sequence = 1; sequence < 50; sequence++) {
    begin(recorder, sequence % 2);
    recorder.replied(at(sequence), { sequence }, reply);
  }
  assert.throws(() => recorder.replied(at(50), { sequence: 50 }, reply), { kind: "wrong-reply" });
});

test("the lines that let a trial go on are read, and taken in their order", async () => {
  for (const [line, word] of /** @type {const} */ ([
    ["measure", 0n],
    ["measure 1700000000000000000", 1700000000000000000n],
    ["measure 4611686018427387905", null],
    ["measure soon", null],
    ["turn", "turn"],
    ["end", "end"],
    ["turns", null],
    ["", null],
  ])) {
    assert.equal(wordOf(line), word);
  }
  const words = new Words();
  words.push(5n);
  words.push("turn");
  assert.equal(await words.next(true), "turn");
  const waiting = words.next(false);
  words.push("end");
  words.push(7n);
  assert.equal(await waiting, 7n);
});
