import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { test } from "node:test";
import { nodeHttp2 } from "../src/transports/http2-client.js";
import { Openings } from "../src/transports/opening.js";
import { portOf } from "../src/transports/port.js";

/**
 * A connection to what listens there.
 * @param {import("node:net").Server} server
 */
async function connectionTo(server) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { dial } = nodeHttp2({
    host: "127.0.0.1",
    port: portOf(server),
    timeoutMs: 10_000,
    tls: null,
    openings: new Openings(false),
    connected: () => 0,
    route: {
      path: "/echo",
      contentType: "text/plain",
      encode: ({ data }) => data,
      decode: (body) => ({ data: body.toString() }),
    },
  });
  return dial();
}

test("requests follow each other on one connection, and none is taken for another's end", async () => {
  const server = http2.createServer((_request, response) => response.end("abc"));
  const connection = await connectionTo(server);
  for (let time = 0; time < 5; time++) assert.deepEqual((await connection.call({ data: "x" })).value, { data: "abc" });
  await connection.close();
  server.close();
});

test("a reply that breaks off is no reply", async () => {
  const server = http2.createServer();
  server.on("stream", (stream) => {
    stream.respond({ ":status": 200, "content-length": 10 });
    stream.write("abc", () => setImmediate(() => stream.session?.destroy()));
  });
  const connection = await connectionTo(/** @type {any} */ (server));
  await assert.rejects(connection.call({ data: "x" }), { status: "closed" });
  await assert.rejects(connection.call({ data: "x" }), { status: "closed" });
  await connection.close();
  server.close();
});

test("a responder that speaks HTTP/1.1 gives no reply", async () => {
  const server = http.createServer((_request, response) => response.end("abc"));
  const connection = await connectionTo(server);
  await assert.rejects(connection.call({ data: "x" }), ({ status }) => status === "undecodable" || status === "closed");
  await connection.close();
  server.close();
  server.closeAllConnections();
});
