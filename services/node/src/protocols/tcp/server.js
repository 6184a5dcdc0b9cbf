/** `tcp` answered on Node's own sockets. */

import { once } from "node:events";
import net from "node:net";
import tls from "node:tls";
import { portOf } from "../../transports/port.js";
import { ERROR, FRAMES, FrameError, Frames, send } from "./frames.js";

/**
 * @typedef {import("../../serve/dispatcher.js").Dispatcher} Dispatcher
 * @typedef {import("node:net").Socket} Socket
 */

/** @type {import("../responders.js").Serve} */
export async function serve({ dispatcher, host, port, tls: files }) {
  /** @param {Socket} socket */
  const talk = (socket) => hear(socket, dispatcher);
  const server =
    files === null
      ? net.createServer({ noDelay: true }, talk)
      : tls.createServer({ ...files, noDelay: true, minVersion: "TLSv1.3", maxVersion: "TLSv1.3" }, talk);
  server.listen(port, host);
  await once(server, "listening"); // an error is thrown
  return portOf(server);
}

/**
 * Answer what comes on a connection, one frame after the other.
 * @param {Socket} socket
 * @param {Dispatcher} dispatcher
 */
function hear(socket, dispatcher) {
  const frames = new Frames();
  socket.on("error", () => {}); // who asked is gone
  socket.on("data", (/** @type {Buffer} */ piece) => {
    frames.add(piece);
    try {
      for (let frame = frames.next(); frame !== null; frame = frames.next()) {
        const { code, body } = answered(dispatcher, frame.code, frame.body, socket);
        send(socket, code, body);
      }
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      send(socket, ERROR, Buffer.from(error.message));
      socket.destroySoon(); // where the next frame begins is not known
    }
  });
}

/**
 * The reply to a frame, or the error that it gets.
 * @param {Dispatcher} dispatcher
 * @param {number} code
 * @param {Buffer} body
 * @param {Socket} socket
 */
function answered(dispatcher, code, body, socket) {
  const message = FRAMES[code];
  try {
    if (message === undefined) throw new Error(`code ${code} is not known`);
    const request = message.decode(body);
    const reply =
      message.message === "identity"
        ? dispatcher.identify(socket)
        : dispatcher.answer(message.message, request, socket);
    return { code, body: message.encodeReply(reply) };
  } catch (error) {
    return { code: ERROR, body: Buffer.from(/** @type {Error} */ (error).message.toWellFormed()) };
  }
}
