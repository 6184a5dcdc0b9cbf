/** What this folder offers, as its manifest says, and why it cannot do something else. */

import manifest from "../../manifest.json" with { type: "json" };

/**
 * @typedef {{
 *   name: string, packages?: string[], refuses?: Record<string, string>, settings?: Record<string, string>,
 * }} End
 * @typedef {{
 *   name: string, operations: string[], responders: End[], clients: End[],
 *   knobs?: Record<string, { values: string[] }>, without_knobs?: Record<string, string>, settings?: Record<string, string>,
 * }} Protocol
 */

const PROTOCOLS = /** @type {Protocol[]} */ (/** @type {unknown} */ (manifest.protocols));
const RANGE = /^(\d+)\.\.(\d+)$/;

/** What is asked for, and is not offered. */
export class NotOffered extends Error {}

/**
 * @param {string} name
 * @returns {Protocol}
 */
export function protocolOf(name) {
  const found = PROTOCOLS.find((protocol) => protocol.name === name);
  if (found === undefined)
    throw new NotOffered(
      `no such protocol: ${name}; this language speaks ${PROTOCOLS.map((one) => one.name).join(", ")}`,
    );
  return found;
}

/**
 * A responder or a client of that name; of a responder null names the first.
 * @param {Protocol} protocol
 * @param {"responders" | "clients"} role
 * @param {string | null} name
 * @returns {End}
 */
export function endOf(protocol, role, name) {
  const found = name === null ? protocol[role][0] : protocol[role].find((end) => end.name === name);
  if (found === undefined) throw new NotOffered(`${protocol.name} has no such end among its ${role}: ${name}`);
  return found;
}

/**
 * NotOffered where an end cannot do what a line asks for beside its operation.
 * @param {Protocol} protocol
 * @param {End} end
 * @param {{ knobs: Record<string, string>, schema: unknown, tls: unknown }} line
 */
export function refuseUnfit(protocol, end, { knobs, schema, tls }) {
  for (const [knob, value] of Object.entries(knobs)) {
    const refusal = end.refuses?.[knob] ?? end.refuses?.[`${knob}: ${value}`];
    if (refusal !== undefined) throw new NotOffered(`knobs: ${end.name} cannot do ${knob}: ${value}: ${refusal}`);
    if (!allows(protocol.knobs?.[knob]?.values ?? [], value)) {
      const why = protocol.without_knobs?.[knob] ?? "it has no such knob, or not with that value";
      throw new NotOffered(`knobs: ${protocol.name} cannot do ${knob}: ${value}: ${why}`);
    }
  }
  if (knobs.session !== undefined && knobs.tls === undefined)
    throw new NotOffered("knobs: session goes with tls alone");
  if (knobs.workers !== undefined && knobs.session === "resumed") {
    throw new NotOffered("knobs: workers: with session: resumed each worker has keys of its own for its tickets");
  }
  if (schema !== null) throw new NotOffered(`a schema: ${protocol.name} carries no document as a message here`);
  if ((knobs.tls !== undefined) !== (tls !== null)) {
    throw new NotOffered("tls: the knob and the files come together, and one never without the other");
  }
}

/**
 * NotOffered where a protocol does not carry an operation, or an end cannot do it.
 * @param {Protocol} protocol
 * @param {End} end
 * @param {string} operation
 */
export function refuseUncarried(protocol, end, operation) {
  if (!protocol.operations.includes(operation))
    throw new NotOffered(`${protocol.name} does not carry the operation ${operation}`);
  const refusal = end.refuses?.[operation];
  if (refusal !== undefined) throw new NotOffered(`${end.name} cannot do ${operation}: ${refusal}`);
}

/**
 * Whether a value is one of these, or in one of their ranges (`1..64`).
 * @param {string[]} known
 * @param {string} value
 */
function allows(known, value) {
  return known.some((one) => {
    const range = RANGE.exec(one);
    if (range === null) return one === value;
    return /^\d+$/.test(value) && Number(value) >= Number(range[1]) && Number(value) <= Number(range[2]);
  });
}
