import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { test } from "node:test";
import { TrialFailed } from "../src/load/failures.js";
import { Loops } from "../src/load/loops.js";
import { dialer } from "../src/protocols/tcp/client.js";
import { send } from "../src/protocols/tcp/frames.js";
import { Openings } from "../src/transports/opening.js";
import { portOf } from "../src/transports/port.js";

/**
 * A server of `tcp` that answers each request so many times, and a dialer to it.
 * @param {number} times
 */
async function answering(times) {
  const server = net.createServer((socket) => {
    socket.on("data", (frame) => {
      for (let time = 0; time < times; time++) send(socket, 3, frame.subarray(5));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const dials = dialer({
    host: "127.0.0.1",
    port: portOf(server),
    timeoutMs: 10_000,
    tls: null,
    openings: new Openings(false),
    connected: () => 0,
    message: "echo/data",
    example: {},
    knobs: {},
  });
  return { server, dials };
}

/** @param {import("../src/load/loops.js").Dialer} dials */
function loopsOf(dials) {
  return new Loops({
    dialers: [dials],
    placeOf: () => 0,
    make: () => ({ data: Buffer.from("abc") }),
    recorder: /** @type {any} */ (null),
    policy: "reuse",
    concurrency: 2,
  });
}

for (const { times, isRefused } of [
  { times: 1, isRefused: false },
  { times: 2, isRefused: true },
]) {
  test(`a trial whose requests were answered ${times} times is ${isRefused ? "refused" : "right"}`, async () => {
    const { server, dials } = await answering(times);
    const loops = loopsOf(dials);
    await loops.open();
    const connection = loops.lanes[0]?.connections[0];
    const asked = await connection?.call({ data: Buffer.from("abc") }).catch((failure) => failure.status);
    assert.ok(asked === "undecodable" || asked?.value.data.toString() === "abc");
    const looked = loops.refuseUnasked({ measured_s: 1, requests: 1 });
    if (isRefused) await assert.rejects(looked, TrialFailed);
    else await looked;
    await loops.close();
    server.close();
  });
}
