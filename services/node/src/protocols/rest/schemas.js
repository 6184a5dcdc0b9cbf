/** What stands in JSON bodies, as schemas for Fastify: a schema for each body, both ways. */

export const text = { type: "string" };
export const integer = { type: "integer" };

/** @param {Record<string, unknown>} properties */
export function object(properties) {
  return { type: "object", required: Object.keys(properties), properties };
}

export const RECORDS = {
  type: "array",
  items: object({
    id: integer,
    name: text,
    value: { type: "number" },
    active: { type: "boolean" },
    tags: { type: "array", items: text },
  }),
};

const ACCOUNT = object({ account: integer, owner: text, balance: integer });
const POST = object({ post: integer, author: integer, title: text, text, likes: integer });
const COMMENT = object({ comment: integer, post: integer, author: integer, text });
const USER = { user: integer, name: text, about: text, joined: integer };

/** @param {unknown} items */
function list(items) {
  return { type: "array", items };
}

export const SCHEMAS = {
  identity: { response: { 200: object({ identity: text }) } },
  timestamp: {
    body: object({ request_timestamp: text }),
    response: { 200: object({ request_timestamp: text, response_timestamp: text }) },
  },
  add: { body: object({ a: integer, b: integer }), response: { 200: object({ sum: integer }) } },
  records: { body: RECORDS, response: { 200: RECORDS } },
  balance: { body: object({ account: integer }), response: { 200: ACCOUNT } },
  payment: {
    body: object({ payer: integer, payee: integer, amount: integer }),
    response: { 200: object({ accepted: { type: "boolean" }, payment: integer, balance: integer }) },
  },
  transactions: {
    body: object({ account: integer, count: integer }),
    response: {
      200: object({ transactions: list(object({ number: integer, payer: integer, payee: integer, amount: integer })) }),
    },
  },
  accounts: {
    body: object({ after: integer, count: integer }),
    response: { 200: object({ accounts: list(ACCOUNT) }) },
  },
  user: { body: object({ user: integer }), response: { 200: object(USER) } },
  posts: { body: object({ user: integer, count: integer }), response: { 200: object({ posts: list(POST) }) } },
  comments: {
    body: object({ user: integer, count: integer, each: integer }),
    response: { 200: object({ comments: list(COMMENT) }) },
  },
  feed: {
    body: object({ user: integer, count: integer, each: integer }),
    response: { 200: object({ ...USER, posts: list(POST), comments: list(COMMENT) }) },
  },
  image: { response: { 200: object({ width: integer, height: integer }) } },
};

/** The messages whose request and reply are JSON objects of their fields. */
export const OBJECTS = /** @type {const} */ ([
  "timestamp",
  "add",
  "balance",
  "payment",
  "transactions",
  "accounts",
  "user",
  "posts",
  "comments",
  "feed",
]);
