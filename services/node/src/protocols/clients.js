/**
 * The clients by protocol and name, each loaded when it is asked for.
 *
 * @typedef {Omit<import("../transports/http-client.js").Call, "route"> & {
 *   message: string, example: import("../contract/types.js").Fields, knobs: Record<string, string>,
 * }} Asked one message of a trial, for requests shaped as the example
 * @typedef {(asked: Asked) => import("../load/loops.js").Dialer} MakeDialer
 */

/** @type {Record<string, Record<string, () => Promise<{ dialer: MakeDialer }>>>} */
export const CLIENTS = {
  tcp: { "node-tcp": () => import("./tcp/client.js") },
  "http+json": { "node-http": () => import("./json/node-http.js"), undici: () => import("./json/undici.js") },
  rest: { "node-http": () => import("./rest/node-http.js"), undici: () => import("./rest/undici.js") },
  grpc: { "grpc-js": () => import("./grpc/client.js") },
  graphql: { "node-http": () => import("./graphql/node-http.js"), undici: () => import("./graphql/undici.js") },
};
