/**
 * The responders by protocol and name, each loaded when it is asked for.
 *
 * @typedef {{
 *   dispatcher: import("../serve/dispatcher.js").Dispatcher, host: string, port: number,
 *   tls: import("../transports/fastify-app.js").Tls, knobs: Record<string, string>,
 * }} Serving
 * @typedef {(serving: Serving) => Promise<number>} Serve resolves with the port once connections are accepted
 */

/** @type {Record<string, Record<string, () => Promise<{ serve: Serve }>>>} */
export const RESPONDERS = {
  tcp: { "node-tcp": () => import("./tcp/server.js") },
  "http+json": { fastify: () => import("./json/fastify.js") },
  rest: { fastify: () => import("./rest/fastify.js") },
  grpc: { "grpc-js": () => import("./grpc/server.js") },
  graphql: { apollo: () => import("./graphql/apollo.js"), yoga: () => import("./graphql/yoga.js") },
};
