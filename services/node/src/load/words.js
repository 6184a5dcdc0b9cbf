/** The lines on a requester's stdin that let a trial go on. */

const MEASURE = /^measure(?: (\d{1,19}))?$/;
const LATEST_NS = 1n << 62n;

/**
 * @typedef {bigint | "turn" | "end"} Word a moment from which on a trial may measure, in Unix nanoseconds (0: at once); or what
 *   a trial in turns does next
 */

/**
 * What a line says; null where it is none of these.
 * @param {string} line
 * @returns {Word | null}
 */
export function wordOf(line) {
  if (line === "turn" || line === "end") return line;
  const match = MEASURE.exec(line);
  const momentNs = BigInt(match?.[1] ?? 0);
  return match !== null && momentNs <= LATEST_NS ? momentNs : null;
}

/** In the order in which they come. */
export class Words {
  constructor() {
    /** @type {Word[]} */
    this.queue = [];
    /** @type {() => void} wakes the one that waits */
    this.wake = () => {};
  }

  /** @param {Word} word */
  push(word) {
    this.queue.push(word);
    this.wake();
  }

  /**
   * The next one of a trial in turns, or of another; those of the other kind are passed over.
   * @param {boolean} isOfTurns
   * @returns {Promise<Word>}
   */
  async next(isOfTurns) {
    for (;;) {
      const word = this.queue.shift();
      if (word === undefined) {
        await new Promise((/** @type {(value: void) => void} */ resolve) => {
          this.wake = resolve;
        });
      } else if ((typeof word === "string") === isOfTurns) return word;
    }
  }
}
