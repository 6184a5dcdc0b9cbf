import assert from "node:assert/strict";
import { test } from "node:test";
import { onOneLine, Refused, readServe as serveOf, textOf, readTrial as trialOf } from "../src/contract/lines.js";
import { Fraction, parse } from "../src/contract/strict-json.js";

const SERVE = { type: "serve", contract: 2, protocol: "rest", identity: "nonce" };
const TRIAL = { type: "trial", contract: 2, protocol: "rest", client: "node-http", operation: "add", record: "/r" };

/** @param {string} text */
const readServe = (text) => serveOf(Buffer.from(text));
/** @param {string} text */
const readTrial = (text) => trialOf(Buffer.from(text));

test("whole numbers, others, and those beyond 2^53 are told apart", () => {
  assert.deepEqual(parse(" [1, -0, 9007199254740993, 1.0, 1e3] "), [
    1,
    -0,
    9007199254740993n,
    new Fraction(1),
    new Fraction(1000),
  ]);
});

test("JSON is read as JSON.parse reads it", () => {
  const text = '{"a": [true, false, null, {}], "ü": "\\ud83d\\ude00\\n\\"", "": []}';
  assert.deepEqual(JSON.parse(JSON.stringify(parse(text))), JSON.parse(text));
});

for (const text of [
  "",
  "{",
  "[1,]",
  "{'a': 1}",
  "01",
  "1.",
  "NaN",
  '"\u0000"',
  '{"a": 1, "a": 2}',
  "1e999",
  "tru",
  "[] []",
]) {
  test(`${JSON.stringify(text)} is refused`, () => {
    assert.throws(() => parse(text), Error);
  });
}

test("a serve line gets its defaults", () => {
  const read = readServe(JSON.stringify(SERVE));
  assert.deepEqual(
    [read.host, read.port, read.implementation, read.knobs, read.operations, read.tls, read.schema, read.resources],
    ["127.0.0.1", 0, null, {}, [], null, null, null],
  );
});

test("a trial gets its defaults, in its parts as well", () => {
  const { load, warmup, payload, mix, target } = readTrial(
    JSON.stringify({
      ...TRIAL,
      load: { requests: 3 },
      mix: [{ operation: "add", weight: 1 }],
      target: { host: "h", port: 1 },
    }),
  );
  assert.deepEqual(load, {
    requests: 3,
    concurrency: 1,
    duration_s: null,
    rate_per_s: null,
    arrivals: "poisson",
    think_s: 0,
    thinking: "constant",
  });
  assert.equal(warmup.requests, 500);
  assert.equal(payload.kind, "none");
  assert.equal(mix[0]?.payload.kind, "none");
  assert.deepEqual(target, { host: "h", port: 1, identity: null, anonymous: false });
});

/** @type {[string, object, RegExp][]} */
const WRONG = [
  ["another version", { ...SERVE, contract: 99, colour: "red" }, /contract 2.*speaks 99/],
  ["another version and another type", { type: "another", contract: 3 }, /contract 2.*speaks 3/],
  ["no version", { type: "serve" }, /does not say which/],
  ["half of a surrogate pair", { ...SERVE, identity: "\ud800" }, /surrogate/],
  ["more than it may have", { ...SERVE, identity: "x".repeat(2 ** 20) }, /1 MiB/],
  ["an unknown key", { ...SERVE, colour: "red" }, /colour/],
  ["another type", { ...SERVE, type: "trial" }, /type/],
  ["a text for a number", { ...SERVE, port: "1" }, /port/],
  ["out of range", { ...SERVE, port: 65536 }, /port/],
];
for (const [case_, line, named] of WRONG) {
  test(`a serve line with ${case_} is refused by name`, () => {
    assert.throws(
      () => readServe(JSON.stringify(line)),
      (error) => error instanceof Refused && named.test(error.message),
    );
  });
}

test("a whole number with a point is refused, and a number may have one", () => {
  const text = JSON.stringify({ ...TRIAL, seed: 7, timeout_s: 2 });
  assert.throws(() => readTrial(text.replace('"seed":7', '"seed":7.0')), /seed/);
  assert.equal(readTrial(text.replace('"timeout_s":2', '"timeout_s":2.0')).timeout_s, 2);
});

test("a line is written with whole numbers of any size, and without what is undefined", () => {
  assert.equal(textOf({ a: 2n ** 60n, b: [1, null, "ü"], c: undefined }), '{"a":1152921504606846976,"b":[1,null,"ü"]}');
});

test("a line that is not UTF-8 is refused", () => {
  assert.throws(() => serveOf(Buffer.from([0x7b, 0xff, 0x7d])), /UTF-8/);
});

test("words of somebody else stand on one line, and are cut", () => {
  assert.equal(onOneLine(" a\n\u0007b \ud800"), "a b \ufffd");
  assert.equal(onOneLine("x".repeat(5000)).length, 900);
});
