import { STATES, type Report, type State } from "./data";

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
  const words = filter.text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const roles = report.rows.column("role");
  const rows: number[] = [];
  for (let row = 0; row < report.raw.rows; row++) {
    if (filter.states.size > 0 && !filter.states.has(report.states[row])) continue;
    if (filter.role !== "" && (roles[row] === 1) !== (filter.role === "output")) continue;
    if (filter.type !== "" && report.rows.text("type", row) !== filter.type) continue;
    if (words.length > 0 && !words.every((word) => report.haystack(row).includes(word))) continue;
    rows.push(row);
  }
  return rows;
}

/** What a column is ordered by: numbers or texts. */
function keyOf(report: Report, key: string): (row: number) => number | string {
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
    default: return (row) => report.rows.number(key, row);
  }
}

/** Stable; rows without a number come last whichever way it goes. */
export function sortRows(report: Report, rows: number[], sort: Sort): number[] {
  const of = keyOf(report, sort.key);
  const keys = new Map(rows.map((row) => [row, of(row)]));
  const sign = sort.down ? -1 : 1;
  return [...rows].sort((a, b) => {
    const x = keys.get(a)!;
    const y = keys.get(b)!;
    if (typeof x === "string" || typeof y === "string") return x === y ? a - b : x < y ? -sign : sign;
    const missing = Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return missing !== 0 ? missing : x === y || Number.isNaN(x) ? a - b : x < y ? -sign : sign;
  });
}
