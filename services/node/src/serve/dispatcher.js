/** Every protocol hands its decoded requests here: runs the operation, and counts requests and distinct peers. */

import { BadRequest } from "../operations/bad-request.js";
import { MESSAGES } from "../operations/operations.js";
import { Held, isStored, storeOf } from "../operations/stored.js";

/**
 * @typedef {import("../contract/types.js").Fields} Fields
 * @typedef {import("../operations/operations.js").MessageName} MessageName
 * @typedef {import("node:net").Socket} Socket
 */

export class Dispatcher {
  /**
   * @param {string} identity the nonce that proves which responder answered
   * @param {string[]} operations those that will be asked, of which it opens what they hold
   * @param {boolean} batches whether resolvers of the comments under the posts of a page ask together
   */
  constructor(identity, operations = [], batches = false) {
    this.identity = identity;
    this.batches = batches;
    /** @type {Map<string, Held>} */
    this.held = new Map();
    const several = operations.flatMap((operation) =>
      operation === "feed" ? ["feed", "user", "posts", "comments"] : [operation],
    );
    for (const operation of several.filter(isStored))
      this.held.set(operation, this.heldBy(operation) ?? new Held(storeOf(operation)));
    this.answered = 0;
    /** @type {Set<string>} */
    this.peers = new Set();
    /** @type {WeakSet<object>} sockets whose peers were counted: to ask each time costs as much as an operation */
    this.met = new WeakSet();
  }

  /**
   * The reply's fields to who is at the other end; BadRequest for a request that cannot be met.
   * @param {string} message
   * @param {Fields} request
   * @param {Socket} socket
   * @returns {Fields}
   */
  answer(message, request, socket) {
    this.count(socket);
    return this.run(message, request);
  }

  /**
   * The same where the request was counted.
   * @param {string} message
   * @param {Fields} request
   * @returns {Fields}
   */
  run(message, request) {
    return isStored(message)
      ? this.holding(message).answer(message, request)
      : MESSAGES[/** @type {MessageName} */ (message)].answer(request);
  }

  /**
   * What an operation holds; BadRequest for one that was not named.
   * @param {string} operation
   */
  holding(operation) {
    const held = this.held.get(operation);
    if (held === undefined)
      throw new BadRequest(`${operation} was not among the operations of the serve line, so it holds nothing`);
    return held;
  }

  /**
   * The store that operations like this one share, where one is open.
   * @param {string} operation
   */
  heldBy(operation) {
    return [...this.held].find(([other]) => storeOf(other) === storeOf(operation))?.[1];
  }

  /** What the store has to tell; undefined where there is none. */
  storeTold() {
    const [first] = this.held.values();
    return first?.told();
  }

  /**
   * Who answers.
   * @param {Socket} socket
   */
  identify(socket) {
    this.count(socket);
    return { identity: this.identity };
  }

  /**
   * One more request, from who is at the other end.
   * @param {Socket} socket
   */
  count(socket) {
    this.answered += 1;
    if (this.met.has(socket)) return;
    this.met.add(socket);
    this.peers.add(`${socket.remoteAddress}:${socket.remotePort}`);
  }

  /**
   * The same where a library tells the peer alone.
   * @param {string} peer
   */
  countPeer(peer) {
    this.answered += 1;
    this.peers.add(peer);
  }
}
