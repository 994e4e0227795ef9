import { render } from "preact";

import type { RawReport } from "./data";
import { ListPage, type RawList } from "./list";
import { makePlain } from "./plain";
import { ReportPage } from "./report";
import { TrendsPage, type RawTrends } from "./trends";
import "uplot/dist/uPlot.min.css";
import "./styles.css";

type Page = RawReport | RawTrends | RawList;

function view(page: Page, rest: (() => Promise<Partial<RawReport>>)[]) {
  switch (page.kind) {
    case "report": return <ReportPage raw={page} rest={rest} />;
    case "trends": return <TrendsPage raw={page} />;
    case "list": return <ListPage raw={page} />;
  }
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  // Not in all browsers yet.
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  return bytes;
}

/** A piece of the page's data: JSON, or when there is much of it deflated and in base64. */
async function read<T>(element: Element): Promise<T> {
  const text = element.textContent ?? "";
  element.remove();
  if (element.getAttribute("type") === "application/json") return JSON.parse(text) as T;
  // Written to directly: a Blob would first go to another process.
  const inflated = new DecompressionStream("deflate-raw");
  const input = inflated.writable.getWriter();
  input.write(fromBase64(text)).then(() => input.close()).catch(() => undefined); // the reader has the error
  return (await new Response(inflated.readable).json()) as T;
}

/** Later pieces stand behind this script and are not parsed yet when it begins. */
const parsed = new Promise<void>((done) => {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => done());
  else done();
});

async function start(root: HTMLElement): Promise<void> {
  const first = document.getElementById("data-0");
  if (!first) throw new Error("the page holds no data");
  const later = Number(first.dataset.pieces) - 1;
  const page = await read<Page>(first);
  // The list keeps its paths, which are addresses.
  if (page.kind !== "list") makePlain(page);
  const rest = Array.from({ length: later }, (_, i) => async () => {
    await parsed;
    return makePlain(await read<Partial<RawReport>>(document.getElementById(`data-${i + 1}`)!));
  });
  root.textContent = "";
  render(view(page, rest), root);
  // For measuring: the frame after the one that drew the page.
  requestAnimationFrame(() => setTimeout(() => performance.mark("opdrift:shown"), 0));
}

const root = document.getElementById("root");
if (root) {
  start(root).catch((error: unknown) => {
    const line = document.createElement("p");
    line.className = "warn";
    line.textContent = `The data of this page cannot be read (${String(error)}). Write it again: opdrift report result.json`;
    root.append(line);
  });
}
