import { render } from "preact";

import type { RawReport } from "./data";
import { ListPage, type RawList } from "./list";
import { ReportPage } from "./report";
import { TrendsPage, type RawTrends } from "./trends";
import "uplot/dist/uPlot.min.css";
import "./styles.css";

type Page = RawReport | RawTrends | RawList;

function view(page: Page) {
  switch (page.kind) {
    case "report": return <ReportPage raw={page} />;
    case "trends": return <TrendsPage raw={page} />;
    case "list": return <ListPage raw={page} />;
  }
}

/** The data of the page: JSON, or when there is much of it deflated and in base64. */
async function readPage(element: HTMLElement): Promise<Page> {
  const text = element.textContent ?? "";
  if (element.getAttribute("type") === "application/json") return JSON.parse(text) as Page;
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return (await new Response(stream).json()) as Page;
}

async function start(): Promise<void> {
  const element = document.getElementById("data");
  const root = document.getElementById("root");
  if (!element || !root) return;
  const page = await readPage(element);
  element.remove();
  root.textContent = "";
  render(view(page), root);
}

void start();
