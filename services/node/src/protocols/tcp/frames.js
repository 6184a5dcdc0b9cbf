/** The frames of the `tcp` protocol: `protos/tcp.md` in code. */

/**
 * @typedef {import("../../contract/types.js").Fields} Fields
 * @typedef {{
 *   code: number, message: string, encode: (request: Fields) => Buffer, decode: (body: Buffer) => Fields,
 *   encodeReply: (reply: Fields) => Buffer, decodeReply: (body: Buffer) => Fields,
 * }} Message bytes to fields, every field read, and back; an Error for a body that does not fit
 * @typedef {import("node:net").Socket} Socket
 */

export const ERROR = 255;
export const LARGEST_BODY = 256 * 2 ** 20;
export const MORE_THAN_A_FRAME = "bytes after the end of a frame; this protocol has one request in flight";

const HEADER_BYTES = 5;
const JOINED_BELOW = 16 * 1024; // copying so little costs less than a second buffer in the system call
const EMPTY = Buffer.alloc(0);

/** Bytes that are no frame of this protocol. */
export class FrameError extends Error {}

/** @param {Buffer} body */
const bytes = (body) => ({ data: body });

/** @param {Fields} fields */
const dataOf = ({ data }) => data;

/**
 * A number of bytes that are wanted back, and bytes to send.
 * @param {number} code
 * @param {string} message
 * @returns {Message}
 */
function sized(code, message) {
  return {
    code,
    message,
    encode: ({ reply_size: size, data }) => {
      const body = Buffer.allocUnsafe(4 + data.length);
      body.writeUInt32BE(size);
      data.copy(body, 4);
      return body;
    },
    decode: (body) => ({ reply_size: body.readUInt32BE(), data: body.subarray(4) }),
    encodeReply: dataOf,
    decodeReply: bytes,
  };
}

/**
 * @param {number} code
 * @param {"records" | "document"} form
 * @returns {Message}
 */
function json(code, form) {
  /** @param {Fields} fields */
  const encode = (fields) => Buffer.from(JSON.stringify(fields[form]));
  /** @param {Buffer} body */
  const decode = (body) => ({ [form]: JSON.parse(body.toString("utf8")) });
  return { code, message: `echo/${form}`, encode, decode, encodeReply: encode, decodeReply: decode };
}

/**
 * Two numbers of 32 bits.
 * @param {Buffer} body
 * @param {string} what
 */
function expectEight(body, what) {
  if (body.length !== 8) throw new Error(`${what} has 8 bytes, not ${body.length}`);
}

/** Each at the place of its code. @type {Message[]} */
export const FRAMES = [
  {
    code: 0,
    message: "identity",
    encode: () => EMPTY,
    decode: () => ({}),
    encodeReply: ({ identity }) => Buffer.from(identity),
    decodeReply: (body) => ({ identity: body.toString("utf8") }),
  },
  {
    code: 1,
    message: "timestamp",
    encode: ({ request_timestamp: stamp }) => Buffer.from(stamp),
    decode: (body) => ({ request_timestamp: body.toString("utf8") }),
    encodeReply: (reply) => Buffer.from(`${reply.request_timestamp}\n${reply.response_timestamp}`),
    decodeReply: (body) => {
      const [ours, theirs, ...more] = body.toString("utf8").split("\n");
      if (theirs === undefined || more.length > 0) throw new Error("not two stamps");
      return { request_timestamp: ours, response_timestamp: theirs };
    },
  },
  {
    code: 2,
    message: "add",
    encode: ({ a, b }) => {
      const body = Buffer.allocUnsafe(8);
      body.writeInt32BE(a);
      body.writeInt32BE(b, 4);
      return body;
    },
    decode: (body) => {
      expectEight(body, "a pair");
      return { a: body.readInt32BE(), b: body.readInt32BE(4) };
    },
    encodeReply: ({ sum }) => {
      const body = Buffer.allocUnsafe(8);
      body.writeInt32BE(Math.floor(sum / 0x1_0000_0000));
      body.writeUInt32BE(sum >>> 0, 4);
      return body;
    },
    decodeReply: (body) => {
      expectEight(body, "a sum");
      return { sum: body.readInt32BE() * 0x1_0000_0000 + body.readUInt32BE(4) };
    },
  },
  {
    code: 3,
    message: "echo/data",
    encode: dataOf,
    decode: bytes,
    encodeReply: dataOf,
    decodeReply: bytes,
  },
  json(4, "records"),
  json(5, "document"),
  {
    code: 6,
    message: "image",
    encode: ({ full_decode: everyPixel, data }) => Buffer.concat([Buffer.of(everyPixel ? 1 : 0), data]),
    decode: (body) => ({ full_decode: body.readUInt8() !== 0, data: body.subarray(1) }),
    encodeReply: ({ width, height }) => {
      const body = Buffer.allocUnsafe(8);
      body.writeUInt32BE(width);
      body.writeUInt32BE(height, 4);
      return body;
    },
    decodeReply: (body) => {
      expectEight(body, "a picture's size");
      return { width: body.readUInt32BE(), height: body.readUInt32BE(4) };
    },
  },
  sized(7, "exchange"),
  sized(8, "transfer"),
];

/**
 * Send one frame.
 * @param {Socket} socket
 * @param {number} code
 * @param {Buffer} body
 */
export function send(socket, code, body) {
  const isJoined = body.length < JOINED_BELOW;
  const head = Buffer.allocUnsafe(isJoined ? HEADER_BYTES + body.length : HEADER_BYTES);
  head.writeUInt32BE(body.length);
  head[4] = code;
  if (isJoined) {
    body.copy(head, HEADER_BYTES);
    socket.write(head);
    return;
  }
  socket.cork(); // one system call for both
  socket.write(head);
  socket.write(body);
  socket.uncork();
}

/** Puts frames together from what comes in pieces. */
export class Frames {
  constructor() {
    /** @type {Buffer[]} */
    this.pieces = [];
    this.bytes = 0;
    this.wanted = HEADER_BYTES;
  }

  /** @param {Buffer} piece */
  add(piece) {
    this.pieces.push(piece);
    this.bytes += piece.length;
  }

  /**
   * The next whole frame; null where it is not there yet. FrameError for one that is too large.
   * @returns {{ code: number, body: Buffer } | null}
   */
  next() {
    if (this.bytes < this.wanted) return null;
    const all = this.pieces.length === 1 ? /** @type {Buffer} */ (this.pieces[0]) : Buffer.concat(this.pieces);
    this.pieces = [all];
    const length = all.readUInt32BE();
    if (length > LARGEST_BODY) throw new FrameError(`a frame of ${length} bytes; the largest is ${LARGEST_BODY}`);
    const end = HEADER_BYTES + length;
    if (this.bytes < end) {
      this.wanted = end;
      return null;
    }
    this.wanted = HEADER_BYTES;
    this.bytes -= end;
    this.pieces = this.bytes > 0 ? [all.subarray(end)] : [];
    return { code: /** @type {number} */ (all[4]), body: all.subarray(HEADER_BYTES, end) };
  }
}
