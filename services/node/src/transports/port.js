/** Where a server listens. */

/**
 * @param {import("node:net").Server} server
 * @returns {number}
 */
export function portOf(server) {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  return address.port;
}
