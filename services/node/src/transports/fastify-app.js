/** A Fastify application as every responder on Fastify has it, and how it begins to listen. */

import fastify from "fastify";
import { portOf } from "./port.js";

const LARGEST_BODY = 256 * 2 ** 20;
const ONE_HOUR_MS = 3_600_000;
const TLS_1_3 = "TLSv1.3";

/** @typedef {{ cert: Buffer, key: Buffer } | null} Tls */

/**
 * @param {Tls} tls
 * @param {string} [version] of HTTP, which it then speaks alone
 * @returns {import("fastify").FastifyInstance}
 */
export function fastifyApp(tls, version = "1.1") {
  const isTwo = version === "2";
  const secured =
    tls === null ? null : { ...tls, minVersion: TLS_1_3, maxVersion: TLS_1_3, ...(isTwo ? { allowHTTP1: false } : {}) };
  const settings = {
    ...(secured === null ? {} : { https: secured }),
    bodyLimit: LARGEST_BODY,
    keepAliveTimeout: ONE_HOUR_MS,
    ajv: { customOptions: { coerceTypes: false } },
    ...(isTwo ? { http2: true, http2SessionTimeout: ONE_HOUR_MS } : {}),
  };
  const app = fastify(/** @type {import("fastify").FastifyServerOptions} */ (settings));
  app.server.on("connection", (/** @type {import("node:net").Socket} */ socket) => socket.setNoDelay(true));
  return /** @type {import("fastify").FastifyInstance} */ (/** @type {unknown} */ (app));
}

/**
 * The port, once connections are accepted.
 * @param {import("fastify").FastifyInstance} app
 * @param {string} host
 * @param {number} port
 */
export async function listen(app, host, port) {
  await app.listen({ host, port });
  return portOf(app.server);
}

/**
 * The connection of a request. Over HTTP/2 each stream has a stand-in of its own for the socket, and all share the session's.
 * @param {import("fastify").FastifyRequest} request
 * @returns {import("node:net").Socket}
 */
export function socketOf({ raw }) {
  const { stream } = /** @type {{ stream?: import("node:http2").ServerHttp2Stream }} */ (/** @type {unknown} */ (raw));
  return stream?.session?.socket ?? raw.socket;
}
