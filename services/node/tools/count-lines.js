/**
 * Counts the source of both ends: `lines.json` (`protos/schemas/source-lines.json`).
 *
 * An end consists of the modules of `protocols` and `transports` that its module imports, directly or through others, and of
 * the schemas that these read. Blank lines and comments do not count.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { CLIENTS } from "../src/protocols/clients.js";
import { RESPONDERS } from "../src/protocols/responders.js";

const FOLDER = dirname(dirname(fileURLToPath(import.meta.url)));
const ROOT = dirname(dirname(FOLDER));
const COUNTED = /^(?:services\/node\/src\/(?:protocols|transports)\/.+\.js|protos\/.+\.(?:proto|graphql))$/;
const IMPORTED = /^import [^;]*?from "(\.[^"]+)"/gm;

/** @param {string} path within the repository */
function text(path) {
  return readFileSync(join(ROOT, path), "utf8");
}

/**
 * @param {string} path within the repository
 * @returns {string[]} what a module imports of the files that are counted
 */
function importsOf(path) {
  const found = path.endsWith(".js") ? [...text(path).matchAll(IMPORTED)] : [];
  return found.map(([, name]) => within(join(dirname(path), String(name)))).filter((name) => COUNTED.test(name));
}

/** @param {string} path */
function within(path) {
  return relative(ROOT, join(ROOT, path));
}

/**
 * The files that an end consists of, in order.
 * @param {() => Promise<unknown>} load
 */
function filesOf(load) {
  const [, module] = /** @type {RegExpExecArray} */ (/import\("\.\/(.+)"\)/.exec(String(load)));
  /** @type {Set<string>} */
  const seen = new Set();
  const waiting = [`services/node/src/protocols/${module}`];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    waiting.push(...importsOf(path));
  }
  return [...seen].sort();
}

/** @param {string} path within the repository */
function linesOf(path) {
  const code = path.endsWith(".graphql")
    ? text(path)
        .replace(/"""[\s\S]*?"""/g, "")
        .replace(/^\s*#.*$/gm, "")
    : text(path)
        .replace(/^\s*\/\*[\s\S]*?\*\//gm, "")
        .replace(/^\s*\/\/.*$/gm, "");
  return code.split("\n").filter((line) => line.trim() !== "").length;
}

/** @param {Record<string, () => Promise<unknown>>} ends */
function files(ends) {
  return Object.fromEntries(Object.entries(ends).map(([name, load]) => [name, filesOf(load)]));
}

const protocols = Object.fromEntries(
  Object.keys(RESPONDERS).map((name) => [
    name,
    { responders: files(RESPONDERS[name] ?? {}), clients: files(CLIENTS[name] ?? {}) },
  ]),
);
const every = new Set(
  Object.values(protocols).flatMap(({ responders, clients }) =>
    [...Object.values(responders), ...Object.values(clients)].flat(),
  ),
);
const counted = Object.fromEntries([...every].sort().map((path) => [path, linesOf(path)]));
const lines = { lines: 1, language: "node", files: counted, generated: [], protocols };
writeFileSync(join(FOLDER, "lines.json"), `${JSON.stringify(lines, null, 2)}\n`);
