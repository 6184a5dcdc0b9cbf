/** `rest` on the wire, as a client sends and reads it (`protos/http.md`). */

/**
 * @typedef {import("../../contract/types.js").Fields} Fields
 * @typedef {import("../../transports/http-client.js").Route} Route
 */

const JSON_TYPE = "application/json";
const OCTETS = "application/octet-stream";

/**
 * A message's route, for requests shaped as the example.
 * @param {string} message
 * @param {Fields} example
 * @returns {Route}
 */
export function routeOf(message, example) {
  switch (message) {
    case "image":
      return {
        path: `/image?full_decode=${example.full_decode}`,
        contentType: "image/png",
        encode: dataOf,
        decode: object,
      };
    case "transfer":
      return { path: `/transfer?reply_size=${example.reply_size}`, contentType: OCTETS, encode: dataOf, decode: bytes };
    case "echo/data":
      return { path: "/echo/data", contentType: OCTETS, encode: dataOf, decode: bytes };
    case "echo/records":
    case "echo/document":
      return bare(message);
    default:
      return { path: `/${message}`, contentType: JSON_TYPE, encode: JSON.stringify, decode: object };
  }
}

/**
 * A body that is one field's value as JSON.
 * @param {"echo/records" | "echo/document"} message
 * @returns {Route}
 */
function bare(message) {
  const form = message.slice("echo/".length);
  return {
    path: `/${message}`,
    contentType: JSON_TYPE,
    encode: (request) => JSON.stringify(request[form]),
    decode: (body) => ({ [form]: JSON.parse(body.toString("utf8")) }),
  };
}

/** @param {Fields} request */
function dataOf(request) {
  return /** @type {Buffer} */ (request.data);
}

/** @param {Buffer} body */
function bytes(body) {
  return { data: body };
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
