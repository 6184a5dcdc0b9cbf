import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import vectors from "../../../protos/payload-vectors.json" with { type: "json" };
import { arrivals, mixOrder, Rests } from "../src/load/schedule.js";
import { below, eventData, pairs, records, stream, words } from "../src/operations/generator.js";

/** @param {Buffer} bytes */
const grouped = (bytes) => bytes.toString("hex").replace(/(.{8})(?=.)/g, "$1 ");
/** @param {Uint8Array} bytes */
const digest = (bytes) => grouped(createHash("sha256").update(bytes).digest());

/**
 * @param {Buffer} bytes
 * @param {{ hex?: string, sha256?: string }} gives
 */
function assertBytes(bytes, gives) {
  assert.equal(gives.hex === undefined ? digest(bytes) : grouped(bytes), gives.hex ?? gives.sha256);
}

/** @type {Record<string, (asked: any, gives: any) => void>} */
const CHECKS = {
  bytes: ({ seed, size }, gives) => assertBytes(stream(`bytes/${seed}`, size), gives),
  request: ({ size }, gives) => assertBytes(stream("request", size), gives),
  reply: ({ size }, gives) => assertBytes(stream("reply", size), gives),
  events: (asked, gives) => assert.equal(eventData(asked), gives.data),
  add: ({ seed, sequence }, gives) => assert.deepEqual(pairs(seed)[sequence % 1024], gives),
  records: ({ seed, count }, gives) => {
    const made = records(seed, count);
    if (gives.records) assert.deepEqual(made, gives.records);
    else assertBytes(Buffer.from(JSON.stringify(made)), gives);
  },
  arrivals: ({ seed, ...load }, gives) => {
    const due = arrivals(load, seed);
    assert.equal(due.length, gives.count);
    assert.deepEqual([...due.slice(0, gives.first_ns.length)], gives.first_ns.map(BigInt));
    assert.equal(due.at(-1), BigInt(gives.last_ns));
    assert.equal(digest(new Uint8Array(due.buffer)), gives.sha256);
  },
  rests: ({ seed, workers, requests, ...load }, gives) => {
    const rests = new Rests({ ...load, concurrency: workers }, seed);
    const before = Array.from({ length: workers }, (_, worker) => rests.first(worker));
    const after = Array.from({ length: requests }, (_, place) => rests.after(place));
    assert.deepEqual(before.slice(0, 4), gives.before_ns.map(BigInt));
    assert.deepEqual(after.slice(0, 4), gives.after_ns.map(BigInt));
    assert.equal(digest(new Uint8Array(BigInt64Array.from([...before, ...after]).buffer)), gives.sha256);
  },
};

for (const [part, cases] of Object.entries(vectors)) {
  cases.forEach((/** @type {any} */ vector, /** @type {number} */ number) => {
    test(`vector ${part} ${number}`, () => {
      const check = CHECKS[part];
      assert.ok(check !== undefined, `vectors of ${part} are not checked`);
      check(vector.for, vector.gives);
    });
  });
}

test("a mix draws its operations by their weights", () => {
  const order = mixOrder([3, 1], 7);
  const drawn = words("mix/7", 65_536);
  for (const sequence of [1, 2, 3, 500, 65_536, 65_537]) {
    const word = /** @type {number} */ (drawn[(sequence - 1) % 65_536]);
    assert.equal(order(sequence), below(word, 4) < 3 ? 0 : 1);
  }
});

test("a word below a large number is exact", () => {
  assert.equal(below(0xffff_ffff, 10_000_000), 9_999_999);
  assert.equal(below(0xffff_ffff, 0xffff_ffff), 0xffff_fffe);
});
