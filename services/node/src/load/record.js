/**
 * The raw timing record of `protos/timings.md`.
 *
 * Node maps no files: a row is written into the file, which lies in the kernel's page cache and outlives this process
 * however it ends. With one request in flight each row is written when it is stored, between two requests. With
 * several, rows gather in memory (`buffered`) and are written in blocks: most of them come when nothing is in flight.
 */

import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";

export const COLUMNS = /** @type {const} */ ([
  "sequence",
  "phase",
  "connection",
  "intended_ns",
  "sent_ns",
  "received_ns",
  "service_ns",
  "bytes_sent",
  "bytes_received",
  "status",
  "kind",
  "parent",
  "sender_ns",
  "sender_clock",
]);

/** What a row is of. */
export const KIND = /** @type {const} */ ({
  request: 0,
  task: 1,
  part: 2,
  event: 3,
  codec: 4,
  mixed: 6,
});

const VERSION = 2n;
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_NONBLOCK; // nobody may read a pipe
const NAME_BYTES = 32;
export const HEADER_BYTES = 64 + NAME_BYTES * COLUMNS.length;
export const ROW_BYTES = 8 * COLUMNS.length;
const ROWS_OF_A_BLOCK = 4096;
const ROWS_RESERVED_AT_ONCE = 1 << 15;

/** @returns {Buffer} */
export function header() {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.write("orchtime", "latin1");
  [VERSION, BigInt(HEADER_BYTES), BigInt(ROW_BYTES), BigInt(COLUMNS.length)].forEach((number, place) => {
    bytes.writeBigInt64LE(number, 8 + 8 * place);
  });
  COLUMNS.forEach((name, place) => {
    bytes.write(name, 64 + NAME_BYTES * place, "latin1");
  });
  return bytes;
}

/**
 * @typedef {{
 *   sequence: number, phase: number, connection: number, intendedNs: bigint, sentNs: bigint, receivedNs: bigint,
 *   bytesSent: number, bytesReceived: number, status: number, kind: number, parent: number,
 * }} Row whose other columns are those of a requester that is told nothing by the responder
 */

export class Record {
  /**
   * Space for the rows that are expected is taken beforehand: a full disk is an error here, and not between requests.
   * @param {string} path
   * @param {{ expectedRows: number, isBuffered: boolean }} options
   */
  constructor(path, { expectedRows, isBuffered }) {
    this.rows = 0;
    this.written = 0;
    this.reserved = 0;
    this.block = Buffer.alloc(ROW_BYTES * (isBuffered ? ROWS_OF_A_BLOCK : 1));
    this.words = new Int32Array(this.block.buffer, this.block.byteOffset, this.block.length / 4);
    this.longs = new BigInt64Array(this.block.buffer, this.block.byteOffset, this.block.length / 8);
    this.inBlock = 0;
    this.descriptor = openSync(path, FLAGS, 0o644);
    if (!fstatSync(this.descriptor).isFile()) {
      closeSync(this.descriptor);
      throw new Error(`no regular file: '${path}'`);
    }
    writeWhole(this.descriptor, header(), 0);
    this.makeRoom(expectedRows);
  }

  /** @param {Row} row */
  append(row) {
    const at = this.inBlock * COLUMNS.length;
    this.put(at + 1, row.phase);
    this.put(at + 2, row.connection);
    this.longs[at + 3] = row.intendedNs;
    this.longs[at + 4] = row.sentNs;
    this.longs[at + 5] = row.receivedNs;
    this.put(at + 6, -1);
    this.put(at + 7, row.bytesSent);
    this.put(at + 8, row.bytesReceived);
    this.put(at + 9, row.status);
    this.put(at + 10, row.kind);
    this.put(at + 11, row.parent);
    this.put(at, row.sequence);
    this.rows += 1;
    this.inBlock += 1;
    if (this.inBlock * ROW_BYTES === this.block.length) this.flush();
  }

  /**
   * A whole number below 2^53 into one column; what comes after is 0 for every row.
   * @param {number} at
   * @param {number} value
   */
  put(at, value) {
    this.words[2 * at] = value | 0;
    this.words[2 * at + 1] = Math.floor(value / 0x1_0000_0000);
  }

  /** Write what has gathered. */
  flush() {
    if (this.inBlock === 0) return;
    if (this.written + this.inBlock > this.reserved) this.reserve();
    const bytes = this.inBlock * ROW_BYTES;
    writeWhole(this.descriptor, this.block.subarray(0, bytes), HEADER_BYTES + this.written * ROW_BYTES);
    this.written += this.inBlock;
    this.inBlock = 0;
  }

  /**
   * Have space for so many rows more, so that none of them takes it.
   * @param {number} rows
   */
  makeRoom(rows) {
    while (this.reserved < this.written + this.inBlock + rows) this.reserve();
  }

  /** Take the space of so many rows more, by writing zeros: a row of zeros was never written. */
  reserve() {
    writeWhole(
      this.descriptor,
      Buffer.alloc(ROWS_RESERVED_AT_ONCE * ROW_BYTES),
      HEADER_BYTES + this.reserved * ROW_BYTES,
    );
    this.reserved += ROWS_RESERVED_AT_ONCE;
  }

  /** Write what has gathered, and cut the file to its rows; idempotent. */
  close() {
    if (this.descriptor < 0) return;
    this.flush();
    ftruncateSync(this.descriptor, HEADER_BYTES + this.written * ROW_BYTES);
    closeSync(this.descriptor);
    this.descriptor = -1;
  }
}

/**
 * @param {number} descriptor
 * @param {Buffer} bytes
 * @param {number} position
 */
function writeWhole(descriptor, bytes, position) {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, position + done);
  }
}
