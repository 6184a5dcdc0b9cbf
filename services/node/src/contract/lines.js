/** The lines of `protos/process.md`: what is read on stdin, what is printed on the real stdout. */

import { writeSync } from "node:fs";
import serveSchema from "../../../../protos/schemas/serve.json" with { type: "json" };
import trialSchema from "../../../../protos/schemas/trial.json" with { type: "json" };
import known from "../../../../protos/statuses.json" with { type: "json" };
import { Refused, read, shown } from "./schema.js";
import { LONGEST_LINE } from "./stdin.js";
import { Fraction, parse } from "./strict-json.js";

export const CONTRACT = 2;
const MOST_CHARACTERS = 900; // of a message
const LONGEST_SAID = 1000;
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The ways in which a request can end, each at the place that stands in a row. */
export const STATUSES = known.statuses.map((status) => status.name);

/** @type {Readonly<Record<string, number>>} */
export const STATUS = Object.freeze(Object.fromEntries(STATUSES.map((name, index) => [name, index])));

export { Refused };

/**
 * @typedef {import("./types.js").Serve} Serve
 * @typedef {import("./types.js").Trial} Trial
 */

/**
 * @param {Uint8Array} line
 * @returns {Serve}
 */
export function readServe(line) {
  return readLine(serveSchema, line, "responder");
}

/**
 * @param {Uint8Array} line
 * @returns {Trial}
 */
export function readTrial(line) {
  return readLine(trialSchema, line, "requester");
}

/**
 * A line of this schema; Refused, in one sentence, for any other. Another version is refused before all else.
 * @param {any} schema
 * @param {Uint8Array} bytes
 * @param {string} who
 */
function readLine(schema, bytes, who) {
  const line = objectOf(bytes);
  const { contract, type } = line;
  const kind = schema.properties.type.const;
  const said = contract ?? null;
  // A type that is not known may be one of another version, which is then what is wrong.
  if (said !== CONTRACT && (said !== null || type === kind)) {
    const theirs = said === null ? "does not say which" : `speaks ${shown(said)}`;
    throw new Refused(`this ${who} speaks contract ${CONTRACT}; the orchestrator ${theirs}`);
  }
  if (type !== kind) throw new Refused(`the orchestrator's line has type ${shown(type ?? null)}; known here: ${kind}`);
  try {
    return read(schema, line);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw new Refused(`the orchestrator's line \`${kind}\` is not of the contract: ${error.message}`);
  }
}

/**
 * The JSON object that a line is.
 * @param {Uint8Array} bytes
 * @returns {Record<string, unknown>}
 */
function objectOf(bytes) {
  if (bytes.length > LONGEST_LINE) throw new Refused("the line has more than 1 MiB");
  let text;
  try {
    text = UTF8.decode(bytes);
  } catch {
    throw new Refused("the line is not UTF-8");
  }
  if (text.trim() === "") throw new Refused("stdin ended before a line came");
  let line;
  try {
    line = parse(text);
  } catch (error) {
    throw new Refused(`a line is one JSON object: ${/** @type {Error} */ (error).message}`);
  }
  if (typeof line !== "object" || line === null || Array.isArray(line) || line instanceof Fraction)
    throw new Refused(`a line is one JSON object, not ${shown(line)}`);
  return /** @type {Record<string, unknown>} */ (line);
}

/**
 * JSON of a line; bigints are whole numbers, and keys that are undefined are left out.
 * @param {unknown} value
 * @returns {string}
 */
export function textOf(value) {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const pairs = Object.entries(value).filter(([, item]) => item !== undefined);
    return `{${pairs.map(([key, item]) => `${JSON.stringify(key)}:${textOf(item)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

/**
 * One line on the real stdout. When nobody reads any more, this process has no purpose left and ends.
 * @param {Record<string, unknown>} line
 */
export function print(line) {
  try {
    writeAll(1, `${textOf(line)}\n`);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "EPIPE") process.exit(1);
    throw error;
  }
}

/**
 * One line on stderr.
 * @param {string} message
 */
export function complain(message) {
  try {
    writeAll(2, `${onOneLine(message, LONGEST_SAID)}\n`);
  } catch {
    // nobody reads it
  }
}

/**
 * Words that may be somebody else's, on one line and not longer than needed.
 * @param {string} words
 * @param {number} [most] characters
 */
export function onOneLine(words, most = MOST_CHARACTERS) {
  const line = words
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return line.length <= most ? line : `${line.slice(0, most - 3).toWellFormed()}...`;
}

/**
 * @param {number} descriptor
 * @param {string} text
 */
function writeAll(descriptor, text) {
  let left = Buffer.from(text);
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(descriptor, left));
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EAGAIN") throw error;
    }
  }
}

/** Whatever a library prints goes to stderr; an end speaks with the other one, and with no proxy between. */
export function keepStdoutForLines() {
  process.stdout.write = /** @type {typeof process.stdout.write} */ (process.stderr.write.bind(process.stderr));
  for (const name of Object.keys(process.env)) {
    if (name.toLowerCase().endsWith("_proxy")) delete process.env[name];
  }
}
