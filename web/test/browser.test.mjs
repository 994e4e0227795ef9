// Drives the pages in headless Chromium: what a person would click, with no error on the console
// and no request to any network. OPDRIFT is the program, CHROMIUM the browser; pictures of the
// pages go to SCREENSHOTS where that is set.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { chromium } from "playwright-core";

import { measure } from "./measure.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const opdrift = process.env.OPDRIFT;
const folder = mkdtempSync(join(tmpdir(), "opdrift-web-"));
const pictures = process.env.SCREENSHOTS;
if (pictures) mkdirSync(pictures, { recursive: true });

/** For times of the clock: other work may run beside the test. Times of the processor need none. */
const SLOW = 4;

let browser;
let small;
let large;

function report(operators, ...how) {
  const name = [operators, ...how].join("-");
  const json = join(folder, `${name}.json`);
  const html = join(folder, `${name}.html`);
  execFileSync("python3", [join(here, "make_result.py"), String(operators), json, ...how]);
  execFileSync(opdrift, ["report", json, "-o", html]);
  return html;
}

before(async () => {
  small = report(200);
  large = report(20000);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs `body` on a page and insists on a silent console and no request but to `own`. */
async function onAddress(url, own, options, body) {
  const context = await browser.newContext({ viewport: { width: 1500, height: 950 }, locale: "en-US", ...options });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!own(request.url()) && !request.url().startsWith("data:")) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  await page.waitForSelector("main footer");
  await body(page);
  await context.close();
  assert.deepEqual(complaints, []);
}

/** A page from disk, which asks for itself only. */
function onPage(file, options, body) {
  const url = pathToFileURL(file).href;
  return onAddress(url, (asked) => asked.split("#")[0] === url, options, body);
}

const axe = readFileSync(join(here, "../node_modules/axe-core/axe.min.js"), "utf8");

/** Names of controls, roles, order of headings, contrast: what axe finds wrong, which is nothing. */
async function accessible(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"] }));
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(", ")}`), []);
}

async function picture(page, name, whole = false) {
  if (!pictures) return;
  if (whole) {
    // What was never in sight has not been painted.
    for (const id of ["ledger", "graph", "summary"]) await page.evaluate((name) => document.getElementById(name)?.scrollIntoView(), id);
    await page.waitForTimeout(100);
  }
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: whole });
}

const texts = (page, selector) => page.locator(selector).allTextContents();

test("the first divergence stands at the top, in the curve, the network and the panel", async () => {
  await onPage(small, {}, async (page) => {
    assert.match(await page.textContent(".top .sentence"), /first divergence/);
    assert.match(await page.textContent(".panel .title"), /attention\/MatMul/);
    assert.match(await page.textContent(".panel"), /channel 17 \(of 64\) scaled by 30/);
    assert.equal(await page.locator(".node.on .box-culprit").count(), 1);
    assert.ok(await page.locator("#curve canvas").count());
    await accessible(page);
    await picture(page, "light", true);
  });
});

test("names that are HTML are shown as they are", async () => {
  await onPage(small, {}, async (page) => {
    assert.match(await page.textContent(".panel .title"), /<\/script><img src=x onerror=alert\(1\)>/);
    assert.equal(await page.locator("img").count(), 0);
  });
});

test("hostile texts stand everywhere as they are and do nothing", async () => {
  await onPage(report(200, "hostile"), {}, async (page) => {
    for (const language of ["en", "zh"]) {
      for (const name of ["<!--", "__proto__", '"><svg onload=alert(2)>']) {
        await page.fill("#search", name);
        await page.locator("#operators .grid-row").first().click();
        assert.ok((await page.textContent(".panel")).includes(name), name);
        await page.fill("#graph input", name);
        await page.keyboard.press("Enter");
      }
      await page.fill("#search", "gnp.exe");
      assert.ok((await page.textContent("#operators .grid-body")).includes("\\u202egnp.exe"));
      const box = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(box[0] <= box[1], `${box[0]} > ${box[1]}`);
      await page.fill("#search", "xxxx");
      await page.locator("#operators .grid-row").first().click();
      assert.equal(await page.locator("img, iframe, object, main script, [onload], [onerror], [onmouseover]").count(), 0);
      const shown = await page.evaluate(() => document.body.innerText);
      assert.ok(!/[\u202a-\u202e\u2066-\u2069\u2028\u2029\u0000]/.test(shown), "an unseen character is on the page");
      await picture(page, `hostile-${language}`, true);
      await page.keyboard.press("Escape");
      await page.keyboard.press("l");
    }
  });
});

test("the search keeps the rows that hold every word", async () => {
  await onPage(small, {}, async (page) => {
    await page.keyboard.press("/");
    await page.keyboard.type("softmax layers.2");
    await page.waitForFunction(() => /^5 /.test(document.querySelector("#operators .shown").textContent));
    for (const name of await texts(page, "#operators .grid-row > div:nth-child(3)")) assert.match(name, /layers\.2\/.*Softmax/);
    await page.keyboard.press("Escape");
  });
});

test("labels filter and columns sort", async () => {
  await onPage(small, {}, async (page) => {
    await page.click('#operators button.chip[data-state="culprit"]');
    assert.equal(await page.locator("#operators .grid-row").count(), 1);
    await page.click('#operators button.chip[data-state="culprit"]');
    await page.click("#operators .grid-head button:has-text('Rel. L2')");
    const errors = (await texts(page, "#operators .grid-row > div:nth-child(6)")).slice(0, 20).map(Number);
    assert.deepEqual(errors, [...errors].sort((a, b) => b - a));
  });
});

test("a row that is chosen fills the panel, with keys too", async () => {
  await onPage(small, {}, async (page) => {
    const row = page.locator('#operators .grid-row[data-row="118"]');
    await row.click();
    assert.match(await page.textContent(".panel .title"), /_118$/);
    await page.keyboard.press("ArrowUp");
    assert.match(await page.textContent(".panel .title"), /_117$/);
    await page.keyboard.press("n");
    assert.match(await page.textContent(".panel"), /channel 17/);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".panel.open").count(), 0);
  });
});

test("keys alone work in the curve, its legend, the network and the help", async () => {
  await onPage(small, {}, async (page) => {
    await page.focus("#curve .plot");
    await page.keyboard.press("ArrowRight");
    assert.match(await page.textContent(".panel .title"), /_121$/);
    const budget = page.locator("#curve [role=switch]").last();
    await budget.focus();
    assert.equal(await budget.getAttribute("aria-checked"), "false");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#curve [role=switch][aria-checked=true] >> nth=2");
    await page.fill("#graph input", "Gelu_125");
    await page.keyboard.press("Enter");
    await page.waitForSelector('#graph .node.on[data-node$="Gelu_125"]');
    await page.focus("#graph .network");
    const before = await page.locator("#graph .node").count();
    await page.keyboard.press("Backspace");
    await page.waitForFunction((n) => document.querySelectorAll("#graph .node").length < n, before);
    await page.keyboard.press("Enter");
    await page.waitForFunction((n) => document.querySelectorAll("#graph .node").length === n, before);
    await page.keyboard.press("?");
    assert.equal(await page.isVisible(".help"), true);
    await page.keyboard.press("Escape");
    assert.equal(await page.isVisible(".help"), false);
  });
});

test("a result without a model shows operators in their order and says so", async () => {
  const result = JSON.parse(readFileSync(join(folder, "200.json"), "utf8"));
  result.network = [];
  result.verdict = null;
  for (const tensor of result.tensors) tensor.judgement = null;
  writeFileSync(join(folder, "limits.json"), JSON.stringify(result));
  execFileSync(opdrift, ["report", join(folder, "limits.json"), "-o", join(folder, "limits.html")]);
  await onPage(join(folder, "limits.html"), {}, async (page) => {
    assert.match(await page.textContent("#graph"), /--graph model.onnx/);
    assert.equal(await page.locator("#graph .node.on .box-fail").count(), 1);
    assert.match(await page.textContent(".panel"), /read by/);
    await picture(page, "limits", true);
  });
});

test("groups of the network fold and unfold", async () => {
  await onPage(large, {}, async (page) => {
    const before = await page.locator("#graph .node").count();
    assert.ok(before > 10 && before < 250, `${before} nodes`);
    await page.click("#graph button:has-text('Fold all')");
    await page.waitForFunction(() => document.querySelectorAll("#graph .node[data-node]").length === 0);
    const folded = await page.locator("#graph .node").count();
    await page.locator("#graph .node[data-group]").first().dblclick();
    await page.waitForFunction((n) => document.querySelectorAll("#graph .node").length > n, folded);
    await page.click("#graph button:has-text('To the first divergence')");
    await page.waitForSelector("#graph .node .box-culprit");
    await page.fill("#graph input", "Gelu_15013");
    await page.keyboard.press("Enter");
    await page.waitForSelector('#graph .node.on[data-node$="Gelu_15013"]');
    assert.match(await page.textContent(".panel .title"), /Gelu_15013/);
    await picture(page, "large-search", false);
  });
});

test("Chinese and back", async () => {
  await onPage(small, {}, async (page) => {
    await page.click("#language");
    assert.match(await page.textContent("#operators-title"), /算子/);
    assert.match(await page.textContent(".top .badge"), /不一致/);
    assert.match(await page.textContent(".top .sentence"), /首个分歧在.*可解释误差的 6.00e\+02 倍/);
    assert.match(await page.textContent(".panel"), /全部误差位于通道 17/);
    assert.match(await page.textContent("#summary"), /设备读取输入的精度高于转储精度/);
    assert.equal(await page.getAttribute("html", "lang"), "zh-CN");
    await picture(page, "chinese", true);
    await page.click("#language");
    assert.match(await page.textContent("#operators-title"), /Operators/);
  });
  await onPage(small, { locale: "zh-CN" }, async (page) => {
    assert.match(await page.textContent("#operators-title"), /算子/);
  });
});

test("dark where the system is dark, and by the switch", async () => {
  await onPage(small, { colorScheme: "dark" }, async (page) => {
    assert.equal(await page.getAttribute("html", "data-theme"), "dark");
    await accessible(page);
    await picture(page, "dark", true);
    await page.click("#theme");
    assert.equal(await page.getAttribute("html", "data-theme"), "light");
  });
});

test("a narrow window needs no sideways scrolling", async () => {
  await onPage(small, { viewport: { width: 420, height: 800 } }, async (page) => {
    const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(inner <= outer, `${inner} > ${outer}`);
    assert.equal(await page.isVisible(".panel"), false);
    await picture(page, "narrow-whole", true);
    await page.click("#summary ul.first button");
    assert.match(await page.textContent(".panel .title"), /attention\/MatMul/);
    await picture(page, "narrow", false);
    await page.click(".panel .close");
    assert.equal(await page.isVisible(".panel"), false);
  });
});

test("paper is light and has no switches", async () => {
  await onPage(small, { colorScheme: "dark" }, async (page) => {
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
    assert.equal(await page.isVisible("#theme"), false);
    if (pictures) await page.pdf({ path: join(pictures, "print.pdf"), printBackground: true });
    await picture(page, "print", true);
  });
});

test("20,000 operators stay smooth", async () => {
  const size = statSync(large).size;
  assert.ok(size < 15e6, `${size} bytes`);
  const best = await measure(browser, large, 3);
  const shown = Object.entries(best).map(([name, ms]) => `${name} ${Math.round(ms)} ms`);
  console.log(`20,000 operators: ${(size / 1e6).toFixed(1)} MB, ${shown.join(", ")}`);
  assert.ok(best.first_paint < 1000 * SLOW, `first paint after ${best.first_paint} ms`);
  assert.ok(best.filter < 100 * SLOW, `filtering took ${best.filter} ms`);
  assert.ok(best.filter_cpu < 100, `filtering took ${best.filter_cpu} ms of the main thread`);
  await onPage(large, {}, async (page) => {
    await page.fill("#search", "layers.3 mlp");
    await picture(page, "large", true);
    await page.locator("#operators .grid").evaluate((grid) => grid.scrollTo(0, grid.scrollHeight));
    await page.fill("#search", "");
    await page.locator("#operators .grid").evaluate((grid) => grid.scrollTo(0, grid.scrollHeight));
    await page.waitForSelector('#operators .grid-row[data-row="19999"], #operators .grid-row');
    assert.ok((await page.locator("#operators .grid-row").count()) < 100);
  });
});

/** Three results of one network: it is fine, then the planted fault shows and stays. */
function series() {
  const original = JSON.parse(readFileSync(join(folder, "200.json"), "utf8"));
  const runs = [];
  for (const [name, factor] of [["before", 0], ["after", 1], ["later", 1]]) {
    const result = structuredClone(original);
    result.tensors.forEach((tensor) => {
      const judgement = tensor.judgement;
      if (factor > 0 || judgement.relative < 0.1) return;
      judgement.label = "healthy";
      judgement.relative = 1e-3;
    });
    const path = join(folder, "series", name, "result.json");
    mkdirSync(dirname(path), { recursive: true });
    // Indented as opdrift writes it.
    writeFileSync(path, JSON.stringify(result, null, 1));
    runs.push(path);
  }
  return runs;
}

test("trends show in which run operators begin to drift", async () => {
  const out = join(folder, "trends");
  const run = spawnSync(opdrift, ["trends", "--as-given", ...series(), "-o", out, "-q"], { encoding: "utf8" });
  assert.equal(run.status, 1, run.stderr);
  await onPage(join(out, "trends.html"), {}, async (page) => {
    assert.match(await page.textContent(".top .sentence"), /80 of 200 outputs drift, first .*MatMul.* in after/);
    await page.focus("#heat .heat-box");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    assert.match(await page.textContent("#heat output"), /· after: 0\.\d+ (culprit|victim)/);
    await page.keyboard.press("Enter");
    assert.equal(await page.locator(".panel.open .title").count(), 1);
    await page.selectOption("#show", "wrong");
    await page.waitForFunction(() => /^80 /.test(document.querySelector("#operators .shown").textContent));
    await page.locator("#operators .grid-row").first().click();
    assert.match(await page.textContent(".panel"), /Begins to be wrong in after/);
    assert.ok(await page.locator(".panel canvas").count());
    await accessible(page);
    await picture(page, "trends", true);
  });
});

test("a folder of results is served, and two of them compared", async () => {
  const runs = series();
  copyFileSync(runs[0], join(folder, "series", "结果 1.json"));
  const server = spawn(opdrift, ["serve", join(folder, "series"), "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const line = await new Promise((done, fail) => {
      server.stdout.once("data", (data) => done(String(data)));
      server.once("exit", (code) => fail(new Error(`serve ended with ${code}`)));
    });
    const address = /http:\/\/127\.0\.0\.1:\d+\//.exec(line)[0];
    await onAddress(address, (asked) => asked.startsWith(address), {}, async (page) => {
      assert.equal(await page.locator(".results tr").count(), 4);
      await accessible(page);
      await picture(page, "list", true);
      await page.click(".results a:has-text('结果 1.json')");
      await page.waitForSelector("#operators .grid-row");
      await page.click("text=All results");
      await page.check("input[aria-label='before/result.json']");
      await page.check("input[aria-label='after/result.json']");
      await page.click("#compare");
      await page.waitForSelector("#heat canvas");
      await page.selectOption("#show", "changed");
      await page.waitForFunction(() => /^80 /.test(document.querySelector("#operators .shown").textContent));
      assert.match(await page.textContent(".top .sentence"), /: 0 mended, 0 still wrong, 80 newly wrong/);
      await accessible(page);
      await picture(page, "compared", true);
    });
    const refused = await fetch(`${address}json/../../200.json`);
    assert.equal(refused.status, 404);
  } finally {
    server.kill("SIGINT");
  }
  const code = await new Promise((done) => (server.exitCode === null ? server.once("exit", done) : done(server.exitCode)));
  assert.equal(code, 0);
});
