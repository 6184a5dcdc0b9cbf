/** The resolvers of `protos/schema.graphql`, for whichever server runs them. */

import DataLoader from "dataloader";
import { GraphQLScalarType, valueFromASTUntyped } from "graphql";

/**
 * @typedef {import("../../contract/types.js").Fields} Fields
 * @typedef {import("../../operations/posts.js").Comment} Comment
 * @typedef {{
 *   socket: import("node:net").Socket, comments: DataLoader<{ post: number, each: number }, Comment[]> | null,
 * }} Context who asked, and by what the comments under several posts are asked for at once
 */

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** @param {unknown} text */
function bytesOf(text) {
  if (typeof text !== "string" || !BASE64.test(text)) throw new TypeError("not Base64");
  return Buffer.from(text, "base64");
}

const Base64 = new GraphQLScalarType({
  name: "Base64",
  serialize: (value) => /** @type {Buffer} */ (value).toString("base64"),
  parseValue: bytesOf,
  parseLiteral: (node) => bytesOf(node.kind === "StringValue" ? node.value : null),
});

const Json = new GraphQLScalarType({
  name: "JSON",
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
});

/**
 * What resolvers are given with each request.
 * @param {import("../../serve/dispatcher.js").Dispatcher} dispatcher
 * @returns {(socket: import("node:net").Socket) => Context}
 */
export function contextOf(dispatcher) {
  if (!dispatcher.batches) return (socket) => ({ socket, comments: null });
  return (socket) => ({
    socket,
    comments: new DataLoader(async (keys) => {
      const { each } = /** @type {{ each: number }} */ (keys[0]); // a query asks for as many under every post
      const found = dispatcher.holding("feed").step(0, (store) =>
        store.under(
          keys.map(({ post }) => post),
          each,
        ),
      );
      return keys.map(({ post }) => found.filter((comment) => comment.post === post));
    }),
  });
}

/**
 * @param {import("../../serve/dispatcher.js").Dispatcher} dispatcher
 */
export function resolversOf(dispatcher) {
  /**
   * What reads a field's arguments, asks, and makes the field of the reply.
   * @param {string} message
   * @param {(reply: Fields) => unknown} field
   * @param {(args: Fields) => Fields} [request]
   */
  const answer = (message, field, request = (args) => args) => {
    return (/** @type {unknown} */ _parent, /** @type {Fields} */ args, /** @type {Context} */ { socket }) =>
      field(dispatcher.answer(message, request(args), socket));
  };
  return {
    Base64,
    JSON: Json,
    Query: {
      identity: (/** @type {unknown} */ _parent, /** @type {Fields} */ _args, /** @type {Context} */ { socket }) =>
        dispatcher.identify(socket).identity,
      timestamp: answer(
        "timestamp",
        (reply) => ({ requestTimestamp: reply.request_timestamp, responseTimestamp: reply.response_timestamp }),
        (args) => ({ request_timestamp: args.requestTimestamp }),
      ),
      add: answer("add", (reply) => reply.sum),
      echoData: answer("echo/data", (reply) => reply.data),
      echoRecords: answer("echo/records", (reply) => reply.records),
      echoDocument: answer("echo/document", (reply) => reply.document),
      image: answer(
        "image",
        (reply) => reply,
        (args) => ({ data: args.data, full_decode: args.fullDecode }),
      ),
      balance: answer("balance", (reply) => reply),
      payment: answer("payment", (reply) => reply),
      transactions: answer("transactions", (reply) => reply.transactions),
      accounts: answer("accounts", (reply) => reply.accounts),
      user: answer("user", (reply) => reply),
      posts: answer("posts", (reply) => reply.posts),
      comments: answer("comments", (reply) => reply.comments),
      feed: (
        /** @type {unknown} */ _parent,
        /** @type {{ user: number }} */ args,
        /** @type {Context} */ { socket },
      ) => {
        dispatcher.count(socket);
        return dispatcher.holding("feed").step(1, (store) => store.user(args));
      },
      transfer: answer(
        "transfer",
        (reply) => reply.data,
        (args) => ({ data: args.data, reply_size: args.replySize }),
      ),
    },
    User: {
      posts: (/** @type {{ user: number }} */ { user }, /** @type {{ count: number }} */ { count }) =>
        dispatcher.holding("feed").step(0, (store) => store.postsOf({ user, count })),
    },
    Post: {
      comments: (
        /** @type {{ post: number }} */ { post },
        /** @type {{ each: number }} */ { each },
        /** @type {Context} */ { comments },
      ) => {
        if (comments !== null) return comments.load({ post, each });
        return dispatcher.holding("feed").step(0, (store) => store.under([post], each));
      },
    },
  };
}
