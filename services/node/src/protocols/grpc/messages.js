/** The messages of `protos/orch.proto` by protobuf.js, as plain objects, and as the operations name their fields. */

import protobuf from "protobufjs";
import source from "../../../../../protos/orch.proto";
import { fromValue, toValue } from "./values.js";

/**
 * @typedef {import("../../contract/types.js").Fields} Fields
 * @typedef {{
 *   path: string, pack: (request: Fields) => Buffer, unpack: (message: Buffer) => Fields,
 *   packReply: (reply: Fields) => Buffer, unpackReply: (message: Buffer) => Fields,
 * }} Method bytes to fields, every field read, and back
 */

const STRUCT = "google/protobuf/struct.proto";
const AS_PLAIN_OBJECTS = { longs: Number, defaults: true, arrays: true, oneofs: true };

const root = new protobuf.Root();
root.addJSON(/** @type {any} */ (protobuf.common.get(STRUCT)).nested);
protobuf.parse(source, root, { keepCase: true });
root.resolveAll();

/**
 * @param {string} name
 * @returns {{ encode: (fields: Fields) => Buffer, decode: (message: Buffer) => Fields }}
 */
function coder(name) {
  const type = root.lookupType(`orch.v1.${name}`);
  return {
    encode: (fields) => /** @type {Buffer} */ (type.encode(type.fromObject(fields)).finish()),
    decode: (message) => type.toObject(type.decode(message), AS_PLAIN_OBJECTS),
  };
}

/** @param {Fields} fields */
const asItIs = (fields) => fields;

/**
 * @param {string} name of the method, after which its messages are called
 * @param {(fields: Fields) => Fields} [write] what is done to fields before they are encoded
 * @param {(fields: Fields) => Fields} [read] and after they were decoded
 * @returns {Method}
 */
function method(name, write = asItIs, read = asItIs) {
  const request = coder(`${name}Request`);
  const reply = coder(`${name}Reply`);
  return {
    path: `/orch.v1.Orch/${name}`,
    pack: (fields) => request.encode(write(fields)),
    unpack: (message) => read(request.decode(message)),
    packReply: (fields) => reply.encode(write(fields)),
    unpackReply: (message) => read(reply.decode(message)),
  };
}

/**
 * What an echo carries; an Error for one that carries nothing.
 * @param {Fields} fields
 */
function content(fields) {
  if (fields.data !== undefined) return { data: fields.data };
  if (fields.records !== undefined) return { records: fields.records.items };
  if (fields.document !== undefined) return { document: fromValue(fields.document) };
  throw new Error("an echo carries data, records or a document; this one carries nothing");
}

const echo = {
  "echo/data": method("Echo", ({ data }) => ({ data }), content),
  "echo/records": method("Echo", ({ records }) => ({ records: { items: records } }), content),
  "echo/document": method("Echo", ({ document }) => ({ document: toValue(document) }), content),
};

/** By the message's name; the three kinds of echo are one method. @type {Record<string, Method>} */
export const METHODS = {
  identity: method("Identity"),
  timestamp: method("Timestamp"),
  add: method("Add"),
  image: method("Image", ({ data, full_decode, width, height }) =>
    data === undefined ? { width, height } : { data, full_decode },
  ),
  transfer: method("Transfer"),
  balance: method("Balance"),
  payment: method("Payment"),
  transactions: method("Transactions"),
  accounts: method("Accounts"),
  user: method("User"),
  posts: method("Posts"),
  comments: method("Comments"),
  feed: method("Feed"),
  ...echo,
};

/**
 * Which kind of echo this is.
 * @param {Fields} fields
 * @returns {"echo/data" | "echo/records" | "echo/document"}
 */
export function kindOfEcho(fields) {
  if ("data" in fields) return "echo/data";
  return "records" in fields ? "echo/records" : "echo/document";
}
