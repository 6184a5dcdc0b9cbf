/** Installs what `package-lock.json` names, unless that was done: linters and tests need it where nothing was built yet. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * The packages of a lock file that no platform leaves out, with what npm checked them by.
 * @param {string} name within the folder
 */
function locked(name) {
  /** @type {Record<string, { optional?: boolean, integrity?: string }>} */
  const { "": _, ...packages } = JSON.parse(readFileSync(join(FOLDER, name), "utf8")).packages;
  const needed = Object.entries(packages).filter(([, { optional }]) => optional !== true);
  return JSON.stringify(needed.map(([path, { integrity }]) => [path, integrity]).sort());
}

/** Whether npm left a list of the very packages that are locked. */
function areInstalled() {
  try {
    return locked(join("node_modules", ".package-lock.json")) === locked("package-lock.json");
  } catch {
    return false;
  }
}

if (!areInstalled()) {
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts"], { cwd: FOLDER, stdio: "inherit" });
  process.exitCode = status ?? 1;
}
