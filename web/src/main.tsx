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

const element = document.getElementById("data");
const root = document.getElementById("root");
if (element && root) {
  const page = JSON.parse(element.textContent ?? "") as Page;
  root.textContent = "";
  render(view(page), root);
}
