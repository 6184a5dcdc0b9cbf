/** `http+json` asked with Node's own HTTP client. */

import { nodeHttp } from "../../transports/http-client.js";
import { nodeHttp2 } from "../../transports/http2-client.js";
import { routeOf } from "./routes.js";

/** @type {import("../clients.js").MakeDialer} */
export const dialer = (asked) => {
  const call = { ...asked, route: routeOf(asked.message) };
  return asked.knobs.http === "2" ? nodeHttp2(call) : nodeHttp(call);
};
