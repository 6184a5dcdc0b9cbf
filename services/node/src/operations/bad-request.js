/** A request that cannot be met; its message says why. */
export class BadRequest extends Error {
  statusCode = 400; // what Fastify answers with
}
