/** GraphQL answered by Apollo Server, on Fastify. */

import { ApolloServer } from "@apollo/server";
import apolloOnFastify from "@as-integrations/fastify";
import typeDefs from "../../../../../protos/schema.graphql";
import { fastifyApp, listen } from "../../transports/fastify-app.js";
import { contextOf, resolversOf } from "./resolvers.js";

/** @type {import("../responders.js").Serve} */
export async function serve({ dispatcher, host, port, tls }) {
  const apollo = new ApolloServer({
    typeDefs,
    resolvers: resolversOf(dispatcher),
    nodeEnv: "production", // no stack traces in errors, no landing page
    stopOnTerminationSignals: false,
  });
  await apollo.start();
  const app = fastifyApp(tls);
  const context = contextOf(dispatcher);
  await app.register(apolloOnFastify(apollo), { context: async (request) => context(request.raw.socket) });
  return listen(app, host, port);
}
