/** `http+json` asked with undici. */

import { undici } from "../../transports/undici-client.js";
import { routeOf } from "./routes.js";

/** @type {import("../clients.js").MakeDialer} */
export const dialer = (asked) => undici({ ...asked, route: routeOf(asked.message) });
