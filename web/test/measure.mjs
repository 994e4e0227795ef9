// How long a report takes to show itself and to filter, as the browser counts it.
//
//   CHROMIUM=chromium node test/measure.mjs REPORT.html [RUNS]
//
// Every number is the least of several fresh runs, because other work may share the machine:
//   first_paint  first-contentful-paint, after the navigation began
//   shown        the page with its curve and panel has been painted
//   complete     the last section has been painted
//   filter       from a typed letter to the paint that shows its rows (Event Timing, steps of 8 ms)
//   ..._cpu      time of the page's main thread, whoever else runs
import { pathToFileURL } from "node:url";

const QUERY = "softmax_1";

/** Time of the main thread so far, in ms. */
async function mainThread(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  return 1000 * metrics.find((metric) => metric.name === "TaskDuration").value;
}

async function once(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1600, height: 1000 }, locale: "en-US" });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(url);
  await page.waitForSelector("main footer");
  await page.waitForFunction(() => performance.getEntriesByName("opdrift:shown").length > 0);
  const times = await page.evaluate(async () => {
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
    const complete = performance.now();
    window.keys = [];
    new PerformanceObserver((list) => window.keys.push(...list.getEntries())).observe({ type: "event", durationThreshold: 16 });
    return {
      first_paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN,
      shown: performance.getEntriesByName("opdrift:shown")[0].startTime,
      complete,
    };
  });
  times.complete_cpu = await mainThread(session);
  await page.focus("#search");
  const before = await mainThread(session);
  let slowest = 0;
  for (const letter of QUERY) {
    const from = await mainThread(session);
    await page.keyboard.press(letter);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0))));
    slowest = Math.max(slowest, (await mainThread(session)) - from);
  }
  times.filter_cpu = slowest;
  times.filter_all_cpu = (await mainThread(session)) - before;
  // Events below 16 ms are not reported.
  times.filter = await page.evaluate(async () => {
    await new Promise((done) => setTimeout(done, 100));
    const typed = window.keys.filter((entry) => ["keydown", "keypress", "input"].includes(entry.name));
    return Math.max(16, ...typed.map((entry) => entry.duration));
  });
  times.sort = await page.evaluate(async () => {
    const start = performance.now();
    [...document.querySelectorAll("#operators .grid-head button")].find((button) => /L2/.test(button.textContent)).click();
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
    return performance.now() - start;
  });
  await context.close();
  return times;
}

/** The least of `runs` runs, in ms. */
export async function measure(browser, file, runs = 5) {
  const best = {};
  for (let run = 0; run < runs; run++) {
    for (const [name, ms] of Object.entries(await once(browser, pathToFileURL(file).href))) {
      best[name] = Math.min(best[name] ?? Infinity, ms);
    }
  }
  return best;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  const best = await measure(browser, process.argv[2], Number(process.argv[3] ?? 5));
  for (const [name, ms] of Object.entries(best)) console.log(`${name.padEnd(16)} ${ms.toFixed(1)} ms`);
  await browser.close();
}
