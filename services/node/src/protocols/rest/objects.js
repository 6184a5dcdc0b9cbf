/** The messages whose request and reply are JSON objects of their fields, in `rest` as in `http+json`, answered by Fastify. */

import { socketOf } from "../../transports/fastify-app.js";
import { OBJECTS, SCHEMAS } from "./schemas.js";

/**
 * @param {import("fastify").FastifyInstance} app
 * @param {import("../../serve/dispatcher.js").Dispatcher} dispatcher
 */
export function answerObjects(app, dispatcher) {
  const json = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    if (body === "") done(null, undefined);
    else json(request, /** @type {string} */ (body), done);
  });
  app.post("/identity", { schema: SCHEMAS.identity }, async (request) => dispatcher.identify(socketOf(request)));
  for (const message of OBJECTS) {
    app.post(`/${message}`, { schema: SCHEMAS[message] }, async (request) =>
      dispatcher.answer(message, /** @type {any} */ (request.body), socketOf(request)),
    );
  }
}
