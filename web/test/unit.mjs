// Bundles the unit tests and runs them; node:test reports and sets the exit code.
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = mkdtempSync(join(tmpdir(), "opdrift-unit-"));
const tests = readdirSync(here).filter((name) => name.endsWith(".test.ts"));
await build({
  entryPoints: tests.map((name) => join(here, name)),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  logLevel: "error",
});
for (const name of tests) await import(pathToFileURL(join(out, name.replace(/\.ts$/, ".mjs"))).href);
