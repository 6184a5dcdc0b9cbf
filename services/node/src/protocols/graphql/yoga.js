/** GraphQL answered by GraphQL Yoga, on Node's own HTTP server. */

import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import { createSchema, createYoga } from "graphql-yoga";
import typeDefs from "../../../../../protos/schema.graphql";
import { portOf } from "../../transports/port.js";
import { contextOf, resolversOf } from "./resolvers.js";

const ONE_HOUR_MS = 3_600_000;

/** @type {import("../responders.js").Serve} */
export async function serve({ dispatcher, host, port, tls }) {
  const context = contextOf(dispatcher);
  const yoga = createYoga({
    schema: createSchema({ typeDefs, resolvers: resolversOf(dispatcher) }),
    context: (/** @type {any} */ { req }) => context(req.socket),
    landingPage: false,
    graphiql: false,
    logging: false,
  });
  const settings = { keepAliveTimeout: ONE_HOUR_MS, requestTimeout: 0 };
  const server =
    tls === null
      ? http.createServer(settings, yoga)
      : https.createServer({ ...settings, ...tls, minVersion: "TLSv1.3", maxVersion: "TLSv1.3" }, yoga);
  server.listen(port, host);
  await once(server, "listening"); // an error is thrown
  return portOf(server);
}
