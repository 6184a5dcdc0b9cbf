/** Which requests a trial makes: what the request of each sequence number carries. */

import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { parse } from "../contract/strict-json.js";
import { pairs, records, stream } from "./generator.js";
import { sentBytes } from "./operations.js";
import { sizeOfPng } from "./png.js";
import { isoStamp, wallUs } from "./stamps.js";
import { isStored, stored } from "./stored.js";

/**
 * @typedef {import("../contract/types.js").Payload} Payload
 * @typedef {import("../contract/types.js").CheckedFile} CheckedFile
 * @typedef {import("../contract/types.js").Fields} Fields
 * @typedef {{ message: string, make: (sequence: number) => Fields }} Asking what an operation's requests are
 */

const PREPARED = 1024;
const OPENS = 2; // this sequence number: the first request, which is also the check's, keeps its size
const LARGEST = 64 * 2 ** 20;

/** A payload that an operation does not carry, or a file that is not the one it should be. */
export class NoSuchRequest extends Error {}

/**
 * @param {string} message
 * @param {Fields} request
 * @returns {Asking}
 */
function always(message, request) {
  return { message, make: () => request };
}

/** @type {Record<string, (payload: Payload, seed: number) => Asking>} by operation and kind of payload */
const ASKED = {
  "timestamp none": () => ({ message: "timestamp", make: () => ({ request_timestamp: isoStamp(wallUs()) }) }),
  "add none": (_, seed) => {
    const prepared = pairs(seed);
    return { message: "add", make: (sequence) => /** @type {Fields} */ (prepared[sequence % PREPARED]) };
  },
  "echo bytes": (payload, seed) => always("echo/data", { data: stream(`bytes/${seed}`, bounded(payload.size)) }),
  "echo records": (payload, seed) => always("echo/records", { records: records(seed, payload.count) }),
  "echo json": (payload) => always("echo/document", { document: document(payload) }),
  "image image": (payload) => {
    const data = fileOf(payload);
    try {
      const size = sizeOfPng(data, payload.full_decode);
      return always("image", { data, full_decode: payload.full_decode, size });
    } catch (error) {
      throw new NoSuchRequest(`image: ${payload.path}: ${/** @type {Error} */ (error).message}`);
    }
  },
  "exchange exchange": (payload, seed) => {
    if (payload.opening < 1) throw new NoSuchRequest(`exchange: an opening of at least 1, not ${payload.opening}`);
    const [usual, opening] = [1, payload.opening].map((times) => ({
      data: stream(`bytes/${seed}`, bounded(payload.size * times)),
      reply_size: bounded(payload.reply_size * times),
    }));
    return { message: "exchange", make: (sequence) => /** @type {Fields} */ (sequence === OPENS ? opening : usual) };
  },
  "transfer transfer": (payload) =>
    always("transfer", { data: sentBytes(bounded(payload.size)), reply_size: bounded(payload.reply_size) }),
};

/**
 * NoSuchRequest where operation and payload do not fit.
 * @param {string} operation
 * @param {Payload} payload
 * @param {number} seed
 * @returns {Asking}
 */
export function requestsOf(operation, payload, seed) {
  if (isStored(operation) && payload.kind === "none") {
    const prepared = stored(operation, seed);
    return { message: operation, make: (sequence) => /** @type {Fields} */ (prepared[sequence % PREPARED]) };
  }
  const asked = ASKED[`${operation} ${payload.kind}`];
  if (asked === undefined) throw new NoSuchRequest(`${operation} does not carry a payload of kind ${payload.kind}`);
  return asked(payload, seed);
}

/**
 * The content of a file that a line names; NoSuchRequest where it is missing, or not the one whose digest stands there.
 * @param {{ path: string | null, sha256: string | null }} file
 * @returns {Buffer}
 */
export function fileOf({ path, sha256 }) {
  let content;
  try {
    if (path === null || !statSync(path).isFile()) throw new Error("it is no regular file");
    content = readFileSync(path);
  } catch (error) {
    throw new NoSuchRequest(`cannot read ${path}: ${/** @type {Error} */ (error).message}`);
  }
  if (createHash("sha256").update(content).digest("hex") !== sha256) {
    throw new NoSuchRequest(`${path} is not the file whose SHA-256 is ${sha256}`);
  }
  return content;
}

/** @param {Payload} payload */
function document(payload) {
  const text = fileOf(payload).toString("utf8");
  let whole;
  try {
    whole = parse(text);
  } catch (error) {
    throw new NoSuchRequest(`${payload.path} is not JSON: ${/** @type {Error} */ (error).message}`);
  }
  if (holdsLongInteger(whole)) {
    throw new NoSuchRequest(`${payload.path} has a whole number beyond 2^53, which JavaScript does not keep exactly`);
  }
  return JSON.parse(JSON.stringify(JSON.parse(text))); // as it travels: -0 is 0
}

/** @param {number} size */
function bounded(size) {
  if (size > LARGEST) throw new NoSuchRequest(`at most ${LARGEST} bytes each way, not ${size}`);
  return size;
}

/**
 * Whether a value that `strict-json` parsed has a whole number that a double does not keep.
 * @param {unknown} value
 * @returns {boolean}
 */
function holdsLongInteger(value) {
  if (typeof value === "bigint") return true;
  return typeof value === "object" && value !== null && Object.values(value).some(holdsLongInteger);
}
