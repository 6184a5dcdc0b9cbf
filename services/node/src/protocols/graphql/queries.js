/** GraphQL as a client sends and reads it: one query for each message, its text sent every time. */

import { CallFailed } from "../../load/failures.js";
import { fromBase64 } from "../../transports/base64.js";

/**
 * @typedef {import("../../contract/types.js").Fields} Fields
 * @typedef {import("../../transports/http-client.js").Route} Route
 * @typedef {{
 *   field: string, text: string, variables?: (request: Fields) => Fields, read: (field: any) => Fields,
 * }} Query its field of the response, which `read` names as the operation does
 */

const SHOWN_CHARACTERS = 300;

/** @type {Record<string, Query>} */
const QUERIES = {
  identity: { field: "identity", text: "query Identity { identity }", read: (identity) => ({ identity }) },
  timestamp: {
    field: "timestamp",
    text:
      "query Timestamp($request_timestamp: String!) { timestamp(requestTimestamp: $request_timestamp) " +
      "{ requestTimestamp responseTimestamp } }",
    read: (stamps) => ({ request_timestamp: stamps.requestTimestamp, response_timestamp: stamps.responseTimestamp }),
  },
  add: { field: "add", text: "query Add($a: Int!, $b: Int!) { add(a: $a, b: $b) }", read: (sum) => ({ sum }) },
  "echo/data": {
    field: "echoData",
    text: "query EchoData($data: Base64!) { echoData(data: $data) }",
    variables: withText,
    read: bytes,
  },
  "echo/records": {
    field: "echoRecords",
    text: "query EchoRecords($records: [RecordInput!]!) { echoRecords(records: $records) { id name value active tags } }",
    read: (records) => ({ records }),
  },
  "echo/document": {
    field: "echoDocument",
    text: "query EchoDocument($document: JSON) { echoDocument(document: $document) }",
    read: (document) => ({ document }),
  },
  image: {
    field: "image",
    text:
      "query Image($data: Base64!, $full_decode: Boolean!) { image(data: $data, fullDecode: $full_decode) " +
      "{ width height } }",
    variables: (request) => ({ data: request.data.toString("base64"), full_decode: request.full_decode }),
    read: (size) => size,
  },
  transfer: {
    field: "transfer",
    text: "query Transfer($data: Base64!, $reply_size: Int!) { transfer(data: $data, replySize: $reply_size) }",
    variables: withText,
    read: bytes,
  },
  balance: {
    field: "balance",
    text: "query Balance($account: Int!) { balance(account: $account) { account owner balance } }",
    read: asItIs,
  },
  payment: {
    field: "payment",
    text:
      "query Payment($payer: Int!, $payee: Int!, $amount: Int!) " +
      "{ payment(payer: $payer, payee: $payee, amount: $amount) { accepted payment balance } }",
    read: asItIs,
  },
  transactions: {
    field: "transactions",
    text:
      "query Transactions($account: Int!, $count: Int!) { transactions(account: $account, count: $count) " +
      "{ number payer payee amount } }",
    read: (transactions) => ({ transactions }),
  },
  accounts: {
    field: "accounts",
    text: "query Accounts($after: Int!, $count: Int!) { accounts(after: $after, count: $count) { account owner balance } }",
    read: (accounts) => ({ accounts }),
  },
  user: {
    field: "user",
    text: "query User($user: Int!) { user(user: $user) { user name about joined } }",
    read: asItIs,
  },
  posts: {
    field: "posts",
    text: "query Posts($user: Int!, $count: Int!) { posts(user: $user, count: $count) { post author title text likes } }",
    read: (posts) => ({ posts }),
  },
  comments: {
    field: "comments",
    text:
      "query Comments($user: Int!, $count: Int!, $each: Int!) { comments(user: $user, count: $count, each: $each) " +
      "{ comment post author text } }",
    read: (comments) => ({ comments }),
  },
  feed: {
    field: "feed",
    text:
      "query Feed($user: Int!, $count: Int!, $each: Int!) { feed(user: $user) { user name about joined " +
      "posts(count: $count) { post author title text likes comments(each: $each) { comment post author text } } } }",
    read: unnested,
  },
};

/** @param {Fields} fields */
function asItIs(fields) {
  return fields;
}

/**
 * A page whose posts hold their comments, with its lists beside each other.
 * @param {Fields} user
 */
function unnested({ posts: nested, ...user }) {
  const comments = nested.flatMap((/** @type {Fields} */ post) => post.comments);
  const posts = nested.map((/** @type {Fields} */ { comments: _, ...post }) => post);
  return { ...user, posts, comments };
}

/** @param {Fields} request */
function withText(request) {
  return { ...request, data: request.data.toString("base64") };
}

/** @param {unknown} text */
function bytes(text) {
  return { data: fromBase64(text) };
}

/**
 * @param {string} message
 * @returns {Route}
 */
export function routeOf(message) {
  const { field, text, variables = (request) => request, read } = /** @type {Query} */ (QUERIES[message]);
  return {
    path: "/graphql",
    contentType: "application/json",
    encode: (request) => JSON.stringify({ query: text, variables: variables(request) }),
    decode: (body) => {
      const reply = JSON.parse(body.toString("utf8"));
      if (reply.errors !== undefined) throw new CallFailed("protocol", `GraphQL errors: ${told(reply.errors)}`);
      const came = reply.data[field];
      if (came === undefined) throw new Error(`no field ${field} in the response's data`);
      return read(came);
    },
  };
}

/** @param {unknown} errors */
function told(errors) {
  const every = Array.isArray(errors) ? errors : [errors];
  return every
    .map((error) => String(error?.message ?? error))
    .join("; ")
    .slice(0, SHOWN_CHARACTERS);
}
