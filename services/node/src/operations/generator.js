/** What requests carry, to the bit as `protos/payloads.md` specifies it. */

import { createHash } from "node:crypto";

export const DICTIONARY = /** @type {const} */ ([
  "amber",
  "basalt",
  "cedar",
  "delta",
  "ember",
  "fjord",
  "granite",
  "harbour",
  "indigo",
  "juniper",
  "kelp",
  "lagoon",
]);

const PAIRS = 1024;
const RECORD_WORDS = 9;
const MOST_TAGS = 4;
const VALUES = 10_000_000;
const TURN = 64;

/**
 * The first bytes of a label's stream.
 * @param {string} label
 * @param {number} size
 * @returns {Buffer}
 */
export function stream(label, size) {
  if (size === 0) return Buffer.alloc(0); // OpenSSL refuses an empty output
  return createHash("shake128", { outputLength: size }).update(`orch payload v1/${label}`, "latin1").digest();
}

/**
 * @param {string} label
 * @param {number} count
 * @returns {Uint32Array}
 */
export function words(label, count) {
  const bytes = stream(label, 4 * count);
  const drawn = new Uint32Array(count);
  for (let place = 0; place < count; place++) drawn[place] = bytes.readUInt32LE(4 * place);
  return drawn;
}

/**
 * An integer from 0 to n - 1. A product of up to 2^53 is exact in a double; n is at most 2^21 wherever this is used
 * with numbers, and a bigint does the rest.
 * @param {number} word
 * @param {number} n
 */
export function below(word, n) {
  return n <= 0x20_0000 ? Math.floor((word * n) / 0x1_0000_0000) : Number((BigInt(word) * BigInt(n)) >> 32n);
}

/**
 * The numbers of `add`: the pair of a sequence is that at its number modulo 1024.
 * @param {number} seed
 * @returns {{ a: number, b: number }[]}
 */
export function pairs(seed) {
  const drawn = words(`add/${seed}`, 2 * PAIRS);
  /** @param {number} place */
  const number = (place) => ((drawn[place] ?? 0) >>> 1) - 2 ** 30;
  return Array.from({ length: PAIRS }, (_, i) => ({ a: number(2 * i), b: number(2 * i + 1) }));
}

/**
 * @typedef {{ id: number, name: string, value: number, active: boolean, tags: string[] }} Row
 * @param {number} seed
 * @param {number} count
 * @returns {Row[]}
 */
export function records(seed, count) {
  const drawn = words(`records/${seed}`, RECORD_WORDS * count);
  return Array.from({ length: count }, (_, i) =>
    record(i + 1, drawn.subarray(RECORD_WORDS * i, RECORD_WORDS * (i + 1))),
  );
}

/**
 * @param {number} id
 * @param {Uint32Array} drawn nine words
 * @returns {Row}
 */
function record(id, drawn) {
  const [w0, w1, w2, w3, w4, ...chosen] = /** @type {[number, number, number, number, number, ...number[]]} */ ([
    ...drawn,
  ]);
  /** @type {string[]} */
  const found = [...DICTIONARY];
  chosen.forEach((word, place) => {
    const other = place + below(word, found.length - place);
    [found[place], found[other]] = /** @type {[string, string]} */ ([found[other], found[place]]);
  });
  return {
    id,
    name: `${DICTIONARY[below(w0, DICTIONARY.length)]} ${DICTIONARY[below(w1, DICTIONARY.length)]}`,
    value: (2 * below(w2, VALUES) - (VALUES - 1)) / 10_000,
    active: below(w3, 2) === 1,
    tags: found.slice(0, below(w4, MOST_TAGS + 1)),
  };
}

/**
 * What an event of a stream carries.
 * @param {{ seed: number, size: number, number: number }} event
 * @returns {string}
 */
export function eventData({ seed, size, number }) {
  const from = number % TURN;
  const text = stream(`events/${seed}`, Math.ceil((3 * (from + size)) / 4) + 3).toString("base64");
  return text.slice(from, from + size);
}

const LIMITS = [
  [
    3713706681, 4216302226, 4284321136, 4293526495, 4294772305, 4294940907, 4294963725, 4294966813, 4294967231,
    4294967287, 4294967295,
  ],
  [
    583662026, 1098741956, 1553298400, 1954443053, 2308451966, 2620863736, 2896566156, 3139872687, 3354589947,
    3544077264, 3711299234, 3858872105, 3989104706, 4104034573, 4205459825,
  ],
  [
    284449529, 566685453, 846725001, 1124585263, 1400283200, 1673835638, 1945259274, 2214570675, 2481786278, 2746922393,
    3009995202, 3271020762, 3530015005, 3786993739, 4041972648,
  ],
  [
    269419616, 538707711, 807864350, 1076889597, 1345783516, 1614546171, 1883177627, 2151677947, 2420047195, 2688285435,
    2956392732, 3224369149, 3492214750, 3759929599, 4027513760,
  ],
];

const GAPS_OF_A_PART = 1024;
const GAP_WORDS = 5;

/** An exponential gap is an integer below 2^48 whose mean is 2 to the power of this. */
export const GAP_BITS = 43n;

/**
 * Exponentially distributed integers with the mean 2^43, without end.
 * @param {string} label `arrivals` or `think`
 * @param {number} seed
 * @returns {Generator<bigint>}
 */
export function* gaps(label, seed) {
  for (let part = 0; ; part++) {
    const drawn = words(`${label}/${seed}/${part}`, GAP_WORDS * GAPS_OF_A_PART);
    for (let at = 0; at < drawn.length; at += GAP_WORDS) {
      let digits = 0;
      LIMITS.forEach((row, place) => {
        digits = 16 * digits + digit(row, /** @type {number} */ (drawn[at + place]));
      });
      yield BigInt(digits) * 0x1_0000_0000n + BigInt(/** @type {number} */ (drawn[at + GAP_WORDS - 1]));
    }
  }
}

/**
 * How many of these limits are less than or equal to a word.
 * @param {number[]} row
 * @param {number} word
 */
function digit(row, word) {
  let count = 0;
  while (count < row.length && /** @type {number} */ (row[count]) <= word) count += 1;
  return count;
}
