/** Reads what came on a line as its JSON Schema says (the part of JSON Schema that `protos/schemas` uses). */

import { Fraction } from "./strict-json.js";

/**
 * @typedef {{
 *   $ref?: string, anyOf?: Rule[], const?: unknown, enum?: unknown[], type?: string, default?: unknown,
 *   minimum?: number, maximum?: number, items?: Rule, properties?: Record<string, Rule>, required?: string[],
 *   additionalProperties?: boolean | Rule, $defs?: Record<string, Rule>,
 * }} Rule
 */

/** A line that is not of its schema; the message names the key. */
export class Refused extends Error {}

/**
 * The value in plain types, with what it leaves out and the schema gives a default for.
 * @param {Rule} schema
 * @param {unknown} value as `strict-json` parsed it
 * @returns {any}
 */
export function read(schema, value) {
  return readAt(schema, value, "", schema.$defs ?? {});
}

/**
 * @param {Rule} rule
 * @param {unknown} value
 * @param {string} at
 * @param {Record<string, Rule>} definitions
 * @returns {unknown}
 */
function readAt(rule, value, at, definitions) {
  if (rule.$ref !== undefined) return readAt(named(rule.$ref, definitions), value, at, definitions);
  if (rule.anyOf !== undefined) return readAny(rule.anyOf, value, at, definitions);
  if ("const" in rule && value !== rule.const) throw refusal(at, value, `not ${JSON.stringify(rule.const)}`);
  if (rule.enum !== undefined && !rule.enum.includes(value)) {
    throw refusal(at, value, `none of ${rule.enum.map((one) => JSON.stringify(one)).join(", ")}`);
  }
  const plain = rule.type === "number" && value instanceof Fraction ? value.value : value;
  if (rule.type !== undefined && !isOf(plain, rule.type)) throw refusal(at, value, `no ${rule.type}`);
  if (typeof plain === "number" || typeof plain === "bigint") {
    if (plain < (rule.minimum ?? plain) || plain > (rule.maximum ?? plain)) throw refusal(at, value, "out of range");
  }
  if (Array.isArray(plain))
    return plain.map((item, place) => readAt(rule.items ?? {}, item, `${at}[${place}]`, definitions));
  return rule.type === "object"
    ? readObject(rule, /** @type {Record<string, unknown>} */ (plain), at, definitions)
    : plain;
}

/**
 * @param {Rule[]} ways
 * @param {unknown} value
 * @param {string} at
 * @param {Record<string, Rule>} definitions
 */
function readAny(ways, value, at, definitions) {
  let first;
  for (const way of ways) {
    try {
      return readAt(way, value, at, definitions);
    } catch (error) {
      first ??= error;
    }
  }
  throw first;
}

/**
 * @param {Rule} rule
 * @param {Record<string, unknown>} fields
 * @param {string} at
 * @param {Record<string, Rule>} definitions
 */
function readObject(rule, fields, at, definitions) {
  const known = rule.properties ?? {};
  for (const key of rule.required ?? []) {
    if (!(key in fields)) throw new Refused(`the key ${pathOf(at, key)} is missing`);
  }
  /** @type {Record<string, unknown>} */
  const plain = {};
  for (const [key, value] of Object.entries(fields)) {
    const inner = Object.hasOwn(known, key) ? known[key] : (rule.additionalProperties ?? true);
    if (inner === false) throw new Refused(`the key ${pathOf(at, key)} is not known`);
    const came = inner === true ? value : readAt(/** @type {Rule} */ (inner), value, pathOf(at, key), definitions);
    Object.defineProperty(plain, key, { value: came, enumerable: true, writable: true, configurable: true });
  }
  for (const [key, inner] of Object.entries(known)) {
    if (Object.hasOwn(plain, key)) continue;
    if (inner.$ref !== undefined) plain[key] = whole(named(inner.$ref, definitions), definitions);
    else if ("default" in inner) plain[key] = inner.default;
    else if (inner.type === "object") plain[key] = {};
    else if (inner.type === "array") plain[key] = [];
  }
  return plain;
}

/**
 * A part that was left out, of which every key has a default; undefined where one has none.
 * @param {Rule} rule
 * @param {Record<string, Rule>} definitions
 */
function whole(rule, definitions) {
  return (rule.required ?? []).length > 0 ? undefined : readObject(rule, {}, "", definitions);
}

/**
 * @param {string} reference
 * @param {Record<string, Rule>} definitions
 */
function named(reference, definitions) {
  return /** @type {Rule} */ (definitions[reference.slice(reference.lastIndexOf("/") + 1)]);
}

/**
 * @param {unknown} value
 * @param {string} type
 */
function isOf(value, type) {
  if (type === "integer" || type === "number") return typeof value === "number" || typeof value === "bigint";
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") {
    return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Fraction);
  }
  return typeof value === type;
}

/**
 * @param {string} at
 * @param {string} key
 */
function pathOf(at, key) {
  return at === "" ? key : `${at}.${key}`;
}

/**
 * @param {string} at
 * @param {unknown} value
 * @param {string} what
 */
function refusal(at, value, what) {
  return new Refused(`${at === "" ? "it" : at}: ${shown(value)} is ${what}`);
}

/**
 * A parsed value, for a message.
 * @param {unknown} value
 * @returns {string}
 */
export function shown(value) {
  if (value instanceof Fraction) return `${value.value} with a point`;
  const text = typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}
