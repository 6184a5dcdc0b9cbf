/** Makes `build/respond.cjs` and `build/request.cjs`: one file each, which starts faster than a tree of modules; and
 * `build/packages.json`: the versions of the packages in them. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const FOLDER = dirname(dirname(fileURLToPath(import.meta.url)));

/** @param {string} path */
function json(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

const { dependencies } = json(join(FOLDER, "package.json"));
const versions = Object.fromEntries(
  Object.keys(dependencies).map((name) => [name, json(join(FOLDER, "node_modules", name, "package.json")).version]),
);

mkdirSync(join(FOLDER, "build"), { recursive: true });
writeFileSync(join(FOLDER, "build", "packages.json"), `${JSON.stringify(versions, null, 1)}\n`); // for orch's own record

await build({
  absWorkingDir: FOLDER,
  entryPoints: ["src/respond.js", "src/request.js"],
  outdir: "build",
  outExtension: { ".js": ".cjs" },
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  legalComments: "none",
  loader: { ".proto": "text", ".graphql": "text" },
  define: { "process.env.ORCH_BUNDLED_VERSIONS": JSON.stringify(JSON.stringify(versions)) },
  logLevel: "warning",
});
