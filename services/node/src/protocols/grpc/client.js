/** gRPC asked with grpc-js: a channel of its own, which is one HTTP/2 connection, for each connection of a trial. */

import tls from "node:tls";
import { Client, connectivityState, credentials, status } from "@grpc/grpc-js";
import { CallFailed } from "../../load/failures.js";
import { EXHAUSTED } from "../../transports/opening.js";
import { METHODS } from "./messages.js";

/**
 * @typedef {import("../../contract/types.js").Fields} Fields
 * @typedef {import("../../load/recorder.js").Reply} Reply
 * @typedef {import("../clients.js").Asked} Asked
 */

const LARGEST_MESSAGE = 512 * 2 ** 20;
const OPTIONS = {
  "grpc.max_receive_message_length": LARGEST_MESSAGE,
  "grpc.max_send_message_length": LARGEST_MESSAGE,
  "grpc.enable_retries": 0,
  "grpc.enable_http_proxy": 0,
  "grpc.service_config_disable_resolution": 1,
  "grpc.use_local_subchannel_pool": 1, // channels of one process share a connection otherwise
};
const HANDSHAKE = /certificat|altname|handshake|SSL|TLS/i;

/** See `loops.Connection`. */
class GrpcConnection {
  /** @param {Asked} asked */
  constructor(asked) {
    const { host, port, message } = asked;
    this.asked = asked;
    this.number = -1;
    this.method = /** @type {import("./messages.js").Method} */ (METHODS[message]);
    this.client = new Client(
      host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`,
      credentialsOf(asked.tls),
      OPTIONS,
    );
    this.sent = 0;
    /** @type {Buffer} */
    this.body = Buffer.alloc(0);
    this.pack = (/** @type {Fields} */ request) => {
      const message = this.method.pack(request);
      this.sent = message.length;
      return message;
    };
    this.unpack = (/** @type {Buffer} */ message) => {
      this.body = message;
      return this.method.unpackReply(message);
    };
  }

  opened() {
    return this.number;
  }

  async open() {
    const channel = this.client.getChannel();
    const until = Date.now() + this.asked.timeoutMs;
    for (
      let state = channel.getConnectivityState(true);
      state !== connectivityState.READY;
      state = channel.getConnectivityState(true)
    ) {
      if (state === connectivityState.TRANSIENT_FAILURE)
        throw new CallFailed("refused", "the channel could not connect");
      const was = state;
      await new Promise((resolve, reject) => {
        channel.watchConnectivityState(was, until, (error) => {
          if (error) reject(new CallFailed("timeout", "the channel did not connect in time"));
          else resolve(undefined);
        });
      });
    }
    this.number = this.asked.connected();
  }

  async close() {
    this.client.close();
  }

  /** @param {Fields} request */
  call(request) {
    return new Promise((/** @type {(reply: Reply) => void} */ resolve, reject) => {
      const options = { deadline: Date.now() + this.asked.timeoutMs };
      this.client.makeUnaryRequest(this.method.path, this.pack, this.unpack, request, options, (error, reply) => {
        if (error !== null) {
          reject(failureOf(error));
          return;
        }
        if (this.number < 0) this.number = this.asked.connected();
        resolve({ value: /** @type {Fields} */ (reply), body: this.body, sizes: [this.sent, this.body.length] });
      });
    });
  }
}

/** @param {Asked["tls"]} of */
function credentialsOf(of) {
  if (of === null) return credentials.createInsecure();
  tls.DEFAULT_MIN_VERSION = "TLSv1.3"; // grpc-js cannot be told
  return credentials.createSsl(/** @type {Buffer} */ (of.options.ca));
}

/**
 * A call's end in the record's words. UNAVAILABLE says that it could not connect, or lost the connection; only the details
 * tell which.
 * @param {import("@grpc/grpc-js").ServiceError} error
 */
function failureOf({ code, details }) {
  const words = `${status[code]}: ${details}`;
  if (code === status.DEADLINE_EXCEEDED) return new CallFailed("timeout", words);
  if (code === status.CANCELLED) return new CallFailed("cancelled", words);
  if (code === status.INTERNAL && details.includes("parsing error")) return new CallFailed("undecodable", words);
  if (code !== status.UNAVAILABLE) return new CallFailed("protocol", words);
  if (EXHAUSTED.test(details)) return new CallFailed("exhausted", words);
  if (HANDSHAKE.test(details)) return new CallFailed("refused", `tls: ${words}`);
  return new CallFailed(details.includes("No connection established") ? "refused" : "closed", words);
}

/** @type {import("../clients.js").MakeDialer} */
export const dialer = (asked) => ({ dial: () => new GrpcConnection(asked) });
