/** The operations that are answered from rows in memory: which store each holds, and how a requester verifies a reply. */

import { Accounts, accountsAsked, differing, OF_ACCOUNTS, paymentRefusal } from "./accounts.js";
import { PAGES, Posts, pagesAsked } from "./posts.js";

/** @typedef {import("../contract/types.js").Fields} Fields */

/** @type {Record<string, (store: any, request: any) => Fields>} */
const ANSWERS = { ...OF_ACCOUNTS, ...PAGES };

/** @param {string} message */
export function isStored(message) {
  return message in ANSWERS;
}

/**
 * A store, and where the time of the requests to it went.
 */
export class Held {
  /** @param {"accounts" | "pages"} kind */
  constructor(kind) {
    this.store = kind === "accounts" ? new Accounts() : new Posts();
    this.requests = 0;
    this.handlingNs = 0n;
  }

  /**
   * The reply to a request, counted where it is none.
   * @param {string} message
   * @param {Fields} request
   */
  answer(message, request) {
    const answer = /** @type {(store: unknown, request: Fields) => Fields} */ (ANSWERS[message]);
    return this.timed(1, () => answer(this.store, request));
  }

  /**
   * What one step of a nested request gives; `counts`: as how many requests.
   * @template Found
   * @param {0 | 1} counts
   * @param {(store: Posts) => Found} step
   */
  step(counts, step) {
    return this.timed(counts, () => step(/** @type {Posts} */ (this.store)));
  }

  /**
   * @template Found
   * @param {number} requests
   * @param {() => Found} run
   */
  timed(requests, run) {
    const begunNs = process.hrtime.bigint();
    const found = run();
    this.handlingNs += process.hrtime.bigint() - begunNs;
    this.requests += requests;
    return found;
  }

  /** The key `store` of the `stats` line: all of the time is the service's own, as nothing here is a database's. */
  told() {
    const handling = Number(this.handlingNs) / 1e9;
    const queries = this.store instanceof Posts ? this.store.queries : 0;
    return {
      requests: this.requests,
      handling_s: handling,
      queue_s: 0,
      pool_s: 0,
      database_s: 0,
      service_s: handling,
      queries,
    };
  }
}

/** @param {string} operation */
export function storeOf(operation) {
  return operation in OF_ACCOUNTS ? "accounts" : "pages";
}

/**
 * The requests of an operation, by place.
 * @param {string} operation
 * @param {number} seed
 * @returns {Fields[]}
 */
export function stored(operation, seed) {
  return operation in OF_ACCOUNTS ? accountsAsked(operation, seed) : pagesAsked(operation, seed);
}

/** @type {{ accounts?: Held, pages?: Held }} the rows as seeded, for who verifies */
const seeded = {};

/**
 * Why a reply is wrong; null where it is right.
 * @param {string} operation
 * @param {Fields} request
 * @param {Fields} reply
 * @returns {string | null}
 */
export function verify(operation, request, reply) {
  if (operation === "payment") return paymentRefusal(request, reply);
  const kind = storeOf(operation);
  seeded[kind] ??= new Held(kind);
  const reason = differing(seeded[kind].answer(operation, request), reply);
  return reason === null ? null : `${operation} of ${JSON.stringify(request)}: ${reason}`;
}
