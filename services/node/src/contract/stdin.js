/** Lines of stdin as they come. */

export const LONGEST_LINE = 1 << 20; // bytes, without its end
const END = 0x0a;

/**
 * Calls `onFirst` with the bytes of the first line (all there is, where stdin ends before it or it is longer than a line
 * may be), `onLine` with each further one, and `onEnd` when stdin has ended after the first.
 * @param {{ onFirst: (line: Uint8Array) => void, onLine: (line: string) => void, onEnd: () => void }} hears
 */
export function readStdin({ onFirst, onLine, onEnd }) {
  let left = Buffer.alloc(0);
  let hasFirst = false;

  /** @param {Buffer} line */
  function hear(line) {
    if (hasFirst) {
      onLine(line.toString("utf8").trim());
    } else {
      hasFirst = true;
      onFirst(line);
    }
  }

  process.stdin.on("data", (/** @type {Buffer} */ came) => {
    left = Buffer.concat([left, came]);
    for (let end = left.indexOf(END); end >= 0; end = left.indexOf(END)) {
      const line = left.subarray(0, end);
      left = left.subarray(end + 1);
      hear(line);
    }
    if (left.length > LONGEST_LINE) {
      hear(left);
      left = Buffer.alloc(0);
    }
  });
  const ended = () => {
    if (!hasFirst) hear(left);
    else onEnd();
  };
  process.stdin.once("end", ended);
  process.stdin.once("error", ended);
}
