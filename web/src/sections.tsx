import { useMemo, useState } from "preact/hooks";

import { advice } from "./advice";
import { firstRows } from "./curve";
import { STATES, toNumber, type RangeNote, type Report, type State, type Totals } from "./data";
import { brief, bytes, count } from "./format";
import { useText } from "./i18n";
import { Chip } from "./operators";
import { Said } from "./said";
import { SearchIndex, wordsOf } from "./search";
import { VirtualTable, type VirtualColumn } from "./virtual";

const LEDGER_STATES = ["compared", "equal", "unmatched", "unreadable", "superseded", "ignored", "skipped"];

function Distribution(props: { report: Report }) {
  const { report } = props;
  const text = useText();
  const totals = new Map<State, number>();
  for (const state of report.states) totals.set(state, (totals.get(state) ?? 0) + 1);
  return (
    <div class="distribution">
      <div class="strip" role="img" aria-label={STATES.filter((s) => totals.has(s)).map((s) => `${text.state(s)} ${totals.get(s)}`).join(", ")}>
        {STATES.filter((state) => totals.has(state)).map((state) => (
          <div class={`part back-${state}`} style={{ flexGrow: totals.get(state)! }} title={`${text.state(state)} ${totals.get(state)}`} />
        ))}
      </div>
      <ul class="legend">
        {STATES.filter((state) => totals.has(state)).map((state) => (
          <li><span class={`dot back-${state}`} /> {text.state(state)} <b>{count(totals.get(state)!)}</b></li>
        ))}
      </ul>
    </div>
  );
}

function TotalsLine(props: { totals: Totals }) {
  const text = useText();
  const parts = LEDGER_STATES.filter((state) => props.totals[state] > 0).map(
    (state) => `${count(props.totals[state])} ${text.ledger(state)}`,
  );
  return <span class="muted">{parts.join(" · ")}</span>;
}

export function Summary(props: { report: Report; onSelect: (row: number) => void }) {
  const { report, onSelect } = props;
  const { run } = report;
  const text = useText();
  const { t } = text;
  const first = firstRows(report);
  return (
    <section id="summary" aria-labelledby="summary-title">
      <h2 id="summary-title" class="sr-only">{t("summary")}</h2>
      <div class="cards">
        <div class="card wide">
          {first.length > 0 && (
            <>
              <h3>{t(run.verdict ? "first" : "firstFail")}</h3>
              <ul class="links first">
                {first.slice(0, 5).map((row) => (
                  <li>
                    <button type="button" onClick={() => onSelect(row)}>{report.rowTitle(row)}</button>{" "}
                    <span class="muted">{report.rows.text("type", row)}</span> <Chip state={report.states[row]} />
                    <div class="muted"><Said text={report.rows.text("sentence", row) || report.rows.text("reason", row)} /></div>
                    {(report.raw.explanations[row] ?? []).slice(0, 1).map((e) => <div><Said text={e.sentence} /></div>)}
                    {report.tabled && advice(report, row).slice(0, 1).map((pair) => <div class="todo"><b>{t("fix")}:</b> {text.pick(pair)}</div>)}
                  </li>
                ))}
                {first.length > 5 && <li class="muted">{t("more", first.length - 5)}</li>}
              </ul>
            </>
          )}
          <p>{t("tensorsCompared", count(report.raw.rows))}</p>
          <Distribution report={report} />
          {run.interrupted && <p class="warn">{t("interrupted")}</p>}
          {run.verdict?.inputs_differ && <p class="warn">{t("inputsDiffer")}</p>}
          {(run.verdict?.missing_outputs ?? 0) > 0 && <p class="warn">{t("missingOutputs", run.verdict!.missing_outputs)}</p>}
        </div>
        <div class="card">
          <dl class="facts">
            {(["target", "golden"] as const).map((side) => (
              <>
                <dt>{t(side)}</dt>
                <dd>
                  <span class="path">{run[side].path}</span>
                  <div class="muted">{run[side].kind}</div>
                  <TotalsLine totals={run.totals[side]} />
                </dd>
              </>
            ))}
            <dt>{t("rule")}</dt>
            <dd><Said text={run.rule} /></dd>
          </dl>
          <p class="muted">{t("readIn", bytes(run.bytes_read), brief(run.elapsed_s, 3))}</p>
        </div>
        {((run.verdict?.findings.length ?? 0) > 0 || run.notes.length > 0) && (
          <div class="card">
            {(run.verdict?.findings.length ?? 0) > 0 && (
              <>
                <h3>{t("findings")}</h3>
                <ul class="plain">
                  {run.verdict!.findings.map((finding) => (
                    <li><Said text={finding.sentence} />{finding.assumed && <span class="muted"> ({t("assumed")})</span>}</li>
                  ))}
                </ul>
              </>
            )}
            {run.notes.length > 0 && (
              <>
                <h3>{t("notes")}</h3>
                <ul class="plain">{run.notes.map((note) => <li><Said text={note} /></li>)}</ul>
              </>
            )}
          </div>
        )}
      </div>
    </section>
  );
}

function RangeTable(props: { notes: RangeNote[]; title: string; onName: (name: string) => void }) {
  const { t } = useText();
  if (props.notes.length === 0) return null;
  return (
    <>
      <h3>{props.title}</h3>
      <table class="notes">
        <thead>
          <tr>
            <th scope="col">{t("colName")}</th>
            <th scope="col" class="num">{t("colValue")}</th>
            <th scope="col" class="num">{t("colRoom")}</th>
            <th scope="col">{t("reason")}</th>
          </tr>
        </thead>
        <tbody>
          {props.notes.map((note) => (
            <tr>
              <td><button type="button" class="link" onClick={() => props.onName(note.name)}>{note.name}</button></td>
              <td class="num">{brief(toNumber(note.value))}</td>
              <td class="num">{toNumber(note.ratio) > 0 ? `${brief(toNumber(note.ratio), 3)} ×` : "–"}</td>
              <td class="muted"><Said text={note.sentence} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

export function Range(props: { report: Report; onName: (name: string) => void }) {
  const { t } = useText();
  const overflow = props.report.run.overflow;
  if (!overflow) return null;
  const nothing = overflow.sentence === "" && overflow.headroom.length === 0 && overflow.constants.length === 0;
  return (
    <section id="range" aria-labelledby="range-title">
      <h2 id="range-title">{t("range")}</h2>
      {nothing && <p class="empty">{t("noOverflow")}</p>}
      {overflow.sentence !== "" && <p><Said text={overflow.sentence} /></p>}
      {overflow.path.length > 0 && (
        <>
          <h3>{t("overflowPath")}</h3>
          <ol class="path-list">
            {overflow.path.map((name) => (
              <li><button type="button" class="link" onClick={() => props.onName(name)}>{name}</button></li>
            ))}
          </ol>
        </>
      )}
      <RangeTable notes={overflow.headroom} title={t("headroom")} onName={props.onName} />
      <RangeTable notes={overflow.constants} title={t("constants")} onName={props.onName} />
    </section>
  );
}

export function Ledger(props: { report: Report }) {
  const { report } = props;
  const { ledger } = report;
  const text = useText();
  const { t } = text;
  const [side, setSide] = useState("");
  const [state, setState] = useState("");
  const [query, setQuery] = useState("");
  const words = wordsOf(query);
  const index = useMemo(
    () => (words.length === 0 ? null : new SearchIndex(report.raw.strings, ["file", "tensor", "reason"].map((name) => ledger.column(name)))),
    [ledger, words.length === 0],
  );
  const rows = useMemo(() => {
    const found = index === null ? null : index.filter(words, ledger.rows);
    const kept: number[] = [];
    for (let row = 0; row < ledger.rows; row++) {
      if (found !== null && found[row] === 0) continue;
      if (side !== "" && ledger.text("side", row) !== side) continue;
      if (state !== "" && ledger.text("state", row) !== state) continue;
      kept.push(row);
    }
    return kept;
  }, [ledger, side, state, query]);
  const columns: VirtualColumn[] = [
    { key: "side", title: t("side"), width: "5.5rem" },
    { key: "state", title: t("state"), width: "7rem" },
    { key: "tensor", title: t("tensor"), width: "minmax(12rem, 1.5fr)" },
    { key: "file", title: t("file"), width: "minmax(14rem, 2fr)" },
    { key: "reason", title: t("reason"), width: "minmax(8rem, 1.5fr)" },
  ];
  const present = useMemo(
    () => LEDGER_STATES.filter((name) => report.run.totals.golden[name] + report.run.totals.target[name] > 0),
    [report],
  );
  const cell = (row: number, key: string) => {
    const value = ledger.text(key, row);
    if (key === "side") return t(value === "golden" ? "golden" : "target");
    if (key === "state") return <span class={`ledger-${value}`}>{text.ledger(value)}</span>;
    if (key === "reason") return <span title={value}><Said text={value} /></span>;
    return <span title={value}>{value}</span>;
  };
  return (
    <section id="ledger" aria-labelledby="ledger-title">
      <h2 id="ledger-title">{t("ledger")}</h2>
      <div class="tools">
        <input type="search" value={query} placeholder={t("file")} aria-label={t("file")} onInput={(e) => setQuery(e.currentTarget.value)} />
        <select value={side} aria-label={t("side")} onChange={(e) => setSide(e.currentTarget.value)}>
          <option value="">{t("side")}: {t("all")}</option>
          <option value="target">{t("target")}</option>
          <option value="golden">{t("golden")}</option>
        </select>
        <select value={state} aria-label={t("state")} onChange={(e) => setState(e.currentTarget.value)}>
          <option value="">{t("state")}: {t("all")}</option>
          {present.map((name) => <option value={name}>{text.ledger(name)}</option>)}
        </select>
        <output class="shown">{t("entries", count(rows.length))}</output>
      </div>
      {report.raw.ledger.left_out > 0 && <p class="hint">{t("leftOut", count(report.raw.ledger.left_out))}</p>}
      <VirtualTable columns={columns} rows={rows} selected={-1} label={t("ledger")} cell={cell} empty={t("nothing")} printed={30} />
    </section>
  );
}
