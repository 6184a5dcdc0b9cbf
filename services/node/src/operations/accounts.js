/** Accounts and transactions in memory: their rows, what is asked of them and verified (`protos/store.md`). */

import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { BadRequest } from "./bad-request.js";
import { below, words } from "./generator.js";
import { newestFirst, table, twoWords, whole } from "./posts.js";

/**
 * @typedef {import("../contract/types.js").Fields} Fields
 * @typedef {{ account: number, owner: string, balance: number }} Account
 * @typedef {{ number: number, payer: number, payee: number, amount: number }} Transaction
 */

const ACCOUNTS = 10_000;
const TRANSACTIONS = 100_000;
const MOST_ROWS = 1000;
const MOST_BALANCE = 2 ** 31 - 1;
const PREPARED = 1024;

/** @param {number[]} drawn */
function payment([w0 = 0, w1 = 0]) {
  const p = below(w0, ACCOUNTS);
  return { payer: p + 1, payee: ((p + 1 + below(w1, ACCOUNTS - 1)) % ACCOUNTS) + 1 };
}

/** The rows, as seeded, and the payments since. */
export class Accounts {
  constructor() {
    /** @type {Account[]} */
    this.accounts = table("accounts", ACCOUNTS, 3, (account, drawn) => ({
      account,
      owner: twoWords(drawn),
      balance: 10_000 + below(drawn[2] ?? 0, 990_000),
    }));
    /** @type {Transaction[]} */
    this.seeded = table("transactions", TRANSACTIONS, 3, (number, drawn) => ({
      number,
      ...payment(drawn),
      amount: 1 + below(drawn[2] ?? 0, 10_000),
    }));
    this.number = TRANSACTIONS;
    this.paid = newestFirst(this.seeded, (one) => one.payer);
  }

  /** SHA-256 of the rows as they were seeded, as the page defines it. */
  digest() {
    const hash = createHash("sha256");
    for (const row of [...this.accounts, ...this.seeded]) hash.update(`${Object.values(row).join("\t")}\n`);
    return hash.digest("hex");
  }

  /** @param {Fields} request */
  balance({ account }) {
    return { ...this.known(account) };
  }

  /** @param {Fields} request */
  payment({ payer, payee, amount }) {
    const [from, to] = [this.known(payer), this.known(payee)];
    if (from === to || !Number.isInteger(amount) || amount < 1) {
      throw new BadRequest("a payment is of 1 cent or more, from one account to another");
    }
    if (from.balance < amount) return { accepted: false, payment: 0, balance: from.balance };
    if (to.balance + amount > MOST_BALANCE) throw new BadRequest(`account ${payee} cannot hold as much`);
    from.balance -= amount;
    to.balance += amount;
    this.number += 1;
    this.transactionsOf(payer).unshift({ number: this.number, payer, payee, amount });
    return { accepted: true, payment: this.number, balance: from.balance };
  }

  /** @param {Fields} request */
  transactions({ account, count }) {
    if (!Number.isInteger(account)) throw new BadRequest("`account` is no whole number");
    return { transactions: (this.paid.get(account) ?? []).slice(0, whole(count, "count", MOST_ROWS)) };
  }

  /** @param {Fields} request */
  page({ after, count }) {
    if (!Number.isInteger(after)) throw new BadRequest("`after` is no whole number");
    const first = Math.max(after, 0);
    const rows = this.accounts.slice(first, first + whole(count, "count", MOST_ROWS));
    return { accounts: rows.map((row) => ({ ...row })) };
  }

  /** @param {unknown} account */
  known(account) {
    return /** @type {Account} */ (this.accounts[whole(account, "account", ACCOUNTS) - 1]);
  }

  /** @param {number} payer */
  transactionsOf(payer) {
    const those = this.paid.get(payer) ?? [];
    this.paid.set(payer, those);
    return those;
  }
}

/** @type {Record<string, (store: Accounts, request: Fields) => Fields>} what each operation answers */
export const OF_ACCOUNTS = {
  balance: (store, request) => store.balance(request),
  payment: (store, request) => store.payment(request),
  transactions: (store, request) => store.transactions(request),
  accounts: (store, request) => store.page(request),
};

/**
 * Why the reply to a payment cannot be right; what it leaves depends on those before it, whose order nobody knows who asks.
 * @param {Fields} request
 * @param {Fields} reply
 * @returns {string | null}
 */
export function paymentRefusal(request, reply) {
  const { accepted, payment: number, balance } = reply;
  const areWhole = Number.isInteger(number) && Number.isInteger(balance) && Object.keys(reply).length === 3;
  if (areWhole && balance >= 0 && balance <= MOST_BALANCE) {
    if (accepted === true && number > TRANSACTIONS) return null;
    if (accepted === false && number === 0 && balance < request.amount) return null;
  }
  return `a payment of ${request.amount} came back as ${JSON.stringify(reply)}`;
}

/**
 * The 1,024 requests of one of the four.
 * @param {string} operation
 * @param {number} seed
 * @returns {Fields[]}
 */
export function accountsAsked(operation, seed) {
  const each = operation === "payment" ? 3 : 1;
  const drawn = words(`${operation}/${seed}`, each * PREPARED);
  return Array.from({ length: PREPARED }, (_, i) => {
    const of = [...drawn.subarray(each * i, each * (i + 1))];
    const number = below(of[0] ?? 0, ACCOUNTS);
    switch (operation) {
      case "payment":
        return { ...payment(of), amount: 1 + below(of[2] ?? 0, 100) };
      case "transactions":
        return { account: 1 + number, count: 10 };
      case "accounts":
        return { after: number, count: 50 };
      default:
        return { account: 1 + number };
    }
  });
}

/**
 * Why a reply is not what the seeded rows give.
 * @param {Fields} wanted
 * @param {Fields} reply
 * @returns {string | null}
 */
export function differing(wanted, reply) {
  return isDeepStrictEqual(wanted, reply) ? null : `it came back as ${JSON.stringify(reply)?.slice(0, 100)}`;
}
