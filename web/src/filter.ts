import { STATES, type Report, type State } from "./data";
import { inOrder, type Key } from "./order";
import { wordsOf } from "./search";

export interface Filter {
  text: string;
  states: ReadonlySet<State>;
  type: string;
  role: "" | "input" | "output";
}

export interface Sort {
  key: string;
  down: boolean;
}

export const EVERYTHING: Filter = { text: "", states: new Set(), type: "", role: "" };

/** Rows that hold every word of the text and fit the other choices. */
export function filterRows(report: Report, filter: Filter): number[] {
  const { rows, states } = report;
  const found = report.search.filter(wordsOf(filter.text), rows.rows);
  const roles = rows.column("role");
  const types = rows.column("type");
  const type = filter.type === "" ? -1 : report.raw.strings.indexOf(filter.type);
  const role = filter.role === "output" ? 1 : 0;
  const kept: number[] = [];
  for (let row = 0; row < rows.rows; row++) {
    if (found !== null && found[row] === 0) continue;
    if (filter.states.size > 0 && !filter.states.has(states[row])) continue;
    if (filter.role !== "" && roles[row] !== role) continue;
    if (filter.type !== "" && types[row] !== type) continue;
    kept.push(row);
  }
  return kept;
}

/** What a column is ordered by: numbers or texts. */
function keyOf(report: Report, key: string): Key {
  const metric = report.metrics.find((m) => `metric:${m.name}` === key);
  if (metric) return (row) => metric.values[row];
  switch (key) {
    case "order": return (row) => row;
    case "state": return (row) => STATES.indexOf(report.states[row]);
    case "operator": return (row) => report.rowTitle(row);
    case "type": return (row) => report.rows.text("type", row);
    case "tensor": return (row) => report.rows.text("tensor", row);
    case "step": return (row) => report.rows.text("step", row);
    case "dtype": return (row) => report.rows.text("target_dtype", row);
    case "budget": return (row) => report.budget(row);
    case "shape": return (row) => report.rows.number("count", row);
  }
  const values = report.rows.column(key);
  return (row) => values[row];
}

export function sortRows(report: Report, rows: number[], sort: Sort): number[] {
  if (sort.key === "order" && !sort.down) return rows;
  return inOrder(rows, keyOf(report, sort.key), sort.down);
}
