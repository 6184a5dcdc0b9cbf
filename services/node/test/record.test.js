import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { COLUMNS, HEADER_BYTES, header, Record, ROW_BYTES } from "../src/load/record.js";

const folder = mkdtempSync(join(tmpdir(), "record-"));
after(() => rmSync(folder, { recursive: true }));

const ROW = {
  sequence: 1,
  phase: 1,
  connection: -1,
  intendedNs: 2n ** 60n,
  sentNs: 2n ** 60n + 1n,
  receivedNs: 2n ** 60n + 2n,
  bytesSent: 5_000_000_000,
  bytesReceived: -1,
  status: 4,
  kind: 6,
  parent: 2,
};

/** @param {Buffer} content */
function rowsOf(content) {
  const rows = [];
  for (let at = HEADER_BYTES; at < content.length; at += ROW_BYTES) {
    rows.push(COLUMNS.map((_, place) => content.readBigInt64LE(at + 8 * place)));
  }
  return rows;
}

test("the header is that of the page", () => {
  const bytes = header();
  assert.equal(bytes.length, 512);
  assert.equal(bytes.toString("latin1", 0, 8), "orchtime");
  assert.deepEqual(
    [8, 16, 24, 32, 40].map((at) => bytes.readBigInt64LE(at)),
    [2n, 512n, 112n, 14n, 0n],
  );
  const names = COLUMNS.map((_, place) =>
    bytes.toString("latin1", 64 + 32 * place, 96 + 32 * place).replaceAll("\0", ""),
  );
  assert.deepEqual(names, [...COLUMNS]);
});

test("a row is its columns in their order, each of 64 bits", () => {
  const path = join(folder, "row");
  const record = new Record(path, { expectedRows: 1, isBuffered: false });
  record.append(ROW);
  record.close();
  const {
    sequence,
    phase,
    connection,
    intendedNs,
    sentNs,
    receivedNs,
    bytesSent,
    bytesReceived,
    status,
    kind,
    parent,
  } = ROW;
  const numbers = [
    sequence,
    phase,
    connection,
    intendedNs,
    sentNs,
    receivedNs,
    -1,
    bytesSent,
    bytesReceived,
    status,
    kind,
    parent,
    0,
    0,
  ];
  assert.deepEqual(rowsOf(readFileSync(path)), [numbers.map(BigInt)]);
});

test("a row that is not buffered is in the file before the next request", () => {
  const path = join(folder, "at once");
  const record = new Record(path, { expectedRows: 10, isBuffered: false });
  record.append(ROW);
  assert.deepEqual(
    rowsOf(readFileSync(path))
      .slice(0, 2)
      .map(([first]) => first),
    [1n, 0n],
  );
  record.close();
});

test("rows that are buffered come in blocks, and all with the end", () => {
  const path = join(folder, "later");
  const record = new Record(path, { expectedRows: 10, isBuffered: true });
  for (let sequence = 1; sequence <= 4100; sequence++) record.append({ ...ROW, sequence });
  const written = () => rowsOf(readFileSync(path)).filter(([first]) => first !== 0n).length;
  assert.equal(written(), 4096);
  record.flush();
  assert.equal(written(), 4100);
  record.close();
  assert.equal(statSync(path).size, HEADER_BYTES + 4100 * ROW_BYTES);
});

test("a record goes on beyond the rows that were expected", () => {
  const path = join(folder, "longer");
  const record = new Record(path, { expectedRows: 1, isBuffered: true });
  const rows = 70_000;
  for (let sequence = 1; sequence <= rows; sequence++) record.append({ ...ROW, sequence });
  record.close();
  record.close();
  const sequences = rowsOf(readFileSync(path)).map(([first]) => Number(first));
  assert.equal(record.rows, rows);
  assert.deepEqual(
    sequences,
    Array.from({ length: rows }, (_, place) => place + 1),
  );
});

test("a folder that is not there is an error when the record is opened", () => {
  assert.throws(() => new Record(join(folder, "nowhere", "record"), { expectedRows: 1, isBuffered: false }), {
    code: "ENOENT",
  });
});
