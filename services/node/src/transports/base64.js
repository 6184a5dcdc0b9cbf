/** Bytes in JSON (RFC 4648, 4, with padding). `Buffer` takes other text for it, and ignores what does not belong. */

const ALPHABET = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * An Error for what is no Base64.
 * @param {unknown} text
 * @returns {Buffer}
 */
export function fromBase64(text) {
  if (typeof text !== "string" || text.length % 4 !== 0 || !ALPHABET.test(text)) throw new Error("not Base64");
  return Buffer.from(text, "base64");
}
