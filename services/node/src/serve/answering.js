/** Opens what a *serve* line names, and counts what it answers. */

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { endOf, NotOffered, protocolOf, refuseUncarried, refuseUnfit } from "../contract/offers.js";
import { cpuS, hostCounters, PeakMemory } from "../probes/host.js";
import { RESPONDERS } from "../protocols/responders.js";
import { Dispatcher } from "./dispatcher.js";

/**
 * @typedef {import("../contract/types.js").Serve} Serve
 * @typedef {import("../contract/offers.js").End} End
 */

/**
 * The responder that a line names; NotOffered where it asks for what there is not.
 * @param {Serve} line
 * @returns {End}
 */
export function responderOf(line) {
  const protocol = protocolOf(line.protocol);
  const end = endOf(protocol, "responders", line.implementation);
  refuseUnfit(protocol, end, line);
  for (const operation of line.operations) refuseUncarried(protocol, end, operation);
  for (const [name, value] of Object.entries(line.resources ?? {})) {
    if (name !== "store" || value !== "none")
      throw new NotOffered(`resources: rows are in memory alone, and need no ${name}: ${value}`);
  }
  return end;
}

/**
 * Accepts connections from now on, for a line that `responderOf` has taken.
 * @param {Serve} line
 * @param {End} end
 */
export async function open(line, end) {
  const load = RESPONDERS[line.protocol]?.[end.name];
  if (load === undefined) throw new NotOffered(`${line.protocol}/${end.name} has no program here`);
  const tls = line.tls === null ? null : certificateOf(line.tls);
  const dispatcher = new Dispatcher(line.identity, line.operations, line.knobs.batching === "dataloader");
  const { serve } = await load();
  const port = await serve({ dispatcher, host: line.host, port: line.port, tls, knobs: line.knobs });
  return { port, counts: new Counts(dispatcher) };
}

/**
 * Why nothing is answered, in words.
 * @param {Serve} line
 * @param {unknown} error
 */
export function whyNot(line, error) {
  const { code, name, message } = /** @type {NodeJS.ErrnoException} */ (error);
  if (error instanceof NotOffered) return message;
  if (code === "EADDRINUSE" || code === "EADDRNOTAVAIL" || code === "EACCES") {
    return `cannot listen on ${line.host}:${line.port}: ${message}; give a free port, or 0 for any`;
  }
  return `${line.protocol}: ${name}: ${message}`;
}

/**
 * The files of TLS; NotOffered where they cannot be used, or are not of each other.
 * @param {import("../contract/types.js").ServingTls} files
 */
function certificateOf({ certificate, key }) {
  try {
    const made = { cert: readFileSync(certificate), key: readFileSync(key) };
    if (!new X509Certificate(made.cert).checkPrivateKey(createPrivateKey(made.key))) {
      throw new Error("the key is not that of the certificate");
    }
    return made;
  } catch (error) {
    throw new NotOffered(`tls: ${/** @type {Error} */ (error).message}`);
  }
}

/** What a process has answered, and what that took of this host. */
export class Counts {
  /** @param {Dispatcher | null} dispatcher null: it answers nothing itself */
  constructor(dispatcher) {
    this.dispatcher = dispatcher;
    this.memory = new PeakMemory();
    this.askedS = 0; // CPU seconds that telling these counts has taken
  }

  /** Of this process: CPU seconds without what telling takes, and the peak of its memory since it was told before. */
  told() {
    const cpu = cpuS();
    const { memory_bytes, memory_since } = this.memory.read();
    this.memory.begin();
    const told = {
      answered: this.dispatcher?.answered ?? 0,
      peers: [...(this.dispatcher?.peers ?? [])],
      cpu_s: cpu - this.askedS,
      memory_bytes,
      memory_since,
      host: hostCounters(),
      store: this.dispatcher?.storeTold(),
    };
    this.askedS += cpuS() - cpu;
    return told;
  }
}

/** @typedef {ReturnType<Counts["told"]>} Told */
