import uPlot from "uplot";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { colourOf, variable } from "./colours";
import type { Report, State } from "./data";
import { brief, shorten } from "./format";
import { useText } from "./i18n";

/** Outputs in network order with what the curve shows of them. */
interface Points {
  rows: number[];
  measured: (number | null)[];
  predicted: (number | null)[];
  own: (number | null)[];
  budget: (number | null)[];
  zeroes: number;
}

function logarithmic(value: number, top: number): number | null {
  if (value === Infinity) return top;
  return value > 0 ? value : null;
}

function pointsOf(report: Report, step: string | null): Points {
  const { rows } = report;
  const role = rows.column("role");
  const measured = rows.column("measured");
  const chosen: number[] = [];
  let largest = 1e-12;
  for (let row = 0; row < rows.rows; row++) {
    if (role[row] !== 1 || !measured[row] || (step !== null && rows.text("step", row) !== step)) continue;
    chosen.push(row);
    for (const value of [report.error(row), rows.number("depth", row)]) {
      if (Number.isFinite(value) && value > largest) largest = value;
    }
  }
  // An infinite error is drawn above all finite ones.
  const top = largest * 10;
  const column = (name: string) => chosen.map((row) => logarithmic(rows.number(name, row), top));
  const errors = chosen.map((row) => logarithmic(report.error(row), top));
  return {
    rows: chosen,
    measured: errors,
    predicted: column("depth"),
    own: column("own"),
    budget: column("rho"),
    zeroes: chosen.filter((row) => report.error(row) === 0).length,
  };
}

/** Blamed operators are drawn on top and larger. */
const SIZES: Partial<Record<State, number>> = { culprit: 5.5, fail: 4, drift: 4, victim: 2.5, watch: 2.5 };

/**
 * From so many points on marks are squares and no line is dashed: cheaper to draw, and in a crowd it
 * looks the same. Of marks that would cover each other one is drawn.
 */
const MANY = 3000;

function drawMarks(plot: uPlot, report: Report, points: Points, selected: number) {
  const ratio = uPlot.pxRatio;
  const { ctx } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
  ctx.clip();
  const many = points.rows.length > MANY;
  const ranked: State[] = ["watch", "victim", "drift", "fail", "culprit"];
  for (const state of ranked) {
    ctx.fillStyle = colourOf(state);
    const radius = (SIZES[state] ?? 2) * ratio;
    const taken = new Set<number>();
    points.rows.forEach((row, i) => {
      const value = points.measured[i];
      if (report.states[row] !== state || value === null) return;
      const x = plot.valToPos(i, "x", true);
      const y = plot.valToPos(value, "y", true);
      const place = Math.round(x / radius) * 65536 + Math.round(y / radius);
      if (taken.has(place)) return;
      taken.add(place);
      if (many && state !== "culprit") return ctx.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
      ctx.beginPath();
      ctx.arc(x, y, radius, 0, 2 * Math.PI);
      ctx.fill();
    });
  }
  const at = points.rows.indexOf(selected);
  if (at >= 0) {
    const x = plot.valToPos(at, "x", true);
    ctx.strokeStyle = variable("--accent");
    ctx.lineWidth = 1.5 * ratio;
    ctx.strokeRect(x - 0.5 * ratio, plot.bbox.top, ratio, plot.bbox.height);
  }
  ctx.restore();
}

/** The line at the first divergence, with the operator's name beside it. */
function drawKnee(plot: uPlot, report: Report, points: Points) {
  const first = firstRows(report).map((row) => points.rows.indexOf(row)).filter((x) => x >= 0);
  if (first.length === 0) return;
  const ratio = uPlot.pxRatio;
  const { ctx, bbox } = plot;
  const x = plot.valToPos(first[0], "x", true);
  if (x < bbox.left || x > bbox.left + bbox.width) return;
  const name = shorten(report.rowTitle(points.rows[first[0]]), Math.max(12, Math.min(40, bbox.width / ratio / 16)));
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = variable("--culprit");
  ctx.setLineDash([5 * ratio, 4 * ratio]);
  ctx.lineWidth = 1.5 * ratio;
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.font = `600 ${12 * ratio}px ${variable("--font")}`;
  const width = ctx.measureText(name).width;
  const left = x + width + 12 * ratio > bbox.left + bbox.width;
  ctx.textAlign = left ? "right" : "left";
  ctx.textBaseline = "top";
  ctx.fillText(name, x + (left ? -6 : 6) * ratio, bbox.top + 4 * ratio);
  ctx.restore();
}

/** The legend shows and hides lines by clicks; here by Enter and blank too. */
function letKeysToggle(plot: uPlot) {
  const labels = plot.root.querySelectorAll<HTMLElement>(".u-legend .u-series th");
  // The position is a series too, but has no line in the legend.
  const before = plot.series.length - labels.length;
  labels.forEach((label, i) => {
    label.tabIndex = 0;
    label.setAttribute("role", "switch");
    const tell = () => label.setAttribute("aria-checked", String(plot.series[i + before].show));
    tell();
    label.addEventListener("click", () => setTimeout(tell, 0));
    label.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      label.click();
    });
  });
}

/** Rows of the first divergence, or the first one over a limit of a run that was not judged. */
export function firstRows(report: Report): number[] {
  const verdict = report.run.verdict;
  if (verdict) return verdict.first_divergence;
  const first = report.states.findIndex((state) => state === "fail" || state === "broken");
  return first < 0 ? [] : [first];
}

export function Curve(props: {
  report: Report;
  theme: string;
  selected: number;
  onSelect: (row: number) => void;
}) {
  const { report, selected, onSelect } = props;
  const text = useText();
  const { t } = text;
  const first = firstRows(report)[0] ?? 0;
  const [step, setStep] = useState<string | null>(() =>
    report.steps.length > 1 ? report.rows.text("step", first) : null,
  );
  const points = useMemo(() => pointsOf(report, step), [report, step]);
  const host = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const chosen = useRef(selected);
  chosen.current = selected;

  useEffect(() => {
    const element = host.current;
    if (!element || points.rows.length === 0) return;
    const hover = (u: uPlot) => {
      const at = u.cursor.idx;
      const box = tip.current;
      if (!box) return;
      const y = at === null || at === undefined ? null : points.measured[at];
      if (at === null || at === undefined || (u.cursor.left ?? -1) < 0) {
        box.hidden = true;
        return;
      }
      const row = points.rows[at];
      const predicted = points.predicted[at];
      box.hidden = false;
      box.textContent =
        `${report.rowTitle(row)} · ${text.state(report.states[row])}\n` +
        `${t("measured")} ${brief(report.error(row))}` +
        (predicted === null ? "" : `\n${t("predicted")} ${brief(predicted)}`);
      const left = u.valToPos(at, "x") + u.bbox.left / uPlot.pxRatio;
      const right = left > element.clientWidth / 2;
      box.style.left = right ? "" : `${left + 12}px`;
      box.style.right = right ? `${element.clientWidth - left + 12}px` : "";
      box.style.top = `${(y === null ? 40 : Math.max(8, u.valToPos(y, "y"))) + 8}px`;
    };
    const grid = { stroke: variable("--grid"), width: 1 };
    const axis = { stroke: variable("--muted"), grid, ticks: grid, font: `12px ${variable("--font")}` };
    const judged = report.judged;
    const options: uPlot.Options = {
      width: element.clientWidth,
      height: 300,
      legend: { live: false },
      cursor: { drag: { x: true, y: false, dist: 4 }, points: { show: false } },
      scales: { x: { time: false }, y: { distr: 3, log: 10 } },
      axes: [
        { ...axis, label: t("position"), labelSize: 22, labelFont: axis.font, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000] },
        { ...axis, label: t("relativeError"), labelSize: 22, labelFont: axis.font, size: 62,
          values: (_u, ticks) => ticks.map((v) => (v && Math.abs(Math.log10(v) % 1) < 1e-6 ? v.toExponential(0).replace("e+", "e") : "")) },
      ],
      series: [
        {},
        { label: t("measured"), stroke: variable("--text"), width: 1.25, spanGaps: true, points: { show: false } },
        { label: t("predicted"), stroke: variable("--accent"), width: 2, dash: points.rows.length > MANY ? undefined : [6, 4], spanGaps: true, show: judged, points: { show: false } },
        { label: t("ownError"), stroke: variable("--watch"), width: 1, spanGaps: true, show: false, points: { show: false } },
        { label: t("ownBudget"), stroke: variable("--healthy"), width: 1, dash: [2, 3], spanGaps: true, show: false, points: { show: false } },
      ].slice(0, judged ? 5 : 2),
      hooks: {
        draw: [(u) => { drawMarks(u, report, points, chosen.current); drawKnee(u, report, points); }],
        setCursor: [hover],
        ready: [(u) => u.over.addEventListener("click", () => {
          const at = u.cursor.idx;
          if (at !== null && at !== undefined && u.select.width === 0) onSelect(points.rows[at]);
        })],
      },
    };
    const xs = points.rows.map((_, x) => x);
    const series = [xs, points.measured, points.predicted, points.own, points.budget].slice(0, judged ? 5 : 2);
    const made = new uPlot(options, series as uPlot.AlignedData, element);
    plot.current = made;
    letKeysToggle(made);
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: 300 }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [points, props.theme, text]);

  useEffect(() => plot.current?.redraw(false), [selected]);

  const onKeyDown = (event: KeyboardEvent) => {
    const move = { ArrowRight: 1, ArrowLeft: -1, PageDown: 20, PageUp: -20 }[event.key];
    if (move === undefined) return;
    const at = points.rows.indexOf(selected);
    const next = at < 0 ? 0 : Math.min(points.rows.length - 1, Math.max(0, at + move));
    onSelect(points.rows[next]);
    event.preventDefault();
  };

  return (
    <section id="curve" aria-labelledby="curve-title">
      <h2 id="curve-title">{t("curve")}</h2>
      {report.steps.length > 1 && (
        <label class="inline">
          {t("step")}{" "}
          <select value={step ?? "*all"} onChange={(e) => setStep(e.currentTarget.value === "*all" ? null : e.currentTarget.value)}>
            <option value="*all">{t("allSteps")}</option>
            {report.steps.map((name) => <option value={name}>{name}</option>)}
          </select>
        </label>
      )}
      {points.rows.length === 0 ? (
        <p class="empty">{t("noCurve")}</p>
      ) : (
        <>
          <div class="plot" ref={host} tabIndex={0} onKeyDown={onKeyDown} role="group" aria-label={t("curve")}>
            <div class="tip" ref={tip} hidden />
          </div>
          <p class="hint screen">
            {t("curveHelp")} {points.zeroes > 0 && t("zeroes", points.zeroes)}
          </p>
        </>
      )}
    </section>
  );
}
