/** The responder: what it answers stands in the *serve* line on its stdin (`protos/process.md`). */

import cluster from "node:cluster";
import { complain, keepStdoutForLines, print, Refused, readServe } from "./contract/lines.js";
import { readStdin } from "./contract/stdin.js";
import { congestionControl } from "./probes/host.js";
import { versionsOf } from "./probes/versions.js";
import { open, responderOf, whyNot } from "./serve/answering.js";
import { Head, workAsOneOfSeveral } from "./serve/workers.js";

/** @typedef {import("./contract/types.js").Serve} Serve */

/** @type {(() => Promise<Record<string, unknown>>) | undefined} counts so far, once it is ready */
let stats;
/** @type {(status: number) => never} ends this process, and those that it has started */
let leave = (status) => process.exit(status);

/**
 * Say in one line why nothing is answered, and end the process.
 * @param {string} message
 * @returns {never}
 */
function refuse(message) {
  complain(`respond: ${message}`);
  return leave(1);
}

/** @param {Uint8Array} text */
async function begin(text) {
  /** @type {Serve} */
  let line;
  try {
    line = readServe(text);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    refuse(`not a serve line on stdin: ${error.message}`);
  }
  for (const signal of /** @type {const} */ (["SIGTERM", "SIGINT"])) process.once(signal, () => leave(0));
  try {
    const end = responderOf(line);
    const opened = Number(line.knobs.workers ?? 1) > 1 ? await openSeveral(line) : await openOne(line, end);
    print({
      type: "ready",
      contract: 2,
      ...opened,
      implementation: end.name,
      identity: line.identity,
      versions: versionsOf(end.packages ?? []),
      settings: congestionControl(),
    });
  } catch (error) {
    refuse(whyNot(line, error));
  }
}

/**
 * @param {Serve} line
 * @param {import("./contract/offers.js").End} end
 */
async function openOne(line, end) {
  const { port, counts } = await open(line, end);
  stats = async () => {
    const told = counts.told();
    return { ...told, peers: told.peers.length };
  };
  return { port };
}

/** @param {Serve} line */
async function openSeveral(line) {
  const head = new Head(line, Number(line.knobs.workers), refuse);
  leave = (status) => {
    head.end();
    process.exit(status);
  };
  const opened = await head.open();
  stats = () => head.stats();
  return opened;
}

/** @param {string} line */
async function obey(line) {
  if (line === "stats" && stats !== undefined) print({ type: "stats", ...(await stats()) });
  else if (line !== "") complain(`respond: unknown line on stdin: '${line.slice(0, 80)}'; known: stats`);
}

keepStdoutForLines();
if (cluster.isWorker) workAsOneOfSeveral();
else readStdin({ onFirst: begin, onLine: obey, onEnd: () => leave(0) });
