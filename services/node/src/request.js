/** The requester: one trial from stdin, made, and the contract's lines (`protos/process.md`, `protos/timings.md`). */

import { complain, keepStdoutForLines, onOneLine, print, Refused, readTrial } from "./contract/lines.js";
import { readStdin } from "./contract/stdin.js";
import { TrialFailed } from "./load/failures.js";
import { makeTrial } from "./load/trial.js";
import { Words, wordOf } from "./load/words.js";

const words = new Words();

/**
 * @param {string} kind
 * @param {string} message
 * @returns {never}
 */
function fail(kind, message) {
  const words = onOneLine(message);
  print({ type: "failed", kind, message: words });
  complain(`request: ${words}`);
  process.exit(1);
}

/** @param {Uint8Array} text */
async function begin(text) {
  try {
    await makeTrial(readTrial(text), words);
  } catch (error) {
    if (error instanceof Refused) fail("trial", `not a trial on stdin: ${error.message}`);
    if (error instanceof TrialFailed) fail(error.kind, error.message);
    const { code, syscall, message, stack } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code !== undefined && (syscall === "write" || syscall === "ftruncate"))
      fail("host", `the requester's host: ${message}`);
    process.stderr.write(`${stack}\n`);
    fail("fault", String(error));
  }
  process.exit(0);
}

/** @param {string} line */
function hear(line) {
  const word = wordOf(line);
  if (word !== null) words.push(word);
  else if (line !== "")
    complain(`request: unknown line on stdin: '${line.slice(0, 80)}'; known: measure, measure UNIX_NS, turn, end`);
}

keepStdoutForLines();
for (const [signal, number] of /** @type {const} */ ([
  ["SIGTERM", 15],
  ["SIGINT", 2],
])) {
  // What was stored stays (`openRecord`), and whoever started this sees which signal it was.
  process.once(signal, () => {
    process.emit("exit", 128 + number);
    process.kill(process.pid, signal);
  });
}
readStdin({
  onFirst: begin,
  onLine: hear,
  onEnd: () => {
    complain("request: stdin was closed before the work was done");
    process.exit(1);
  },
});
