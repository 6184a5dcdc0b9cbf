/** Prints what the manifest offers, in the form of a declaration of the conformance suite (`docs/contributing/add-a-language.md`). */

import manifest from "../manifest.json" with { type: "json" };

/** @typedef {{ name: string, refuses?: Record<string, string | undefined>, kind?: string }} End */

const protocols = manifest.protocols.map(({ name, operations, responders, clients, sequential, concurrent, ...of }) => {
  const knobs = Object.fromEntries(Object.entries(of.knobs).map(([knob, { values }]) => [knob, values]));
  /** @param {End[]} ends */
  const told = (ends) =>
    ends.map((end) => ({ name: end.name, kind: end.kind ?? "call", refuses: end.refuses ?? {}, knobs }));
  const first = { sequential, concurrent };
  return { name, operations, responders: told(responders), clients: told(clients), default_client: first };
});
process.stdout.write(`${JSON.stringify({ protocols })}\n`);
