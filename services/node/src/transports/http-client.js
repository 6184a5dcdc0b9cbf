/** Node's own HTTP client: one request at a time on the one connection of an `Agent`. */

import http from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import { CallFailed } from "../load/failures.js";
import { failureOf, opened, watchOpening } from "./opening.js";

/**
 * @typedef {import("../contract/types.js").Fields} Fields
 * @typedef {import("../load/recorder.js").Reply} Reply
 * @typedef {import("./opening.js").ClientTls} ClientTls
 * @typedef {import("node:net").Socket} Socket
 * @typedef {{
 *   path: string, contentType: string, encode: (request: Fields) => string | Buffer, decode: (body: Buffer) => Fields,
 * }} Route what a message's requests and replies are as HTTP bodies; `decode` reads every field
 * @typedef {{
 *   host: string, port: number, timeoutMs: number, tls: ClientTls | null, openings: import("./opening.js").Openings,
 *   connected: () => number, route: Route,
 * }} Call `connected` numbers a connection that is open
 */

const SHOWN_CHARACTERS = 300;

/** An agent of one connection, which says when it is open, and can be made to open it before the first request. */
class OneConnection {
  /** @param {Call} call */
  constructor(call) {
    this.call = call;
    this.number = -1;
    /** @type {Socket | null} opened, and not yet used */
    this.ready = null;
    /** @type {Socket | null} */
    this.socket = null;
    const { tls } = call;
    const options = { keepAlive: true, maxSockets: 1, noDelay: true };
    this.agent =
      tls === null ? new http.Agent(options) : new https.Agent({ ...options, ...tls.options, maxCachedSessions: 0 });
    this.settings = { ...options, ...tls?.options };
    const create = this.agent.createConnection.bind(this.agent);
    this.agent.createConnection = (/** @type {any} */ settings, /** @type {any} */ callback) => {
      const { ready } = this;
      this.ready = null;
      return ready ?? this.make(create, settings, callback);
    };
    this.create = create;
  }

  /**
   * @param {any} create
   * @param {any} settings
   * @param {any} callback
   * @returns {Socket}
   */
  make(create, settings, callback) {
    const { openings, tls, connected } = this.call;
    const session = tls?.resumes ? tls.session : undefined;
    const socket = /** @type {Socket} */ (create({ ...settings, session }, callback));
    this.number = -1;
    this.socket = socket;
    watchOpening(socket, {
      openings,
      tls,
      onConnect: () => {
        this.number = connected();
      },
    });
    return socket;
  }

  /** Open the connection now. */
  async open() {
    const { host, port, tls, timeoutMs } = this.call;
    const socket = this.make(
      this.create,
      { ...this.settings, host, port, servername: isIP(host) === 0 ? host : "" },
      undefined,
    );
    await opened(socket, tls, timeoutMs);
    this.ready = socket;
  }

  /** End it, and wait until it has ended. */
  async close() {
    const { socket, ready } = this;
    this.agent.destroy();
    ready?.destroy();
    if (socket === null || socket.closed) return;
    const ended = new Promise((resolve) => socket.once("close", resolve));
    socket.destroy();
    await ended;
  }
}

/** See `loops.Connection`. */
class NodeHttpConnection {
  /** @param {Call} call */
  constructor(call) {
    this.one = new OneConnection(call);
    this.route = call.route;
    this.timeoutMs = call.timeoutMs;
    this.request = call.tls === null ? http.request : https.request;
    this.options = { agent: this.one.agent, host: call.host, port: call.port, method: "POST", path: call.route.path };
    /** @type {((failure: CallFailed) => void) | null} */
    this.giveUp = null;
    /** @type {NodeJS.Timeout | null} one timer for all requests, which begin it anew */
    this.timer = null;
  }

  opened() {
    return this.one.number;
  }

  open() {
    return this.one.open();
  }

  async close() {
    if (this.timer !== null) clearTimeout(this.timer);
    await this.one.close();
  }

  /** @param {Fields} fields */
  call(fields) {
    return new Promise((/** @type {(reply: Reply) => void} */ resolve, reject) => {
      const { route } = this;
      const body = route.encode(fields);
      const size = typeof body === "string" ? Buffer.byteLength(body) : body.length;
      const headers = { "Content-Type": route.contentType, "Content-Length": size };
      const request = this.request({ ...this.options, headers });
      this.giveUp = (failure) => {
        this.giveUp = null;
        reject(failure);
        request.destroy();
      };
      this.beginTimer();
      request.on("error", (error) => this.giveUp?.(failureOf(error, this.one.number >= 0)));
      request.on("response", (response) => {
        /** @type {Buffer[]} */
        const chunks = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("aborted", () => this.giveUp?.(new CallFailed("closed", "the connection ended within the reply")));
        response.on("end", () => {
          if (this.giveUp === null || !response.complete) return;
          this.giveUp = null;
          const came = chunks.length === 1 ? /** @type {Buffer} */ (chunks[0]) : Buffer.concat(chunks);
          try {
            resolve({
              value: decoded(route, /** @type {number} */ (response.statusCode), came),
              body: came,
              sizes: [size, came.length],
            });
          } catch (failure) {
            reject(failure);
          }
        });
      });
      request.end(body);
    });
  }

  beginTimer() {
    if (this.timer !== null) {
      this.timer.refresh();
      return;
    }
    this.timer = setTimeout(
      () => this.giveUp?.(new CallFailed("timeout", `no reply in ${this.timeoutMs / 1000} s`)),
      this.timeoutMs,
    );
  }
}

/**
 * The reply's fields; CallFailed for what is no right reply.
 * @param {Route} route
 * @param {number} status
 * @param {Buffer} body
 */
export function decoded(route, status, body) {
  if (status !== 200) throw new CallFailed("protocol", `HTTP ${status}: ${body.toString("utf8", 0, SHOWN_CHARACTERS)}`);
  try {
    return route.decode(body);
  } catch (error) {
    if (error instanceof CallFailed) throw error;
    throw new CallFailed("undecodable", /** @type {Error} */ (error).message);
  }
}

/**
 * @param {Call} call
 * @returns {{ dial: () => NodeHttpConnection }}
 */
export function nodeHttp(call) {
  return { dial: () => new NodeHttpConnection(call) };
}
