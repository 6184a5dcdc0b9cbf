/** Several calls, one after the other on one connection, as one sample: a wrapper around any client's connections. */

import { CallFailed } from "./failures.js";
import { TaskFailed } from "./loops.js";

/**
 * @typedef {import("../contract/types.js").Fields} Fields
 * @typedef {import("./recorder.js").Part} Part
 * @typedef {import("./recorder.js").Reply} Reply
 * @typedef {import("./loops.js").Connection} Connection
 */

const now = process.hrtime.bigint;

/** See `loops.Connection`: a request is an array of those of its calls, and so is the value of a reply. */
class TaskConnection {
  /** @param {Connection} connection */
  constructor(connection) {
    this.connection = connection;
  }

  open() {
    return this.connection.open();
  }

  close() {
    return this.connection.close();
  }

  opened() {
    return this.connection.opened();
  }

  hasUnasked() {
    return this.connection.hasUnasked?.() ?? false;
  }

  /**
   * @param {Fields} requests
   * @returns {Promise<Reply>}
   */
  async call(requests) {
    /** @type {Part[]} */
    const parts = [];
    /** @type {Fields[]} */
    const values = [];
    /** @type {[number, number]} */
    const sizes = [0, 0];
    for (const request of /** @type {Fields[]} */ (requests)) {
      const sentNs = now();
      try {
        const reply = await this.connection.call(request);
        const receivedNs = now();
        const [bytesSent, bytesReceived] = reply.sizes;
        parts.push({ sentNs, receivedNs, bytesSent, bytesReceived, failure: null });
        values.push(reply.value);
        sizes[0] += bytesSent;
        sizes[1] += bytesReceived;
      } catch (error) {
        if (!(error instanceof CallFailed)) throw error;
        parts.push({ sentNs, receivedNs: now(), bytesSent: -1, bytesReceived: -1, failure: error });
        throw new TaskFailed(error, parts);
      }
    }
    return { value: values, body: null, sizes, parts };
  }
}

/**
 * @param {import("./loops.js").Dialer} dialer
 * @returns {import("./loops.js").Dialer}
 */
export function inTasks(dialer) {
  return { dial: () => new TaskConnection(dialer.dial()) };
}

/**
 * The requests of each task: those of sequence numbers (s - 1) n + 1 to s n for the s-th.
 * @param {(sequence: number) => Fields} make
 * @param {number} calls
 * @returns {(sequence: number) => Fields}
 */
export function requestsOfTasks(make, calls) {
  return (sequence) => Array.from({ length: calls }, (_, place) => make((sequence - 1) * calls + 1 + place));
}
