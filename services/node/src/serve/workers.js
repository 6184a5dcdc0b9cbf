/**
 * Several processes that answer as one responder, Node's own way (`node:cluster`): the first one, their head, accepts
 * connections, deals them out in turn, and is all that whoever started it sees.
 */

import cluster from "node:cluster";
import { availableParallelism } from "node:os";
import { Counts, open, responderOf, whyNot } from "./answering.js";

/**
 * @typedef {import("../contract/types.js").Serve} Serve
 * @typedef {import("./answering.js").Told} Told
 * @typedef {import("node:cluster").Worker} Worker
 * @typedef {{ kind: "ready", port: number } | { kind: "refused", message: string } | { kind: "stats", told: Told }} Said by a
 *   worker
 */

/** The head of so many workers. */
export class Head {
  /**
   * @param {Serve} line
   * @param {number} workers
   * @param {(message: string) => never} giveUp says why, and ends this process
   */
  constructor(line, workers, giveUp) {
    this.line = line;
    this.giveUp = giveUp;
    this.counts = new Counts(null);
    cluster.setupPrimary({ stdio: ["ignore", 2, 2, "ipc"], serialization: "advanced" }); // counters are bigints
    /** @type {Worker[]} */
    this.workers = Array.from({ length: workers }, () => cluster.fork());
  }

  /** The port, once every worker accepts connections. */
  async open() {
    cluster.on("exit", (worker, status, signal) => {
      this.end();
      this.giveUp(`worker ${worker.id} of ${this.workers.length} ended by itself: ${signal ?? `status ${status}`}`);
    });
    const ports = await Promise.all(
      this.workers.map(async (worker) => {
        const said = await this.ask(worker, "ready", this.line);
        if (said.kind === "refused") {
          this.end();
          this.giveUp(said.message);
        }
        return /** @type {{ port: number }} */ (said).port;
      }),
    );
    return { port: /** @type {number} */ (ports[0]), workers: this.workers.length, cpus: availableParallelism() };
  }

  /**
   * What a worker says to a message, by its kind, or why it cannot.
   * @param {Worker} worker
   * @param {"ready" | "stats"} kind
   * @param {import("node:child_process").Serializable} message
   * @returns {Promise<Said>}
   */
  ask(worker, kind, message) {
    return new Promise((resolve) => {
      const hear = (/** @type {Said} */ said) => {
        if (said.kind !== kind && said.kind !== "refused") return;
        worker.off("message", hear);
        resolve(said);
      };
      worker.on("message", hear);
      worker.send(message);
    });
  }

  /** The `stats` line of all processes together. */
  async stats() {
    const own = this.counts.told();
    const said = await Promise.all(this.workers.map((worker) => this.ask(worker, "stats", "stats")));
    const each = said.map((one) => /** @type {{ told: Told }} */ (one).told);
    const all = [own, ...each];
    return {
      answered: sum(each.map((told) => told.answered)),
      peers: new Set(each.flatMap((told) => told.peers)).size,
      cpu_s: sum(all.map((told) => told.cpu_s)),
      memory_bytes: sum(all.map((told) => told.memory_bytes)),
      memory_since: all.every((told) => told.memory_since === "phase") ? "phase" : "process",
      store: sumsOrNone(each.flatMap(({ store }) => (store === undefined ? [] : [store]))),
      host: { ...own.host, process: sums(all.map((told) => told.host.process)) },
      workers: each.map(({ answered, peers, cpu_s, memory_bytes }) => ({
        answered,
        peers: peers.length,
        cpu_s,
        memory_bytes,
      })),
    };
  }

  /** No worker stays. */
  end() {
    cluster.removeAllListeners("exit");
    for (const worker of this.workers) worker.process.kill("SIGKILL");
  }
}

/** Answers as one of several, as the head says; ends when that is gone. */
export function workAsOneOfSeveral() {
  for (const signal of /** @type {const} */ (["SIGTERM", "SIGINT"])) process.on(signal, () => {}); // the head ends it
  process.on("disconnect", () => process.exit(0));
  const say = (/** @type {Said} */ said) => process.send?.(said);
  process.once("message", async (/** @type {Serve} */ line) => {
    try {
      const { port, counts } = await open(line, responderOf(line));
      process.on("message", () => say({ kind: "stats", told: counts.told() }));
      say({ kind: "ready", port });
    } catch (error) {
      say({ kind: "refused", message: whyNot(line, error) });
    }
  });
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

/** @param {Record<string, number>[]} rows of the same keys */
function sumsOrNone(rows) {
  return rows.length > 0 ? sums(rows) : undefined;
}

/** @param {Record<string, number>[]} rows of the same keys */
function sums(rows) {
  const keys = Object.keys(rows[0] ?? {});
  return Object.fromEntries(keys.map((key) => [key, sum(rows.map((row) => row[key] ?? 0))]));
}
