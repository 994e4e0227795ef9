// Bundles src/ into one page, dist/page.html, in which opdrift puts the data of a result.
//
//   node build.mjs           writes dist/
//   node build.mjs --check   fails when dist/ is not what src/ makes
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const bundled = ["preact", "uplot", "@dagrejs/dagre"];

const result = await build({
  absWorkingDir: here,
  entryPoints: { page: "src/main.tsx" },
  outdir: "dist",
  bundle: true,
  write: false,
  minify: true,
  format: "iife",
  target: ["chrome111", "firefox113", "safari16.4"],
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
});

const output = (ending) => result.outputFiles.find((file) => file.path.endsWith(ending)).text.trim();
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// What would end the element early; the bundler escapes it inside strings, so it is never there.
const script = output(".js");
const style = output(".css");
if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) throw new Error("the bundle would end its own element");

const policy = `default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; script-src ${hash(script)}; style-src ${hash(style)}`;
const parts = { POLICY: policy, STYLE: style, SCRIPT: script };
const page = readFileSync(join(here, "template.html"), "utf8").replace(/@(POLICY|STYLE|SCRIPT)@/g, (_, name) => parts[name]);

const licences = bundled
  .map((name) => {
    const folder = join(here, "node_modules", name);
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return `${name} ${version}\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}\n`;
  })
  .join("\n----\n\n");

const files = { "page.html": page, "LICENSES.txt": `page.html holds parts of these libraries.\n\n${licences}` };
if (process.argv.includes("--check")) {
  const stale = Object.entries(files).filter(([name, text]) => readFileSync(join(here, "dist", name), "utf8") !== text);
  for (const [name] of stale) console.error(`web/dist/${name} is not what web/src makes: run 'make web' and commit it`);
  process.exit(stale.length > 0 ? 1 : 0);
}
mkdirSync(join(here, "dist"), { recursive: true });
for (const [name, text] of Object.entries(files)) writeFileSync(join(here, "dist", name), text);
console.log(`web: dist/page.html, ${Math.round(page.length / 1000)} kB`);
