/** `http+json` answered by Fastify: objects of a message's fields both ways, a schema for each, bytes as base64. */

import { BadRequest } from "../../operations/bad-request.js";
import { fromBase64 } from "../../transports/base64.js";
import { fastifyApp, listen, socketOf } from "../../transports/fastify-app.js";
import { answerObjects } from "../rest/objects.js";
import { integer, object, RECORDS, SCHEMAS, text } from "../rest/schemas.js";

/** @typedef {import("../../contract/types.js").Fields} Fields */

const DATA = object({ data: text });

/** Of the messages that `rest` carries otherwise. */
const OWN_SCHEMAS = {
  data: { body: DATA, response: { 200: DATA } },
  records: { body: object({ records: RECORDS }), response: { 200: object({ records: RECORDS }) } },
  document: { body: object({ document: {} }) },
  image: { body: object({ data: text, full_decode: { type: "boolean" } }), response: SCHEMAS.image.response },
  transfer: { body: object({ data: text, reply_size: integer }), response: { 200: DATA } },
};

/** @type {import("../responders.js").Serve} */
export async function serve({ dispatcher, host, port, tls, knobs }) {
  const app = fastifyApp(tls, knobs.http);
  answerObjects(app, dispatcher);
  app.post("/echo/data", { schema: OWN_SCHEMAS.data }, async (request) =>
    withText(dispatcher.answer("echo/data", withBytes(request.body), socketOf(request))),
  );
  app.post("/echo/records", { schema: OWN_SCHEMAS.records }, async (request) =>
    dispatcher.answer("echo/records", /** @type {Fields} */ (request.body), socketOf(request)),
  );
  app.post("/echo/document", { schema: OWN_SCHEMAS.document }, async (request) =>
    dispatcher.answer("echo/document", /** @type {Fields} */ (request.body), socketOf(request)),
  );
  app.post("/image", { schema: OWN_SCHEMAS.image }, async (request) =>
    dispatcher.answer("image", withBytes(request.body), socketOf(request)),
  );
  app.post("/transfer", { schema: OWN_SCHEMAS.transfer }, async (request) =>
    withText(dispatcher.answer("transfer", withBytes(request.body), socketOf(request))),
  );
  return listen(app, host, port);
}

/** @param {unknown} body */
function withBytes(body) {
  const fields = /** @type {Fields} */ (body);
  try {
    return { ...fields, data: fromBase64(fields.data) };
  } catch (error) {
    throw new BadRequest(`data: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {Fields} reply */
function withText({ data }) {
  return { data: data.toString("base64") };
}
