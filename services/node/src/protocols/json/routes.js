/** `http+json` on the wire, as a client sends and reads it (`protos/http.md`): an object of a message's fields, bytes as base64. */

import { fromBase64 } from "../../transports/base64.js";

/**
 * @typedef {import("../../contract/types.js").Fields} Fields
 * @typedef {import("../../transports/http-client.js").Route} Route
 */

const SENT_AS_BYTES = new Set(["echo/data", "image", "transfer"]);
const RECEIVED_AS_BYTES = new Set(["echo/data", "transfer"]);

/**
 * @param {string} message
 * @returns {Route}
 */
export function routeOf(message) {
  return {
    path: `/${message}`,
    contentType: "application/json",
    encode: SENT_AS_BYTES.has(message) ? (request) => JSON.stringify(withText(message, request)) : JSON.stringify,
    decode: RECEIVED_AS_BYTES.has(message) ? (body) => ({ data: fromBase64(object(body).data) }) : object,
  };
}

/**
 * @param {string} message
 * @param {Fields} request
 */
function withText(message, { data, full_decode, reply_size }) {
  const text = data.toString("base64");
  if (message === "image") return { data: text, full_decode };
  return message === "transfer" ? { data: text, reply_size } : { data: text };
}

/**
 * @param {Buffer} body
 * @returns {Fields}
 */
function object(body) {
  const fields = JSON.parse(body.toString("utf8"));
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) throw new Error("no JSON object");
  return fields;
}
