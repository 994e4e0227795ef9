import { useEffect, useMemo, useState } from "preact/hooks";

import { STATES, type Report, type State } from "./data";
import { EVERYTHING, filterRows, sortRows, type Filter, type Sort } from "./filter";
import { brief, count } from "./format";
import { useText, type Translator } from "./i18n";
import { usePrinting } from "./printing";
import { VirtualTable, type VirtualColumn } from "./virtual";

const BY_ORDER: Sort = { key: "order", down: false };

export function Chip(props: { state: State | "absent" }) {
  const text = useText();
  return <span class={`chip chip-${props.state}`}>{text.state(props.state)}</span>;
}

function columnsOf(report: Report, text: Translator): VirtualColumn[] {
  const { t } = text;
  const numeric = { numeric: true, width: "4.4rem" };
  const columns: VirtualColumn[] = [
    { key: "order", title: t("colOrder"), numeric: true, width: "3.2rem" },
    { key: "state", title: t("colState"), width: report.judged ? "5.4rem" : "6.6rem" },
    { key: "operator", title: t("colOperator"), tail: true, width: "minmax(11rem, 3fr)" },
    ...(report.typed ? [{ key: "type", title: t("colType"), width: "minmax(4.5rem, 1fr)" }] : []),
    { key: "tensor", title: t("colTensor"), width: "3.3rem" },
  ];
  if (report.steps.length > 1) columns.push({ key: "step", title: t("colStep"), width: "6rem" });
  columns.push({ key: "relative_l2", title: t("colRelative"), ...numeric });
  if (report.judged) {
    columns.push({ key: "budget", title: t("colBudget"), ...numeric }, { key: "q_cum", title: t("colCumulative"), ...numeric });
  }
  columns.push({ key: "cosine", title: t("colCosine"), ...numeric }, { key: "max_abs", title: t("colMax"), ...numeric });
  for (const metric of report.metrics) columns.push({ key: `metric:${metric.name}`, title: metric.name, ...numeric });
  columns.push({ key: "dtype", title: t("colDtype"), width: "4.2rem" }, { key: "shape", title: t("colShape"), width: "minmax(5rem, 1fr)" });
  return columns;
}

/** "out 0" */
export function placeOf(report: Report, row: number): string {
  return `${report.rows.number("role", row) === 1 ? "out" : "in"} ${report.rows.number("index", row)}`;
}

export function Operators(props: { report: Report; selected: number; onSelect: (row: number) => void }) {
  const { report, selected } = props;
  const text = useText();
  const { t } = text;
  const [filter, setFilter] = useState<Filter>(EVERYTHING);
  const [sort, setSort] = useState<Sort>(BY_ORDER);
  const columns = useMemo(() => columnsOf(report, text), [report, text]);
  const types = useMemo(
    () => [...new Set(report.states.map((_, row) => report.rows.text("type", row)))].filter(Boolean).sort(),
    [report],
  );
  const totals = useMemo(() => {
    const numbers = new Map<State, number>();
    for (const state of report.states) numbers.set(state, (numbers.get(state) ?? 0) + 1);
    return numbers;
  }, [report]);
  const hasInputs = useMemo(() => report.rows.column("role").some((role) => role === 0), [report]);
  // Paper has no room for all: unless somebody chose otherwise, the worst labels come first.
  const order = usePrinting() && filter === EVERYTHING && sort === BY_ORDER ? { key: "state", down: false } : sort;
  const rows = useMemo(() => sortRows(report, filterRows(report, filter), order), [report, filter, order.key, order.down]);

  useEffect(() => {
    // Made before somebody types.
    const timer = setTimeout(() => report.search, 0);
    return () => clearTimeout(timer);
  }, [report]);

  const toggle = (state: State) => {
    const states = new Set(filter.states);
    if (!states.delete(state)) states.add(state);
    setFilter({ ...filter, states });
  };
  const onSort = (key: string) => {
    const upFirst = ["order", "state", "operator", "type", "tensor", "step", "dtype"].includes(key);
    setSort({ key, down: sort.key === key ? !sort.down : !upFirst });
  };
  const cell = (row: number, key: string) => {
    switch (key) {
      case "order": return String(report.rows.number("order", row));
      case "state": return <Chip state={report.states[row]} />;
      case "operator": return <bdi title={report.rowTitle(row)}>{report.rowTitle(row)}</bdi>;
      case "type": return report.rows.text("type", row);
      case "tensor": return <span title={report.rows.text("tensor", row)}>{placeOf(report, row)}</span>;
      case "step": return report.rows.text("step", row);
      case "dtype": return report.rows.text("target_dtype", row);
      case "shape": return report.rows.text("target_shape", row);
      case "budget": return brief(report.budget(row), 3);
    }
    const metric = key.startsWith("metric:") ? report.metrics.find((m) => `metric:${m.name}` === key) : null;
    return brief(metric ? metric.values[row] : report.rows.number(key, row), 3);
  };

  return (
    <section id="operators" aria-labelledby="operators-title">
      <h2 id="operators-title">{t("operators")}</h2>
      <div class="tools">
        <input id="search" type="search" value={filter.text} placeholder={t("search")} aria-label={t("search")}
          onInput={(e) => setFilter({ ...filter, text: e.currentTarget.value })} />
        <div class="chips">
          {STATES.filter((state) => totals.has(state)).map((state) => (
            <button type="button" class={`chip chip-${state}`} aria-pressed={filter.states.has(state)}
              data-state={state} onClick={() => toggle(state)}>
              {text.state(state)} {count(totals.get(state)!)}
            </button>
          ))}
        </div>
        {report.typed && (
          <select value={filter.type} aria-label={t("colType")} onChange={(e) => setFilter({ ...filter, type: e.currentTarget.value })}>
            <option value="">{t("allTypes")}</option>
            {types.map((type) => <option value={type}>{type}</option>)}
          </select>
        )}
        {hasInputs && (
          <select value={filter.role} aria-label={t("colTensor")}
            onChange={(e) => setFilter({ ...filter, role: e.currentTarget.value as Filter["role"] })}>
            <option value="">{t("bothRoles")}</option>
            <option value="output">{t("outputs")}</option>
            <option value="input">{t("inputs")}</option>
          </select>
        )}
        <output class="shown">{t("shown", count(rows.length), count(report.raw.rows))}</output>
        {filter !== EVERYTHING && <button type="button" onClick={() => setFilter(EVERYTHING)}>{t("reset")}</button>}
      </div>
      <VirtualTable columns={columns} rows={rows} selected={selected} sort={sort} onSort={onSort} label={t("operators")}
        onSelect={props.onSelect} rowClass={(row) => `row-${report.states[row]}`} cell={cell} empty={t("nothing")} printed={100} />
    </section>
  );
}
