/**
 * JSON as lines between processes have it: no key twice, no number that is not finite, and whole numbers told apart
 * from others. `JSON.parse` tells none of this.
 */

/** A number that was written with a point or an exponent. */
export class Fraction {
  /** @param {number} value */
  constructor(value) {
    this.value = value;
  }
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none in its strings
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORDS = /** @type {const} */ ({ true: true, false: false, null: null });
const DEEPEST = 2000;

class Reader {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  /** @returns {unknown} */
  whole() {
    const value = this.value(0);
    this.skip();
    if (this.at < this.text.length) throw new Error(`more follows the JSON value: ${quoted(this.text.slice(this.at))}`);
    return value;
  }

  /**
   * @param {number} depth
   * @returns {unknown}
   */
  value(depth) {
    this.skip();
    if (depth > DEEPEST) throw new Error(`it is nested more than ${DEEPEST} deep`);
    const first = this.text[this.at];
    if (first === "{") return this.object(depth);
    if (first === "[") return this.array(depth);
    if (first === '"') return this.string();
    for (const [word, value] of Object.entries(WORDS)) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    return this.number();
  }

  /** @param {number} depth */
  object(depth) {
    /** @type {Record<string, unknown>} */
    const fields = Object.create(null);
    this.at += 1;
    if (this.takes("}")) return fields;
    do {
      this.skip();
      const key = this.string();
      if (key in fields) throw new Error(`the key '${key}' occurs twice`);
      this.expect(":");
      fields[key] = this.value(depth + 1);
    } while (this.takes(","));
    this.expect("}");
    return fields;
  }

  /** @param {number} depth */
  array(depth) {
    /** @type {unknown[]} */
    const items = [];
    this.at += 1;
    if (this.takes("]")) return items;
    do items.push(this.value(depth + 1));
    while (this.takes(","));
    this.expect("]");
    return items;
  }

  /** @returns {string} */
  string() {
    const text = /** @type {string} */ (JSON.parse(this.match(STRING)[0]));
    if (!text.isWellFormed()) throw new Error("a text in it has half of a surrogate pair");
    return text;
  }

  number() {
    const [written, point, exponent] = this.match(NUMBER);
    const value = Number(written);
    if (!Number.isFinite(value)) throw new Error(`${quoted(written)} is not finite`);
    if (point !== undefined || exponent !== undefined) return new Fraction(value);
    return Number.isSafeInteger(value) ? value : BigInt(written);
  }

  /**
   * @param {RegExp} pattern
   * @returns {RegExpExecArray}
   */
  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null) throw new Error(`it is not JSON at ${quoted(this.text.slice(this.at))}`);
    this.at = pattern.lastIndex;
    return found;
  }

  skip() {
    this.match(SPACE);
  }

  /** @param {string} character */
  takes(character) {
    this.skip();
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  /** @param {string} character */
  expect(character) {
    if (!this.takes(character)) throw new Error(`it is not JSON at ${quoted(this.text.slice(this.at))}`);
  }
}

/** @param {string} text */
function quoted(text) {
  return text === "" ? "its end" : `'${text.slice(0, 40)}'`;
}

/**
 * One JSON value. Whole numbers are numbers, or bigints beyond 2^53; others are `Fraction`s. Throws an Error in one
 * sentence.
 * @param {string} text
 * @returns {unknown}
 */
export function parse(text) {
  return new Reader(text).whole();
}
