/** What is asked: how each message is answered, and whether a reply is right (`protos/http.md`, `protos/payloads.md`). */

import { isDeepStrictEqual } from "node:util";
import { BadRequest } from "./bad-request.js";
import { stream } from "./generator.js";
import { sizeOfPng } from "./png.js";
import { isoStamp, isStamp, wallUs } from "./stamps.js";
import * as stored from "./stored.js";

/**
 * @typedef {import("../contract/types.js").Fields} Fields
 * @typedef {{ answer: (request: Fields) => Fields, verify: (request: Fields, reply: Fields) => string | null }} Message
 */

const LARGEST = 64 * 2 ** 20;

/**
 * Keeps what it made last.
 * @param {string} label
 */
function bytesOf(label) {
  /** @type {Buffer} */
  let latest = Buffer.alloc(0);
  return (/** @type {number} */ size) => {
    if (latest.length !== size) latest = stream(label, size);
    return latest;
  };
}

export const sentBytes = bytesOf("request");
const returnedBytes = bytesOf("reply");

/** @type {Message} */
const timestamp = {
  answer: (request) => ({ request_timestamp: request.request_timestamp, response_timestamp: isoStamp(wallUs()) }),
  verify: (request, reply) => {
    if (reply.request_timestamp !== request.request_timestamp) {
      return `request_timestamp came back as ${shown(reply.request_timestamp)}`;
    }
    if (isStamp(reply.response_timestamp)) return null;
    return `response_timestamp is ${shown(reply.response_timestamp)}, not ISO 8601 in UTC with microseconds`;
  },
};

/** @type {Message} */
const add = {
  answer: (request) => ({ sum: request.a + request.b }),
  verify: (request, reply) => {
    const wanted = request.a + request.b;
    return reply.sum === wanted ? null : `${request.a} + ${request.b} came back as ${shown(reply.sum)}, not ${wanted}`;
  },
};

/**
 * An echo of the field of that name.
 * @param {"data" | "records" | "document"} form
 * @returns {Message}
 */
function echo(form) {
  /** @type {(sent: any, came: any) => boolean} */
  const isSame = form === "data" ? (sent, came) => Buffer.isBuffer(came) && sent.equals(came) : isDeepStrictEqual;
  return {
    answer: (request) => ({ [form]: request[form] }),
    verify: (request, reply) =>
      isSame(request[form], reply[form]) ? null : `${form} came back as ${shown(reply[form])}`,
  };
}

/** @type {Message} */
const image = {
  answer: (request) => {
    try {
      return sizeOfPng(request.data, request.full_decode);
    } catch (error) {
      throw new BadRequest(`not a picture that can be read: ${/** @type {Error} */ (error).message}`);
    }
  },
  verify: (request, reply) => {
    const { width, height } = request.size; // found when the request was made
    if (reply.width === width && reply.height === height) return null;
    return `the picture of ${width} x ${height} came back as ${shown(reply)}`;
  },
};

/** @type {Message} */
const transfer = {
  answer: ({ data, reply_size: size }) => {
    if (!Number.isInteger(size) || size < 0 || size > LARGEST) {
      throw new BadRequest(`a reply of 0 to ${LARGEST} bytes can be asked for, not of ${shown(size)}`);
    }
    if (data.length > LARGEST || !data.equals(sentBytes(data.length))) {
      throw new BadRequest("not the bytes that a transfer sends");
    }
    return { data: returnedBytes(size) };
  },
  verify: (request, reply) => {
    const wanted = returnedBytes(request.reply_size);
    if (Buffer.isBuffer(reply.data) && wanted.equals(reply.data)) return null;
    return `asked for ${request.reply_size} known bytes, was sent ${shown(reply.data)}`;
  },
};

/** @type {Message} */
const exchange = {
  answer: ({ reply_size: size }) => {
    if (size > LARGEST) throw new BadRequest(`a reply of at most ${LARGEST} bytes can be asked for, not of ${size}`);
    return { data: returnedBytes(size) };
  },
  verify: transfer.verify,
};

/** Those that hold nothing, by the message's name, as its path in `protos/http.md` has it. */
export const MESSAGES = Object.freeze({
  timestamp,
  add,
  "echo/data": echo("data"),
  "echo/records": echo("records"),
  "echo/document": echo("document"),
  image,
  exchange,
  transfer,
});

/** @typedef {keyof typeof MESSAGES} MessageName */

/**
 * Why a reply is not the right one; null where it is.
 * @param {string} message
 * @param {Fields} request
 * @param {Fields} reply
 * @returns {string | null}
 */
export function verify(message, request, reply) {
  if (stored.isStored(message)) return stored.verify(message, request, reply);
  return MESSAGES[/** @type {MessageName} */ (message)].verify(request, reply);
}

/**
 * A value in a few characters.
 * @param {unknown} value
 * @returns {string}
 */
export function shown(value) {
  if (Buffer.isBuffer(value)) return `${value.length} bytes`;
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}
