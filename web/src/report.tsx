import { useCallback, useMemo, useState } from "preact/hooks";

import { Curve, firstRows } from "./curve";
import { BAD, Report, type RawReport } from "./data";
import { NetworkView, type Reveal } from "./graph/view";
import type { TextKey } from "./i18n";
import { Operators } from "./operators";
import { Frame, Headline, type Theme } from "./page";
import { Panel } from "./panel";
import { usePrinting } from "./printing";
import { Ledger, Range, Summary } from "./sections";
import { useStages, type Step } from "./stages";

function outcomeOf(report: Report): string {
  if (report.run.verdict) return report.run.verdict.outcome;
  return report.states.some((state) => BAD.has(state)) ? "fail" : "pass";
}

interface Selection {
  row: number;
  /** -1 for the one that made the row. */
  operator: number;
}

const NOTHING: Selection = { row: -1, operator: -1 };

/** Below this width the panel covers what stands under it, so nothing is chosen at first. */
const NARROW = "(max-width: 75rem)";

/** The operator that the network shows first. */
function focusOf(report: Report): number {
  for (const row of firstRows(report)) {
    if (report.operatorOf[row] >= 0) return report.operatorOf[row];
  }
  return -1;
}

/** The chosen operator with the ways to choose another. */
function useSelection(report: Report) {
  const [selection, setSelection] = useState<Selection>(() => {
    const row = matchMedia(NARROW).matches ? -1 : (firstRows(report)[0] ?? -1);
    return row < 0 ? NOTHING : { row, operator: -1 };
  });
  const selectRow = useCallback((row: number) => setSelection({ row, operator: -1 }), [report]);
  const selectOperator = useCallback(
    (operator: number) => {
      const rows = report.operatorRows(operator);
      const bad = rows.find((row) => BAD.has(report.states[row]));
      setSelection({ row: bad ?? rows[0] ?? report.fusedInto[operator], operator });
    },
    [report],
  );
  const selectName = useCallback(
    (name: string) => {
      const operator = report.network.names.findIndex((_, op) => report.operatorName(op) === name);
      if (operator >= 0) return selectOperator(operator);
      const row = report.states.findIndex((_, r) => report.rowTitle(r) === name || report.rows.text("tensor", r) === name);
      if (row >= 0) selectRow(row);
    },
    [report],
  );
  const clear = useCallback(() => setSelection(NOTHING), []);
  return { selection, selectRow, selectOperator, selectName, clear };
}

function linksOf(report: Report): { id: string; text: TextKey }[] {
  return [
    { id: "curve", text: "curve" },
    { id: "graph", text: "graph" },
    { id: "operators", text: "operators" },
    ...(report.run.overflow ? [{ id: "range", text: "range" as TextKey }] : []),
    { id: "ledger", text: "ledger" },
  ];
}

/** Table and network once their data are there, then the pieces that come later. */
function stepsOf(report: Report, rest: (() => Promise<Partial<RawReport>>)[]): Step[] {
  const join = rest.map((read) => async () => report.join(await read()));
  const nothing = () => undefined;
  return [join[0] ?? nothing, nothing, ...join.slice(1), nothing];
}

export function ReportPage(props: { raw: RawReport; rest: (() => Promise<Partial<RawReport>>)[] }) {
  const report = useMemo(() => new Report(props.raw), [props.raw]);
  const steps = useMemo(() => stepsOf(report, props.rest), [report]);
  const stage = useStages(steps);
  const { selection, selectRow, selectOperator, selectName, clear } = useSelection(report);
  const [reveal, setReveal] = useState<Reveal | null>(null);
  const blamed = useMemo(
    () => report.states.flatMap((state, row) => (state === "culprit" || state === "fail" || state === "drift" || state === "broken" ? [row] : [])),
    [report],
  );
  const revealOperator = useCallback((operator: number) => {
    document.getElementById("graph")?.scrollIntoView({ block: "start" });
    setReveal((before) => ({ operator, request: (before?.request ?? 0) + 1 }));
  }, []);
  const nextBlamed = (step: number) => {
    if (blamed.length === 0) return;
    const after = blamed.filter((row) => (step > 0 ? row > selection.row : row < selection.row));
    selectRow(step > 0 ? (after[0] ?? blamed[0]) : (after[after.length - 1] ?? blamed[blamed.length - 1]));
  };
  const shortcuts = {
    "/": () => document.getElementById("search")?.focus(),
    n: () => nextBlamed(1),
    p: () => nextBlamed(-1),
    Escape: clear,
  };
  const outcome = outcomeOf(report);
  const { run } = report;
  // Paper shows the first divergence when nothing is chosen.
  const first = firstRows(report)[0] ?? -1;
  const row = usePrinting() && selection === NOTHING ? first : selection.row;
  const operator = selection.operator >= 0 || row < 0 ? selection.operator : report.operatorOf[row];
  const sentence = run.verdict?.sentence ?? report.rows.text("reason", first);
  // Parts that do not show the selection are not gone through when it changes.
  const known = stage > 0;
  const focus = useMemo(() => focusOf(report), [report, known]);
  const summary = useMemo(() => <Summary report={report} onSelect={selectRow} />, [report, known]);
  const range = useMemo(() => <Range report={report} onName={selectName} />, [report]);
  const ledger = useMemo(() => <Ledger report={report} />, [report]);

  return (
    <Frame title={(t) => `opdrift: ${t(outcome === "pass" ? "agree" : outcome === "fail" ? "differ" : "inconclusive")}`}
      outcome={outcome} links={linksOf(report)} shortcuts={shortcuts} head={<Headline outcome={outcome} sentence={sentence} />}>
      {(theme: Theme) => (
        <div class="layout">
          <main>
            {summary}
            <Curve report={report} theme={theme} selected={selection.row} onSelect={selectRow} />
            {stage >= 1 && <NetworkView report={report} focus={focus} reveal={reveal} selected={operator} onSelect={selectOperator} />}
            {stage >= 2 && <Operators report={report} selected={selection.row} onSelect={selectRow} />}
            {stage === steps.length && (
              <>
                {range}
                {ledger}
                <footer class="muted">opdrift {props.raw.version}</footer>
              </>
            )}
          </main>
          <Panel report={report} row={row} operator={operator} onOperator={selectOperator}
            onRow={selectRow} onReveal={revealOperator} onClose={clear} />
        </div>
      )}
    </Frame>
  );
}
