/** GraphQL asked with Node's own HTTP client. */

import { nodeHttp } from "../../transports/http-client.js";
import { routeOf } from "./queries.js";

/** @type {import("../clients.js").MakeDialer} */
export const dialer = (asked) => nodeHttp({ ...asked, route: routeOf(asked.message) });
