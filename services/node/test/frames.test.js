import assert from "node:assert/strict";
import { test } from "node:test";
import { FRAMES, FrameError, Frames, LARGEST_BODY } from "../src/protocols/tcp/frames.js";

/**
 * @param {number} code
 * @param {Buffer} body
 */
function frame(code, body) {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(body.length);
  head[4] = code;
  return Buffer.concat([head, body]);
}

/** @param {string} name */
function message(name) {
  const found = FRAMES.find((one) => one.message === name);
  assert.ok(found);
  return found;
}

test("each message stands at the place of its code", () => {
  assert.deepEqual(
    FRAMES.map(({ code }) => code),
    FRAMES.map((_, place) => place),
  );
});

test("a frame is put together wherever it is cut", () => {
  const whole = Buffer.concat([frame(3, Buffer.from("abc")), frame(4, Buffer.alloc(0))]);
  for (let cut = 0; cut <= whole.length; cut++) {
    const frames = new Frames();
    const found = [];
    for (const piece of [whole.subarray(0, cut), whole.subarray(cut)]) {
      frames.add(piece);
      for (let one = frames.next(); one !== null; one = frames.next()) found.push([one.code, one.body.toString()]);
    }
    assert.deepEqual(found, [
      [3, "abc"],
      [4, ""],
    ]);
    assert.equal(frames.bytes, 0);
  }
});

test("a frame that is too large is refused when its length is known", () => {
  const frames = new Frames();
  const head = Buffer.alloc(5);
  head.writeUInt32BE(LARGEST_BODY + 1);
  frames.add(head);
  assert.throws(() => frames.next(), FrameError);
});

test("numbers are signed, and a sum has 64 bits", () => {
  const { encode, decode, encodeReply, decodeReply } = message("add");
  for (const [a, b] of /** @type {const} */ ([
    [-(2 ** 30), 2 ** 30 - 1],
    [-(2 ** 31), -(2 ** 31)],
    [2 ** 31 - 1, 2 ** 31 - 1],
    [-1, 0],
  ])) {
    assert.deepEqual(decode(encode({ a, b })), { a, b });
    const reply = encodeReply({ sum: a + b });
    assert.equal(reply.readBigInt64BE(), BigInt(a) + BigInt(b));
    assert.deepEqual(decodeReply(reply), { sum: a + b });
  }
});

test("a body that does not fit its code is no request", () => {
  assert.throws(() => message("add").decode(Buffer.from("123")));
  assert.throws(() => message("exchange").decode(Buffer.from("123")));
  assert.throws(() => message("image").decode(Buffer.alloc(0)));
  assert.throws(() => message("echo/document").decode(Buffer.from("{")));
  assert.throws(() => message("timestamp").decodeReply(Buffer.from("one stamp")));
});
