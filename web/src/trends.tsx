import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";

import { variable } from "./colours";
import { STATES, Table, type Column, type State } from "./data";
import { brief, count } from "./format";
import { useText } from "./i18n";
import { Chip } from "./operators";
import { Frame, Headline, type Theme } from "./page";
import { inOrder } from "./order";
import { SearchIndex, wordsOf } from "./search";
import { VirtualTable, type VirtualColumn } from "./virtual";

/** What report/trends_report.cpp writes. */
export interface RawTrends {
  kind: "trends";
  version: string;
  title: string;
  rows: number;
  lines: Record<string, Column>;
  runs: { name: string; error: Column; excess: Column; state: Column }[];
  strings: string[];
}

const WRONG: ReadonlySet<string> = new Set(["culprit", "drift", "victim", "fail", "broken"]);
/** Runs up to this number have a column of numbers each. */
const FEW_RUNS = 6;

export class Trends {
  readonly lines: Table;
  readonly runs: { name: string; cells: Table }[];
  readonly search: SearchIndex;

  constructor(readonly raw: RawTrends) {
    this.lines = new Table(raw.rows, raw.lines, raw.strings);
    this.search = new SearchIndex(raw.strings, [this.lines.column("operator"), this.lines.column("type")]);
    this.runs = raw.runs.map((run) => ({
      name: run.name,
      cells: new Table(raw.rows, { error: run.error, excess: run.excess, state: run.state }, raw.strings),
    }));
  }

  title(line: number): string {
    const output = this.lines.number("output", line);
    return this.lines.text("operator", line) + (output > 0 ? `:${output}` : "");
  }

  state(line: number, run: number): State | "absent" {
    return (this.runs[run].cells.text("state", line) || "absent") as State | "absent";
  }

  error(line: number, run: number): number {
    return this.runs[run].cells.number("error", line);
  }

  /** The run in which it begins to be wrong, -1 for never. */
  begins(line: number): number {
    const begins = this.lines.number("begins", line);
    return Number.isNaN(begins) ? -1 : begins;
  }

  growth(line: number): number {
    return this.lines.number("growth", line);
  }

  /** Lines that are wrong in the first run only, in both, and in the last only. */
  beforeAndAfter(): [number, number, number] {
    const counts: [number, number, number] = [0, 0, 0];
    for (let line = 0; line < this.raw.rows; line++) {
      const before = WRONG.has(this.state(line, 0));
      const after = WRONG.has(this.state(line, this.runs.length - 1));
      if (before || after) counts[before ? (after ? 1 : 0) : 2]++;
    }
    return counts;
  }

  /** Whether the first and the last run say something else of it. */
  changed(line: number): boolean {
    const last = this.runs.length - 1;
    if (last < 1) return false;
    if (WRONG.has(this.state(line, 0)) !== WRONG.has(this.state(line, last))) return true;
    if (this.state(line, 0) !== this.state(line, last)) return true;
    const growth = this.growth(line);
    return growth > 2 || growth < 0.5;
  }
}

/** Position of an error on the scale from 1e-6 to 1, 0 to 1. */
export function heat(error: number): number {
  if (!(error > 0)) return 0;
  return Math.min(1, Math.max(0, (Math.log10(error) + 6) / 6));
}

/** Calm up to 1e-3, which half precision costs anyway, then amber, then red; paler by `strength`. */
function heatColour(error: number, strength = 1): string {
  if (Number.isNaN(error)) return "transparent";
  const share = heat(error);
  const [base, part] =
    share < 0.5 ? ["--watch", share * 0.5] : share < 0.75 ? ["--victim", 0.3 + (share - 0.5) * 2] : ["--culprit", 0.55 + (share - 0.75) * 1.8];
  return `color-mix(in srgb, var(${base}) ${Math.round(part * strength * 100)}%, var(--card))`;
}

/** Colours behind text, which has to stay readable. */
const UNDER_TEXT = 0.45;

interface Filter {
  text: string;
  show: "all" | "wrong" | "changed";
}

function filterLines(trends: Trends, filter: Filter): number[] {
  const found = trends.search.filter(wordsOf(filter.text), trends.raw.rows);
  const kept: number[] = [];
  for (let line = 0; line < trends.raw.rows; line++) {
    if (filter.show === "wrong" && trends.begins(line) < 0) continue;
    if (filter.show === "changed" && !trends.changed(line)) continue;
    if (found === null || found[line] === 1) kept.push(line);
  }
  return kept;
}

function sortLines(trends: Trends, lines: number[], sort: { key: string; down: boolean }): number[] {
  const of = (line: number): number | string => {
    if (sort.key.startsWith("run:")) return trends.error(line, Number(sort.key.slice(4)));
    switch (sort.key) {
      case "operator": return trends.title(line);
      case "type": return trends.lines.text("type", line);
      case "begins": return trends.begins(line) < 0 ? NaN : trends.begins(line);
      case "growth": return trends.growth(line);
      default: return line;
    }
  };
  return inOrder(lines, of, sort.down);
}

/** Fills `element` with the errors of all lines and runs; a pixel shows the largest of what it stands for. */
function drawHeat(element: HTMLCanvasElement, trends: Trends, lines: number[], height: number) {
  const scale = devicePixelRatio || 1;
  element.width = Math.round(element.clientWidth * scale);
  element.height = Math.round(height * scale);
  const context = element.getContext("2d");
  if (!context) return;
  context.fillStyle = variable("--grid");
  context.fillRect(0, 0, element.width, element.height);
  const probe = document.createElement("span");
  document.body.append(probe);
  // A colour per step of the scale, resolved once.
  const palette = Array.from({ length: 25 }, (_, i) => {
    probe.style.color = heatColour(10 ** ((i / 24) * 6 - 6));
    return getComputedStyle(probe).color;
  });
  probe.remove();
  const columns = trends.runs.length;
  const bands = Math.min(lines.length, element.height);
  for (let run = 0; run < columns; run++) {
    const left = Math.floor((run * element.width) / columns);
    const right = Math.floor(((run + 1) * element.width) / columns);
    for (let band = 0; band < bands; band++) {
      const from = Math.floor((band * lines.length) / bands);
      const to = Math.max(from + 1, Math.floor(((band + 1) * lines.length) / bands));
      let largest = NaN;
      for (let i = from; i < to; i++) {
        const error = trends.error(lines[i], run);
        if (!(error <= largest) && !Number.isNaN(error)) largest = error;
      }
      if (Number.isNaN(largest)) continue;
      context.fillStyle = palette[Math.round(heat(largest) * 24)];
      const top = Math.floor((band * element.height) / bands);
      const bottom = Math.floor(((band + 1) * element.height) / bands);
      context.fillRect(left, top, Math.max(1, right - left - (right - left > 6 ? 1 : 0)), Math.max(1, bottom - top));
    }
  }
}

/** Names of so many runs have room above their columns. */
const MOST_NAMES = 12;

interface HeatCell {
  at: number;
  run: number;
}

/** All lines and runs at once. Arrow keys and the pointer move over the cells, Enter and a click choose. */
function HeatMap(props: { trends: Trends; lines: number[]; theme: Theme; line: number; onSelect: (line: number) => void }) {
  const { trends, lines, onSelect } = props;
  const text = useText();
  const { t } = text;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [cell, setCell] = useState<HeatCell | null>(null);
  const height = Math.max(60, Math.min(360, lines.length * 6));
  const runs = trends.runs.length;
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const draw = () => drawHeat(element, trends, lines, height);
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    return () => observer.disconnect();
  }, [trends, lines, props.theme]);

  const under = (event: MouseEvent): HeatCell => {
    const box = canvas.current!.getBoundingClientRect();
    const at = Math.floor(((event.clientY - box.top) / box.height) * lines.length);
    const run = Math.floor(((event.clientX - box.left) / box.width) * runs);
    return { at: Math.max(0, Math.min(lines.length - 1, at)), run: Math.max(0, Math.min(runs - 1, run)) };
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(lines.length / 20));
    const [down, right] = ({
      ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1], PageDown: [page, 0], PageUp: [-page, 0],
    } as Record<string, [number, number]>)[event.key] ?? [0, 0];
    if (lines.length === 0) return;
    if (down !== 0 || right !== 0) {
      const from = cell ?? { at: Math.max(0, lines.indexOf(props.line)), run: 0 };
      setCell({
        at: Math.max(0, Math.min(lines.length - 1, from.at + down)),
        run: Math.max(0, Math.min(runs - 1, from.run + right)),
      });
    } else if (event.key === "Enter" && cell) {
      onSelect(lines[cell.at]);
    } else {
      return;
    }
    event.preventDefault();
  };
  const shown = cell !== null && cell.at < lines.length ? cell : null;
  const chosen = lines.indexOf(props.line);
  const share = (part: number, of: number) => `${(100 * part) / Math.max(1, of)}%`;
  return (
    <section id="heat" aria-labelledby="heat-title">
      <h2 id="heat-title">{t("heat")}</h2>
      {runs <= MOST_NAMES && (
        <div class="heat-runs" aria-hidden="true">{trends.runs.map((run) => <span title={run.name}>{run.name}</span>)}</div>
      )}
      <div class="heat-box" tabIndex={0} role="application" aria-label={t("heatLabel", lines.length, runs)} onKeyDown={onKeyDown}
        onMouseMove={(event) => setCell(under(event))} onMouseLeave={() => setCell(null)}
        onClick={(event) => { if (lines.length > 0) onSelect(lines[under(event).at]); }}>
        <canvas ref={canvas} class="heat" style={{ height: `${height}px` }} />
        {chosen >= 0 && <i class="heat-line" style={{ top: share(chosen, lines.length), height: share(1, lines.length) }} />}
        {shown && (
          <i class="heat-cursor" style={{ top: share(shown.at, lines.length), height: share(1, lines.length), left: share(shown.run, runs), width: share(1, runs) }} />
        )}
      </div>
      {runs > MOST_NAMES && (
        <div class="heat-axis"><span>{trends.runs[0].name}</span><span>{trends.runs[runs - 1].name}</span></div>
      )}
      <output class="heat-cell-text" aria-live="polite">
        {shown
          ? `${trends.title(lines[shown.at])} · ${trends.runs[shown.run].name}: ${brief(trends.error(lines[shown.at], shown.run))} ${text.state(trends.state(lines[shown.at], shown.run))}`
          : t("heatHelp")}
      </output>
      <div class="heat-scale" aria-hidden="true">
        {[1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1].map((error) => (
          <span><i style={{ background: heatColour(error) }} /> {error.toExponential(0).replace("e+", "e")}</span>
        ))}
      </div>
    </section>
  );
}

function LinePlot(props: { trends: Trends; line: number; theme: Theme }) {
  const { trends, line } = props;
  const { t } = useText();
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = host.current;
    if (!element || trends.runs.length < 2) return;
    const axis = { stroke: variable("--muted"), grid: { stroke: variable("--grid"), width: 1 }, font: `11px ${variable("--font")}` };
    const positive = (value: number) => (value > 0 && Number.isFinite(value) ? value : null);
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: 180,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false }, y: { distr: 3, log: 10 } },
        axes: [{ ...axis, incrs: [1, 2, 5, 10, 20, 50, 100] },
          { ...axis, size: 52, values: (_u, ticks) => ticks.map((v) => (v && Math.abs(Math.log10(v) % 1) < 1e-6 ? v.toExponential(0).replace("e+", "e") : "")) }],
        series: [{}, { label: t("relativeError"), stroke: variable("--accent"), width: 2, points: { show: true, size: 6 } }],
      },
      [trends.runs.map((_, run) => run), trends.runs.map((_, run) => positive(trends.error(line, run)))] as uPlot.AlignedData,
      element,
    );
    return () => plot.destroy();
  }, [trends, line, props.theme]);
  return <div class="plot" ref={host} />;
}

function LinePanel(props: { trends: Trends; line: number; theme: Theme; onClose: () => void }) {
  const { trends, line } = props;
  const { t } = useText();
  if (line < 0) return <aside class="panel"><p class="empty">{t("nothingSelected")}</p></aside>;
  return (
    <aside class="panel open" aria-label={trends.title(line)}>
      <header>
        <div>
          <span class="muted">{trends.lines.text("type", line)}</span>
          <h2 class="title">{trends.title(line)}</h2>
        </div>
        <button type="button" class="close" onClick={props.onClose} aria-label={t("close")}>×</button>
      </header>
      {trends.begins(line) >= 0 && <p>{t("beginsIn", trends.runs[trends.begins(line)].name)}</p>}
      <LinePlot trends={trends} line={line} theme={props.theme} />
      <table class="numbers">
        <thead>
          <tr><th scope="col">{t("run")}</th><th scope="col">{t("relativeError")}</th><th scope="col">{t("colCumulative")}</th><th scope="col">{t("colState")}</th></tr>
        </thead>
        <tbody>
          {trends.runs.map((run, at) => (
            <tr>
              <th scope="row">{run.name}</th>
              <td>{brief(trends.error(line, at))}</td>
              <td>{brief(run.cells.number("excess", line), 3)}</td>
              <td><Chip state={trends.state(line, at)} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </aside>
  );
}

export function TrendsPage(props: { raw: RawTrends }) {
  const trends = useMemo(() => new Trends(props.raw), [props.raw]);
  const [line, setLine] = useState(-1);
  const wrong = useMemo(() => {
    const lines = Array.from({ length: trends.raw.rows }, (_, i) => i).filter((i) => trends.begins(i) >= 0);
    return lines.sort((a, b) => trends.begins(a) - trends.begins(b) || a - b);
  }, [trends]);
  const next = (step: number) => {
    if (wrong.length === 0) return;
    const at = wrong.indexOf(line);
    setLine(wrong[(at + step + wrong.length) % wrong.length] ?? wrong[0]);
  };
  const shortcuts = {
    "/": () => document.getElementById("search")?.focus(),
    n: () => next(1),
    p: () => next(-1),
    Escape: () => setLine(-1),
  };
  const mended = trends.runs.length === 2 && wrong.length > 0 && trends.beforeAndAfter()[0] === wrong.length;
  const outcome = wrong.length > 0 && !mended ? "fail" : "pass";
  return (
    <Frame title={(t) => `opdrift: ${props.raw.title || t("trends")}`} outcome={outcome} shortcuts={shortcuts}
      links={[{ id: "heat", text: "heat" }, { id: "operators", text: "operators" }]}
      head={<TrendsHead trends={trends} wrong={wrong} outcome={outcome} mended={mended} title={props.raw.title} />}>
      {(theme: Theme) => (
        <div class="layout">
          <main>
            <TrendLines trends={trends} theme={theme} line={line} onLine={setLine} />
            <footer class="muted">opdrift {props.raw.version}</footer>
          </main>
          <LinePanel trends={trends} line={line} theme={theme} onClose={() => setLine(-1)} />
        </div>
      )}
    </Frame>
  );
}

function TrendsHead(props: { trends: Trends; wrong: number[]; outcome: string; mended: boolean; title: string }) {
  const { trends, wrong } = props;
  const { t } = useText();
  const first = wrong[0];
  let sentence =
    first === undefined
      ? t("steady", count(trends.raw.rows), trends.runs.length)
      : t("driftFirst", count(wrong.length), count(trends.raw.rows), trends.title(first), trends.runs[trends.begins(first)].name);
  if (trends.runs.length === 2 && wrong.length > 0) {
    const [mended, stay, fresh] = trends.beforeAndAfter();
    sentence += ` · ${trends.runs[0].name} → ${trends.runs[1].name}: ${t("mended", mended, stay, fresh)}`;
  }
  return <Headline outcome={props.outcome === "fail" ? "drifts" : props.mended ? "mended" : "steady"} sentence={props.title ? `${props.title}: ${sentence}` : sentence} />;
}

function TrendLines(props: { trends: Trends; theme: Theme; line: number; onLine: (line: number) => void }) {
  const { trends, line } = props;
  const { t } = useText();
  const [filter, setFilter] = useState<Filter>({ text: "", show: "all" });
  const [sort, setSort] = useState({ key: "begins", down: false });
  const few = trends.runs.length <= FEW_RUNS;
  const lines = useMemo(() => sortLines(trends, filterLines(trends, filter), sort), [trends, filter, sort]);
  const columns: VirtualColumn[] = [
    { key: "order", title: t("colOrder"), numeric: true, width: "3.6rem" },
    { key: "operator", title: t("colOperator"), tail: true, width: "minmax(13rem, 2fr)" },
    { key: "type", title: t("colType"), width: "6rem" },
    { key: "begins", title: t("begins"), width: "7rem" },
    { key: "growth", title: t("growth"), numeric: true, width: "5rem" },
    ...(few
      ? trends.runs.map((run, at) => ({ key: `run:${at}`, title: run.name, numeric: true, width: "minmax(9rem, 1fr)" }))
      : [{ key: "runs", title: t("errorByRun"), width: "minmax(14rem, 3fr)", sortable: false }]),
  ];
  const cell = (row: number, key: string) => {
    if (key.startsWith("run:")) {
      const run = Number(key.slice(4));
      const state = trends.state(row, run);
      return (
        <span class="heat-cell" style={{ background: heatColour(trends.error(row, run), UNDER_TEXT) }}>
          {brief(trends.error(row, run), 3)} {STATES.includes(state as State) && state !== "healthy" && state !== "pass" && <Chip state={state} />}
        </span>
      );
    }
    switch (key) {
      case "order": return String(row);
      case "operator": return <bdi title={trends.title(row)}>{trends.title(row)}</bdi>;
      case "type": return trends.lines.text("type", row);
      case "begins": return trends.begins(row) < 0 ? "" : trends.runs[trends.begins(row)].name;
      case "growth": return brief(trends.growth(row), 3);
    }
    return (
      <span class="heat-row">
        {trends.runs.map((run, at) => (
          <i class={trends.begins(row) === at ? "begin" : ""} style={{ background: heatColour(trends.error(row, at)) }}
            title={`${run.name}: ${brief(trends.error(row, at))} ${trends.state(row, at)}`} />
        ))}
      </span>
    );
  };
  return (
    <>
      <HeatMap trends={trends} lines={lines} theme={props.theme} line={line} onSelect={props.onLine} />
      <section id="operators" aria-labelledby="operators-title">
        <h2 id="operators-title">{t("operators")}</h2>
        <div class="tools">
          <input id="search" type="search" value={filter.text} placeholder={t("search")} aria-label={t("search")}
            onInput={(e) => setFilter({ ...filter, text: e.currentTarget.value })} />
          <select id="show" value={filter.show} aria-label={t("colState")}
            onChange={(e) => setFilter({ ...filter, show: e.currentTarget.value as Filter["show"] })}>
            <option value="all">{t("all")}</option>
            <option value="wrong">{t("onlyWrong")}</option>
            <option value="changed">{t("onlyChanged")}</option>
          </select>
          <output class="shown">{t("shown", count(lines.length), count(trends.raw.rows))}</output>
        </div>
        <VirtualTable columns={columns} rows={lines} selected={line} label={t("operators")} sort={sort}
          onSort={(key) => setSort({ key, down: sort.key === key ? !sort.down : key === "growth" || key.startsWith("run:") })}
          onSelect={props.onLine} cell={cell} empty={t("nothing")} printed={100} />
      </section>
    </>
  );
}
