/** What is known of connections: how long they took to open, and what their TLS handshakes came to. */

import { X509Certificate } from "node:crypto";
import { CallFailed, TrialFailed } from "../load/failures.js";

/**
 * @typedef {import("node:net").Socket} Socket
 * @typedef {import("node:tls").TLSSocket} TlsSocket
 */

const now = process.hrtime.bigint;

/** How long connections took to open, where the trial asks for it. */
export class Openings {
  /** @param {boolean} areTold */
  constructor(areTold) {
    this.areTold = areTold;
    this.areNoted = false; // those that open from here on
    /** @type {number[]} seconds */
    this.connectS = [];
    /** @type {number[]} seconds */
    this.tlsS = [];
  }

  /** The key `opening` of the `done` line. */
  told() {
    if (!this.areTold || this.connectS.length === 0) return null;
    return { connections: this.connectS.length, connect_s: median(this.connectS), tls_s: median(this.tlsS) };
  }
}

/** What all TLS connections of a trial trust, and what their handshakes came to. */
export class ClientTls {
  /**
   * @param {Buffer} authority PEM
   * @param {boolean} resumes whether each connection is to resume a session of an earlier one
   */
  constructor(authority, resumes) {
    try {
      new X509Certificate(authority);
    } catch (error) {
      const why = /** @type {Error} */ (error).message;
      throw new TrialFailed("trial", `tls: it holds no certificate of an authority: ${why}`);
    }
    this.resumes = resumes;
    /** @type {Buffer | undefined} the newest session, with its ticket */
    this.session = undefined;
    this.handshakes = 0;
    this.resumed = 0;
    /** @type {Set<string>} */
    this.versions = new Set();
    /** @type {Set<string>} */
    this.ciphers = new Set();
    /** @type {import("node:tls").SecureContextOptions & import("node:tls").CommonConnectionOptions} */
    this.options = { ca: authority, minVersion: "TLSv1.3", maxVersion: "TLSv1.3", rejectUnauthorized: true };
  }

  /** @param {TlsSocket} socket whose handshake is over */
  note(socket) {
    this.handshakes += 1;
    if (socket.isSessionReused()) this.resumed += 1;
    this.versions.add(String(socket.getProtocol()));
    this.ciphers.add(socket.getCipher().name);
  }

  /** The key `tls` of the `done` line; null where the client library does not tell. */
  negotiated() {
    const isTold = this.handshakes > 0;
    return {
      version: [...this.versions].sort().join(", ") || null,
      cipher: [...this.ciphers].sort().join(", ") || null,
      handshakes: isTold ? this.handshakes : null,
      resumed: isTold ? this.resumed : null,
    };
  }
}

/**
 * Takes down when a socket that was just made is connected, and secured. `onConnect` is called once it is connected.
 * @param {Socket} socket
 * @param {{ openings: Openings, tls: ClientTls | null, onConnect: () => void }} notes
 */
export function watchOpening(socket, { openings, tls, onConnect }) {
  const begunNs = now();
  let connectedNs = begunNs;
  socket.on("error", () => {}); // who has a request on it is told by other means
  socket.once("connect", () => {
    connectedNs = now();
    if (openings.areNoted) openings.connectS.push(Number(connectedNs - begunNs) / 1e9);
    onConnect();
  });
  if (tls === null) return;
  const secured = /** @type {TlsSocket} */ (socket);
  secured.once("secureConnect", () => {
    if (openings.areNoted) openings.tlsS.push(Number(now() - connectedNs) / 1e9);
    tls.note(secured);
  });
  if (tls.resumes) {
    secured.on("session", (/** @type {Buffer} */ session) => {
      tls.session = session;
    });
  }
}

/**
 * Resolves when a socket that was just made can be written to; CallFailed when it cannot be opened.
 * @param {Socket} socket
 * @param {ClientTls | null} tls
 * @param {number} timeoutMs
 * @returns {Promise<void>}
 */
export function opened(socket, tls, timeoutMs) {
  return new Promise((resolve, reject) => {
    /** @param {Error} error */
    const failed = (error) => {
      clearTimeout(timer);
      socket.destroy();
      reject(failureOf(error, false));
    };
    const timer = setTimeout(
      () => failed(Object.assign(new Error("the connection was not open in time"), { code: "ETIMEDOUT" })),
      timeoutMs,
    );
    socket.once("error", failed);
    socket.once(tls === null ? "connect" : "secureConnect", () => {
      clearTimeout(timer);
      socket.off("error", failed);
      resolve();
    });
  });
}

/** This host has no local port or file descriptor left. */
export const EXHAUSTED = /EADDRNOTAVAIL|EMFILE|ENFILE/;
const NOT_VERIFIED = /CERT|SIGNED|SIGNATURE|ISSUER|^ERR_TLS|^ERR_SSL|^EPROTO|HANDSHAKE/;

/**
 * What an error of a socket, or of a library on one, means to the record.
 * @param {Error} error
 * @param {boolean} wasConnected
 * @returns {CallFailed}
 */
export function failureOf(error, wasConnected) {
  const code = String(/** @type {NodeJS.ErrnoException} */ (error).code ?? "");
  const words = error.message || code;
  if (code === "ETIMEDOUT" && !wasConnected) return new CallFailed("timeout", words);
  if (EXHAUSTED.test(code)) return new CallFailed("exhausted", words);
  if (code.startsWith("HPE_")) return new CallFailed("undecodable", `${code}: ${words}`);
  if (NOT_VERIFIED.test(code)) return new CallFailed("refused", `tls: ${words}`);
  return new CallFailed(wasConnected ? "closed" : "refused", words);
}

/** @param {number[]} values */
function median(values) {
  if (values.length === 0) return null;
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = /** @type {number} */ (sorted[middle]);
  return sorted.length % 2 === 1 ? upper : (upper + /** @type {number} */ (sorted[middle - 1])) / 2;
}
