/** The size of a PNG, from its header or once every pixel is decoded. */

import { decode } from "fast-png";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const HEADER_BYTES = 33; // the signature, and IHDR with its length, name and checksum

/**
 * Width and height in pixels; an Error for what is no PNG.
 * @param {Buffer} data
 * @param {boolean} everyPixel
 * @returns {{ width: number, height: number }}
 */
export function sizeOfPng(data, everyPixel) {
  if (data.length < HEADER_BYTES || !data.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw new Error("not a PNG");
  if (!everyPixel) return { width: data.readUInt32BE(16), height: data.readUInt32BE(20) };
  const { width, height } = decode(data);
  return { width, height };
}
