/** Versions of what runs: the bundle knows those of the libraries that it was made from. */

/**
 * @param {string[]} packages
 * @returns {Record<string, string>}
 */
export function versionsOf(packages) {
  /** @type {Record<string, string>} */
  const bundled = process.env.ORCH_BUNDLED_VERSIONS ? JSON.parse(process.env.ORCH_BUNDLED_VERSIONS) : {};
  const found = packages.filter((name) => name in bundled).map((name) => [name, bundled[name]]);
  return { node: process.versions.node, v8: process.versions.v8, ...Object.fromEntries(found) };
}
