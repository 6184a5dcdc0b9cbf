/** `tcp` asked on Node's own sockets, one request in flight per connection. */

import net, { isIP } from "node:net";
import tls from "node:tls";
import { CallFailed } from "../../load/failures.js";
import { failureOf, opened, watchOpening } from "../../transports/opening.js";
import { ERROR, FRAMES, FrameError, Frames, MORE_THAN_A_FRAME, send } from "./frames.js";

/**
 * @typedef {import("../../contract/types.js").Fields} Fields
 * @typedef {import("../../load/recorder.js").Reply} Reply
 * @typedef {import("../clients.js").Asked} Asked
 * @typedef {import("node:net").Socket} Socket
 * @typedef {import("./frames.js").Message} Message
 * @typedef {{ resolve: (reply: Reply) => void, reject: (failure: CallFailed) => void, sent: number }} Waiting
 */

/** See `loops.Connection`. */
class TcpConnection {
  /**
   * @param {Asked} asked
   * @param {Message} message
   */
  constructor(asked, message) {
    this.asked = asked;
    this.message = message;
    this.number = -1;
    this.frames = new Frames();
    /** @type {Socket | null} */
    this.socket = null;
    /** @type {Waiting | null} the request that is under way */
    this.waiting = null;
    this.isEnded = false;
    this.isAskedTooMuch = false; // something came while no request waited
    /** @type {NodeJS.Timeout | null} one timer for all requests, which begin it anew */
    this.timer = null;
  }

  opened() {
    return this.number;
  }

  hasUnasked() {
    return this.isAskedTooMuch;
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
    socket.on("data", (piece) => this.came(piece));
    socket.on("error", (error) => this.fail(failureOf(error, this.number >= 0)));
    socket.on("close", () => {
      this.isEnded = true;
      this.fail(new CallFailed("closed", "the responder ended the connection"));
    });
    await opened(socket, secured, timeoutMs);
  }

  /** @param {Fields} fields */
  call(fields) {
    return this.socket === null ? this.open().then(() => this.exchange(fields)) : this.exchange(fields);
  }

  /**
   * One frame out, one frame in.
   * @param {Fields} fields
   * @returns {Promise<Reply>}
   */
  exchange(fields) {
    return new Promise((resolve, reject) => {
      if (this.isEnded) {
        reject(new CallFailed("closed", "the connection is closed"));
        return;
      }
      const body = this.message.encode(fields);
      this.waiting = { resolve, reject, sent: body.length };
      this.beginTimer();
      send(/** @type {Socket} */ (this.socket), this.message.code, body);
    });
  }

  /** @param {Buffer} piece */
  came(piece) {
    const { waiting, frames } = this;
    if (waiting === null) {
      this.isAskedTooMuch = true;
      return;
    }
    frames.add(piece);
    try {
      const frame = frames.next();
      if (frame === null) return;
      if (frames.bytes > 0) {
        this.isAskedTooMuch = true;
        throw new FrameError(MORE_THAN_A_FRAME);
      }
      this.waiting = null;
      waiting.resolve({
        value: this.decoded(frame.code, frame.body),
        body: frame.body,
        sizes: [waiting.sent, frame.body.length],
      });
    } catch (error) {
      this.waiting = null;
      waiting.reject(
        error instanceof CallFailed ? error : new CallFailed("undecodable", /** @type {Error} */ (error).message),
      );
    }
  }

  /**
   * @param {number} code
   * @param {Buffer} body
   */
  decoded(code, body) {
    if (code === ERROR) throw new CallFailed("protocol", body.toString("utf8"));
    if (code !== this.message.code) {
      throw new FrameError(`a reply of code ${code} to a request of code ${this.message.code}`);
    }
    return this.message.decodeReply(body);
  }

  /** @param {CallFailed} failure */
  fail(failure) {
    const { waiting } = this;
    this.waiting = null;
    waiting?.reject(failure);
  }

  beginTimer() {
    const { timeoutMs } = this.asked;
    if (this.timer !== null) {
      this.timer.refresh();
      return;
    }
    this.timer = setTimeout(() => this.fail(new CallFailed("timeout", `no reply in ${timeoutMs / 1000} s`)), timeoutMs);
  }

  /** End it, and wait until it has ended. */
  async close() {
    if (this.timer !== null) clearTimeout(this.timer);
    const { socket } = this;
    if (socket === null || socket.closed) return;
    const ended = new Promise((resolve) => socket.once("close", resolve));
    socket.destroy();
    await ended;
  }
}

/** @type {import("../clients.js").MakeDialer} */
export const dialer = (asked) => {
  const message = /** @type {Message} */ (FRAMES.find((one) => one.message === asked.message));
  return { dial: () => new TcpConnection(asked, message) };
};
