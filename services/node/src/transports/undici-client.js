/** undici: one request at a time on the one connection of a `Client`. */

import { buildConnector, Client } from "undici";
import { CallFailed } from "../load/failures.js";
import { decoded } from "./http-client.js";
import { failureOf, watchOpening } from "./opening.js";

/**
 * @typedef {import("../contract/types.js").Fields} Fields
 * @typedef {import("../load/recorder.js").Reply} Reply
 * @typedef {import("./http-client.js").Call} Call
 * @typedef {import("node:net").Socket} Socket
 */

const ONE_HOUR_MS = 3_600_000;

/** See `loops.Connection`. */
class UndiciConnection {
  /** @param {Call} call */
  constructor(call) {
    this.asked = call;
    this.number = -1;
    const { host, port, tls, route } = call;
    const authority = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
    this.client = new Client(`${tls === null ? "http" : "https"}://${authority}`, {
      pipelining: 1,
      keepAliveTimeout: ONE_HOUR_MS,
      keepAliveMaxTimeout: ONE_HOUR_MS,
      headersTimeout: 0, // the time-out is of the whole call
      bodyTimeout: 0,
      connect: (options, callback) => this.connect(options, callback),
    });
    this.options = /** @type {const} */ ({ path: route.path, method: "POST" });
    /** @type {((failure: CallFailed) => void) | null} */
    this.giveUp = null;
    /** @type {NodeJS.Timeout | null} */
    this.timer = null;
    /** @type {Socket | null} opened, and not yet used */
    this.ready = null;
  }

  opened() {
    return this.number;
  }

  /**
   * @param {any} options
   * @param {any} callback
   */
  connect(options, callback) {
    const { ready } = this;
    this.ready = null;
    if (ready !== null) {
      queueMicrotask(() => callback(null, ready));
      return;
    }
    const { tls, openings, connected, timeoutMs } = this.asked;
    this.number = -1;
    const session = tls?.resumes ? tls.session : undefined;
    const connector = /** @type {any} */ (
      buildConnector({ ...tls?.options, session, maxCachedSessions: 0, timeout: timeoutMs })
    );
    const socket = connector(options, callback);
    watchOpening(socket, {
      openings,
      tls,
      onConnect: () => {
        this.number = connected();
      },
    });
  }

  /** @returns {Promise<void>} */
  open() {
    const { host, port, tls } = this.asked;
    const protocol = tls === null ? "http:" : "https:";
    return new Promise((resolve, reject) => {
      this.connect(
        { hostname: host, host: `${host}:${port}`, protocol, port: String(port) },
        (/** @type {Error | null} */ error, /** @type {Socket} */ socket) => {
          if (error !== null) {
            reject(failureOf(error, false));
            return;
          }
          this.ready = socket;
          resolve();
        },
      );
    });
  }

  async close() {
    if (this.timer !== null) clearTimeout(this.timer);
    this.ready?.destroy();
    await this.client.destroy();
  }

  /** @param {Fields} fields */
  call(fields) {
    return new Promise((/** @type {(reply: Reply) => void} */ resolve, reject) => {
      const { route } = this.asked;
      const body = route.encode(fields);
      const size = typeof body === "string" ? Buffer.byteLength(body) : body.length;
      const aborting = new AbortController();
      this.giveUp = (failure) => {
        this.giveUp = null;
        reject(failure);
        aborting.abort();
      };
      this.beginTimer();
      const settings = {
        ...this.options,
        headers: { "content-type": route.contentType },
        body,
        signal: aborting.signal,
      };
      this.client
        .request(settings)
        .then(async (response) => {
          const came = Buffer.from(await response.body.arrayBuffer());
          return {
            value: decoded(route, response.statusCode, came),
            body: came,
            sizes: /** @type {[number, number]} */ ([size, came.length]),
          };
        })
        .then(
          (reply) => {
            this.giveUp = null;
            resolve(reply);
          },
          (error) => this.giveUp?.(error instanceof CallFailed ? error : failureOf(causeOf(error), this.number >= 0)),
        );
    });
  }

  beginTimer() {
    const { timeoutMs } = this.asked;
    if (this.timer !== null) {
      this.timer.refresh();
      return;
    }
    this.timer = setTimeout(
      () => this.giveUp?.(new CallFailed("timeout", `no reply in ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
  }
}

/**
 * @param {any} error
 * @returns {Error}
 */
function causeOf(error) {
  return error?.code === undefined && error?.cause instanceof Error ? error.cause : error;
}

/**
 * @param {Call} call
 * @returns {{ dial: () => UndiciConnection }}
 */
export function undici(call) {
  return { dial: () => new UndiciConnection(call) };
}
