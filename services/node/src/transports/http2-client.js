/** Node's own HTTP/2 client: one request at a time on the one session of a connection. */

import http2 from "node:http2";
import net, { isIP } from "node:net";
import tls from "node:tls";
import { CallFailed } from "../load/failures.js";
import { decoded } from "./http-client.js";
import { failureOf, opened, watchOpening } from "./opening.js";

/**
 * @typedef {import("../contract/types.js").Fields} Fields
 * @typedef {import("../load/recorder.js").Reply} Reply
 * @typedef {import("./http-client.js").Call} Call
 * @typedef {import("node:net").Socket} Socket
 * @typedef {import("node:tls").TLSSocket} TlsSocket
 * @typedef {import("node:http2").ClientHttp2Session} Session
 */

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = http2.constants;

/** See `loops.Connection`. */
class Http2Connection {
  /** @param {Call} call */
  constructor(call) {
    const { route } = call;
    this.asked = call;
    this.number = -1;
    this.headers = { ":method": "POST", ":path": route.path, "content-type": route.contentType };
    /** @type {Socket | null} */
    this.socket = null;
    /** @type {Session | null} */
    this.session = null;
    /** @type {Error | null} what ended the session */
    this.ended = null;
    this.isOver = false; // its end was announced: GOAWAY
    /** @type {((failure: CallFailed) => void) | null} */
    this.giveUp = null;
    /** @type {NodeJS.Timeout | null} one timer for all requests, which begin it anew */
    this.timer = null;
  }

  opened() {
    return this.number;
  }

  async open() {
    const { host, port, tls: secured, openings, timeoutMs, connected } = this.asked;
    const where = { host, port, noDelay: true };
    const socket =
      secured === null
        ? net.connect(where)
        : tls.connect({
            ...where,
            ...secured.options,
            ALPNProtocols: ["h2"],
            session: secured.resumes ? secured.session : undefined,
            servername: isIP(host) === 0 ? host : "",
          });
    this.socket = socket;
    watchOpening(socket, {
      openings,
      tls: secured,
      onConnect: () => {
        this.number = connected();
      },
    });
    const authority = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
    this.session = http2.connect(`${secured === null ? "http" : "https"}://${authority}`, {
      createConnection: () => socket,
    });
    this.session.on("error", (error) => {
      this.ended = error;
    });
    this.isOver = false;
    this.session.on("goaway", (code) => {
      this.isOver ||= code === NGHTTP2_NO_ERROR;
    });
    await opened(socket, secured, timeoutMs);
    if (secured !== null && /** @type {TlsSocket} */ (socket).alpnProtocol !== "h2") {
      throw new CallFailed("protocol", "the responder does not speak HTTP/2 over TLS");
    }
  }

  /** @param {Fields} fields */
  async call(fields) {
    if (this.isOver) await this.end();
    if (this.session === null || this.isOver) await this.open();
    return this.exchange(fields);
  }

  /**
   * @param {Fields} fields
   * @returns {Promise<Reply>}
   */
  exchange(fields) {
    return new Promise((resolve, reject) => {
      const session = /** @type {Session} */ (this.session);
      if (session.destroyed || session.closed) {
        reject(failure(this.ended ?? new Error("the session is over")));
        return;
      }
      const { route } = this.asked;
      const body = route.encode(fields);
      const size = typeof body === "string" ? Buffer.byteLength(body) : body.length;
      const stream = session.request({ ...this.headers, "content-length": size });
      /** @param {CallFailed} failed */
      const giveUp = (failed) => {
        if (this.giveUp !== giveUp) return; // it is over: a stream is closed behind its reply
        this.giveUp = null;
        reject(failed);
        stream.close(NGHTTP2_CANCEL);
      };
      this.giveUp = giveUp;
      this.beginTimer();
      let status = 0;
      /** @type {string | undefined} */
      let stated;
      /** @type {Buffer[]} */
      const chunks = [];
      stream.on("response", (headers) => {
        status = Number(headers[":status"]);
        stated = headers["content-length"];
      });
      stream.on("data", (chunk) => chunks.push(chunk));
      stream.on("error", (error) => giveUp(failure(this.ended ?? error)));
      stream.on("close", () => giveUp(failure(this.ended ?? new Error("the stream ended within the reply"))));
      stream.on("end", () => {
        const came = chunks.length === 1 ? /** @type {Buffer} */ (chunks[0]) : Buffer.concat(chunks);
        const isWhole = status !== 0 && (stated === undefined || Number(stated) === came.length);
        if (this.giveUp !== giveUp || !isWhole || (stream.rstCode ?? NGHTTP2_NO_ERROR) !== NGHTTP2_NO_ERROR) return;
        this.giveUp = null;
        try {
          resolve({ value: decoded(route, status, came), body: came, sizes: [size, came.length] });
        } catch (failed) {
          reject(failed);
        }
      });
      stream.end(body);
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

  /** End it, and wait until it has ended. */
  async close() {
    if (this.timer !== null) clearTimeout(this.timer);
    await this.end();
  }

  async end() {
    const { socket, session } = this;
    if (socket === null || socket.closed) return;
    const ended = new Promise((resolve) => socket.once("close", resolve));
    session?.destroy();
    socket.destroy();
    await ended;
  }
}

/**
 * A request's end in the record's words.
 * @param {Error} error
 */
function failure(error) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
  return code === "ERR_HTTP2_ERROR" ? new CallFailed("undecodable", message) : failureOf(error, true);
}

/**
 * @param {Call} call
 * @returns {{ dial: () => Http2Connection }}
 */
export function nodeHttp2(call) {
  return { dial: () => new Http2Connection(call) };
}
