import { useMemo, useState } from "preact/hooks";

import { Curve, firstRows } from "./curve";
import { BAD, Report, type RawReport } from "./data";
import { NetworkView, type Reveal } from "./graph/view";
import { useText, type TextKey } from "./i18n";
import { Operators } from "./operators";
import { Frame, Headline, type Theme } from "./page";
import { Panel } from "./panel";
import { Ledger, Range, Summary } from "./sections";

function outcomeOf(report: Report): string {
  if (report.run.verdict) return report.run.verdict.outcome;
  return report.states.some((state) => BAD.has(state)) ? "fail" : "pass";
}

interface Selection {
  row: number;
  operator: number;
}

const NOTHING: Selection = { row: -1, operator: -1 };

function NoGraph() {
  const { t } = useText();
  return (
    <section id="graph" aria-labelledby="graph-title">
      <h2 id="graph-title">{t("graph")}</h2>
      <p class="empty">{t("noGraph")}</p>
    </section>
  );
}

/** The operator that the network shows first. */
function focusOf(report: Report): number {
  for (const row of firstRows(report)) {
    if (report.operatorOf[row] >= 0) return report.operatorOf[row];
  }
  return -1;
}

export function ReportPage(props: { raw: RawReport }) {
  const report = useMemo(() => new Report(props.raw), [props.raw]);
  const focus = useMemo(() => focusOf(report), [report]);
  const [selection, setSelection] = useState<Selection>(() => {
    const row = firstRows(report)[0] ?? -1;
    return row < 0 ? NOTHING : { row, operator: report.operatorOf[row] };
  });
  const [reveal, setReveal] = useState<Reveal | null>(null);
  const blamed = useMemo(
    () => report.states.flatMap((state, row) => (state === "culprit" || state === "fail" || state === "drift" || state === "broken" ? [row] : [])),
    [report],
  );

  const selectRow = (row: number) => setSelection({ row, operator: report.operatorOf[row] });
  const selectOperator = (operator: number) => {
    const rows = report.operatorRows(operator);
    const bad = rows.find((row) => BAD.has(report.states[row]));
    setSelection({ row: bad ?? rows[0] ?? report.fusedInto[operator], operator });
  };
  const revealOperator = (operator: number) => {
    document.getElementById("graph")?.scrollIntoView({ block: "start" });
    setReveal({ operator, request: (reveal?.request ?? 0) + 1 });
  };
  const selectName = (name: string) => {
    const operator = report.raw.network.names.findIndex((_, op) => report.operatorName(op) === name);
    if (operator >= 0) return selectOperator(operator);
    const row = report.states.findIndex((_, r) => report.rowTitle(r) === name || report.rows.text("tensor", r) === name);
    if (row >= 0) selectRow(row);
  };
  const nextBlamed = (step: number) => {
    if (blamed.length === 0) return;
    const after = blamed.filter((row) => (step > 0 ? row > selection.row : row < selection.row));
    selectRow(step > 0 ? (after[0] ?? blamed[0]) : (after[after.length - 1] ?? blamed[blamed.length - 1]));
  };
  const shortcuts = {
    "/": () => document.getElementById("search")?.focus(),
    n: () => nextBlamed(1),
    p: () => nextBlamed(-1),
    Escape: () => setSelection(NOTHING),
  };
  const outcome = outcomeOf(report);
  const { run } = report;
  const links: { id: string; text: TextKey }[] = [
    { id: "curve", text: "curve" },
    { id: "graph", text: "graph" },
    { id: "operators", text: "operators" },
    ...(run.overflow ? [{ id: "range", text: "range" as TextKey }] : []),
    { id: "ledger", text: "ledger" },
  ];
  const sentence = run.verdict?.sentence ?? report.rows.text("reason", firstRows(report)[0] ?? -1);

  return (
    <Frame title={(t) => `opdrift: ${t(outcome === "pass" ? "agree" : outcome === "fail" ? "differ" : "inconclusive")}`}
      outcome={outcome} links={links} shortcuts={shortcuts} head={<Headline outcome={outcome} sentence={sentence} />}>
      {(theme: Theme) => (
        <div class="layout">
          <main>
            <Summary report={report} onSelect={selectRow} />
            <Curve report={report} theme={theme} selected={selection.row} onSelect={selectRow} />
            {report.operators > 0 ? (
              <NetworkView report={report} focus={focus} reveal={reveal} selected={selection.operator} onSelect={selectOperator} />
            ) : (
              <NoGraph />
            )}
            <Operators report={report} selected={selection.row} onSelect={selectRow} />
            <Range report={report} onName={selectName} />
            <Ledger report={report} />
            <footer class="muted">opdrift {props.raw.version}</footer>
          </main>
          <Panel report={report} row={selection.row} operator={selection.operator} onOperator={selectOperator}
            onRow={selectRow} onReveal={revealOperator} onClose={() => setSelection(NOTHING)} />
        </div>
      )}
    </Frame>
  );
}
