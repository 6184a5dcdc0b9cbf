/** `rest` answered by Fastify, as its documentation would have one write it: a schema for each body, both ways. */

import { BadRequest } from "../../operations/bad-request.js";
import { fastifyApp, listen, socketOf } from "../../transports/fastify-app.js";
import { answerObjects } from "./objects.js";
import { SCHEMAS } from "./schemas.js";

const OCTETS = "application/octet-stream";
const EMPTY = Buffer.alloc(0);

/** @type {import("../responders.js").Serve} */
export async function serve({ dispatcher, host, port, tls, knobs }) {
  return listen(application(dispatcher, fastifyApp(tls, knobs.http)), host, port);
}

/**
 * @param {import("../../serve/dispatcher.js").Dispatcher} dispatcher
 * @param {import("fastify").FastifyInstance} app
 */
function application(dispatcher, app) {
  answerObjects(app, dispatcher);
  app.addContentTypeParser([OCTETS, "image/png"], { parseAs: "buffer" }, (_request, body, done) => done(null, body));

  app.post("/echo/data", async (request, reply) => {
    const { data } = dispatcher.answer("echo/data", { data: bytesOf(request.body) }, socketOf(request));
    return reply.type(OCTETS).send(data);
  });
  app.post("/echo/records", { schema: SCHEMAS.records }, async (request) => {
    const { records } = dispatcher.answer("echo/records", { records: request.body }, socketOf(request));
    return records;
  });
  app.post("/echo/document", async (request, reply) => {
    const { document } = dispatcher.answer("echo/document", { document: request.body }, socketOf(request));
    return reply.type("application/json; charset=utf-8").send(JSON.stringify(document));
  });
  app.post("/image", { schema: SCHEMAS.image }, async (request) => {
    const { full_decode: fullDecode } = /** @type {Record<string, string>} */ (request.query);
    const asked = { data: bytesOf(request.body), full_decode: fullDecode === "true" };
    return dispatcher.answer("image", asked, socketOf(request));
  });
  app.post("/transfer", async (request, reply) => {
    const { reply_size: size = "" } = /** @type {Record<string, string>} */ (request.query);
    if (!/^\d+$/.test(size)) throw new BadRequest("reply_size is no whole number");
    const asked = { data: bytesOf(request.body), reply_size: Number(size) };
    const { data } = dispatcher.answer("transfer", asked, socketOf(request));
    return reply.type(OCTETS).send(data);
  });
  return app;
}

/** @param {unknown} body */
function bytesOf(body) {
  if (body === undefined || body === null) return EMPTY;
  if (!Buffer.isBuffer(body)) throw new BadRequest("the body is no bytes");
  return body;
}
