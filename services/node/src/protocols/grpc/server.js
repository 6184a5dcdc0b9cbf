/** gRPC answered by grpc-js. */

import tls from "node:tls";
import { Server, ServerCredentials, status } from "@grpc/grpc-js";
import { BadRequest } from "../../operations/bad-request.js";
import { kindOfEcho, METHODS } from "./messages.js";

/**
 * @typedef {import("../../contract/types.js").Fields} Fields
 * @typedef {import("../../serve/dispatcher.js").Dispatcher} Dispatcher
 * @typedef {import("@grpc/grpc-js").ServerUnaryCall<Fields, Fields>} Call
 * @typedef {import("@grpc/grpc-js").sendUnaryData<Fields>} Send
 */

const LARGEST_MESSAGE = 512 * 2 ** 20;
const ECHO = "echo/data"; // or one of its other two kinds, as the request says

/** The message of each method. */
const NAMES = {
  Identity: "identity",
  Timestamp: "timestamp",
  Add: "add",
  Echo: ECHO,
  Image: "image",
  Transfer: "transfer",
  Balance: "balance",
  Payment: "payment",
  Transactions: "transactions",
  Accounts: "accounts",
  User: "user",
  Posts: "posts",
  Comments: "comments",
  Feed: "feed",
};

/** @type {import("../responders.js").Serve} */
export async function serve({ dispatcher, host, port, tls: files }) {
  const server = new Server({
    "grpc.max_receive_message_length": LARGEST_MESSAGE,
    "grpc.max_send_message_length": LARGEST_MESSAGE,
  });
  const { definition, implementation } = service(dispatcher);
  server.addService(definition, implementation);
  const address = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials(files), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(Object.assign(error, { code: "EADDRINUSE" })); // it does not tell what it could not do
    });
  });
}

/** @param {import("../../transports/fastify-app.js").Tls} files */
function credentials(files) {
  if (files === null) return ServerCredentials.createInsecure();
  tls.DEFAULT_MIN_VERSION = "TLSv1.3"; // grpc-js cannot be told
  return ServerCredentials.createSsl(null, [{ cert_chain: files.cert, private_key: files.key }]);
}

/** @param {Dispatcher} dispatcher */
function service(dispatcher) {
  /** @type {Record<string, import("@grpc/grpc-js").MethodDefinition<Fields, Fields>>} */
  const definition = {};
  /** @type {import("@grpc/grpc-js").UntypedServiceImplementation} */
  const implementation = {};
  for (const [name, message] of Object.entries(NAMES)) {
    const { path, pack, unpack, packReply, unpackReply } = /** @type {import("./messages.js").Method} */ (
      METHODS[message]
    );
    definition[name] = {
      path,
      requestStream: false,
      responseStream: false,
      requestSerialize: pack,
      requestDeserialize: unpack,
      responseSerialize: message === ECHO ? packEcho : packReply,
      responseDeserialize: unpackReply,
    };
    implementation[name] = (/** @type {Call} */ call, /** @type {Send} */ send) =>
      answer(dispatcher, message, call, send);
  }
  return { definition, implementation };
}

/** @param {Fields} reply */
function packEcho(reply) {
  return /** @type {import("./messages.js").Method} */ (METHODS[kindOfEcho(reply)]).packReply(reply);
}

/**
 * @param {Dispatcher} dispatcher
 * @param {string} message
 * @param {Call} call
 * @param {Send} send
 */
function answer(dispatcher, message, call, send) {
  dispatcher.countPeer(call.getPeer());
  if (message === "identity") {
    send(null, { identity: dispatcher.identity });
    return;
  }
  try {
    const name = message === ECHO ? kindOfEcho(call.request) : message;
    send(null, dispatcher.run(name, call.request));
  } catch (error) {
    const code = error instanceof BadRequest ? status.INVALID_ARGUMENT : status.INTERNAL;
    send({ code, details: /** @type {Error} */ (error).message });
  }
}
