/** How requests and trials fail. */

/** A request that ended without a decoded reply; `status` is one of `protos/statuses.json`. */
export class CallFailed extends Error {
  /**
   * @param {string} status
   * @param {string} [detail]
   */
  constructor(status, detail = "") {
    super(detail === "" ? status : `${status}: ${detail}`.slice(0, 1000));
    this.status = status;
    this.detail = detail;
  }
}

/** The trial cannot be made, or goes on no more; `kind` is a status, or `trial`, `host`, `fault`. */
export class TrialFailed extends Error {
  /**
   * @param {string} kind
   * @param {string} message
   */
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

/** After these the connection cannot be trusted with another request. */
export const BREAKING = new Set(["refused", "closed", "timeout", "undecodable", "cancelled", "exhausted"]);
